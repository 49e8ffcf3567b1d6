//! Puts rows in the order of arrival: a window sorts rows that a source delivers slightly out of
//! order.

use super::decode::BATCH;
use ioscape_schema::Io;
use std::collections::VecDeque;

/// The most rows by which a row may be late and still be sorted in.
const WINDOW: usize = 1 << 16;
/// The smallest window where several traces share it.
const LEAST: usize = 1 << 9;

/// A window of rows that sorts them by arrival.
pub(crate) struct Order {
    /// Rows that are kept back.
    window: usize,
    /// Batches as they came, none of them empty. They are moved rather than copied, because a copy
    /// would fetch each row from memory once more.
    waiting: VecDeque<Vec<Io>>,
    /// Number of rows in `waiting`.
    rows: usize,
    /// Whether any of these rows came after a row that arrived later.
    is_mixed: bool,
    /// Memory of batches that have left, for reuse.
    spare: Vec<Vec<Io>>,
    latest_ns: u64,
    /// Rows that came after a later arrival and were sorted into place.
    pub moved: u64,
    /// Rows that came too late for the window to sort them in.
    pub late: u64,
}

impl Default for Order {
    fn default() -> Self {
        Self::sharing(1)
    }
}

impl Order {
    /// Creates the window of one of `traces` traces that share the memory of one.
    pub fn sharing(traces: usize) -> Self {
        Self {
            window: (WINDOW / traces.max(1)).max(LEAST),
            waiting: VecDeque::new(),
            rows: 0,
            is_mixed: false,
            spare: Vec::new(),
            latest_ns: 0,
            moved: 0,
            late: 0,
        }
    }

    /// Rows that are kept back.
    pub fn window(&self) -> usize {
        self.window
    }

    /// Returns memory for a batch.
    pub fn spare(&mut self) -> Vec<Io> {
        self.spare.pop().unwrap_or_default()
    }

    /// Takes back the memory of a batch.
    pub fn give_back(&mut self, mut batch: Vec<Io>) {
        batch.clear();
        self.spare.push(batch);
    }

    /// Takes in the next rows.
    pub fn push(&mut self, batch: Vec<Io>) {
        let (Some(first), before) = (batch.first(), self.waiting.back().and_then(|one| one.last()))
        else {
            return self.give_back(batch);
        };
        // Checked here while the rows are in the processor's caches.
        self.is_mixed |= before.is_some_and(|last| first.queued_ns < last.queued_ns)
            || !batch.is_sorted_by_key(|io| io.queued_ns);
        self.rows += batch.len();
        self.waiting.push_back(batch);
    }

    /// Whether the window is full, so that rows may leave.
    pub fn full(&self) -> bool {
        self.rows >= 2 * self.window
    }

    /// Moves rows in order to `out`: all of them `at_end`, else all but the window.
    pub fn release(&mut self, out: &mut VecDeque<Vec<Io>>, at_end: bool) {
        if std::mem::take(&mut self.is_mixed) {
            self.sort();
        }
        let (mut leaving, latest_ns) =
            (self.rows - if at_end { 0 } else { self.window.min(self.rows) }, self.latest_ns);
        while leaving > 0
            && let Some(mut batch) = self.waiting.pop_front()
        {
            if batch.len() > leaving {
                let mut rest = self.spare();
                rest.extend_from_slice(&batch[leaving..]);
                self.waiting.push_front(rest);
                batch.truncate(leaving);
            }
            self.rows -= batch.len();
            leaving -= batch.len();
            self.late += batch.partition_point(|io| io.queued_ns < latest_ns) as u64;
            self.latest_ns = batch.last().map_or(0, |last| last.queued_ns).max(self.latest_ns);
            out.push_back(batch);
        }
    }

    fn sort(&mut self) {
        let mut all = Vec::with_capacity(self.rows);
        for batch in std::mem::take(&mut self.waiting) {
            all.extend_from_slice(&batch);
            self.give_back(batch);
        }
        self.moved += backwards(&all);
        all.sort_by_key(|io| io.queued_ns);
        for rows in all.chunks(BATCH) {
            let mut batch = self.spare();
            batch.extend_from_slice(rows);
            self.waiting.push_back(batch);
        }
    }
}

/// Counts the rows that arrived before a row above them.
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
        fn small_disorder_is_mended_and_nothing_is_lost(shifts in prop::collection::vec(0u64..50, 1..2000), together in 1usize..900) {
            let times = shifts.iter().enumerate().map(|(at, shift)| at as u64 * 10 + shift);
            let rows: Vec<Io> = times.map(|queued_ns| Io { queued_ns, ..Io::default() }).collect();
            let (mut order, mut out) = (Order::default(), VecDeque::new());
            rows.chunks(together).for_each(|rows| order.push(rows.to_vec()));
            order.release(&mut out, true);
            prop_assert_eq!(order.moved, backwards(&rows));
            let out = Vec::from(out).concat();
            prop_assert!(out.is_sorted_by_key(|io| io.queued_ns));
            prop_assert_eq!((out.len(), order.late), (shifts.len(), 0));
        }
    }

    #[test]
    fn rows_beyond_the_window_are_counted() {
        let row = |queued_ns| Io { queued_ns, ..Io::default() };
        let rows: Vec<Io> = (0..2 * WINDOW as u64 + 7).map(|time| row(1000 + time)).collect();
        let (mut order, mut out) = (Order::default(), VecDeque::new());
        rows.chunks(BATCH + 1).for_each(|rows| order.push(rows.to_vec()));
        assert!(order.full() && !order.is_mixed);
        order.release(&mut out, false);
        let early = Vec::from(std::mem::take(&mut out)).concat();
        assert_eq!(early, rows[..WINDOW + 7]);
        order.push(vec![row(5)]);
        order.push(Vec::new());
        order.release(&mut out, true);
        let rest = Vec::from(out).concat();
        assert_eq!((&rest[1..], rest[0].queued_ns), (&rows[WINDOW + 7..], 5));
        assert_eq!((order.late, order.moved), (1, 1));
    }
}
