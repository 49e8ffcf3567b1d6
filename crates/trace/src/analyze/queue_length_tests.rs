//! What a cut through requests in flight costs, and that the result reports it.

use super::*;
use proptest::prelude::*;

/// Arrivals that a part keeps in these tests.
const HEAD: usize = 8;

fn io(queued_ns: u64, took: u64) -> Io {
    Io { queued_ns, issued_ns: queued_ns, completed_ns: queued_ns + took, ..Io::default() }
}

fn of(rows: &[Io]) -> QueueLength {
    let mut found = QueueLength::new(HEAD);
    rows.iter().for_each(|io| found.update(io));
    found
}

fn summary(found: &QueueLength) -> DiskSummary {
    let mut summary = DiskSummary::default();
    found.finish(&mut summary, 0);
    summary
}

/// Requests, some of which are in flight for much longer than a part keeps arrivals.
fn rows() -> impl Strategy<Value = Vec<Io>> {
    let took = prop_oneof![8 => 1u64..5, 2 => 1u64..400];
    prop::collection::vec((0u64..4, took), 1..150).prop_map(|all| {
        let mut now = 10;
        let row = |(pause, took)| {
            now += pause;
            io(now, took)
        };
        all.into_iter().map(row).collect()
    })
}

proptest! {
    #[test]
    fn parts_give_the_whole_or_tell_by_how_much_not(rows in rows(), cuts in (0usize..150, 0usize..150)) {
        let (near, far) = (cuts.0.min(cuts.1).min(rows.len()), cuts.0.max(cuts.1).min(rows.len()));
        let whole = of(&rows);
        let mut merged = of(&rows[..near]);
        merged.merge(of(&rows[near..far]));
        merged.merge(of(&rows[far..]));
        let (found, expected, unseen) = (summary(&merged), summary(&whole), merged.unseen());
        if unseen == Unseen::default() {
            prop_assert_eq!(found, expected);
            return Ok(());
        }
        let (found, expected) = (&found.queue_length, &expected.queue_length);
        prop_assert_eq!(found.count, expected.count);
        prop_assert!(found.mean <= expected.mean && expected.mean <= found.mean + unseen.ios as f64);
        prop_assert!(found.max <= expected.max && expected.max <= found.max + unseen.ios as f64);
        let times = |of: &QueueLength| {
            let mut all = QueueLength::new(0);
            all.merge(of.clone());
            (all.idle.sum() as u64, all.busy_ns, all.elapsed_ns)
        };
        let (found, expected) = (times(&merged), times(&whole));
        prop_assert!(found.0 >= expected.0 && found.0 <= expected.0 + unseen.time_ns, "{found:?} {expected:?} {unseen:?}");
        prop_assert!(found.1 >= expected.1 && found.1 <= expected.1 + unseen.time_ns, "{found:?} {expected:?} {unseen:?}");
        prop_assert_eq!(found.2, expected.2);
    }
}

/// A request of the first part is in flight throughout; the third part's kept arrivals see it.
#[test]
fn what_the_part_between_did_not_see_is_not_forgotten() {
    let mut rows = vec![io(0, 1000)];
    rows.extend((1..60).map(|at| io(at * 10, 1)));
    let mut merged = of(&rows[..20]);
    merged.merge(of(&rows[20..50]));
    assert_eq!(merged.unseen(), Unseen { ios: 1, time_ns: 1000 - 270 });
    merged.merge(of(&rows[50..55]));
    let mut all = QueueLength::new(0);
    all.merge(merged);
    // The 22 arrivals of the second part after its head see only themselves.
    let alone = all.lengths[0].count_to(1);
    assert_eq!((all.lengths[0].count(), alone), (55, 1 + 22));
}
