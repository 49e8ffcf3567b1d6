//! However a trace is cut into parts, the result equals that of the whole.

use super::*;
use ioscape_schema::chance::mix;
use ioscape_schema::{IoFlags, IoType, Op, Request, WarningKind};
use proptest::prelude::*;

/// Rows of two disks and three processes with overlapping requests, in order of arrival.
pub(super) fn rows() -> impl Strategy<Value = Vec<Io>> {
    let one = (
        (0u64..40_000_000_000, 0u32..12, 0u64..2_000_000, 0u64..3_000_000_000),
        (0u16..2, 0u16..3, 0u32..3, any::<bool>()),
        (0u64..200, 0u32..5, 0usize..9, 0u32..4),
    );
    prop::collection::vec(one, 0..120).prop_map(|all| {
        let mut time = 0;
        let row = |((gap, shift, wait, work), (device, partition, process, read), at)| {
            time += gap >> shift;
            let (block, kib, io_type, flags): (u64, u32, usize, u32) = at;
            Io {
                request: Request {
                    op: if read { Op::Read } else { Op::Write },
                    offset: block * 4096,
                    len: kib * 3072,
                },
                process,
                queued_ns: time,
                issued_ns: time + wait,
                completed_ns: time + wait + work,
                device,
                partition,
                queue_length: kib,
                flags: IoFlags::from_bits_truncate(flags),
                io_type: IoType::ALL[io_type],
                ..Io::default()
            }
        };
        all.into_iter().map(row).collect()
    })
}

fn of(rows: &[Io]) -> Analysis {
    let mut analysis =
        Analysis::new(&AnalysisOptions { origin_ns: 3_000_000_007, ..AnalysisOptions::default() });
    analysis.update(rows);
    analysis
}

fn part(rows: &[Io]) -> Analysis {
    let mut analysis =
        Analysis::part(&AnalysisOptions { origin_ns: 3_000_000_007, ..AnalysisOptions::default() });
    analysis.update(rows);
    analysis
}

fn finished(analysis: &Analysis) -> TraceSummary {
    analysis.finish("t", &TraceInfo::default())
}

proptest! {
    #[test]
    fn any_cut_gives_the_whole(rows in rows(), cuts in (0usize..120, 0usize..120)) {
        let near = cuts.0.min(cuts.1).min(rows.len());
        let far = cuts.0.max(cuts.1).min(rows.len());
        let whole = finished(&of(&rows));
        let mut left = of(&rows[..near]);
        left.merge(part(&rows[near..far]));
        left.merge(part(&rows[far..]));
        prop_assert_eq!(&finished(&left), &whole);
        let mut right = part(&rows[near..far]);
        right.merge(part(&rows[far..]));
        let mut first = of(&rows[..near]);
        first.merge(right);
        prop_assert_eq!(&finished(&first), &whole);
    }
}

/// The result of taking in rows one by one.
fn one_by_one(rows: &[Io]) -> TraceSummary {
    let mut analysis = of(&[]);
    rows.iter().for_each(|io| analysis.gather(std::slice::from_ref(io)));
    analysis.settle();
    finished(&analysis)
}

proptest! {
    #[test]
    fn rows_taken_in_together_count_as_one_by_one(rows in rows(), cut in 0usize..120) {
        let (early, late) = rows.split_at(cut.min(rows.len()));
        let mut analysis = of(early);
        analysis.update(late);
        prop_assert_eq!(finished(&analysis), one_by_one(&rows));
    }
}

/// A summary without the figures that its warning about queues names.
fn without_queues(summary: &TraceSummary) -> serde_json::Value {
    let mut json = serde_json::to_value(summary).expect("JSON");
    let is_other = |one: &serde_json::Value| !one.to_string().contains("keeps for its merge");
    let warnings = json.get_mut("warnings").and_then(serde_json::Value::as_array_mut);
    warnings.into_iter().for_each(|all| all.retain(is_other));
    let none = json["warnings"].as_array().is_none_or(Vec::is_empty);
    json.as_object_mut().expect("an object").retain(|key, _| key != "warnings" || !none);
    for key in super::doubts::OF_QUEUES.split(", ") {
        json["disks"][0].as_object_mut().expect("a disk").remove(key);
    }
    json
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    /// Ten thousand requests to the first disk, some of which are in flight for up to twelve
    /// thousand arrivals.
    #[test]
    fn a_cut_inside_a_burst_changes_no_figure_but_those_it_names(
        cut in 500usize..9500,
        long in 1u64..12_000,
        every in 1u64..50,
    ) {
        let row = |at: u64| {
            let (queued_ns, slow) = (at * 1000, at.is_multiple_of(every));
            let took = if slow { long * 1000 } else { 700 };
            let device = u16::from(at % 20 == 7);
            let completed_ns = queued_ns + took * u64::from(device == 0) + 500;
            Io { queued_ns, issued_ns: queued_ns, completed_ns, device, ..Io::default() }
        };
        let rows: Vec<Io> = (0..10_000).map(row).collect();
        let whole = finished(&of(&rows));
        let mut merged = of(&rows[..cut]);
        merged.merge(part(&rows[cut..]));
        let found = finished(&merged);
        let told = found.warnings.iter().find(|one| one.message.contains("keeps for its merge"));
        match told {
            None => prop_assert_eq!(&found, &whole),
            Some(told) => {
                prop_assert!(told.message.contains("requests to disk 0 were"), "{}", told.message);
                let most: f64 = told.message.split(' ').next().and_then(|word| word.parse().ok()).expect("a number");
                let [found, whole] = [&found, &whole].map(|one| one.disks[0].queue_length.mean);
                prop_assert!(found <= whole && whole <= found + most, "{found} {whole} {most}");
            }
        }
        prop_assert_eq!(without_queues(&found), without_queues(&whole));
    }
}

/// More arrivals than a part keeps, so that its own counts are used.
#[test]
fn long_parts_give_the_whole_too() {
    let row = |i: u64| {
        let x = mix(i);
        let queued_ns = i * 1_000_000 + x % 900_000;
        Io {
            request: Request {
                op: if x & 4096 == 0 { Op::Read } else { Op::Write },
                offset: (x >> 20) % 5000 * 4096,
                len: 4096 + (x as u32 & 3) * 4096,
            },
            queued_ns,
            issued_ns: queued_ns + 100,
            completed_ns: queued_ns + x % 9_000_000,
            device: (x >> 60 & 1) as u16,
            queue_length: 1,
            process: (x >> 50 & 3) as u32,
            flags: IoFlags::SYNC,
            ..Io::default()
        }
    };
    let rows: Vec<Io> = (0..60_000).map(row).collect();
    let whole = finished(&of(&rows));
    assert_eq!(whole, one_by_one(&rows));
    let mut merged = of(&rows[..20_000]);
    merged.merge(part(&rows[20_000..41_000]));
    merged.merge(part(&rows[41_000..]));
    assert_eq!(finished(&merged), whole);
    let mut kinds = whole.warnings.iter().map(|warning| warning.kind);
    assert!(kinds.all(|kind| kind == WarningKind::TypesUnknown), "{:?}", whole.warnings);
}

#[test]
fn nothing_and_the_extremes_are_analysed() {
    assert_eq!(finished(&of(&[])).ios, 0);
    let worst = Io {
        request: Request { op: Op::Write, offset: u64::MAX, len: u32::MAX },
        process: u32::MAX,
        queued_ns: u64::MAX,
        device: u16::MAX,
        partition: u16::MAX,
        queue_length: u32::MAX,
        command: u32::MAX,
        flags: IoFlags::all(),
        ..Io::default()
    };
    let plain = Io { flags: IoFlags::empty(), device: 3, ..worst };
    let found = finished(&of(&[Io::default(), worst, plain, plain, Io { queued_ns: 0, ..plain }]));
    assert_eq!((found.ios, found.disks.len()), (5, 3));
    assert!(!found.warnings.is_empty());
}

/// One request on each of 3000 devices, then many on the last: like a trace of volumes whose
/// busiest comes late.
#[test]
fn the_busiest_disks_are_listed_however_many_there_are() {
    let row = |(at, device): (u64, u16)| Io { device, queued_ns: at * 1000, ..Io::default() };
    let devices = (0..3000).chain(std::iter::repeat_n(2999, 100));
    let rows: Vec<Io> = (0..).zip(devices).map(row).collect();
    let found = finished(&of(&rows));
    assert_eq!(found.disks.len(), 1024);
    let last = found.disks.last().expect("the busiest is listed");
    assert_eq!((last.device, last.load.ios), (2999, 101));
    assert!(found.warnings.iter().any(|doubt| doubt.message.starts_with("1976 disks")));
    let mut merged = of(&rows[..1500]);
    merged.merge(part(&rows[1500..3020]));
    merged.merge(part(&rows[3020..]));
    assert_eq!(finished(&merged), found);
}

#[test]
fn times_that_are_not_told_are_absent() {
    let row = |at: u64| Io {
        queued_ns: at * 1000,
        issued_ns: at * 1000,
        completed_ns: at * 1000,
        process: 7,
        ..Io::default()
    };
    let mut found = finished(&of(&(0..100).map(row).collect::<Vec<_>>()));
    assert_eq!(found.warnings.remove(0).kind, ioscape_schema::WarningKind::TimesUnknown);
    let text = serde_json::to_string(&found).expect("a result");
    for key in ["response_times", "queue_length", "idle", "in_flight", "elapsed", "latency_map\":{"]
    {
        assert!(!text.contains(&format!("\"{key}")), "{key} in {text}");
    }
    assert_eq!(serde_json::from_str::<TraceSummary>(&text).expect("it is read back"), found);
}
