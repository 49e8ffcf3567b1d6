//! Tests of what is said and drawn of a simulation.

use super::*;
use ioscape_schema::SimulatedOperations;
use std::collections::BTreeSet;

fn doubted(status: &str, demerit: f64, paired_within_1ms: f64, paired_requests: u64) -> bool {
    let agreement = SimulationAgreement {
        demerit,
        paired_within_1ms,
        paired_requests,
        ..SimulationAgreement::default()
    };
    let drive_status = status.to_owned();
    let simulation =
        Simulation { drive_status, agreement: Some(agreement), ..Simulation::default() };
    agreement_of(&simulation).contains("it is not")
}

fn agreement_of(simulation: &Simulation) -> String {
    agreement(simulation).unwrap()
}

#[test]
fn each_of_several_write_amplifications_has_its_drive() {
    let cell = |drive: &str, write_amplification| SimulatedCell {
        drive: Some(drive.to_owned()),
        cache: "write buffer".to_owned(),
        scheduler: "no host queue".to_owned(),
        write_amplification,
        ..SimulatedCell::default()
    };
    let of = |cells: &[SimulatedCell]| {
        amplification(&Simulation { cells: cells.to_vec(), ..Simulation::default() })
    };
    let (a, b, disk) = (cell("a", Some(1.5)), cell("b", Some(0.5)), cell("disk", None));
    assert_eq!(of(std::slice::from_ref(&disk)), None);
    let said = of(std::slice::from_ref(&a)).unwrap();
    assert_eq!(
        said,
        "Write amplification: 1.500 bytes go to the flash for every byte written by the host."
    );
    let said = of(&[disk, a, b]).unwrap();
    assert!(said.contains("1.500 (a: write buffer, no host queue), 0.500 (b: "), "{said}");
    assert!(said.contains("Below 1") && !said.contains("garbage"), "{said}");
    let told = |write_amplification, erased_blocks| {
        let one = SimulatedCell { erased_blocks, ..cell("a", write_amplification) };
        of(std::slice::from_ref(&one)).unwrap()
    };
    assert!(
        told(Some(0.9997), Some(0))
            .contains("flash for every byte written by the host. No garbage")
    );
    assert!(!told(Some(0.9997), Some(3)).contains("garbage"));
}

/// A simulation of writes with this many policies, all with the same time.
fn constant(policies: usize) -> Simulation {
    let cell = |number: usize| SimulatedCell {
        scheduler: format!("order {number}"),
        physical_distribution: vec![[5e6, 1.0]],
        ..SimulatedCell::default()
    };
    Simulation { cells: (0..policies).map(cell).collect(), ..Simulation::default() }
}

#[test]
fn twelve_policies_have_lines_of_twelve_looks_and_a_single_time_is_a_line_too() {
    let chart = by_policy(&constant(12));
    let classes: BTreeSet<&str> = chart.series.iter().map(|one| &*one.class).collect();
    assert_eq!(classes.len(), 12, "{classes:?}");
    let places = chart.series[0].marks.iter().map(|mark| [mark.x, mark.y]);
    assert_eq!(places.collect::<Vec<_>>(), [[5e6, 0.0], [5e6, 1.0]]);
}

#[test]
fn of_writes_that_there_are_none_of_no_time_and_no_share_is_told() {
    let times = |requests| SimulatedTimes { requests, mean_ns: 4e6, ..Default::default() };
    let cell = |cache_bytes, requests| {
        let write = times(requests);
        let elapsed = SimulatedOperations { write, ..SimulatedOperations::default() };
        let cache_bytes = Some(cache_bytes);
        SimulatedCell { cache: "nvram".into(), cache_bytes, elapsed, ..Default::default() }
    };
    let of =
        |cells: Vec<SimulatedCell>| by_size(&Simulation { cells, ..Simulation::default() }, true);
    let drawn = of(vec![cell(1, 0), cell(2, 9), cell(4, 9)]).expect("two sizes");
    assert_eq!(drawn.series[0].marks.len(), 2);
    assert!(of(vec![cell(1, 0), cell(2, 0), cell(4, 9)]).is_none());
    let written = |written_bytes| SimulatedCell {
        written_bytes,
        absorbed_bytes: written_bytes / 4,
        ..SimulatedCell::default()
    };
    let shares = [0, 4096].map(|bytes| absorbed_share(&written(bytes)));
    assert_eq!(shares, [None, Some("25 %".to_owned())]);
}

#[test]
fn nothing_is_said_of_single_requests_where_none_can_be_predicted() {
    let of = |paired_requests| {
        let agreement = SimulationAgreement { paired_requests, ..SimulationAgreement::default() };
        agreement_of(&Simulation { agreement: Some(agreement), ..Simulation::default() })
    };
    assert!(
        of(0).contains("Request by request it cannot be told") && !of(0).contains("within 1 ms")
    );
    assert!(of(7).contains("over 7 requests"));
}

#[test]
fn each_of_several_devices_is_compared_and_only_those_with_many_requests_are_judged() {
    let of = |others: &[(u64, f64)]| {
        let device = |(n, &(requests, demerit)): (usize, &(u64, f64))| DeviceAgreement {
            device: format!("sd{n}"),
            requests,
            demerit,
            ..DeviceAgreement::default()
        };
        let devices = [&[(3109, 0.0)], others].concat().iter().enumerate().map(device).collect();
        let agreement = Some(SimulationAgreement { devices, ..Default::default() });
        let drive_status = "calibrated".to_owned();
        agreement_of(&Simulation { drive_status, agreement, ..Simulation::default() })
    };
    let said = of(&[(2891, 0.5239)]);
    assert!(said.contains(" of device sd0, which has the most: mean"), "{said}");
    assert!(
        said.contains("Demerit on device sd1: 52.39 % over 2891 requests (none soon"),
        "{said}"
    );
    assert!(said.contains("for the requests of sd1, with these options, it is not"), "{said}");
    assert!(!of(&[(99, 0.5)]).contains("it is not"));
    assert!(of(&[]).contains(" of device sd0, which") && !of(&[]).contains("Demerit"));
    let said = of(&[(900, 0.01), (800, 0.5), (700, 0.7), (600, 0.02), (90, 0.6)]);
    let worst = "Of 4 other devices with 100 requests or more, 2 have at most 4 % demerit; the worst, on device sd3: ";
    assert!(said.contains(worst), "{said}");
    assert!(said.contains("for the requests of 2 of 6 devices, with"), "{said}");
}

#[test]
fn a_calibrated_drive_that_does_not_explain_these_requests_is_said_to() {
    assert!(!doubted("calibrated", 0.02, 0.92, 100));
    assert!(doubted("calibrated", 0.21, 0.92, 100));
    assert!(doubted("calibrated", 0.02, 0.3, 100));
    assert!(!doubted("calibrated", 0.02, 0.0, 0));
    assert!(!doubted("generic", 0.9, 0.0, 100));
    // Only the first of two drives is compared with the recording.
    assert!(doubted("calibrated; from published parameters", 0.21, 0.92, 100));
    assert!(!doubted("from published parameters; calibrated", 0.21, 0.92, 100));
}
