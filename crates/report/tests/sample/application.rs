//! A realistic characterization: a sort that merges two temporary files, with names to be escaped.

use super::{HOSTILE, document};
use ioscape_schema::{
    Access, Characterization, Document, Ending, FileKind, FileTraits, ProcessTraits,
    SizeDistribution, TracingCost, Traits, Warning, WarningKind,
};

fn traits(requests: u64, size: u64, read_frac: f64) -> Traits {
    Traits {
        unique_bytes: requests * size / 2,
        size_mean: size,
        size_distribution: SizeDistribution::Fixed,
        align_bytes: None,
        read_frac,
        read_bytes_frac: read_frac,
        seq_frac: 0.998,
        process_num: 1,
        think_time_ns: 8_450,
        access: Access::Buffered,
        goodness: 0.71,
        size_distance: 0.29,
        run_distance: 0.1,
        mix_distance: 0.2,
        change_frac: None,
        strict_seq_frac: 0.3,
        requests,
        bytes: requests * size,
        syncs: 2,
        response_time_ns: 231_000.0,
        sync_time_ns: 12e6,
        active_s: 31.0,
    }
}

fn file(path: &str, requests: u64, read_frac: f64) -> FileTraits {
    let (path, kind) = (path.to_owned(), FileKind::Regular);
    FileTraits { path, kind, opens: 1, mapped_bytes: 0, traits: traits(requests, 4096, read_frac) }
}

/// The result of `ioscape characterize` of a sort.
pub fn characterized() -> Document {
    let process = |tid, command: &str| ProcessTraits {
        pid: 17_714,
        tid,
        command: command.to_owned(),
        traits: traits(40_000, 4096, 0.2),
    };
    let found = Characterization {
        overall: traits(90_000, 6_677, 0.185),
        files: vec![
            file("/data/in", 40_000, 1.0),
            file("/data/a/path/that/is/much/longer/than/a/table/has/room/for/out", 38_000, 0.0),
            file(HOSTILE, 12_000, 0.5),
        ],
        processes: vec![process(17_714, "sort"), process(17_737, HOSTILE)],
        files_left_out: 3,
        processes_left_out: 0,
        command: ["sort", "-o", "out", "my file"].map(str::to_owned).to_vec(),
        ending: Some(Ending::Exit(0)),
        elapsed_s: 31.4,
        throughput_bytes_per_s: 19.1e6,
        below: Some("/data".to_owned()),
        memory_limit_bytes: Some(64 << 20),
        calls_traced: 95_932,
        elsewhere: [("pipe".to_owned(), 12)].into(),
        unplaced_faults: 0,
        mapped_unseen_bytes: 0,
        tracing: TracingCost { in_call_ns: 7_770, between_calls_ns: 7_590 },
        pattern: None,
        phases: Vec::new(),
    };
    let mut document = document();
    document.warn(Warning::new(WarningKind::CallsUnseen, "20 MiB of files were mapped"));
    document.outcome = Some(found.into());
    document
}
