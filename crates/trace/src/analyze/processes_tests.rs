//! The busiest processes are followed, and what the list lacks is bounded.

use super::*;
use crate::analyze::uses::Uses;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn size() -> BlockSize {
    BlockSize::of(8192)
}

/// Memory for about a dozen processes.
const LITTLE: usize = 12 * (EACH_BYTES + 8);

fn io(at: u64, process: u32) -> Io {
    let mut io = Io { queued_ns: at, process, ..Io::default() };
    (io.request.offset, io.request.len) = (at % 50 * 8192, 8192);
    io
}

fn of(most_bytes: usize, rows: &[Io]) -> Processes {
    let mut found = Processes::within(size(), most_bytes);
    rows.iter().for_each(|io| found.update(io, 0));
    found
}

fn true_loads(rows: &[Io]) -> BTreeMap<u32, u64> {
    let mut loads = BTreeMap::new();
    rows.iter().for_each(|io| *loads.entry(io.process).or_default() += 1);
    loads
}

/// Checks that no process has more requests than reported, nor fewer than `lacking` explains.
fn is_within_its_bounds(found: &Processes, rows: &[Io]) -> Result<(), TestCaseError> {
    let lacking = found.lacking();
    let listed: BTreeMap<u32, u64> =
        found.finish(&TraceInfo::default()).iter().map(|one| (one.process, one.load.ios)).collect();
    for (process, ios) in true_loads(rows) {
        match listed.get(&process) {
            Some(&told) => {
                prop_assert!(
                    told <= ios && ios <= told + lacking.listed_most,
                    "{process}: {told} of {ios}, {lacking:?}"
                );
            }
            None => prop_assert!(ios <= lacking.unlisted_most, "{process}: {ios}, {lacking:?}"),
        }
    }
    let counted: u64 = found.seen.iter().map(|(_, one)| one.load.ios).sum();
    prop_assert_eq!(counted + found.given_up, rows.len() as u64);
    let each = |(_, one): &(u32, Process)| EACH_BYTES + one.blocks.bytes();
    prop_assert_eq!(found.bytes, found.seen.iter().map(each).sum::<usize>());
    Ok(())
}

proptest! {
    #[test]
    fn what_is_lacking_is_bounded_however_parts_are_cut(
        processes in prop::collection::vec((1u32..60, 0u32..3), 1..400),
        cuts in (0usize..400, 0usize..400),
    ) {
        // Not 0: a source in which every process is 0 records none, and none is listed.
        let rows = (0..).zip(processes).map(|(at, (process, rare))| io(at, 1 + (process >> (2 * rare))));
        let rows: Vec<Io> = rows.collect();
        is_within_its_bounds(&of(LITTLE, &rows), &rows)?;
        let (near, far) = (cuts.0.min(cuts.1).min(rows.len()), cuts.0.max(cuts.1).min(rows.len()));
        let [a, b, c] = [&rows[..near], &rows[near..far], &rows[far..]].map(|rows| of(LITTLE, rows));
        let (mut left, mut right) = (a.clone(), b.clone());
        left.merge(b);
        left.merge(c.clone());
        is_within_its_bounds(&left, &rows)?;
        right.merge(c);
        let mut whole = a;
        whole.merge(right);
        is_within_its_bounds(&whole, &rows)?;
    }
}

proptest! {
    /// With room for all processes, and with little: the same ones must be given up.
    #[test]
    fn requests_taken_in_together_count_as_one_by_one(
        processes in prop::collection::vec((1u32..60, 0u32..3), 1..400),
        together in 1usize..300,
        is_little in any::<bool>(),
    ) {
        let rows = (0..).zip(processes).map(|(at, (process, rare))| io(at, 1 + (process >> (2 * rare))));
        let rows: Vec<Io> = rows.collect();
        let most_bytes = if is_little { LITTLE } else { MOST_BYTES };
        let (mut found, names) = (Processes::within(size(), most_bytes), DeviceNames::default());
        for rows in rows.chunks(together) {
            Uses::default().each(rows, size(), &names, |ios, uses| found.update_all(ios, uses, &names));
        }
        let mut expected = Processes::within(size(), most_bytes);
        rows.iter().for_each(|io| expected.update(io, names.hash(io.device)));
        prop_assert_eq!(format!("{:?}", found.seen), format!("{:?}", expected.seen));
        prop_assert_eq!((found.bytes, found.lacking()), (expected.bytes, expected.lacking()));
    }
}

#[test]
fn a_source_that_tells_no_process_lists_none() {
    assert_eq!(of(LITTLE, &[io(0, 0), io(1, 0)]).finish(&TraceInfo::default()), []);
}

/// Ten thousand processes that issue one request each, and then the busiest.
#[test]
fn the_busiest_are_followed_however_many_there_are() {
    let rows: Vec<Io> = (0..)
        .zip((1..=10_000).chain(std::iter::repeat_n(77_777, 50)))
        .map(|(at, process)| io(at, process))
        .collect();
    let all = of(MOST_BYTES, &rows);
    let first = |found: &Processes| {
        let one = found.finish(&TraceInfo::default()).swap_remove(0);
        (one.process, one.load.ios)
    };
    assert_eq!((first(&all), all.lacking()), ((77_777, 50), Lacking::default()));
    let mut merged = of(MOST_BYTES, &rows[..6000]);
    merged.merge(of(MOST_BYTES, &rows[6000..]));
    assert_eq!(merged.finish(&TraceInfo::default()), all.finish(&TraceInfo::default()));
    let few = of(100 * EACH_BYTES, &rows);
    assert!(few.seen.len() < 150 && few.bytes <= 101 * EACH_BYTES, "{}", few.bytes);
    let lacking = few.lacking();
    assert_eq!(first(&few), (77_777, 50));
    assert!(
        lacking.unlisted_most <= 200 && lacking.listed_most <= 200 && lacking.ios > 9000,
        "{lacking:?}"
    );
}
