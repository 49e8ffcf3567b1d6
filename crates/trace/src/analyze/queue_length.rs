//! How many requests does an arriving request find, and how long is a disk idle? (Table 5, Figures
//! 2 and 3)

use super::column::{Column, STRIDE};
use super::in_flight::InFlight;
use super::log_histogram::{FineHistogram, LogHistogram};
use super::time_series::{Cell, DAY_NS, TimeSeries};
use ioscape_schema::trace_summary::{DiskSummary, QueueAgreement};
use ioscape_schema::{Io, Op};
use serde::{Deserialize, Serialize};

/// Arrivals per disk that a part keeps for its merge.
pub const HEAD: usize = 4096;

/// What is kept of a request.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Arrival {
    queued_ns: u64,
    completed_ns: u64,
    recorded: u32,
    read: bool,
}

impl Arrival {
    #[inline]
    fn of(io: &Io) -> Self {
        Self {
            queued_ns: io.queued_ns,
            completed_ns: io.completed_ns,
            recorded: io.queue_length,
            read: io.request.op == Op::Read,
        }
    }
}

/// Sum of queue lengths and number of arrivals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Mean {
    sum: u64,
    count: u64,
}

impl Cell for Mean {
    fn absorb(&mut self, other: &Self) {
        self.sum += other.sum;
        self.count += other.count;
    }
}

/// What arrivals after the head of a part did not see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unseen {
    /// Requests of earlier parts that were in flight; any queue length found is too short by at
    /// most this many.
    pub ios: u64,
    /// For how long, in total; idle and busy times are off by at most this much.
    pub time_ns: u64,
}

impl Unseen {
    /// Adds what other parts did not see.
    pub fn add(&mut self, other: &Self) {
        self.ios += other.ios;
        self.time_ns += other.time_ns;
    }
}

/// Queue lengths of one disk, recomputed: requests that have arrived and not completed when one
/// arrives, including itself. Requests without a recorded completion are left out, because their
/// time in the queue is unknown.
///
/// What a part of a trace sees at its beginning depends on what was in flight before. A part
/// therefore keeps its first arrivals (`head`) and leaves their counting to the merge. If a request
/// of the earlier part is in flight for longer than all of them, the later arrivals do not see it:
/// such requests are counted in [`Unseen`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct QueueLength {
    head: Vec<Arrival>,
    head_most: usize,
    in_flight: InFlight,
    /// By operation.
    lengths: [FineHistogram; 2],
    daily: TimeSeries<Mean>,
    agreement: QueueAgreement,
    idle: LogHistogram,
    last_completed_ns: Option<u64>,
    busy_ns: u64,
    elapsed_ns: u128,
    unseen: Unseen,
}

impl QueueLength {
    /// Starts with nothing seen; keeps `head_most` arrivals for a merge, 0 at a trace's beginning.
    pub fn new(head_most: usize) -> Self {
        Self {
            head: Vec::new(),
            head_most,
            in_flight: InFlight::default(),
            lengths: Default::default(),
            daily: TimeSeries::new(20_000),
            agreement: QueueAgreement::default(),
            idle: LogHistogram::default(),
            last_completed_ns: None,
            busy_ns: 0,
            elapsed_ns: 0,
            unseen: Unseen::default(),
        }
    }

    /// Takes in the next request of the disk.
    #[inline]
    pub fn update(&mut self, io: &Io) {
        if io.is_timed() {
            self.take(Arrival::of(io));
        }
    }

    /// Takes in the next requests of the disk.
    pub fn update_all(&mut self, ios: &[Io]) {
        let mut rest = ios;
        // Arrivals kept for a merge, and the first one counted, are taken one by one.
        while let Some((io, later)) = rest.split_first()
            && (self.head.len() < self.head_most || self.last_completed_ns.is_none())
        {
            self.update(io);
            rest = later;
        }
        rest.chunks(STRIDE).for_each(|ios| self.count_all(ios));
    }

    /// Counts at most [`STRIDE`] requests.
    fn count_all(&mut self, ios: &[Io]) {
        let (mut lengths, mut idle): ([Column; 2], Column) = Default::default();
        for arrival in ios.iter().filter(|io| io.is_timed()).map(Arrival::of) {
            let (length, idle_ns) = self.count_one(&arrival);
            lengths[usize::from(!arrival.read)].push(length);
            idle.push_if(idle_ns.is_some(), idle_ns.unwrap_or(0));
        }
        self.lengths.iter_mut().zip(&lengths).for_each(|(all, new)| all.add_all(new.iter()));
        self.idle.add_all(idle.iter());
    }

    #[inline]
    fn take(&mut self, arrival: Arrival) {
        if self.head.len() < self.head_most {
            self.head.push(arrival);
        } else {
            // A part's in-flight set begins with its head, which is not counted yet.
            if self.in_flight.is_empty() && self.last_completed_ns.is_none() {
                let ends = self.head.iter().map(|a| a.completed_ns);
                self.in_flight.extend(ends.clone());
                self.last_completed_ns = ends.max();
            }
            self.count(arrival);
        }
    }

    fn count(&mut self, arrival: Arrival) {
        let (length, idle_ns) = self.count_one(&arrival);
        self.lengths[usize::from(!arrival.read)].add(length);
        idle_ns.into_iter().for_each(|ns| self.idle.add(ns));
    }

    /// Counts an arrival, except for what it returns: the queue length, and how long the disk was
    /// idle before, if it was.
    #[inline]
    fn count_one(&mut self, arrival: &Arrival) -> (u64, Option<u64>) {
        let &Arrival { queued_ns, completed_ns, recorded, .. } = arrival;
        let length = self.in_flight.arrive(queued_ns, completed_ns);
        let day = self.daily.at(queued_ns);
        day.sum += length;
        day.count += 1;
        if recorded > 0 {
            self.agreement.recorded += 1;
            self.agreement.equal += u64::from(u64::from(recorded) == length);
        }
        self.elapsed_ns += u128::from(completed_ns.saturating_sub(queued_ns));
        let last_ns = self.last_completed_ns;
        let idle_ns = last_ns.and_then(|last| queued_ns.checked_sub(last));
        let busy_from = last_ns.map_or(queued_ns, |last| last.max(queued_ns));
        self.busy_ns += completed_ns.saturating_sub(busy_from);
        self.last_completed_ns = last_ns.max(Some(completed_ns));
        (length, idle_ns)
    }

    /// Adds the later part.
    pub fn merge(&mut self, later: Self) {
        let counts = later.lengths.iter().any(|lengths| lengths.count() > 0);
        // The later part's counts after its head missed our requests still in flight there.
        let from = later.head.last().map_or(0, |arrival| arrival.queued_ns);
        let unseen = if counts { self.in_flight_at(from) } else { Vec::new() };
        later.head.iter().for_each(|&arrival| self.take(arrival));
        if !counts {
            return;
        }
        if self.head.len() < self.head_most {
            // This happens only if the two parts keep heads of different lengths.
            self.head_most = self.head.len();
        }
        self.unseen.ios += unseen.len() as u64;
        self.unseen.time_ns += unseen.iter().max().map_or(0, |end| end - from);
        self.unseen.add(&later.unseen);
        self.in_flight = later.in_flight;
        self.in_flight.extend(unseen);
        self.lengths.iter_mut().zip(&later.lengths).for_each(|(mine, theirs)| mine.merge(theirs));
        self.daily.merge(later.daily);
        self.agreement.recorded += later.agreement.recorded;
        self.agreement.equal += later.agreement.equal;
        self.idle.merge(&later.idle);
        self.last_completed_ns = self.last_completed_ns.max(later.last_completed_ns);
        self.busy_ns += later.busy_ns;
        self.elapsed_ns += later.elapsed_ns;
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.head.capacity() * size_of::<Arrival>()
            + self.in_flight.bytes()
            + self.lengths.iter().map(LogHistogram::bytes).sum::<usize>()
            + self.daily.bytes(|_| 0)
            + self.idle.bytes()
    }

    /// Completion times of the requests in flight at a time.
    fn in_flight_at(&self, ns: u64) -> Vec<u64> {
        let ends: Vec<u64> = match self.last_completed_ns {
            Some(_) => self.in_flight.ends().collect(),
            None => self.head.iter().map(|arrival| arrival.completed_ns).collect(),
        };
        ends.into_iter().filter(|&end| end > ns).collect()
    }

    /// What the counts of later parts did not see.
    pub fn unseen(&self) -> Unseen {
        self.unseen
    }

    /// Fills in the queue figures of a disk's summary, in a trace that begins at `begin_ns`; none
    /// if no completion was recorded.
    pub fn finish(&self, summary: &mut DiskSummary, begin_ns: u64) {
        let mut all = Self::new(0);
        all.merge(self.clone());
        let [read, write] = &all.lengths;
        let mut both = read.clone();
        both.merge(write);
        if both.count() == 0 {
            return;
        }
        summary.queue_length = both.distribution();
        summary.idle_frac = Some(both.fraction_to(1));
        let mean_of = |of: &FineHistogram| (of.count() > 0).then(|| of.mean());
        (summary.queue_mean_read, summary.queue_mean_write) = (mean_of(read), mean_of(write));
        let mean = |day: &Mean| (day.count > 0).then(|| day.sum as f64 / day.count as f64);
        // If a disk's first request comes later, the days before it are empty.
        let before = |start_ns: i64| {
            let first = u64::try_from(start_ns).unwrap_or(0) / DAY_NS;
            std::iter::repeat_n(None, first.saturating_sub(begin_ns / DAY_NS) as usize)
        };
        summary.daily_queue_mean =
            all.daily.in_steps_of(DAY_NS, 0).map_or_else(Vec::new, |(start_ns, days)| {
                before(start_ns).chain(days.iter().map(mean)).collect()
            });
        summary.queue_agreement = (all.agreement.recorded > 0).then_some(all.agreement);
        summary.idle_ns = all.idle.distribution();
        let (busy, idle) = (all.busy_ns as f64, all.idle.sum() as f64);
        // From a single request, nothing is known of idle time before or after.
        let between = both.count() > 1 && busy + idle > 0.0;
        summary.idle_time_frac = between.then(|| idle / (busy + idle));
        summary.in_flight_mean = (busy > 0.0).then(|| all.elapsed_ns as f64 / busy);
    }
}

#[cfg(test)]
#[path = "queue_length_tests.rs"]
mod tests;
