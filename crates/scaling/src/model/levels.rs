//! The structural model: where each byte is found, and what it costs there.
//!
//! Time per byte, the inverse of throughput, is a sum over operations and levels of the storage
//! hierarchy:
//!
//! ```text
//! 1/T = r·Σk share_k(U)·cost_k(S, q, p)  +  (1-r)·Σk share'_k(U)·cost'_k(S, q, p)
//! ```
//!
//! The first sum is that of reads, the second that of writes: their caches differ in size, because
//! a dirty page cannot be dropped. A cache starts to overflow at `onset` bytes, sharply or over
//! some `width`. It then still serves `kept` bytes and leaves `1 - kept/U` of the bytes to the next
//! level. Under uniform random access `kept` is the onset; a cache that thrashes keeps less. Where
//! the file system drops written pages, it serves only `r^dropping` of the reads that it could.
//!
//! One request at a level costs `overhead·(1 - saving·q) + S·byte` seconds, divided by the speed-up
//! of `p` processes. Reads from a device behind a cache cost a further `overhead·waste·4q(1-q)`,
//! for what read-ahead fetches in vain. A byte in memory costs up to `1 + beyond` times as much as
//! in the processors' own caches.

use super::input::ModelInput;
use super::parameters::{
    AdviceParameters, BorderParameters, Layout, LevelParameters, ProcessorParameters,
};

/// The largest power by which reads lose cached pages to writes, and the least share of reads to
/// which it is applied.
const DROPPING_MOST: f64 = 50.0;
const READS_LEAST: f64 = 1e-3;
/// The largest logarithm, either way, of how sharply a speed-up reaches its limit.
pub(super) const SHARPEST: f64 = 3.0;

pub(super) fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// A smooth step from 0 at -1 to 1 at 1.
fn step(x: f64) -> f64 {
    let t = ((x + 1.0) / 2.0).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

impl Layout {
    /// The prediction for `place` with the parameters `theta`.
    pub(super) fn outcome(&self, theta: &[f64], place: &ModelInput) -> Outcome {
        combine(&self.demands(theta, place), self.stations(), place.process_num)
    }

    /// The demand of every component at `place`, reads first.
    pub(super) fn demands(&self, theta: &[f64], place: &ModelInput) -> Vec<Demand> {
        let mut demands = Vec::with_capacity(self.components());
        for (operation, fraction) in
            [place.read_frac, 1.0 - place.read_frac].into_iter().enumerate()
        {
            self.push_demands(theta, place, operation, fraction, &mut demands);
        }
        demands
    }

    /// The number of parts of the machine that requests wait for; the last is the right to write.
    pub(super) fn stations(&self) -> usize {
        self.levels.into_iter().max().unwrap_or(1) + 1
    }

    /// Whether writes at this level also wait for one another, besides the resource that serves
    /// reads there. A file system lets one writer at a time copy into a file, whereas readers share
    /// the processors.
    fn is_exclusive(&self, operation: usize, level: usize) -> bool {
        self.writers_wait && operation == 1 && level == 0
    }

    fn push_demands(
        &self,
        theta: &[f64],
        place: &ModelInput,
        operation: usize,
        fraction: f64,
        demands: &mut Vec<Demand>,
    ) {
        let levels = self.levels[operation];
        let [dearer, _] = self.advised(theta, place, operation);
        let mut arriving = 1.0f64;
        let passing = self.passing(theta, place, operation);
        let valid = if operation == 0 { self.valid(theta, place) } else { 1.0 };
        for level in 0..levels {
            let (missed, onset) = passing.get(level).copied().unwrap_or((0.0, f64::INFINITY));
            let leaving = if level + 1 < levels { 1.0 - (1.0 - missed) * valid } else { 0.0 };
            let held = place.unique_bytes.min(onset);
            let dearer = if level + 1 == levels { dearer.exp() } else { 1.0 };
            let served = fraction * (arriving - leaving) * dearer;
            demands.push(self.demand(theta, place, (operation, level), held, served));
            arriving = leaving;
        }
    }

    /// Share of the reads of cached bytes that find these still valid.
    fn valid(&self, theta: &[f64], place: &ModelInput) -> f64 {
        let dropping = self.mix().of(theta).ln_dropping.exp().min(DROPPING_MOST);
        place.read_frac.max(READS_LEAST).powf(dropping)
    }

    /// Share of the bytes read at `place` that the file cache holds, valid or not. Caches behind
    /// it, such as a server's, hold pages that this kernel does not count.
    pub(super) fn held_reads(&self, theta: &[f64], place: &ModelInput) -> f64 {
        let shares = self.passing(theta, place, 0);
        let own = self.file_cache.and_then(|level| shares.get(level));
        1.0 - own.map_or(0.0, |(leaving, _)| *leaving)
    }

    /// Whether the set at `place` overflows the first cache of an operation.
    pub(super) fn overflows(&self, theta: &[f64], place: &ModelInput, operation: usize) -> bool {
        place.unique_bytes.ln() > self.border(operation, 0).of(theta).log_onset_at(place)
    }

    /// For every border of an operation, the share of bytes that passes it and the set at which its
    /// cache overflows.
    fn passing(&self, theta: &[f64], place: &ModelInput, operation: usize) -> Vec<(f64, f64)> {
        let log_set = place.unique_bytes.ln();
        let [_, fuller] = self.advised(theta, place, operation);
        let (mut arriving, mut onset) = (1.0f64, 0.0f64);
        let border = |level: usize| {
            let border = self.border(operation, level).of(theta);
            let BorderParameters { logit_kept, ln_width, .. } = border;
            onset = onset.max(border.log_onset_at(place));
            let kept = (onset.exp() * logistic(logit_kept + fuller)).min(place.unique_bytes);
            let over = step(2.0 * (log_set - onset) / ln_width.exp().max(1e-3) - 1.0);
            arriving = (over * (1.0 - kept / place.unique_bytes)).max(0.0).min(arriving);
            (arriving, onset.exp())
        };
        (0..self.levels[operation] - 1).map(border).collect()
    }

    /// The demand at one level, which serves the share `served` of all bytes and holds `held` bytes
    /// of the set.
    fn demand(
        &self,
        theta: &[f64],
        place: &ModelInput,
        (operation, level): (usize, usize),
        held: f64,
        served: f64,
    ) -> Demand {
        let parameters = self.level(operation, level).of(theta);
        let size = (held / self.reference_bytes).ln();
        let crowded = if level == 0 { self.crowded(theta, held) } else { 1.0 };
        let wasted = self.wasted(theta, place, operation, level);
        let cost = cost(&parameters, place, (size, crowded), wasted);
        let station = if operation == 0 { level } else { self.read_level_of(level) };
        let own = parameters.ln_serial.exp();
        let [serial, exclusive] = match self.is_exclusive(operation, level) {
            true => [theta[self.level(0, station).ln_serial].exp(), own],
            false => [own, 0.0],
        };
        Demand {
            seconds_per_byte: served * cost.seconds_per_byte(),
            serial,
            exclusive,
            sharpness: parameters.ln_sharpness,
            held,
            cost,
            station,
        }
    }

    /// The throughput of requests of several classes, each served at the levels that its own
    /// locality implies.
    pub(super) fn outcome_of(&self, theta: &[f64], classes: &[Served], processes: f64) -> Outcome {
        let mut demands = Vec::with_capacity(self.components());
        for (operation, level) in
            (0..2).flat_map(|operation| (0..self.levels[operation]).map(move |k| (operation, k)))
        {
            let own = classes.iter().filter(|class| class.operation == operation);
            let each = own.map(|class| {
                let place = ModelInput { process_num: processes, ..class.place };
                let (held, served) = class.levels[level];
                self.demand(theta, &place, (operation, level), held, served)
            });
            let none = Demand::default();
            demands.push(each.fold(none, |sum, one| Demand {
                seconds_per_byte: sum.seconds_per_byte + one.seconds_per_byte,
                ..one
            }));
        }
        combine(&demands, self.stations(), processes)
    }

    /// The cost of what read-ahead fetches in vain, relative to a random request's overhead.
    /// Read-ahead starts with a sequential request and misses the next random one: all sequential
    /// or all random requests waste nothing, and half of each wastes most.
    fn wasted(&self, theta: &[f64], place: &ModelInput, operation: usize, level: usize) -> f64 {
        let at_device = level > 0 && level + 1 == self.levels[operation];
        if operation == 1 || !at_device || place.advised {
            return 0.0;
        }
        let mixed = 4.0 * place.seq_frac * (1.0 - place.seq_frac);
        mixed * self.advice().of(theta).ln_waste.exp()
    }

    /// The cost of a byte in a set of `held` bytes in memory, relative to that in the processors'
    /// own caches, which hold a part of the set.
    pub(super) fn crowded(&self, theta: &[f64], held: f64) -> f64 {
        let ProcessorParameters { ln_beyond, ln_bytes } = self.processors().of(theta);
        1.0 + ln_beyond.exp() * held / (held + ln_bytes.exp())
    }

    /// ln of the effect of the processors' own caches on the bytes of an operation's last level: 0
    /// unless that is also its first.
    pub(super) fn first_level_crowded(&self, theta: &[f64], operation: usize) -> f64 {
        if self.levels[operation] > 1 {
            0.0
        } else {
            self.crowded(theta, self.reference_bytes).ln()
        }
    }

    /// The effect of advice at `place`: on ln(cost) at the device, and on the logit of the share
    /// kept.
    fn advised(&self, theta: &[f64], place: &ModelInput, operation: usize) -> [f64; 2] {
        if place.advised && operation == 0 {
            let AdviceParameters { ln_cost, logit_kept, .. } = self.advice().of(theta);
            [ln_cost, logit_kept]
        } else {
            [0.0, 0.0]
        }
    }

    /// Natural logarithm of the throughput in bytes per second.
    pub(super) fn log_throughput(&self, theta: &[f64], place: &ModelInput) -> f64 {
        self.outcome(theta, place).log_throughput
    }
}

/// The prediction of the structural model for one place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    /// Natural logarithm of the throughput in bytes per second.
    pub(super) log_throughput: f64,
    /// The change of ln(time) with the logarithm of each component's cost, reads first; their sum
    /// is 1.
    pub(super) shares: Vec<f64>,
}

/// Requests of one class, and where they are served.
#[derive(Clone, Debug)]
pub(super) struct Served {
    /// 0 for reads, 1 for writes.
    pub(super) operation: usize,
    /// Their size, and whether they are sequential.
    pub(super) place: ModelInput,
    /// By level: the bytes of the set at this level, and the share of all moved bytes that it
    /// serves.
    pub(super) levels: Vec<(f64, f64)>,
}

/// The load that one component puts on its station.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Demand {
    /// Seconds it takes per byte moved by all components.
    pub(super) seconds_per_byte: f64,
    /// Inverse of the largest speed-up by many processes.
    pub(super) serial: f64,
    /// The same for the station of writers alone, which wait for one another; 0 where they do not.
    pub(super) exclusive: f64,
    /// Natural logarithm of how sharply that limit is reached.
    pub(super) sharpness: f64,
    /// The station it loads.
    pub(super) station: usize,
    /// The bytes of the set at this level.
    pub(super) held: f64,
    /// The cost of a byte at this level.
    pub(super) cost: Cost,
}

/// Seconds per byte of one level for one process, in parts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    /// The overhead of a random request.
    pub(super) random: f64,
    /// The share of it that sequential requests save.
    pub(super) saved: f64,
    /// What read-ahead adds in vain, relative to it.
    pub(super) wasted: f64,
    /// The cost of the bytes themselves.
    pub(super) bytes: f64,
}

impl Cost {
    pub(super) fn seconds_per_byte(&self) -> f64 {
        self.random * (1.0 - self.saved + self.wasted) + self.bytes
    }
}

/// Seconds per byte of one level for one process, with a set of `size` = ln(bytes over the
/// reference) whose bytes cost `crowded` times as much as in a processor's own cache. Read-ahead
/// adds `wasted` overheads.
fn cost(
    level: &LevelParameters<f64>,
    place: &ModelInput,
    (size, crowded): (f64, f64),
    wasted: f64,
) -> Cost {
    let interleaved = place.process_num.powf(-level.ln_interleaving.exp());
    Cost {
        random: (level.ln_overhead_s + level.overhead_growth * size).exp() / place.size_mean,
        saved: logistic(level.logit_saving) * place.seq_frac * interleaved,
        wasted,
        bytes: crowded * (level.ln_byte_s + level.byte_growth * size).exp(),
    }
}

impl BorderParameters<f64> {
    /// Natural logarithm of the set, in bytes, at which the cache overflows with this share of reads.
    fn log_onset_at(&self, place: &ModelInput) -> f64 {
        self.ln_onset + 4.0 * place.read_frac * (1.0 - place.read_frac) * self.mixed_shift
    }
}

/// How busy each station is, relative to the time of one process; the last is the right to write.
pub(super) struct Loads(pub(super) Vec<f64>);

impl Loads {
    /// The loads of demands that take `total` seconds a byte together.
    pub(super) fn new(demands: &[Demand], stations: usize, total: f64) -> Self {
        let mut loads = vec![0.0; stations];
        for demand in demands {
            loads[demand.station] += demand.seconds_per_byte * demand.serial / total;
            loads[stations - 1] += demand.seconds_per_byte * demand.exclusive / total;
        }
        Self(loads)
    }

    /// How much a demand with the share `own` of the time adds to the wait for its station, and for
    /// the right to write.
    pub(super) fn felt(&self, demand: &Demand, own: f64, sharp: f64) -> [f64; 2] {
        let at = |load: f64, serial: f64| match load > 0.0 {
            true => load.powf(sharp - 1.0) * own * serial,
            false => 0.0,
        };
        let writing = self.0.last().copied().unwrap_or_default();
        [at(self.0[demand.station], demand.serial), at(writing, demand.exclusive)]
    }
}

/// The throughput of `processes` that go from station to station, by a smooth maximum of the
/// asymptotic bounds of operational analysis (Denning and Buzen, ACM Computing Surveys 10, 1978).
/// No byte is faster than all demands over the number of processes, nor than the busiest station,
/// which `1/serial` processes saturate. For one process it is the plain sum.
fn combine(demands: &[Demand], stations: usize, processes: f64) -> Outcome {
    let total: f64 = demands.iter().map(|d| d.seconds_per_byte).sum::<f64>().max(f64::MIN_POSITIVE);
    let sharp = demands.iter().map(|d| d.seconds_per_byte * d.sharpness).sum::<f64>() / total;
    let sharp = sharp.clamp(-SHARPEST, SHARPEST).exp();
    let loads = Loads::new(demands, stations, total);
    let others = 1.0 - processes.powf(-sharp);
    let each = processes.powf(-sharp);
    let sum = each + others * loads.0.iter().map(|load| load.powf(sharp)).sum::<f64>();
    let shares = demands.iter().map(|d| {
        let own = d.seconds_per_byte / total;
        let felt: f64 = loads.felt(d, own, sharp).iter().sum();
        (each * own + others * felt) / sum
    });
    Outcome { log_throughput: -total.ln() - sum.ln() / sharp, shares: shares.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_pays_the_sum_and_many_the_busiest_station() {
        let demand = |seconds_per_byte, serial, station| Demand {
            seconds_per_byte,
            serial,
            sharpness: 1.5,
            station,
            ..Demand::default()
        };
        let demands = [demand(1.0, 0.5, 0), demand(3.0, 0.25, 1), demand(1.0, 0.25, 1)];
        let time = |processes| (-combine(&demands, 3, processes).log_throughput).exp();
        assert!((time(1.0) - 5.0).abs() < 1e-9);
        assert!((time(1e9) - 1.0).abs() < 0.2, "{}", time(1e9));
        for processes in [1.0, 3.0, 50.0] {
            let shares = combine(&demands, 3, processes).shares;
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        }
    }

    /// Two levels for reads, one for writes, with round numbers.
    fn simple() -> (Layout, Vec<f64>) {
        let levels = Layout { levels: [2, 1], reference_bytes: 1e6, ..Layout::default() };
        let layout = Layout { file_cache: Some(0), ..levels };
        let mut theta = vec![0.0; layout.len()];
        for (operation, level, overhead) in [(0, 0, 1e-6), (0, 1, 1e-2), (1, 0, 1e-2)] {
            let parameters = layout.level(operation, level);
            theta[parameters.ln_overhead_s] = f64::ln(overhead);
            theta[parameters.ln_byte_s] = -100.0;
            theta[parameters.logit_saving] = -100.0;
        }
        let border = layout.border(0, 0);
        theta[border.ln_onset] = 64e6f64.ln();
        theta[border.logit_kept] = 100.0;
        theta[border.ln_width] = -5.0;
        theta[layout.advice().ln_waste] = -100.0;
        theta[layout.mix().ln_dropping] = -100.0;
        theta[layout.processors().ln_beyond] = -100.0;
        (layout, theta)
    }

    #[test]
    fn a_byte_of_memory_costs_more_where_the_set_outgrows_the_processors_caches() {
        let layout = Layout { levels: [1, 1], reference_bytes: 1e6, ..Layout::default() };
        let mut theta = vec![0.0; layout.len()];
        for operation in 0..2 {
            let parameters = layout.level(operation, 0);
            theta[parameters.ln_overhead_s] = -100.0;
            theta[parameters.ln_byte_s] = f64::ln(1e-10);
        }
        theta[layout.processors().ln_beyond] = 3f64.ln();
        theta[layout.processors().ln_bytes] = 32e6f64.ln();
        let rate = |unique_bytes: f64| {
            let place = ModelInput { unique_bytes, ..ModelInput::PLAIN };
            layout.log_throughput(&theta, &place).exp()
        };
        for (set, times) in [(1.0, 1.0), (32e6, 2.5), (1e15, 4.0)] {
            assert!((rate(set) * times / 1e10 - 1.0).abs() < 1e-6, "{set}: {}", rate(set));
        }
    }

    #[test]
    fn writers_wait_for_one_another_and_readers_do_not() {
        let one_level = Layout { levels: [1, 1], reference_bytes: 1e6, ..Layout::default() };
        let layout = Layout { writers_wait: true, ..one_level };
        let mut theta = vec![0.0; layout.len()];
        for (operation, serial) in [(0, 0.25), (1, 1.0)] {
            let at = layout.level(operation, 0);
            theta[at.ln_overhead_s] = f64::ln(1e-5);
            theta[at.ln_byte_s] = -100.0;
            theta[at.logit_saving] = -100.0;
            theta[at.ln_serial] = f64::ln(serial);
            theta[at.ln_sharpness] = SHARPEST;
        }
        theta[layout.processors().ln_beyond] = -100.0;
        let speedup = |read_frac: f64| {
            let rate = |process_num: f64| {
                let place = ModelInput { read_frac, process_num, ..ModelInput::PLAIN };
                layout.log_throughput(&theta, &place)
            };
            (rate(1000.0) - rate(1.0)).exp()
        };
        // Four processors. One writer at a time does half of the work of a half-and-half mix, and a
        // quarter with three reads to a write.
        for (read_frac, expected) in [(1.0, 4.0), (0.0, 1.0), (0.5, 2.0), (0.75, 4.0)] {
            let found = speedup(read_frac);
            assert!((found / expected - 1.0).abs() < 0.05, "{read_frac}: {found}");
        }
    }

    #[test]
    fn written_pages_may_leave_the_cache_of_reads() {
        let (layout, mut theta) = simple();
        let mut place = ModelInput { unique_bytes: 32e6, read_frac: 0.8, ..ModelInput::PLAIN };
        theta[layout.mix().ln_dropping] = 2f64.ln();
        let time = (-layout.log_throughput(&theta, &place)).exp() * 1e4;
        let found = 0.8f64.powi(2);
        let expected = 0.8 * (found * 1e-6 + (1.0 - found) * 1e-2) + 0.2 * 1e-2;
        assert!((time - expected).abs() < 1e-9, "{time} {expected}");
        assert_eq!(layout.held_reads(&theta, &place), 1.0);
        let beyond = ModelInput { unique_bytes: 128e6, ..place };
        assert!((layout.held_reads(&theta, &beyond) - 0.5).abs() < 1e-6);
        place.read_frac = 1.0;
        let time = (-layout.log_throughput(&theta, &place)).exp() * 1e4;
        assert!((time - 1e-6).abs() < 1e-9, "{time}");
    }

    #[test]
    fn reads_behind_the_border_pay_for_what_misses_and_writes_for_all() {
        let (layout, theta) = simple();
        let reads = ModelInput { read_frac: 1.0, seq_frac: 0.5, ..ModelInput::PLAIN };
        let mut place = ModelInput { unique_bytes: 128e6, ..reads };
        let time = (-layout.log_throughput(&theta, &place)).exp() * 1e4;
        assert!((time - (0.5e-6 + 0.5e-2)).abs() < 1e-9, "{time}");
        let mut wasteful = theta.clone();
        wasteful[layout.advice().ln_waste] = 0.0;
        let [mixed, pure, advised] =
            [(0.5, false), (1.0, false), (0.5, true)].map(|(seq_frac, advised)| {
                let place = ModelInput { seq_frac, advised, ..place };
                layout.log_throughput(&theta, &place) - layout.log_throughput(&wasteful, &place)
            });
        assert!((mixed.exp() - 2.0).abs() < 1e-3 && pure == 0.0 && advised == 0.0);
        place.unique_bytes = 32e6;
        place.read_frac = 0.5;
        let time = (-layout.log_throughput(&theta, &place)).exp() * 1e4;
        assert!((time - (0.5e-6 + 0.5e-2)).abs() < 1e-9, "{time}");
    }
}
