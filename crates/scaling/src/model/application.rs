//! A traced application on an evaluated system: its own locality, instead of uniform access,
//! determines how much each cache serves.
//!
//! The structural model gives the cost of a request at each level; the trace's miss-ratio curves,
//! class by class, say how many requests get there. The Gaussian process' correction is that of the
//! set with uniform access that has the same share of misses. Writes that a cache absorbs are
//! written back while the application goes on, neighbours together: they cost time where reads wait
//! behind them, or where the device has no time left. Sequential reads through a file cache reach
//! the device as read-ahead gathers them.

use super::closed::{numbers_below, rate_at_best, rate_with_pauses};
use super::exchange::{CacheDoubt, Exchanged};
use super::input::ModelInput;
use super::levels::{Outcome, Served};
use super::predict::Estimate;
use super::system_model::Model;
use super::what_if::{WhatIf, WhatIfError, exchanged, meets_file_cache};
use ioscape_schema::{
    Access, AccessPattern, Advice, ApplicationForecast, MemoryForecast, Op, RequestClass, TimePart,
};

/// Share of misses below which the cache counts as holding a class, and above which the device
/// counts as serving it.
const MISSES: [f64; 2] = [0.02, 0.98];
/// The least that read-ahead asks of a device at once for a sequential run, in bytes: Linux's
/// default (`VM_READAHEAD_PAGES`).
const READ_AHEAD: f64 = 131_072.0;
/// A wait for storage beyond those for writes takes as long as a write of this many bytes.
pub(super) const WAIT_BYTES: u64 = 4096;
/// Shares of a class below this get no place of their own.
const SHARE_LEAST: f64 = 1e-6;
/// Half the width of the 90 % interval of ln(computing time) over runs of the same program.
pub(crate) const COMPUTING: f64 = 0.1;
/// The number of memory sizes per doubling at which the application is predicted, and the most in
/// all.
const MEMORY_STEPS: f64 = 2.0;
const MEMORY_POINTS: usize = 24;
/// The share of the best throughput that is enough; and the number of halvings in the search for
/// the memory that gives it.
const ENOUGH: f64 = 0.9;
const HALVINGS: usize = 8;
/// An application on a model's system.
pub(super) struct Application<'a> {
    pub(super) model: &'a Model,
    pub(super) pattern: &'a AccessPattern,
    /// Memory that the evaluated caches could use, in bytes; `None` where it is not known.
    pub(super) memory_bytes: Option<u64>,
    /// The doubt about the caches, and the side of it that this application takes.
    pub(super) caches: CacheDoubt,
}

/// The prediction for one exchange.
pub(super) struct Found {
    pub(super) throughput: f64,
    pub(super) half: f64,
    pub(super) response_s: f64,
    pub(super) forecast: ApplicationForecast,
}

/// A class on a system: where it is served, and how its cost is corrected.
struct Placed {
    served: Served,
    correction: f64,
    half: f64,
}

impl Application<'_> {
    /// The levels of the system with the exchanges of `what_if`, on this side of the doubt.
    pub(super) fn exchanged<'b>(
        &'b self,
        what_if: &'b WhatIf,
    ) -> Result<Exchanged<'b>, WhatIfError> {
        Ok(exchanged(self.model, what_if, Model::hierarchy, self.does())?.doubted(self.caches))
    }

    pub(super) fn on(&self, here: &Exchanged<'_>) -> Found {
        let pattern = self.pattern;
        let processes = f64::from(pattern.process_num.max(1));
        let bytes = pattern.bytes().max(1) as f64;
        let each = pattern.classes.iter().flat_map(|class| self.places(here, class, processes));
        let placed: Vec<Placed> = each.collect();
        let written_back = !self.each_write_waits(here) && here.written_back();
        let served: Vec<Served> = placed.iter().map(|one| one.without(written_back)).collect();
        let [correction, half] = corrected(here, &placed, &served, processes);
        let rate = |processes: f64| {
            let outcome = here.outcome_of(&served, processes.max(1.0));
            ((outcome.log_throughput + correction).exp() * processes.min(1.0), outcome)
        };
        // A closed system: each process is either at a request or computing.
        let think_s = pattern.think_time_ns / 1e9;
        let each = bytes / pattern.requests().max(1) as f64;
        let numbers = numbers_below(pattern.process_num).map(f64::from).chain([processes]);
        let station: Vec<[f64; 2]> = numbers.map(|busy| [busy, rate(busy).0 / each]).collect();
        let iops = rate_with_pauses(&station, think_s);
        let meeting = (rate_at_best(&station, think_s) / iops).ln();
        let (throughput, busy) = (iops * each, processes - iops * think_s);
        let outcome = rate(busy).1;
        let io_s = bytes / throughput;
        let at_device = io_s * busy / processes * here.device_share(&outcome);
        let written_s = if written_back { self.written_behind_s(here, processes) } else { 0.0 };
        // Storage writes during `fsync`, too.
        let behind_s = waits(io_s - at_device + self.sync_s(here), at_device, written_s);
        let further_s = self.further_waits_s(here, busy.max(1.0));
        let parts = self.parts(here, &outcome, io_s, busy / processes, [behind_s, further_s]);
        let elapsed_s: f64 = parts.iter().map(|part| part.seconds).sum();
        let requests = pattern.requests().max(1) as f64;
        let at_io = (io_s * busy / processes + behind_s + further_s) / elapsed_s;
        let computing = COMPUTING * (1.0 - at_io).max(0.0);
        Found {
            throughput: bytes / elapsed_s,
            half: (half * at_io).hypot(computing).hypot(meeting),
            response_s: (io_s * busy + behind_s * processes) / requests,
            forecast: ApplicationForecast {
                elapsed_s,
                parts,
                read_hit_frac: 1.0 - self.missed(here, Op::Read),
                written_through_frac: self.missed(here, Op::Write),
                ..ApplicationForecast::default()
            },
        }
    }

    /// Distinct bytes that an operation touches.
    fn set(&self, operation: usize) -> f64 {
        let both = [self.pattern.unique_bytes, self.pattern.unique_write_bytes];
        both[operation].max(4096) as f64
    }

    /// Share of a class's bytes that passes each cache.
    fn passing(&self, here: &Exchanged<'_>, class: &RequestClass) -> Vec<f64> {
        let operation = usize::from(class.op == Op::Write);
        let own = self.pattern.memory_bytes.unwrap_or(0) as f64;
        let memory = self.memory_bytes.map(|bytes| bytes as f64);
        let mut passing: Vec<f64> = Vec::new();
        for left in here.caches_beside(operation, own, memory) {
            // A cache that never overflows misses only bytes that are new to it.
            let fits = self.set(operation) <= left.onset;
            let bytes = if fits { f64::INFINITY } else { left.kept };
            let before = passing.last().copied().unwrap_or(1.0);
            passing.push(class.missed(bytes).min(before));
        }
        passing
    }

    /// Where a class is served if `processes` are at their requests. Bytes that read-ahead fetches
    /// have a place of their own.
    fn places(&self, here: &Exchanged<'_>, class: &RequestClass, processes: f64) -> Vec<Placed> {
        let passing = self.passing(here, class);
        let missed = passing.last().copied().unwrap_or(1.0);
        let base = self.model.base();
        let is_read_ahead = class.op == Op::Read
            && class.sequential
            && base.access.reads_cached()
            && base.advice == Advice::Normal
            && !passing.is_empty();
        if !is_read_ahead {
            return vec![self.place(here, class, (&passing, 1.0), processes)];
        }
        let held = 1.0 - missed;
        let within: Vec<f64> =
            passing.iter().map(|one| (one - missed) / held.max(SHARE_LEAST)).collect();
        let all = vec![1.0; passing.len()];
        let parts =
            [(class.clone(), within, held), (self.gathered(class, READ_AHEAD), all, missed)];
        let parts = parts.iter().filter(|(.., share)| *share > SHARE_LEAST);
        parts
            .map(|(class, passing, share)| self.place(here, class, (passing, *share), processes))
            .collect()
    }

    /// The class as a device behind a cache sees it: neighbours are merged, up to `most` bytes at
    /// once.
    fn gathered(&self, class: &RequestClass, most: f64) -> RequestClass {
        let size = class.run_bytes.min(most).min(self.model.largest_size()).max(class.size_mean());
        RequestClass { requests: (class.bytes as f64 / size).ceil() as u64, ..class.clone() }
    }

    /// Where a part of a class is served, if the shares `passing` pass each cache.
    fn place(
        &self,
        here: &Exchanged<'_>,
        class: &RequestClass,
        (passing, part): (&[f64], f64),
        processes: f64,
    ) -> Placed {
        let operation = usize::from(class.op == Op::Write);
        let set = self.set(operation);
        let share = part * class.bytes as f64 / self.pattern.bytes().max(1) as f64;
        let onsets: Vec<f64> = here.caches(operation).iter().map(|cache| cache.onset).collect();
        let levels = (0..=passing.len()).map(|level| {
            let arriving = if level == 0 { 1.0 } else { passing[level - 1] };
            let leaving = passing.get(level).copied().unwrap_or(0.0);
            (onsets.get(level).map_or(set, |onset| onset.min(set)), share * (arriving - leaving))
        });
        let place = self.model.clamped(&ModelInput {
            unique_bytes: set,
            size_mean: class.size_mean().max(1.0),
            read_frac: 1.0 - operation as f64,
            seq_frac: f64::from(u8::from(class.sequential)),
            process_num: processes,
            advised: false,
        });
        let alike = like_uniform(here, operation, passing, set, &place);
        let Estimate { log_throughput, half_width } = here.estimate(&alike, self.model);
        // The cost of a request depends on its true size; its correction is that of the nearest
        // measured size.
        let size_mean = class.size_mean().max(1.0);
        Placed {
            correction: log_throughput - here.log_throughput(&alike),
            half: half_width,
            served: Served {
                operation,
                place: ModelInput { size_mean, ..place },
                levels: levels.collect(),
            },
        }
    }

    /// The device time that write-back needs, with neighbouring pages written together.
    fn written_behind_s(&self, here: &Exchanged<'_>, processes: f64) -> f64 {
        if self.missed(here, Op::Write) == 0.0 {
            return 0.0;
        }
        let gathered = |class: &RequestClass| {
            let (passing, class) = (self.passing(here, class), self.gathered(class, f64::INFINITY));
            self.place(here, &class, (&passing, 1.0), processes)
        };
        let writes = self.pattern.classes.iter().filter(|class| class.op == Op::Write);
        let behind: Vec<Placed> = writes.map(gathered).collect();
        let served: Vec<Served> = behind.iter().map(Placed::written_behind).collect();
        self.seconds(here, &behind, &served, processes)
    }

    /// How long each process waits for storage beyond once for each write, where every write waits:
    /// for directories, say, each time as long as for a small write. `busy` processes do so together.
    fn further_waits_s(&self, here: &Exchanged<'_>, busy: f64) -> f64 {
        let requests = self.pattern.further_waits;
        if requests == 0 || !self.each_write_waits(here) {
            return 0.0;
        }
        let bytes = requests.saturating_mul(WAIT_BYTES);
        let class = RequestClass { op: Op::Write, requests, bytes, ..RequestClass::default() };
        let placed = self.places(here, &class, busy);
        let served: Vec<Served> = placed.iter().map(|one| one.served.clone()).collect();
        let processes = f64::from(self.pattern.process_num.max(1));
        self.seconds(here, &placed, &served, busy) * busy / processes
    }

    /// The time in which `processes` have their requests served.
    fn seconds(
        &self,
        here: &Exchanged<'_>,
        placed: &[Placed],
        served: &[Served],
        processes: f64,
    ) -> f64 {
        let [correction, _] = corrected(here, placed, served, processes);
        let log_throughput = here.outcome_of(served, processes).log_throughput + correction;
        self.pattern.bytes().max(1) as f64 / log_throughput.exp()
    }

    /// Whether no write is done before storage has it.
    fn each_write_waits(&self, here: &Exchanged<'_>) -> bool {
        let is_dsync = self.model.base().access == Access::Dsync;
        is_dsync || here.goes_through(self.model.writes_through())
    }

    /// How long each process waits for `fsync`, as traced. Where every write waits for storage, its
    /// cost already includes that, and nothing is dirty when `fsync` is called.
    fn sync_s(&self, here: &Exchanged<'_>) -> f64 {
        if self.each_write_waits(here) {
            return 0.0;
        }
        self.pattern.sync_s / f64::from(self.pattern.process_num.max(1))
    }

    fn bytes_of(&self, op: Op) -> f64 {
        let own = self.pattern.classes.iter().filter(|class| class.op == op);
        own.map(|class| class.bytes as f64).sum()
    }

    /// Share of an operation's bytes that passes all caches.
    pub(super) fn missed(&self, here: &Exchanged<'_>, op: Op) -> f64 {
        let own = self.pattern.classes.iter().filter(|class| class.op == op);
        let missed = own.map(|class| {
            class.bytes as f64 * self.passing(here, class).last().copied().unwrap_or(1.0)
        });
        (missed.sum::<f64>() / self.bytes_of(op).max(1.0)).clamp(0.0, 1.0)
    }

    /// How the time is spent; `at_io` is the share of it in which a process is at a request.
    fn parts(
        &self,
        here: &Exchanged<'_>,
        outcome: &Outcome,
        io_s: f64,
        at_io: f64,
        [behind_s, further_s]: [f64; 2],
    ) -> Vec<TimePart> {
        let named = here.names().into_iter().zip(&outcome.shares);
        let mut parts: Vec<(String, f64)> =
            named.map(|(name, share)| (name, io_s * at_io * share)).collect();
        parts.extend([
            ("waits for writes that storage still has to take".to_owned(), behind_s),
            ("waits for fsync beyond one for each write".to_owned(), further_s),
            ("waits for fsync or flushes, as traced".to_owned(), self.sync_s(here)),
            (
                "between requests (computing, opening and renaming files), as traced".to_owned(),
                io_s * (1.0 - at_io),
            ),
            ("before, between and after I/O, as traced".to_owned(), self.pattern.elsewhere_s),
        ]);
        let told = parts.into_iter().filter(|(_, seconds)| *seconds > 0.0);
        told.map(|(name, seconds)| TimePart { name, seconds }).collect()
    }

    /// Whether a set without a known border is larger than any measured.
    pub(super) fn is_beyond_sets(&self, here: &Exchanged<'_>) -> bool {
        let no_border = [Op::Read, Op::Write]
            .into_iter()
            .any(|op| self.does()[op as usize] && here.caches(op as usize).is_empty());
        let beyond = self.pattern.unique_bytes as f64 > self.model.measured_sets()[1].exp();
        no_border && beyond
    }

    /// Whether it reads, and whether it writes.
    fn does(&self) -> [bool; 2] {
        let does = |op| self.pattern.classes.iter().any(|one| one.op == op && one.requests > 0);
        [Op::Read, Op::Write].map(does)
    }

    /// Whether a file cache serves any of it: requests that bypass it, and writes that wait for
    /// storage, meet caches that do not grow with memory.
    pub(super) fn meets_file_cache(&self) -> bool {
        meets_file_cache(self.model.base().access, self.does())
    }

    /// Whether it reads through a file cache whose end was never seen.
    pub(super) fn lacks_read_cache(&self, here: &Exchanged<'_>) -> bool {
        let is_cached = self.model.base().access.reads_cached();
        is_cached && self.does()[0] && !here.leaves_memory(0)
    }

    /// Throughput by memory, and the memory that gives 90 % of the best; `None` where no cache
    /// grows with memory.
    pub(super) fn memory(&self, what_if: &WhatIf, own: u64) -> Option<MemoryForecast> {
        let with = |bytes: f64| {
            let memory_bytes = Some([own, bytes.round() as u64]);
            let other = WhatIf { memory_bytes, ..what_if.clone() };
            Some(self.on(&self.exchanged(&other).ok()?).throughput)
        };
        let as_evaluated = WhatIf { memory_bytes: None, ..what_if.clone() };
        let here = self.exchanged(&as_evaluated).ok()?;
        let smallest = (0..2).flat_map(|op| here.caches(op)).map(|cache| cache.kept);
        let holds = smallest.fold(f64::INFINITY, f64::min) / own as f64;
        let anonymous = self.pattern.memory_bytes.unwrap_or(0) as f64;
        // Enough for the whole set in the smallest cache, within reason.
        let most = (1.1 * self.pattern.unique_bytes as f64 / holds + anonymous)
            .clamp(own as f64, own as f64 * 1024.0)
            .max(2.2 * anonymous);
        // With less memory than it has for itself, the application does not run.
        let least = (own as f64 / 64.0).min(most / 256.0).max(1.1 * anonymous);
        let count = ((most / least).log2() * MEMORY_STEPS).ceil().max(1.0) as usize;
        let count = count.min(MEMORY_POINTS);
        let size = |i: usize| least * (most / least).powf(i as f64 / count as f64);
        let curve: Vec<(f64, f64)> =
            (0..=count).map(|i| Some((size(i), with(size(i))?))).collect::<Option<_>>()?;
        let best = curve.iter().map(|point| point.1).fold(0.0, f64::max);
        let first = curve.iter().position(|point| point.1 >= ENOUGH * best)?;
        let (mut low, mut high) = (curve[first.saturating_sub(1)].0, curve[first].0);
        for _ in 0..HALVINGS {
            let middle = (low * high).sqrt();
            match with(middle)? >= ENOUGH * best {
                true => high = middle,
                false => low = middle,
            }
        }
        Some(MemoryForecast { curve, for_90_percent_bytes: high.round(), ..Default::default() })
    }
}

impl Placed {
    /// The class as its requests wait for it: if the writes that a cache absorbs are written back
    /// later, only the copying counts.
    fn without(&self, written_back: bool) -> Served {
        let mut served = self.served.clone();
        if written_back && served.operation == 1 && served.levels.len() > 1 {
            let all = served.levels.iter().map(|(_, share)| share).sum();
            served.levels.iter_mut().for_each(|level| level.1 = 0.0);
            served.levels[0].1 = all;
        }
        served
    }

    /// The device's work for it: the bytes that pass the caches.
    fn written_behind(&self) -> Served {
        let mut served = self.served.clone();
        let last = served.levels.len() - 1;
        served.levels[..last].iter_mut().for_each(|level| level.1 = 0.0);
        served
    }
}

/// How long an application of `other_s` seconds and `read_s` seconds of reads at the device waits
/// for `behind_s` seconds of write-back there. The elapsed time T is `other_s + read_s / (1 -
/// behind_s / T)`, since reads queue with the write-back. Without reads it is the longer of the
/// two, and without anything else the sum.
fn waits(other_s: f64, read_s: f64, behind_s: f64) -> f64 {
    // Rounding would leave a little.
    if behind_s == 0.0 {
        return 0.0;
    }
    let sum = other_s + read_s + behind_s;
    let elapsed_s = (sum + (sum * sum - 4.0 * other_s * behind_s).max(0.0).sqrt()) / 2.0;
    (elapsed_s - other_s - read_s).max(0.0)
}

/// The correction of all classes together, and the half width of its interval; each class counts by
/// its time.
fn corrected(
    here: &Exchanged<'_>,
    placed: &[Placed],
    served: &[Served],
    processes: f64,
) -> [f64; 2] {
    let seconds = |one: &Served| {
        let alone = here.outcome_of(std::slice::from_ref(one), processes);
        let seconds = (-alone.log_throughput).exp();
        if seconds.is_finite() { seconds } else { 0.0 }
    };
    let weights: Vec<f64> = served.iter().map(seconds).collect();
    let total: f64 = weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let mean = |of: fn(&Placed) -> f64| {
        placed.iter().zip(&weights).map(|(one, weight)| of(one) * weight / total).sum()
    };
    [mean(|one| one.correction), mean(|one| one.half)]
}

/// The set with uniform access of which the device serves the same share.
fn like_uniform(
    here: &Exchanged<'_>,
    operation: usize,
    passing: &[f64],
    set: f64,
    place: &ModelInput,
) -> ModelInput {
    let (Some(missed), Some(cache)) = (passing.last(), here.caches(operation).last().copied())
    else {
        return *place;
    };
    let unique_bytes = if *missed < MISSES[0] {
        set.min(0.9 * cache.onset)
    } else {
        (cache.kept / (1.0 - missed.min(MISSES[1]))).max(1.05 * cache.onset)
    };
    ModelInput { unique_bytes, ..*place }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_behind_hide_where_there_is_time() {
        assert_eq!(waits(0.1, 0.2, 0.0), 0.0, "nothing is behind");
        assert_eq!(waits(10.0, 0.0, 4.0), 0.0, "all of it is hidden");
        assert_eq!(waits(4.0, 0.0, 10.0), 6.0, "what does not fit is waited for");
        assert!(
            (waits(0.0, 3.0, 4.0) - 4.0).abs() < 1e-9,
            "a device that is always busy does both"
        );
        let some = waits(5.0, 5.0, 5.0);
        assert!(0.0 < some && some < 5.0, "{some}");
    }
}
