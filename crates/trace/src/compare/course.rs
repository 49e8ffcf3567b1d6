//! The course of a trace: its distributions, window by window.

use crate::analyze::log_histogram::LogHistogram;
use crate::analyze::time_series::{Cell, SECOND_NS, TimeSeries};
use crate::queue::Queues;
use ioscape_schema::trace_comparison::TraceDistribution;
use ioscape_schema::{Io, Op};

/// Number of distributions kept: those of [`TraceDistribution`] that are no share of the requests.
pub(super) const ALL: usize = 7;
/// The most time steps kept, and the most windows formed from them; a trace with many steps has
/// more than half as many windows.
const MOST_STEPS: usize = 1280;
const MOST_WINDOWS: usize = 128;
/// Fewer requests have no rate: it would depend on where the trace was cut.
const RATE_LEAST: u64 = 10;
/// The quantiles of each trace at which distributions are compared.
const SHARES: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 0.9];

/// Bins a quarter of an octave wide.
type Bins = LogHistogram<2>;

/// The counts of one window.
#[derive(Clone, Debug, Default)]
pub(super) struct Window {
    seen: [Bins; ALL],
    /// Requests that read, and the others.
    ios: [u64; 2],
    /// Requests that begin where the previous one on their disk ended.
    pub adjacent: u64,
    /// The window's length in seconds; 0 until it is complete.
    pub width_s: f64,
}

impl Cell for Window {
    fn absorb(&mut self, other: &Self) {
        self.seen.iter_mut().zip(&other.seen).for_each(|(mine, theirs)| mine.merge(theirs));
        self.ios.iter_mut().zip(other.ios).for_each(|(mine, theirs)| *mine += theirs);
        self.adjacent += other.adjacent;
        self.width_s += other.width_s;
    }
}

/// The index of a distribution; shares of the requests use the first.
fn place(of: TraceDistribution) -> usize {
    match of {
        TraceDistribution::ReadBytes | TraceDistribution::Reads | TraceDistribution::Sequential => {
            0
        }
        TraceDistribution::WriteBytes => 1,
        TraceDistribution::ReadElapsedNs => 2,
        TraceDistribution::WriteElapsedNs => 3,
        TraceDistribution::InterArrivalNs => 4,
        TraceDistribution::DistanceBytes => 5,
        TraceDistribution::QueueLength => 6,
    }
}

impl Window {
    /// A distribution.
    pub fn seen(&self, of: TraceDistribution) -> &Bins {
        &self.seen[place(of)]
    }

    /// Number of requests.
    pub fn ios(&self) -> u64 {
        self.ios.iter().sum()
    }

    /// Number of reads.
    pub fn reads(&self) -> u64 {
        self.ios[Op::Read as usize]
    }

    /// The sum of a distribution of sizes.
    pub fn bytes(&self, of: TraceDistribution) -> u64 {
        u64::try_from(self.seen(of).sum()).unwrap_or(u64::MAX)
    }

    fn add(&mut self, of: TraceDistribution, value: u64) {
        self.seen[place(of)].add(value);
    }
}

/// A trace window by window, in constant memory.
pub struct Course {
    steps: TimeSeries<Window>,
    queues: Queues,
    /// Where the last request of each device ended.
    ends: Vec<Option<u64>>,
    span_ns: Option<[u64; 2]>,
    timed: bool,
}

impl Default for Course {
    fn default() -> Self {
        let (queues, ends) = Default::default();
        Self { steps: TimeSeries::new(MOST_STEPS), queues, ends, span_ns: None, timed: false }
    }
}

impl Course {
    /// Takes in the next requests, in order of arrival.
    pub fn update(&mut self, ios: &[Io]) {
        ios.iter().for_each(|io| self.take(io));
    }

    fn take(&mut self, io: &Io) {
        let now = io.queued_ns;
        let gap = self.span_ns.map(|span| now.saturating_sub(span[1]));
        self.span_ns = Some([self.span_ns.map_or(now, |span| span[0]), now]);
        let timed = io.is_timed();
        self.timed |= timed;
        let device = usize::from(io.device);
        if device >= self.ends.len() {
            self.ends.resize(device + 1, None);
        }
        let (from, len) = (io.request.offset, u64::from(io.request.len));
        // Flushes and discards have no place and move no data.
        let moves = io.moves_data();
        let before = match moves {
            true => self.ends[device].replace(from.saturating_add(len)),
            false => None,
        };
        // The time in the queue is unknown for a request without a completion.
        let length = timed.then(|| self.queues.arrive(io));
        let window = self.steps.at(now);
        let [size, elapsed] = match io.request.op {
            Op::Read => [TraceDistribution::ReadBytes, TraceDistribution::ReadElapsedNs],
            Op::Write => [TraceDistribution::WriteBytes, TraceDistribution::WriteElapsedNs],
        };
        window.ios[io.request.op as usize] += 1;
        if moves {
            window.add(size, len);
        }
        if let Some(length) = length {
            window.add(elapsed, io.elapsed_ns());
            window.add(TraceDistribution::QueueLength, u64::from(length));
        }
        if let Some(gap) = gap {
            window.add(TraceDistribution::InterArrivalNs, gap);
        }
        if let Some(end) = before {
            window.add(TraceDistribution::DistanceBytes, end.abs_diff(from));
            window.adjacent += u64::from(end == from);
        }
    }

    /// Whether the trace records completion times.
    pub fn is_timed(&self) -> bool {
        self.timed
    }

    /// Whether its windows have enough requests for a rate, which arrive over some time.
    pub(super) fn has_rate(&self, windows: &[Window]) -> bool {
        let spans = self.span_ns.is_some_and(|[first, last]| first < last);
        spans && windows.iter().map(Window::ios).sum::<u64>() >= RATE_LEAST
    }

    /// The width of a window in nanoseconds, and the windows; the first and the last may be shorter.
    pub(super) fn windows(&self) -> (u64, Vec<Window>) {
        let (step_ns, begin_ns, steps) = self.steps.steps(0);
        let Some([first, last]) = self.span_ns else { return (step_ns, Vec::new()) };
        let begin_ns = u64::try_from(begin_ns).unwrap_or(0);
        let (together, mut windows) = (steps.len().div_ceil(MOST_WINDOWS).max(1), Vec::new());
        let width_ns = step_ns.saturating_mul(together as u64);
        for (number, steps) in (0u64..).zip(steps.chunks(together)) {
            let mut window = Window::default();
            steps.iter().for_each(|step| window.absorb(step));
            let from = begin_ns.saturating_add(number.saturating_mul(width_ns));
            let to = from.saturating_add(width_ns).min(last.saturating_add(1));
            window.width_s = to.saturating_sub(from.max(first)) as f64 / SECOND_NS as f64;
            windows.push(window);
        }
        (width_ns, windows)
    }
}

/// The thresholds at which both traces' distributions are compared: the bins of some quantiles of
/// each; `None` if one has no values.
pub(super) fn thresholds(of: TraceDistribution, windows: [&[Window]; 2]) -> Option<Vec<u64>> {
    let mut all = Vec::new();
    for windows in windows {
        let mut whole = Bins::default();
        windows.iter().for_each(|window| whole.merge(window.seen(of)));
        let mut bins = whole.bins();
        let (mut to, mut below) = bins.next()?;
        for share in SHARES {
            while (below as f64) < whole.count() as f64 * share {
                let (next, more) = bins.next()?;
                (to, below) = (next, below + more);
            }
            all.push(to);
        }
    }
    all.sort_unstable();
    all.dedup();
    Some(all)
}
