//! Rows in the order of arrival: a window sorts what a source tells a little out of order.

use ioscape_schema::Io;

/// Rows that may come before an earlier one.
const WINDOW: usize = 1 << 16;

/// The window.
#[derive(Default)]
pub(crate) struct Order {
    waiting: Vec<Io>,
    /// Memory of rows that have left.
    spare: Vec<Io>,
    latest_ns: u64,
    /// Rows that came after one that arrived later, and were put in their place.
    pub moved: u64,
    /// Rows that came later than the window could mend.
    pub late: u64,
}

impl Order {
    /// Where new rows are appended.
    pub fn waiting(&mut self) -> &mut Vec<Io> {
        &mut self.waiting
    }

    /// Whether rows may leave.
    pub fn full(&self) -> bool {
        self.waiting.len() >= 2 * WINDOW
    }

    /// Moves rows that are in order to `out`, which is empty: all of them `at_end`, else all but the window.
    pub fn release(&mut self, out: &mut Vec<Io>, at_end: bool) {
        if !self.waiting.is_sorted_by_key(|io| io.queued_ns) {
            self.moved += backwards(&self.waiting);
            self.waiting.sort_by_key(|io| io.queued_ns);
        }
        let count = self.waiting.len() - if at_end { 0 } else { WINDOW.min(self.waiting.len()) };
        let late = self.waiting[..count].partition_point(|io| io.queued_ns < self.latest_ns);
        self.late += late as u64;
        if let Some(last) = count.checked_sub(1).and_then(|last| self.waiting.get(last)) {
            self.latest_ns = self.latest_ns.max(last.queued_ns);
        }
        // Each row is copied once, whether it stays or leaves.
        self.spare.clear();
        self.spare.extend_from_slice(&self.waiting[count..]);
        self.waiting.truncate(count);
        std::mem::swap(out, &mut self.waiting);
        std::mem::swap(&mut self.waiting, &mut self.spare);
    }
}

/// Rows that arrived before one above them.
fn backwards(rows: &[Io]) -> u64 {
    let mut latest_ns = 0;
    let is_early = |io: &&Io| {
        latest_ns = latest_ns.max(io.queued_ns);
        io.queued_ns < latest_ns
    };
    rows.iter().filter(is_early).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn small_disorder_is_mended_and_nothing_is_lost(shifts in prop::collection::vec(0u64..50, 1..2000)) {
            let mut order = Order::default();
            let times = shifts.iter().enumerate().map(|(at, shift)| at as u64 * 10 + shift);
            order.waiting().extend(times.map(|queued_ns| Io { queued_ns, ..Io::default() }));
            let mut out = Vec::new();
            let early = backwards(order.waiting());
            order.release(&mut out, true);
            prop_assert_eq!(order.moved, early);
            prop_assert!(out.is_sorted_by_key(|io| io.queued_ns));
            prop_assert_eq!((out.len(), order.late), (shifts.len(), 0));
        }
    }

    #[test]
    fn rows_beyond_the_window_are_counted() {
        let mut order = Order::default();
        let row = |queued_ns| Io { queued_ns, ..Io::default() };
        order.waiting().extend((0..2 * WINDOW as u64).map(|time| row(1000 + time)));
        let mut out = Vec::new();
        order.release(&mut out, false);
        assert_eq!(out.len(), WINDOW);
        order.waiting().push(row(5));
        let mut rest = Vec::new();
        order.release(&mut rest, true);
        assert_eq!((rest.len(), order.late), (WINDOW + 1, 1));
    }
}
