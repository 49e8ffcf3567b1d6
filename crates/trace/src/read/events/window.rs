//! Sorts events by time: holds back events of a stream in which several CPUs or devices alternate,
//! buffer by buffer.

use std::collections::VecDeque;

/// How many events are held back.
const WINDOW: usize = 1 << 16;

/// The sort key of an event: its time, number and CPU.
type Moment = (u64, u32, u32);

/// A window of events that are held back and sorted.
pub(crate) struct Window<T> {
    held: VecDeque<(Moment, T)>,
    /// Whether any of them came after a later one.
    is_mixed: bool,
    /// How many of the first events are in order and may leave.
    ready: usize,
    latest: Moment,
    late: u64,
}

impl<T> Default for Window<T> {
    fn default() -> Self {
        Self { held: VecDeque::new(), is_mixed: false, ready: 0, latest: (0, 0, 0), late: 0 }
    }
}

impl<T> Window<T> {
    /// Takes in the next event of a stream.
    pub fn push(&mut self, moment: Moment, event: T) {
        self.is_mixed |= self.held.back().is_some_and(|(last, _)| moment < *last);
        self.held.push_back((moment, event));
    }

    /// Returns the first event, unless an earlier one may still come; `at_end`, none can.
    pub fn pop(&mut self, at_end: bool) -> Option<T> {
        if self.ready == 0 {
            if !at_end && self.held.len() < 2 * WINDOW {
                return None;
            }
            if std::mem::take(&mut self.is_mixed) {
                self.held.make_contiguous().sort_by_key(|(moment, _)| *moment);
            }
            self.ready = self.held.len() - if at_end { 0 } else { WINDOW };
        }
        let (moment, event) = self.held.pop_front()?;
        self.ready -= 1;
        self.late += u64::from(moment < self.latest);
        self.latest = self.latest.max(moment);
        Some(event)
    }

    /// Returns how many events came too late for the window to sort them in.
    pub fn late(&self) -> u64 {
        self.late
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_one_behind_the_other_become_one_order() {
        let mut window = Window::default();
        for cpu in [1u32, 0] {
            (0..100u64).for_each(|at| window.push((10 * at + u64::from(cpu), 1, cpu), (at, cpu)));
        }
        assert!(window.pop(false).is_none(), "an earlier one may come");
        let order: Vec<(u64, u32)> = std::iter::from_fn(|| window.pop(true)).collect();
        assert!(order.is_sorted() && order.len() == 200, "{order:?}");
        assert_eq!(window.late(), 0);
    }

    #[test]
    fn what_comes_later_than_is_held_is_counted() {
        let mut window = Window::default();
        (0..2 * WINDOW as u64).for_each(|time| window.push((100 + time, 0, 0), ()));
        assert_eq!(std::iter::from_fn(|| window.pop(false)).count(), WINDOW);
        window.push((5, 0, 0), ());
        assert_eq!(std::iter::from_fn(|| window.pop(true)).count(), WINDOW + 1);
        assert_eq!(window.late(), 1);
    }
}
