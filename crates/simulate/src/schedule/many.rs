//! The choice among many waiting requests without a linear search: they are indexed by block and by
//! age.

use super::course::{Course, Scheduler, Waiting};
use crate::disk::{Disk, Outlook};
use crate::outward::Outward;
use std::collections::BTreeMap;

/// A request's key: its first block and its sequence number.
type Place = (u64, u64);

/// Waiting requests, indexed by block and by age.
#[derive(Clone, Debug, Default)]
pub(super) struct Many {
    by_block: BTreeMap<Place, Waiting>,
    /// First blocks by arrival time and sequence number.
    by_age: BTreeMap<(u64, u64), u64>,
    pushed: u64,
}

impl Many {
    pub(super) fn len(&self) -> usize {
        self.by_block.len()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.by_block.is_empty()
    }

    pub(super) fn push(&mut self, waiting: Waiting) {
        let (block, number) = (waiting.command.block, self.pushed);
        self.by_block.insert((block, number), waiting);
        self.by_age.insert((waiting.arrival_ns, number), block);
        self.pushed += 1;
    }

    /// Takes the next request.
    pub(super) fn take(
        &mut self,
        course: &mut Course,
        now_ns: u64,
        disk: &Disk<'_>,
    ) -> Option<Waiting> {
        let place = match self.len() {
            1 if !course.turns() => self.rising_from(0)?,
            _ => self.choose(course, now_ns, disk)?,
        };
        let chosen = self.by_block.remove(&place)?;
        self.by_age.remove(&(chosen.arrival_ns, place.1));
        Some(chosen)
    }

    fn choose(&self, course: &mut Course, now_ns: u64, disk: &Disk<'_>) -> Option<Place> {
        let head = course.head;
        match course.scheduler {
            Scheduler::Fcfs => {
                self.by_age.iter().next().map(|(&(_, number), &block)| (block, number))
            }
            Scheduler::CScan | Scheduler::CLook => {
                self.rising_from(head).or_else(|| self.rising_from(0))
            }
            Scheduler::Scan | Scheduler::Look => {
                let sides = [self.falling_from(head), self.rising_from(head)];
                if sides[usize::from(course.rising)].is_none() {
                    course.rising = !course.rising;
                }
                sides[usize::from(course.rising)]
            }
            Scheduler::Sstf => {
                let sides = [self.falling_from(head), self.rising_from(head)];
                let far = |&(block, number): &Place| (block.abs_diff(head), number);
                sides.into_iter().flatten().min_by_key(far)
            }
            Scheduler::Satf | Scheduler::AgedSatf => self.shortest(course, &disk.outlook(now_ns)),
        }
    }

    /// The earliest request at the nearest block at or above `head`.
    fn rising_from(&self, head: u64) -> Option<Place> {
        self.by_block.range((head, 0)..).next().map(|(&place, _)| place)
    }

    /// The earliest request at the nearest block below `head`.
    fn falling_from(&self, head: u64) -> Option<Place> {
        let (&(block, _), _) = self.by_block.range(..(head, 0)).next_back()?;
        self.rising_from(block)
    }

    /// Finds the shortest access, less the credit for waiting. It alternates between two searches,
    /// one outwards from the arm and one from the oldest request on. It stops when either search
    /// can find nothing cheaper: farther requests because of their seek alone, younger ones for
    /// lack of credit. Reads that need no medium come first, since they cost nothing wherever the
    /// arm is.
    fn shortest(&self, course: &Course, outlook: &Outlook<'_>) -> Option<Place> {
        let from = outlook.first_block_at_arm();
        let start = (from.unwrap_or(0), 0);
        let (above, below) = (self.by_block.range(start..), self.by_block.range(..start).rev());
        let mut outward = Outward::new(above, below);
        let mut ages = self.by_age.iter();
        let most_credit_ns = course.credit_ns(self.by_age.first_key_value()?.0.0, outlook.now_ns);
        let mut best = (i64::MAX, u64::MAX, 0);
        let mut cheaper = |waiting: &Waiting, number: u64| {
            best = best.min((course.cost_ns(waiting, outlook), number, waiting.command.block));
            best.0
        };
        let mut bound_ns = i64::MAX;
        for [first, last] in outlook.at_hand() {
            for (&(_, number), waiting) in self.by_block.range((first, 0)..=(last, u64::MAX)) {
                bound_ns = cheaper(waiting, number);
            }
        }
        loop {
            let near = outward.step(|(_, waiting)| {
                from.is_some()
                    && outlook.seek_at_least_ns(&waiting.command) as i64 - most_credit_ns > bound_ns
            });
            let Some((&(_, number), waiting)) = near else { break };
            bound_ns = cheaper(waiting, number);
            if course.scheduler == Scheduler::AgedSatf {
                let Some((&(arrival_ns, number), &block)) = ages.next() else { break };
                if -course.credit_ns(arrival_ns, outlook.now_ns) > bound_ns {
                    break;
                }
                bound_ns = cheaper(self.by_block.get(&(block, number))?, number);
            }
        }
        Some((best.2, best.1))
    }
}
