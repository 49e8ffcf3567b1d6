//! Measured drives through their DiskSim parameter files: they are to come as close as DiskSim itself does with them.

mod data;

use data::data;
use ioscape_simulate::disksim::{Folder, Specs, read, validation_trace};
use ioscape_simulate::{
    Arrivals, Configuration, Parameters, SimulatedRequest, agreement, drives, simulate,
};

fn text(path: &str) -> Option<String> {
    data(&format!("disk-validation/{path}")).map(|b| String::from_utf8_lossy(&b).into_owned())
}

/// The files of one drive, found from any one of them.
fn specs(name: &str) -> Option<Specs> {
    text(name)?;
    let stem = name.split('.').next()?.trim_end_matches("_validate");
    let endings = [".parv", ".diskspecs", ".model", "_validate.model", ".seek", "_validate.seek"];
    let names = endings.map(|ending| format!("{stem}{ending}")).to_vec();
    let open = |path: &str| text(path).ok_or_else(|| "not there".to_owned());
    Some(read(name, &Folder { names, open: &open }).unwrap())
}

/// Root mean square distance of measured and simulated distributions, in milliseconds.
fn rms(stem: &str) -> Option<(f64, f64, f64)> {
    let specs = specs(&format!("{stem}.diskspecs"))?;
    let drive = specs.parameters.build().unwrap();
    let trace = text(&format!("{stem}.trace"))?;
    let jobs = validation_trace(&trace, stem, drive.mechanism.layout.blocks()).unwrap().jobs;
    let options = Configuration {
        disk: specs.options,
        arrivals: Arrivals::Closed,
        ..Configuration::default()
    };
    let run = simulate(&drive, &jobs, &options);
    let measured: Vec<u64> = jobs.iter().map(|j| j.io.completed_ns - j.io.issued_ns).collect();
    let simulated: Vec<u64> = run.rows.iter().map(SimulatedRequest::physical_ns).collect();
    let found = agreement(&measured, &simulated);
    Some((found.rms_ns / 1e6, found.measured_mean_ns / 1e6, found.simulated_mean_ns / 1e6))
}

#[test]
#[expect(clippy::print_stderr, reason = "the figures are worth seeing")]
fn measured_drives_are_as_close_as_disksim_itself_comes() {
    // What DiskSim's own test prints. That test has no ST41601N; and the C2247A's 0.090 is 0.094 by the measure used here.
    let mut worse = Vec::new();
    for (stem, most) in [
        ("hp_c2247a", 0.094),
        ("hp_c2490a", 0.254),
        ("st41601n", 0.100),
        ("cheetah9LP", 0.107),
        ("atlas10k", 0.268),
        ("barracuda", 0.349),
    ] {
        let Some((rms, measured, simulated)) = rms(stem) else { return };
        eprintln!("{stem}: rms {rms:.4} ms, mean {simulated:.3} ms for {measured:.3} ms");
        if rms > most {
            worse.push(format!("{stem}: {rms:.4} ms for {most} ms"));
        }
    }
    assert!(worse.is_empty(), "{worse:?}");
}

#[test]
fn any_file_of_a_description_finds_the_others() {
    for stem in ["hp_c2490a", "st41601n"] {
        let Some(whole) = specs(&format!("{stem}.parv")) else { return };
        for name in [".diskspecs", "_validate.model", "_validate.seek"] {
            assert_eq!(specs(&format!("{stem}{name}")).unwrap(), whole, "{stem}{name}");
        }
    }
}

#[test]
fn the_shipped_c2247a_is_the_one_of_disksims_files() {
    let Some(read) = specs("hp_c2247a.diskspecs") else { return };
    let read = read.parameters;
    let shipped = drives::find("hp-c2247a").unwrap();
    assert_eq!(shipped.zones, read.zones);
    assert_eq!(shipped.seek, read.seek);
    assert_eq!(shipped.mechanism, read.mechanism);
    assert_eq!(shipped.buffer, read.buffer);
    let costs = |p: &Parameters| format!("{:?}", p.build().unwrap().controller);
    assert_eq!(costs(&shipped), costs(&read), "times that are left out are those of the others");
    for (shipped, read) in [
        (shipped.bus.to_host_bytes_per_s, read.bus.to_host_bytes_per_s),
        (shipped.bus.to_drive_bytes_per_s, read.bus.to_drive_bytes_per_s),
    ] {
        assert!((shipped / read - 1.0).abs() < 1e-6, "the bus is in the .parv file");
    }
}
