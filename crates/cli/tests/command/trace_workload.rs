//! The workload that a trace of known requests is found to be.

use ioscape_schema::{Io, Op, Request, SizeDistribution, TraceInfo, TraceTraits};
use ioscape_trace::analyze::mix::mix;
use ioscape_trace::characterize::Characterizer;
use ioscape_workload::characterize::fit;

fn io(index: u64, op: Op, offset: u64, len: u32) -> Io {
    let queued_ns = index * 1_000_000;
    let completed_ns = queued_ns + 500_000;
    Io {
        request: Request { op, offset, len },
        queued_ns,
        issued_ns: queued_ns,
        completed_ns,
        ..Io::default()
    }
}

/// Independent draws: 30 % reads, 60 % sequential, 8 KiB each, over 64 MiB.
fn model(count: u64) -> Vec<Io> {
    let mut end = 0;
    let row = |i: u64| {
        let op = if mix(i) % 10 < 3 { Op::Read } else { Op::Write };
        let follows = mix(i + (1 << 40)) % 10 < 6 && end < 64 << 20;
        let offset = if follows { end } else { mix(i + (1 << 41)) % 8192 * 8192 };
        end = offset + 8192;
        io(i, op, offset, 8192)
    };
    (0..count).map(row).collect()
}

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
    // Reads and writes take turns, and sizes are far from any of the distributions.
    let op = |i: u64| if i.is_multiple_of(2) { Op::Read } else { Op::Write };
    let len = |i: u64| if i.is_multiple_of(10) { 1 << 20 } else { 4096 };
    let rows: Vec<Io> = (0..5000).map(|i| io(i, op(i), mix(i) % 1000 * 4096, len(i))).collect();
    let found = of(&rows);
    // All of 5000 neighbours differ where half should: 0.5 less the 0.014 that chance explains.
    assert!(found.goodness < 0.6, "{found:?}");
    assert!((found.mix_distance - 0.486).abs() < 0.001, "{found:?}");
}
