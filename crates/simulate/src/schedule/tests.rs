//! Tests of the disciplines: their orders, and that the indexed choice agrees with the linear
//! search.

use super::*;
use crate::command::{Command, DiskOptions};
use proptest::prelude::*;

fn order(scheduler: Scheduler, head: u64, blocks: &[u64]) -> Vec<u64> {
    let drive = crate::testing::simple();
    let disk = Disk::new(&drive, DiskOptions::default());
    let mut queue = Queue::new(scheduler);
    queue.course.head = head;
    for (row, &block) in blocks.iter().enumerate() {
        queue.push(waiting(row, 0, block, false));
    }
    std::iter::from_fn(|| queue.pop(0, &disk).map(|w| w.command.block)).collect()
}

fn waiting(row: usize, arrival_ns: u64, block: u64, write: bool) -> Waiting {
    let command = Command { block, count: 1, write, synchronous: true };
    Waiting { row, arrival_ns, command }
}

#[test]
fn every_discipline_keeps_its_order() {
    let blocks = [500, 100, 900, 450, 520];
    assert_eq!(order(Scheduler::Fcfs, 480, &blocks), blocks);
    assert_eq!(order(Scheduler::CScan, 480, &blocks), [500, 520, 900, 100, 450]);
    assert_eq!(order(Scheduler::CLook, 480, &blocks), [500, 520, 900, 100, 450]);
    assert_eq!(order(Scheduler::Look, 480, &blocks), [500, 520, 900, 450, 100]);
    assert_eq!(order(Scheduler::Scan, 480, &blocks), [500, 520, 900, 450, 100]);
    assert_eq!(order(Scheduler::Sstf, 480, &blocks), [500, 520, 450, 100, 900]);
    for scheduler in [Scheduler::Satf, Scheduler::AgedSatf] {
        let mut all = order(scheduler, 480, &blocks);
        all.sort_unstable();
        assert_eq!(all, [100, 450, 500, 520, 900]);
    }
}

#[test]
fn a_request_that_waits_alone_turns_the_arm_as_any_other_does() {
    let drive = crate::testing::simple();
    let disk = Disk::new(&drive, DiskOptions::default());
    for scheduler in [Scheduler::Scan, Scheduler::Look] {
        let mut queue = Queue::new(scheduler);
        let mut next = |blocks: &[u64]| {
            blocks.iter().for_each(|&block| queue.push(waiting(0, 0, block, false)));
            queue.pop(0, &disk).map(|w| w.command.block)
        };
        assert_eq!([next(&[800]), next(&[400])], [Some(800), Some(400)]);
        assert_eq!(next(&[500, 100]), Some(100), "from 800 to 400 the arm goes down");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Requests arrive in bursts, many of them to the same places, while others are served.
    #[test]
    fn many_are_chosen_from_as_few_are(
        bursts in prop::collection::vec((0usize..60, 0usize..50, 0u64..400_000_000), 1..12),
        grain in prop::sample::select(vec![1u64, 150, 4000]),
        within in prop::sample::select(vec![300u64, 19_000]),
        read_ahead in any::<bool>(),
        seed in any::<u64>(),
    ) {
        for drive in crate::testing::unlike() {
            for (name, scheduler) in SCHEDULERS {
                let options = DiskOptions { read_ahead, ..DiskOptions::default() };
                let mut disk = Disk::new(&drive, options);
                let mut queue = Queue::new(scheduler);
                let (mut all, mut course) = (VecDeque::new(), queue.course);
                let (mut state, mut now_ns, mut rows) = (seed | 1, 0, 0);
                for &(pushes, pops, pause_ns) in &bursts {
                    for _ in 0..pushes {
                        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        let block = (state >> 33) % within / grain * grain;
                        let arrival_ns = now_ns - (state >> 40) % 3 * pause_ns.min(now_ns) / 3;
                        let next = waiting(rows, arrival_ns, block, state >> 63 == 1);
                        queue.push(next);
                        all.push_back(next);
                        rows += 1;
                    }
                    for _ in 0..pops {
                        let (next, known) = (queue.pop(now_ns, &disk), few::take(&mut all, &mut course, now_ns, &disk));
                        prop_assert_eq!(next.map(|w| w.row), known.map(|w| w.row), "{}", name);
                        prop_assert_eq!(queue.len(), all.len());
                        let Some(next) = next else { break };
                        course.head = next.command.block + next.command.count;
                        now_ns = disk.serve(now_ns, next.command).completed_ns;
                    }
                    now_ns += pause_ns;
                }
            }
        }
    }
}
