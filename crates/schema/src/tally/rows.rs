//! A run tallied row by row: decides when it is long enough and ends as a [`Tally`].

use super::counters::Counters;
use super::interval::interval;
use super::slices::Slices;
use super::stop::{Looks, StopRule};
use super::total::Tally;
use crate::{Io, Stop};

/// One stream of a run.
#[derive(Clone, Debug)]
struct Stream {
    counters: [Counters; 2],
    begun_ns: u64,
    ended_ns: u64,
}

/// The measured part of a run, row by row.
#[derive(Clone, Debug)]
pub struct RowTally {
    streams: Vec<Option<Stream>>,
    slices: Slices,
    looks: Looks,
    begun_ns: u64,
    think_ns: u64,
}

impl RowTally {
    /// Starts a measured part at `begun_ns`. Its streams think `think_ns` after each request; the
    /// system has a known period of `period_ns`, if any.
    pub fn new(rule: StopRule, begun_ns: u64, think_ns: u64, period_ns: Option<u64>) -> Self {
        let slices = match period_ns {
            Some(period_ns) => Slices::with_period(begun_ns, period_ns),
            None => Slices::new(begun_ns),
        };
        let looks = Looks::new(rule);
        Self { streams: Vec::new(), slices, looks, begun_ns, think_ns }
    }

    /// Adds a row; rows of one stream ([`Io::process`]) must be in order. The response time counts
    /// from arrival.
    pub fn add(&mut self, io: &Io) {
        let number = io.process as usize;
        if number >= self.streams.len() {
            self.streams.resize_with(number + 1, || None);
        }
        let stream = self.streams[number].get_or_insert_with(|| Stream {
            counters: [Counters::new(), Counters::new()],
            begun_ns: io.queued_ns,
            ended_ns: io.queued_ns,
        });
        let bytes = u64::from(io.request.len);
        stream.counters[io.request.op as usize].add(bytes, io.elapsed_ns());
        stream.ended_ns = stream.ended_ns.max(io.completed_ns.saturating_add(self.think_ns));
        self.slices.add(io.completed_ns, bytes);
    }

    /// Returns the verdict if the part is long enough at `now_ns`, given that all rows completed by
    /// then were added.
    pub fn look(&mut self, now_ns: u64) -> Option<Stop> {
        let elapsed_s = self.elapsed_s(now_ns);
        if !self.looks.is_due(elapsed_s) {
            return None;
        }
        self.looks.look(&self.slices.batches(now_ns), self.ios(), elapsed_s)
    }

    /// Returns how the part ends if it cannot go on after `now_ns`.
    pub fn verdict(&self, now_ns: u64) -> Stop {
        let batches = self.slices.batches(now_ns);
        self.looks.verdict(&batches, self.ios(), self.elapsed_s(now_ns))
    }

    fn ios(&self) -> f64 {
        let counters = self.streams.iter().flatten().flat_map(|stream| &stream.counters);
        counters.map(|one| one.ios).sum::<u64>() as f64
    }

    fn elapsed_s(&self, now_ns: u64) -> f64 {
        now_ns.saturating_sub(self.begun_ns) as f64 / 1e9
    }

    /// Ends the part at `now_ns`, for the reason `stop`.
    pub fn finish(self, now_ns: u64, stop: Stop) -> Tally {
        let known = interval(&self.slices.batches(now_ns));
        let mut tally = Tally::with_interval(self.slices.rates(now_ns), known, stop);
        for stream in self.streams.iter().flatten() {
            tally.add_stream(&stream.counters, stream.ended_ns - stream.begun_ns);
        }
        tally
    }
}
