//! The workload derived from a trace of known requests.

use ioscape_schema::chance::mix;
use ioscape_schema::{Io, Op, SizeDistribution, TraceInfo, TraceTraits};
use ioscape_trace::characterize::Characterizer;
use ioscape_trace::testing::{io, model};
use ioscape_workload::characterize::fit;

fn of(rows: &[Io]) -> TraceTraits {
    let mut seen = Characterizer::new(4096, None);
    seen.update(rows);
    seen.finish("t", &TraceInfo::default(), fit).overall
}

#[test]
fn a_workload_of_the_model_is_recognized() {
    let found = of(&model(20_000));
    let workload = &found.workload;
    assert_eq!(workload.size_distribution, SizeDistribution::Fixed);
    assert_eq!((workload.size_mean, workload.process_num), (8192, 1));
    assert!((workload.read_frac - 0.3).abs() < 0.01 && (workload.seq_frac - 0.6).abs() < 0.01);
    assert!((58 << 20..=64 << 20).contains(&workload.unique_bytes), "{}", workload.unique_bytes);
    assert!((workload.think_time_ns as f64 / 500_000.0 - 1.0).abs() < 0.01);
    assert!(found.goodness > 0.97, "{found:?}");
    assert_eq!(workload.validate(), Ok(()));
}

#[test]
fn what_is_no_such_workload_is_told() {
    // Reads and writes alternate, and sizes are far from all of the distributions.
    let op = |i: u64| if i.is_multiple_of(2) { Op::Read } else { Op::Write };
    let len = |i: u64| if i.is_multiple_of(10) { 1 << 20 } else { 4096 };
    let rows: Vec<Io> = (0..5000).map(|i| io(i, op(i), mix(i) % 1000 * 4096, len(i))).collect();
    let found = of(&rows);
    // All of 5000 neighbours differ where half should: 0.5 minus the 0.014 that chance explains.
    assert!(found.goodness < 0.6, "{found:?}");
    assert!((found.mix_distance - 0.486).abs() < 0.001, "{found:?}");
}
