//! Drives simulated from their DiskSim parameter files must come as close to the measured times as
//! DiskSim itself.

use crate::data::specs::{specs, text};
use crate::data::validation::validation_trace;
use ioscape_simulate::{
    Arrivals, Configuration, Parameters, SimulatedRequest, agreement, drives, simulate,
};

/// The root mean square distance between the measured and simulated distributions, in milliseconds.
fn rms(stem: &str) -> Option<(f64, f64, f64)> {
    let specs = specs(&format!("{stem}.diskspecs"))?;
    let drive = specs.parameters.build().unwrap();
    let trace = text(&format!("{stem}.trace"))?;
    let jobs = validation_trace(&trace, drive.mechanism.layout.blocks()).unwrap();
    let disk = drive.buffer.usual();
    let options = Configuration { disk, arrivals: Arrivals::Closed, ..Configuration::default() };
    let run = simulate(&drive, &jobs, &options);
    let measured: Vec<u64> = jobs.iter().map(|j| j.io.completed_ns - j.io.issued_ns).collect();
    let simulated: Vec<u64> = run.rows.iter().map(SimulatedRequest::physical_ns).collect();
    let found = agreement(&measured, &simulated);
    Some((found.rms_ns / 1e6, found.measured_mean_ns / 1e6, found.simulated_mean_ns / 1e6))
}

#[test]
#[expect(clippy::print_stderr, reason = "the figures are worth seeing")]
fn measured_drives_are_as_close_as_disksim_itself_comes() {
    // The distances reached, rounded up. DiskSim's own test prints 0.254, 0.107, 0.268 and 0.349,
    // and has no ST41601N; the 0.090 that it prints for the C2247A is 0.094 by the measure used
    // here.
    let mut worse = Vec::new();
    for (stem, most) in [
        ("hp_c2247a", 0.092),
        ("hp_c2490a", 0.249),
        ("st41601n", 0.078),
        ("cheetah9LP", 0.107),
        ("atlas10k", 0.098),
        ("barracuda", 0.348),
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
