//! The choice among few waiting requests, by a linear search.

use super::course::{Course, Scheduler, Waiting};
use crate::disk::Disk;
use std::collections::VecDeque;

/// Takes the next of the waiting requests, which are in order of arrival.
#[inline]
pub(super) fn take(
    waiting: &mut VecDeque<Waiting>,
    course: &mut Course,
    now_ns: u64,
    disk: &Disk<'_>,
) -> Option<Waiting> {
    let next = match waiting.len() {
        0 => return None,
        1 if !course.turns() => 0,
        _ => choose(waiting, course, now_ns, disk)?,
    };
    waiting.remove(next)
}

fn choose(
    waiting: &VecDeque<Waiting>,
    course: &mut Course,
    now_ns: u64,
    disk: &Disk<'_>,
) -> Option<usize> {
    let head = course.head;
    match course.scheduler {
        Scheduler::Fcfs => Some(0),
        Scheduler::CScan | Scheduler::CLook => {
            least(waiting, |w| (w.command.block < head, w.command.block))
        }
        Scheduler::Scan | Scheduler::Look => {
            let ahead = |w: &Waiting, rising| (w.command.block >= head) == rising;
            if !waiting.iter().any(|w| ahead(w, course.rising)) {
                course.rising = !course.rising;
            }
            let rising = course.rising;
            least(waiting, |w| (!ahead(w, rising), w.command.block.abs_diff(head)))
        }
        Scheduler::Sstf => least(waiting, |w| w.command.block.abs_diff(head)),
        Scheduler::Satf | Scheduler::AgedSatf => {
            let outlook = disk.outlook(now_ns);
            least(waiting, |w| course.cost_ns(w, &outlook))
        }
    }
}

/// The index of the earliest request with the least key.
fn least<K: Ord>(waiting: &VecDeque<Waiting>, key: impl Fn(&Waiting) -> K) -> Option<usize> {
    (0..waiting.len()).min_by_key(|&at| key(&waiting[at]))
}
