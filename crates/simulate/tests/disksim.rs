//! Measured drives through their DiskSim parameter files: they are to come as close as DiskSim itself does with them.

mod data;

use data::data;
use ioscape_simulate::disksim::{read, validation_trace};
use ioscape_simulate::{Arrivals, Options, Parameters, Simulated, agreement, drives, replay};

/// Root mean square distance of measured and simulated distributions, in milliseconds.
fn rms(stem: &str, buses: [f64; 2]) -> Option<(f64, f64, f64)> {
    let text = |path: &str| {
        data(&format!("disk-validation/{path}")).map(|b| String::from_utf8_lossy(&b).into_owned())
    };
    let open = |path: &str| text(path).ok_or_else(|| "not there".to_owned());
    let mut specs = read(&text(&format!("{stem}.diskspecs"))?, stem, &open).unwrap();
    // The bus is in the .parv file: milliseconds of a block.
    for (each, rate) in buses.into_iter().zip([
        &mut specs.parameters.bus.to_host_bytes_per_s,
        &mut specs.parameters.bus.to_drive_bytes_per_s,
    ]) {
        if each > 0.0 {
            *rate = 512.0 / each * 1e3;
        }
    }
    let drive = specs.parameters.build().unwrap();
    let trace = text(&format!("{stem}.trace"))?;
    let jobs = validation_trace(&trace, stem, drive.mechanism.layout.blocks()).unwrap().jobs;
    let options = Options { disk: specs.options, arrivals: Arrivals::Closed, ..Options::default() };
    let run = replay(&drive, &jobs, &options);
    let measured: Vec<u64> = jobs.iter().map(|j| j.io.completed_ns - j.io.issued_ns).collect();
    let simulated: Vec<u64> = run.rows.iter().map(Simulated::physical_ns).collect();
    let found = agreement(&measured, &simulated);
    Some((found.rms_ns / 1e6, found.measured_mean_ns / 1e6, found.simulated_mean_ns / 1e6))
}

#[test]
#[expect(clippy::print_stderr, reason = "the figures are worth seeing")]
fn measured_drives_are_as_close_as_disksim_itself_comes() {
    // DiskSim's own are 0.090, 0.254, 0.107, 0.268 and 0.349.
    for (stem, buses, most) in [
        ("hp_c2247a", [0.1701, 0.18686], 0.090),
        ("hp_c2490a", [0.14841, 0.14841], 0.21),
        ("cheetah9LP", [0.0, 0.0], 0.1),
        ("atlas10k", [0.0, 0.0], 0.135),
        ("barracuda", [0.0, 0.0], 0.325),
    ] {
        let Some((rms, measured, simulated)) = rms(stem, buses) else { return };
        eprintln!("{stem}: rms {rms:.3} ms, mean {simulated:.3} ms for {measured:.3} ms");
        assert!(rms <= most, "{stem}: {rms} ms");
    }
}

#[test]
fn the_shipped_c2247a_is_the_one_of_disksims_files() {
    let text = |path: &str| {
        data(&format!("disk-validation/{path}")).map(|b| String::from_utf8_lossy(&b).into_owned())
    };
    let open = |path: &str| text(path).ok_or_else(|| "not there".to_owned());
    let Some(specs) = text("hp_c2247a.diskspecs") else { return };
    let read = read(&specs, "hp_c2247a.diskspecs", &open).unwrap().parameters;
    let shipped = drives::find("hp-c2247a").unwrap();
    for (each_ms, rate) in
        [(0.1701, shipped.bus.to_host_bytes_per_s), (0.18686, shipped.bus.to_drive_bytes_per_s)]
    {
        assert!((512.0 / each_ms * 1e3 / rate - 1.0).abs() < 1e-6, "the bus is in the .parv file");
    }
    assert_eq!(shipped.zones, read.zones);
    assert_eq!(shipped.seek, read.seek);
    assert_eq!(shipped.mechanism, read.mechanism);
    assert_eq!(shipped.buffer, read.buffer);
    let costs = |p: &Parameters| format!("{:?}", p.build().unwrap().controller);
    assert_eq!(costs(&shipped), costs(&read), "times that are left out are those of the others");
}
