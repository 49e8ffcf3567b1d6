//! Tests of exchanges with models whose structures are given.

use super::super::hierarchy::{HierarchyModel, Member};
use super::super::input::ModelInput;
use super::super::levels::Outcome;
use super::super::system_model::Model;
use super::super::what_if::{WhatIf, doubts_of_memory, exchanged};
use super::{CacheDoubt, Exchange, Exchanged};
use crate::testing::{border, measurement, region};
use ioscape_schema::{
    Access, Border, BorderOperation, Evaluation, Parameter, Point, Region, RegionCurves, Workload,
};

fn focal() -> Workload {
    Workload { access: Access::Direct, align_bytes: Some(4096), ..Workload::default() }
}

/// A device that moves `speed` bytes per second in large requests, evaluated without a file cache.
fn evaluation(speed: f64) -> Evaluation {
    evaluated(&focal(), speed)
}

/// A system that moves `speed` bytes per second in large requests like those of `focal`.
fn evaluated(focal: &Workload, speed: f64) -> Evaluation {
    let curve = |parameter: Parameter, values: &[f64]| -> Vec<Point> {
        let point = |&value: &f64| {
            let workload = focal.clone().with(parameter, value);
            let size = workload.size_mean as f64;
            let rate = speed * size / (size + 65536.0);
            let measurement = measurement(&workload, rate, 1.0, rate);
            Point { value, measurement, rounds: vec![rate], spread: None }
        };
        values.iter().map(point).collect()
    };
    let curves = RegionCurves {
        size_mean: curve(Parameter::SizeMean, &[4096.0, 16384.0, 32768.0, 131072.0, 1048576.0]),
        read_frac: curve(Parameter::ReadFrac, &[0.0, 0.5, 1.0]),
        process_num: curve(Parameter::ProcessNum, &[1.0, 2.0, 4.0]),
        ..RegionCurves::default()
    };
    let sets = [20, 22, 24, 26, 28].map(|power| 2f64.powi(power));
    let unique_bytes = [sets[0], sets[4]];
    Evaluation {
        target: "device".to_owned(),
        unique_bytes_range: unique_bytes,
        unique_bytes_curve: curve(Parameter::UniqueBytes, &sets),
        regions: vec![Region { unique_bytes, focal: focal.clone(), ..region(curves) }],
        ..Evaluation::default()
    }
}

/// The lender's uncertainty passes to whoever borrows its storage.
#[test]
fn without_a_file_cache_all_structures_of_the_lender_are_mixed_as_it_mixes_them() {
    let evaluations = [2e8, 1e8].map(evaluation);
    let models = evaluations.each_ref().map(|one| Model::levels(one).unwrap());
    let [fast, slow] = models.each_ref().map(|one| one.hierarchy().unwrap());
    let of = |model: &HierarchyModel, weight| Member { weight, ..model.members()[0].clone() };
    let lender = fast.clone().with_members(vec![of(fast, 0.6), of(slow, 0.4)]);
    let here = fast.clone().with_members(vec![of(fast, 1.0)]);
    let exchange = Exchange { storage: Some(&lender), ..Exchange::default() };
    let exchanged = Exchanged::new(&here, exchange).unwrap();
    let place = ModelInput::of(&focal());
    let (told, theirs) = (exchanged.estimate(&place, &models[0]), lender.estimate(&place));
    let apart = told.log_throughput - theirs.log_throughput;
    assert!(apart.abs() < 1e-6, "{told:?} {theirs:?}");
    assert!(told.half_width > theirs.half_width, "{told:?} {theirs:?}");
}

#[test]
fn what_lies_behind_a_border_within_memory_takes_no_time_at_the_device() {
    let share = |in_memory| {
        let border = |operation| Border { in_memory, ..border(operation, [14e6, 16e6, 18e6], 1.5) };
        let borders = vec![border(BorderOperation::Read), border(BorderOperation::Write)];
        let model = Model::levels(&Evaluation { borders, ..evaluation(1e8) }).unwrap();
        let here = model.hierarchy().unwrap();
        let exchanged = Exchanged::new(here, Exchange::default()).unwrap();
        exchanged.device_share(&Outcome { log_throughput: 0.0, shares: vec![0.25; 4] })
    };
    assert_eq!([true, false].map(share), [0.0, 0.5]);
}

/// Guards against a drive's buffer of 9 MiB that grew with the machine's memory: predictions were 14
/// times too fast.
#[test]
fn a_cache_whose_writes_waited_may_be_the_drives_own_which_other_memory_leaves_as_it_is() {
    let what_if = WhatIf { memory_bytes: Some([64_000_000, 256_000_000]), ..WhatIf::default() };
    let told = |computed_s: f64| {
        let borders = [BorderOperation::Read, BorderOperation::Write]
            .map(|operation| border(operation, [14e6, 16e6, 18e6], 1.5));
        let plain = evaluated(&Workload::default(), 1e8);
        let mut evaluation = Evaluation { borders: borders.to_vec(), ..plain };
        evaluation.regions[0].curves.read_frac[0].measurement.cpu_system_s = computed_s;
        let model = Model::levels(&evaluation).unwrap();
        let onsets = |what_if: &WhatIf, doubt: CacheDoubt| {
            let there = exchanged(&model, what_if, Model::hierarchy, [true; 2]).unwrap();
            let there = there.doubted(doubt);
            [0, 1].map(|operation| there.caches(operation)[0].onset)
        };
        let [reads, writes] = onsets(&WhatIf::default(), CacheDoubt::None);
        let now = onsets(&what_if, CacheDoubt::None);
        let otherwise = onsets(&what_if, CacheDoubt::Growth);
        let grown = [now[0] / reads, now[1] / writes, otherwise[1] / writes].map(f64::round);
        (grown, doubts_of_memory(&model, &what_if))
    };
    let (grown, doubts) = told(0.9);
    assert_eq!((&grown[..2], doubts), (&[4.0, 4.0][..], Vec::new()), "memory took the writes");
    let (grown, doubts) = told(0.1);
    assert_eq!(grown, [4.0, 1.0, 4.0]);
    assert!(doubts.len() == 1 && doubts[0].message.contains("ends for writes at"), "{doubts:?}");
}
