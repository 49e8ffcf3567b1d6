//! Any trace, any cuts, any order: the parts give the result of the whole.

use super::*;
use crate::analyze::AnalysisOptions;
use crate::analyze::tests::rows;
use ioscape_schema::chance::mix;
use ioscape_schema::{Device, Io, TraceInfo, TraceSummary};
use proptest::prelude::*;

fn info(devices: &[&str]) -> TraceInfo {
    let device = |name: &&str| Device { name: (*name).to_owned(), ..Device::default() };
    TraceInfo { devices: devices.iter().map(device).collect(), ..TraceInfo::default() }
}

fn part(rows: &[Io], info: &TraceInfo, origin_ns: u64) -> Part {
    let options = AnalysisOptions { origin_ns, ..AnalysisOptions::default() };
    let mut analysis = Analysis::part(&options);
    analysis.name_devices(&info.devices);
    analysis.update(rows);
    let header = Header::of(&analysis, "t", info, TraceClock::Unix, &Asked::default());
    Part { header, analysis }
}

fn bytes(part: &Part) -> Vec<u8> {
    let mut bytes = Vec::new();
    part.write(&mut bytes).expect("memory takes it");
    bytes
}

fn merged(states: &[Vec<u8>]) -> Result<TraceSummary, String> {
    let header = |(at, bytes): (usize, &Vec<u8>)| {
        (format!("part {at}"), Header::read(bytes).expect("it was written whole"))
    };
    let headers: Vec<(String, Header)> = states.iter().enumerate().map(header).collect();
    let mut merge = Merge::new(&headers)?;
    for at in merge.order().to_vec() {
        merge.add(Part::read(&states[at]).expect("it was written whole"));
    }
    Ok(merge.finish())
}

fn whole(rows: &[Io], info: &TraceInfo, origin_ns: u64) -> TraceSummary {
    let options = AnalysisOptions { origin_ns, ..AnalysisOptions::default() };
    let mut analysis = Analysis::new(&options);
    analysis.name_devices(&info.devices);
    analysis.update(rows);
    analysis.finish("t", info)
}

fn json(summary: &TraceSummary) -> String {
    serde_json::to_string(summary).expect("a summary is JSON")
}

/// Whether a gap is reported depends on the cuts.
fn without_gaps(mut summary: TraceSummary) -> TraceSummary {
    summary.warnings.retain(|warning| !warning.message.starts_with("between "));
    summary
}

/// Fields are written without names, so adding or removing one changes how all later ones are read:
/// any such change raises the format's number. So does a change of a field's meaning or type, which
/// this test misses: it checks only the outermost fields.
#[test]
fn the_first_line_numbers_the_fields_that_are_written() {
    let Analysis {
        options: _,
        names: _,
        on_the_clock: _,
        span: _,
        interleaved: _,
        disks: _,
        partitions: _,
        response_time: _,
        inter_arrival: _,
        types: _,
        alignment: _,
        rates: _,
        latency: _,
        arrivals: _,
        blocks: _,
        distances: _,
        processes: _,
        absorbed: _,
    } = Analysis::part(&AnalysisOptions::default());
    assert_eq!(MAGIC, b"ioscape-state 6\n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_cuts_in_time_in_any_order_give_the_whole(
        rows in rows(),
        cuts in prop::collection::vec(0usize..120, 0..5),
        origin_ns in prop::sample::select(vec![0, 1_700_000_000_123_456_789]),
        seed in any::<u64>(),
    ) {
        let info = info(&["sda", "sdb"]);
        let mut cuts: Vec<usize> = cuts.iter().map(|&cut| cut.min(rows.len())).collect();
        cuts.extend([0, rows.len()]);
        cuts.sort_unstable();
        let states = cuts.windows(2).map(|cut| bytes(&part(&rows[cut[0]..cut[1]], &info, origin_ns)));
        let mut states: Vec<(u64, Vec<u8>)> = (0..).zip(states).map(|(at, state)| (mix(seed ^ at), state)).collect();
        states.sort_unstable();
        let states: Vec<Vec<u8>> = states.into_iter().map(|state| state.1).collect();
        let found = without_gaps(merged(&states).map_err(TestCaseError::fail)?);
        prop_assert_eq!(json(&found), json(&whole(&rows, &info, origin_ns)));
    }

    /// Each part is a file of its own: it numbers its disks as they appear, and counts time from
    /// its first request.
    #[test]
    fn parts_with_tables_and_beginnings_of_their_own_give_the_whole(
        rows in rows(),
        cut in 0usize..120,
        backwards in any::<bool>(),
    ) {
        let origin_ns = 1_700_000_000_123_456_789;
        let begin_ns = rows.first().map_or(0, |io| io.queued_ns);
        let (rows, info) = numbered(&rows, begin_ns);
        let cut = cut.min(rows.len());
        let mut states: Vec<Vec<u8>> = [&rows[..cut], &rows[cut..]].iter().map(|rows| {
            let begin_ns = rows.first().map_or(0, |io| io.queued_ns);
            let (own, info) = numbered_of(rows, begin_ns, &info);
            bytes(&part(&own, &info, origin_ns + begin_ns))
        }).collect();
        if backwards {
            states.reverse();
        }
        let found = without_gaps(merged(&states).map_err(TestCaseError::fail)?);
        let mut expected = whole(&rows, &info, origin_ns);
        expected.info = found.info.clone();
        prop_assert_eq!(json(&found), json(&expected));
        let names = |info: &TraceInfo| info.devices.iter().map(|d| d.name.clone()).collect::<Vec<_>>();
        prop_assert_eq!(names(&found.info), names(&info));
    }

    #[test]
    fn parts_by_disk_give_the_whole_but_for_what_needs_the_order_of_all(rows in rows(), cut in 0usize..120) {
        let info = info(&["sda", "sdb"]);
        let of = |device: u16, rows: &[Io]| -> Vec<Io> {
            rows.iter().filter(|io| io.device == device).copied().collect()
        };
        let cut = cut.min(rows.len());
        let mut states: Vec<Vec<u8>> = Vec::new();
        for device in [1, 0] {
            for rows in [&rows[cut..], &rows[..cut]] {
                states.push(bytes(&part(&of(device, rows), &info, 5)));
            }
        }
        let found = match merged(&states) {
            Ok(found) => without_gaps(found),
            Err(refusal) => {
                prop_assert!(refusal.contains("at another time"), "{}", refusal);
                return Ok(());
            }
        };
        let mut expected = whole(&rows, &info, 5);
        if found.warnings != expected.warnings {
            prop_assert!(found.warnings.iter().any(|w| w.message.contains("order of all requests")));
            expected.warnings.clone_from(&found.warnings);
            expected.inter_arrival_ns = found.inter_arrival_ns.clone();
            expected.burstiness = found.burstiness.clone();
            expected.miss_ratio = found.miss_ratio.clone();
        }
        prop_assert_eq!(json(&found), json(&expected));
    }

    #[test]
    fn a_damaged_state_is_refused(rows in rows(), at in any::<prop::sample::Index>(), bit in 0u8..8, cut in any::<bool>()) {
        let mut state = bytes(&part(&rows, &info(&["sda", "sdb"]), 0));
        let at = at.index(state.len());
        if cut {
            state.truncate(at);
        } else {
            state[at] ^= 1 << bit;
        }
        prop_assert!(Part::read(&state).is_err() && Header::read(&state).is_err());
    }
}

/// The rows with devices numbered by their first requests, and times counted from `begin_ns`.
fn numbered(rows: &[Io], begin_ns: u64) -> (Vec<Io>, TraceInfo) {
    numbered_of(rows, begin_ns, &info(&["sda", "sdb"]))
}

fn numbered_of(rows: &[Io], begin_ns: u64, all: &TraceInfo) -> (Vec<Io>, TraceInfo) {
    let mut own = TraceInfo { started_unix_ns: Some(begin_ns as i64), ..TraceInfo::default() };
    let mut row = |io: &Io| {
        let device = &all.devices[usize::from(io.device)];
        let known = own.devices.iter().position(|known| known.name == device.name);
        let at = known.unwrap_or_else(|| {
            own.devices.push(device.clone());
            own.devices.len() - 1
        });
        Io {
            device: at as u16,
            queued_ns: io.queued_ns - begin_ns,
            issued_ns: io.issued_ns - begin_ns,
            completed_ns: io.completed_ns - begin_ns,
            ..*io
        }
    };
    let rows = rows.iter().map(&mut row).collect();
    (rows, own)
}

/// Requests to one disk, one every `step_ns`.
fn steady(from: u64, count: u64, step_ns: u64) -> Vec<Io> {
    (from..from + count).map(|i| Io { queued_ns: i * step_ns, ..Io::default() }).collect()
}

#[test]
fn what_overlaps_or_is_missing_is_named() {
    let info = info(&["sda"]);
    let state = |from, count| bytes(&part(&steady(from, count, 1_000_000_000), &info, 0));
    let refusal = merged(&[state(0, 10), state(5, 10)]).expect_err("five seconds are in both");
    assert!(refusal.contains("part 0 and part 1 both hold requests to sda between 5"), "{refusal}");
    let found = merged(&[state(20, 10), state(0, 10)]).expect("they are apart");
    let told =
        |found: &TraceSummary, text: &str| found.warnings.iter().any(|w| w.message.contains(text));
    assert!(told(&found, "between part 1 and part 0 11"), "{:?}", found.warnings);
    assert!(
        merged(&[state(0, 10), state(10, 10)]).is_ok_and(|found| !told(&found, "between part"))
    );
    let asked = |from, count, from_ns, to_ns| {
        let mut part = part(&steady(from, count, 1_000_000_000), &info, 0);
        part.header.asked = Asked { from_ns, to_ns };
        bytes(&part)
    };
    let (early, late) =
        (asked(0, 10, None, Some(10_000_000_000)), asked(10, 5, Some(10_000_000_000), None));
    assert!(merged(&[early.clone(), late]).is_ok_and(|found| !told(&found, "part 0")));
    let found = merged(&[early, asked(11, 5, Some(11_000_000_000), None)]).expect("they are apart");
    assert!(told(&found, "no part holds the time from 10"), "{:?}", found.warnings);
}

#[test]
fn parts_of_two_formats_share_no_clock_of_a_machine() {
    let state = |format: &str, from| {
        let info = TraceInfo { format: format.to_owned(), ..info(&["sda"]) };
        let mut part = part(&steady(from, 10, 1_000_000_000), &info, 0);
        part.header.clock = TraceClock::Machine;
        bytes(&part)
    };
    let (early, late) = (state("fiu", 0), state("fiu", 10));
    assert!(merged(&[early.clone(), late]).is_ok());
    let refusal = merged(&[early, state("trace-events", 10)]).expect_err("of two clocks");
    assert!(refusal.contains("count time from different beginnings"), "{refusal}");
}

#[test]
fn parts_of_two_formats_tell_what_both_do_in_any_order() {
    let state = |format: &str, from: u64, waited_ns: u64| {
        let info = TraceInfo { format: format.to_owned(), ..info(&["sda"]) };
        let mut rows = steady(from, 10, 1_000_000_000);
        for io in &mut rows {
            io.issued_ns = io.queued_ns + waited_ns;
            io.completed_ns = io.issued_ns + 1000;
        }
        bytes(&part(&rows, &info, 0))
    };
    let (msr, recorded) = (state("msr", 0, 0), state("recorded", 10, 500));
    let orders = [[msr.clone(), recorded.clone()], [recorded, msr]];
    let [one, other] = orders.map(|parts| without_gaps(merged(&parts).expect("they are apart")));
    assert_eq!(json(&one), json(&other));
    assert_eq!(one.info.format, "msr, recorded");
    assert!(one.response_times.all.physical_ns.is_empty());
    let said = one.warnings.iter().find(|doubt| doubt.message.contains("were issued"));
    assert!(said.expect("a doubt").message.contains("msr and recorded"), "{:?}", one.warnings);
}

#[test]
fn a_part_of_one_instant_that_is_given_twice_is_refused() {
    let info = info(&["sda"]);
    let state = |from| bytes(&part(&steady(from, 1, 1_000_000_000), &info, 0));
    let refusal = merged(&[state(3), state(5), state(3)]).expect_err("one of them is there twice");
    assert!(refusal.contains("part 0 and part 2 hold the same requests"), "{refusal}");
    assert_eq!(merged(&[state(3), state(5)]).map(|found| found.ios), Ok(2));
}

#[test]
fn parts_of_one_file_lost_once_what_each_of_them_reports() {
    let lossy = |device: &str, lost: u64| {
        let notes = [("requests without a completion".to_owned(), lost.to_string())].into();
        TraceInfo { lost_by_cpu: vec![0, lost], skipped: lost, notes, ..info(&[device]) }
    };
    let (one, other) = (lossy("sda", 3), lossy("sda", 10));
    let state = |from, info| bytes(&part(&steady(from, 10, 1_000_000_000), info, 0));
    let trio = [state(0, &one), state(10, &one), state(20, &other)];
    let found = merged(&trio).expect("they are apart").info;
    assert_eq!((found.skipped, found.lost_by_cpu), (13, vec![0, 13]));
    assert_eq!(found.notes["requests without a completion"], "13");
    assert_eq!(merged(&trio[..2]).expect("they are apart").info.skipped, 3);
}

#[test]
fn foreign_states_are_told_from_damaged_ones() {
    let error = |bytes: &[u8]| Part::read(bytes).expect_err("it is none").to_string();
    assert!(error(b"PAR1").contains("not the state"));
    assert!(error(b"").contains("not the state"));
    assert!(error(b"ioscape-state 99\n{}").contains("another version (99)"));
    assert!(error(MAGIC).contains("damaged"));
}
