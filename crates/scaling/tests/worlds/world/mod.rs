//! Random made-up storage hierarchies in virtual time, with known truth and all that obscures it.

use ioscape_scaling::{Bounds, EvaluationOptions, Probe, ProbeRequest, Progress, TimeLimits};
use ioscape_schema::statistics::mean;
use ioscape_schema::tally::{Looks, StopRule, interval};
use ioscape_schema::{
    Access, Direction, Evaluation, Measurement, Purpose, ResponseTime, Stop, Witness, Workload,
};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg32;

pub mod cold;
pub const MIB: f64 = 1048576.0;
const GIB: f64 = 1024.0 * MIB;

/// How requests miss a level that the set outgrows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Overflow {
    /// Uniformly random requests over LRU: a share C/U of them hits.
    Random,
    /// No request hits.
    Thrash,
    /// The level ends gradually over a factor of two.
    Soft,
}

/// The end of a level: where it is, the time per byte it adds, and how requests overflow it.
#[derive(Clone, Copy, Debug)]
pub struct End {
    pub bytes: f64,
    added_s: f64,
    overflow: Overflow,
}

/// What the kernel reports besides throughput.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Counters {
    Full,
    Older,
    Silent,
}

/// How writes relate to reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Writes {
    AsReads,
    DirtyLimit,
    Through,
}

/// A run of writes long enough for a flush.
#[derive(Clone, Copy, Debug)]
pub struct LongRun {
    /// The seconds after which a flush is due.
    interval_s: f64,
    /// Undisturbed over mean throughput; absent if no flush comes.
    pub slower: Option<f64>,
    /// Whether the longest write stalls.
    stalls: bool,
}

impl LongRun {
    fn new(random: &mut Pcg32) -> Self {
        let interval_s = 5.0 + 10.0 * random.random::<f64>();
        let slower = match random.random_range(0..3) {
            0 => None,
            1 => Some(log_uniform(random, 1.0, 1.3)),
            _ => Some(log_uniform(random, 1.3, 6.0)),
        };
        Self { interval_s, slower, stalls: slower.is_some() && random.random_bool(0.6) }
    }

    /// Adds further figures; noise lifts the busiest tenth.
    fn measure(self, random: &mut Pcg32, noise: f64, counters: Counters, m: &mut Measurement) {
        let set = m.workload.unique_bytes;
        let slower = self.slower.unwrap_or(1.0) * (0.4 * noise * gauss(random)).exp();
        m.burst_ratio = Some((slower * (1.0 + 1.755 * noise)).max(1.0));
        if self.stalls {
            let one_s = m.elapsed_s * (1.0 - 1.0 / slower.max(1.0));
            m.stalled_s = one_s * f64::from(m.workload.process_num);
            m.response_time_ns.max = 3_000_000_000;
        }
        if counters == Counters::Full {
            m.witness.device_written_bytes = self.slower.map_or(Some(0), |_| Some(set));
        }
    }
}

#[derive(Clone, Debug)]
pub struct World {
    pub seed: u64,
    pub largest: f64,
    pub reads: Vec<End>,
    pub writes: Vec<End>,
    pub policy: Writes,
    pub counters: Counters,
    pub noise: f64,
    memory_s: f64,
    write_cost: f64,
    decline: f64,
    /// The set from which on memory is equally fast, in bytes.
    even_from: f64,
    /// Neighbours on the processor: how much they slow it, and how many seconds they work or rest.
    neighbours: Option<(f64, f64)>,
    sequential: f64,
    bursts: f64,
    drift: (f64, f64, f64),
    /// Change of log throughput per second of the whole evaluation.
    ramp_per_s: f64,
    /// A flush slows writes by a factor, every so many seconds: seconds and factor.
    flush: Option<(f64, f64)>,
    /// Share of the cache that is still empty when a set first outgrows it.
    empty: f64,
    pub budget_s: f64,
    /// The effect of a long run of writes, if there is one.
    pub long_run: Option<LongRun>,
    /// Which of several runs in the same world.
    run: u64,
    number: u64,
    pub clock_s: f64,
}

fn log_uniform(random: &mut Pcg32, low: f64, high: f64) -> f64 {
    (low.ln() + random.random::<f64>() * (high / low).ln()).exp()
}

/// Ends of levels from `first` bytes on, well apart, each 1.3 to 500 times slower than the last.
fn ends(random: &mut Pcg32, count: usize, largest: f64, memory: impl Fn(f64) -> f64) -> Vec<End> {
    let overflow = match random.random_range(0..10) {
        0..6 => Overflow::Random,
        6..8 => Overflow::Thrash,
        _ => Overflow::Soft,
    };
    let mut places: Vec<f64> = Vec::new();
    while places.len() < count {
        let place = log_uniform(random, 24.0 * MIB, largest / 1.7);
        if places.iter().all(|p| (p / place).ln().abs() > 2.5f64.ln()) {
            places.push(place);
        }
    }
    places.sort_by(f64::total_cmp);
    let mut time = places.first().map_or(0.0, |&p| memory(p));
    let mut end = |bytes| {
        let slower = log_uniform(random, 1.3, 500.0).min((1e-6 / time).max(1.3));
        let added_s = time * (slower - 1.0);
        time += added_s;
        End { bytes, added_s, overflow }
    };
    places.into_iter().map(&mut end).collect()
}

impl End {
    pub fn is(&self, overflow: Overflow) -> bool {
        self.overflow == overflow
    }
}

impl World {
    pub fn new(seed: u64) -> Self {
        let mut random = Pcg32::seed_from_u64(seed);
        let r = &mut random;
        let largest = log_uniform(r, 2.0 * GIB, 64.0 * GIB);
        let decline = r.random::<f64>() * 0.43;
        let memory_s = log_uniform(r, 1.0 / 12e9, 1.0 / 3e9);
        let memory = |bytes: f64| memory_s * (bytes.min(GIB) / GIB).powf(decline);
        let count = [0, 1, 1, 1, 1, 2, 2, 3][r.random_range(0..8)];
        let reads = ends(r, count, largest, memory);
        let policy = match r.random_range(0..10) {
            0..6 => Writes::AsReads,
            6..8 if count == 1 && reads[0].bytes > 100.0 * MIB => Writes::DirtyLimit,
            8.. if count > 0 => Writes::Through,
            _ => Writes::AsReads,
        };
        let mut writes = if policy == Writes::Through { Vec::new() } else { reads.clone() };
        if policy == Writes::DirtyLimit {
            writes[0].bytes *= log_uniform(r, 0.1, 0.5);
            writes[0].overflow = Overflow::Thrash;
        }
        let counters = match r.random_range(0..10) {
            0..4 => Counters::Full,
            4..6 => Counters::Older,
            _ => Counters::Silent,
        };
        let drift = if r.random_bool(0.2) {
            (r.random::<f64>() * 300.0, r.random::<f64>() * 120.0, 0.5 + 0.4 * r.random::<f64>())
        } else {
            (0.0, 0.0, 1.0)
        };
        // Drawn separately, so that each seed keeps its other draws.
        let other = &mut Pcg32::new(seed, u64::MAX);
        let ramp_per_s = if other.random_bool(0.15) { 0.3 * gauss(other) / 600.0 } else { 0.0 };
        let flush = (5.0 + 25.0 * other.random::<f64>(), log_uniform(other, 1.2, 4.0));
        let flush = other.random_bool(0.15).then_some(flush);
        let empty = if other.random_bool(0.1) { 0.5 * other.random::<f64>() } else { 0.0 };
        let long_run = other.random_bool(0.35).then(|| LongRun::new(other));
        Self {
            seed,
            largest,
            ramp_per_s,
            flush,
            empty,
            decline,
            even_from: GIB,
            neighbours: None,
            memory_s,
            reads,
            writes,
            policy,
            counters,
            write_cost: 1.0 + r.random::<f64>(),
            noise: log_uniform(r, 0.02, 0.3),
            sequential: if r.random_bool(0.3) { 1.0 } else { log_uniform(r, 0.5, 3.0) },
            bursts: if r.random_bool(0.3) { 0.1 } else { 0.0 },
            drift,
            budget_s: if r.random_bool(0.5) { 600.0 } else { 180.0 },
            long_run,
            run: 0,
            number: 0,
            clock_s: 0.0,
        }
    }

    pub fn options(&self) -> EvaluationOptions {
        EvaluationOptions {
            bounds: Bounds {
                unique_bytes: [1 << 20, self.largest as u64],
                size_mean: [4 << 10, 1 << 20],
                process_num: [1, 8],
            },
            base: Workload::default(),
            budget_s: self.budget_s,
            seed: self.seed,
            all_parameters: false,
            interactions: 0,
            points_max: None,
            typical_cost_s: 2.5,
            flush_interval_s: self.long_run.map(|run| run.interval_s),
            layout_bytes_per_s: None,
            level_counts: true,
        }
    }

    /// Many processors, each shared with a neighbour that works and rests. Memory is far faster in
    /// their large caches, and in half of the worlds nothing slower is in reach.
    pub fn shared(seed: u64) -> Self {
        let mut world = Self::new(seed);
        let random = &mut Pcg32::new(seed, u64::MAX / 2);
        world.decline = 0.15 + 0.1 * random.random::<f64>();
        world.even_from = 8.0 * GIB;
        world.neighbours = Some((log_uniform(random, 1.2, 2.0), log_uniform(random, 0.1, 4.0)));
        world.noise = log_uniform(random, 0.02, 0.06);
        world.budget_s = 180.0;
        if random.random_bool(0.5) {
            world.reads.clear();
            world.writes.clear();
            world.policy = Writes::AsReads;
        }
        world
    }

    /// The same world at another time: other noise, another time of its drift.
    pub fn again(seed: u64, run: u64) -> Self {
        let mut world = Self::new(seed);
        let random = &mut Pcg32::new(seed, u64::MAX - run);
        world.run = run;
        world.drift.0 = random.random::<f64>() * world.budget_s / 2.0;
        world.clock_s = random.random::<f64>() * 30.0;
        world
    }

    /// Describes its levels.
    pub fn truth(&self) -> String {
        let ends = |ends: &[End]| -> String {
            let slower = |end: &End| {
                let before = self.time(ends, end.bytes * 0.999);
                format!(
                    " {:.0} MiB x{:.2} {:?}",
                    end.bytes / MIB,
                    1.0 + end.added_s / before,
                    end.overflow
                )
            };
            ends.iter().map(slower).collect()
        };
        format!(
            "reads{}, writes{}, {:?}, noise {:.2}, decline {:.2}, largest {:.0} MiB",
            ends(&self.reads),
            ends(&self.writes),
            self.policy,
            self.noise,
            self.decline,
            self.largest / MIB
        )
    }

    /// Seconds per byte in memory of a set of `bytes`, up to 20-fold fewer in processor caches.
    fn memory(&self, bytes: f64) -> f64 {
        let first = self.reads.first().map_or(f64::INFINITY, |end| end.bytes);
        self.memory_s * (bytes.min(first).min(self.even_from) / GIB).powf(self.decline)
    }

    fn time(&self, ends: &[End], bytes: f64) -> f64 {
        let missed = |end: &End| match end.overflow {
            Overflow::Random => (1.0 - end.bytes / bytes).max(0.0),
            Overflow::Thrash => f64::from(u8::from(bytes > end.bytes)),
            Overflow::Soft => ((bytes / end.bytes).log2()).clamp(0.0, 1.0),
        };
        self.memory(bytes) + ends.iter().map(|end| end.added_s * missed(end)).sum::<f64>()
    }

    /// How much a periodic flush slows a run of writes that meets it.
    fn flushing(&self, workload: &Workload) -> f64 {
        let Some((every_s, factor)) = self.flush else { return 1.0 };
        let is_now = self.clock_s % every_s < 0.15 * every_s;
        if is_now { 1.0 + (factor - 1.0) * (1.0 - workload.read_frac) } else { 1.0 }
    }

    /// How much slower the larger of two sets in memory is; both in bytes.
    pub fn slows(&self, small: f64, large: f64) -> f64 {
        self.memory(large) / self.memory(small)
    }

    fn storage_s(&self) -> f64 {
        self.time(&self.reads, 1e18)
    }

    /// Throughput without noise, in bytes per second.
    pub fn law(&self, workload: &Workload) -> f64 {
        let bytes = workload.unique_bytes as f64;
        let reads = self.time(&self.reads, bytes);
        let writes = match self.policy {
            Writes::Through => self.storage_s(),
            _ => self.write_cost * self.time(&self.writes, bytes),
        };
        let writes = if workload.access == Access::Dsync { 1.5 * self.storage_s() } else { writes };
        let size = workload.size_mean as f64;
        let processes = f64::from(workload.process_num);
        let shape = 2.0 * size / (size + 32768.0) * (processes / (processes + 0.5) * 1.5);
        let sequential = 1.0 + (self.sequential - 1.0) * workload.seq_frac;
        shape * sequential / (workload.read_frac * reads + (1.0 - workload.read_frac) * writes)
    }

    /// Whether its speed, or that of its neighbours, changes during the evaluation.
    pub fn is_changing(&self) -> bool {
        self.drift.1 > 0.0
            || self.ramp_per_s != 0.0
            || self.neighbours.is_some()
            || self.bursts > 0.0
    }

    /// Whether other work may disturb its runs.
    pub fn is_disturbed(&self) -> bool {
        self.bursts > 0.0
    }

    /// Number of regions: one, one more per border of reads, and one for a dirty limit.
    pub fn regions(&self) -> usize {
        let dirty = usize::from(self.policy == Writes::DirtyLimit);
        1 + self.reads.len() + dirty
    }

    /// How much slower the mildest of its levels is than the one before it.
    pub fn mildest(&self) -> f64 {
        let slower =
            |ends: &[End], end: &End| 1.0 + end.added_s / self.time(ends, end.bytes * 0.999);
        let of = |ends: &[End]| -> f64 {
            ends.iter().map(|end| slower(ends, end)).fold(f64::INFINITY, f64::min)
        };
        of(&self.reads).min(of(&self.writes))
    }

    /// Whether every border is far from the noise: at least twice as slow at the largest set, with noise below 10 %.
    pub fn is_plain(&self) -> bool {
        let slow = |ends: &[End], at: f64| self.time(ends, self.largest) / self.time(ends, at);
        let plain = |ends: &[End]| ends.iter().all(|end| slow(ends, end.bytes) > 2.0);
        self.noise < 0.1 && plain(&self.reads) && plain(&self.writes)
    }

    fn witness(&self, random: &mut Pcg32, m: &mut Measurement) {
        let bytes = m.workload.unique_bytes as f64;
        let first = self.reads.first().map_or(f64::INFINITY, |end| end.bytes);
        let error = 1.0 + 0.01 * gauss(random);
        // A cache that is still filling holds less than it could, until a few runs have gone through it.
        let filled = 1.0 - self.empty * (-(self.number as f64) / 20.0).exp();
        let held = filled * first / bytes * error;
        let share = if bytes <= first { 1.0 } else { held.clamp(0.0, 1.0) };
        // A writer of more than may be dirty waits for write-back.
        let waits = self.policy != Writes::AsReads
            && self.writes.first().is_none_or(|end| bytes > end.bytes);
        let in_memory = share >= 1.0 && (!waits || m.workload.read_frac == 1.0);
        let available_s = m.elapsed_s * f64::from(m.workload.process_num);
        m.cpu_system_s = if in_memory { available_s } else { 0.4 * available_s };
        if self.counters == Counters::Silent {
            return;
        }
        let reads = m.workload.read_frac * m.bytes as f64;
        m.resident_frac = Some(share);
        m.storage_read_bytes = Some((reads * (1.0 - share)) as u64);
        if self.counters == Counters::Full {
            m.witness = Witness {
                resident_frac: Some([share, share]),
                storage_read_bytes: m.storage_read_bytes,
                run_delay_s: Some(0.0),
                ..Witness::default()
            };
        }
    }
}

/// The part of a run's result that depends on neighbours.
struct Pace {
    mean: f64,
    relative_error: f64,
    elapsed_s: f64,
}

/// Time goes by in slices until the interval is as narrow as that of a real run, or time is up.
fn pace(random: &mut Pcg32, (slower, dwell_s): (f64, f64), limits: TimeLimits) -> Pace {
    let TimeLimits { min_s, cap_s } = limits;
    let rule = StopRule { min_s, cap_s, confidence: 0.03 };
    let (mut looks, mut rates, mut works) = (Looks::new(rule), Vec::new(), random.random_bool(0.5));
    let slice_s = cap_s / 200.0;
    loop {
        let changes = random.random_bool(1.0 - (-slice_s / dwell_s).exp());
        works ^= changes;
        let rate = if works { slower.recip() } else { 1.0 };
        rates.push(rate * (0.05 * gauss(random)).exp());
        let elapsed_s = slice_s * rates.len() as f64;
        if looks.look(&rates, f64::INFINITY, elapsed_s).is_some() {
            let relative_error = interval(&rates).map_or(1.0, |found| found.relative());
            return Pace { mean: mean(&rates), relative_error, elapsed_s };
        }
    }
}

fn gauss(random: &mut Pcg32) -> f64 {
    StandardNormal.sample(random)
}

impl Probe for World {
    type Error = String;

    fn measure(&mut self, request: &ProbeRequest) -> Result<Measurement, String> {
        let mut random = Pcg32::new(self.seed, self.number + (self.run << 32));
        self.number += 1;
        let workload = &request.workload;
        let mut throughput = self.law(workload) * (self.noise * gauss(&mut random)).exp();
        let mut disturbed = false;
        if random.random_bool(self.bursts) {
            throughput /= log_uniform(&mut random, 1.5, 4.0);
            disturbed = random.random_bool(0.7);
        }
        let (from, length, factor) = self.drift;
        if (from..from + length).contains(&self.clock_s) {
            throughput *= factor;
        }
        throughput *= (self.ramp_per_s * self.clock_s).exp() / self.flushing(workload);
        // A run sees part of the noise within itself; the remainder is between runs.
        let (mut within, mut cost_s) = (1.0 + self.noise, 0.2 + 1.2 * request.limits.cap_s);
        if let Some(neighbours) = self.neighbours {
            let pace = pace(&mut random, neighbours, request.limits);
            (throughput, within, cost_s) =
                (throughput * pace.mean, 1.0 + pace.relative_error, 0.3 + pace.elapsed_s);
        }
        self.clock_s += cost_s;
        let response = (1e9 * workload.size_mean as f64 / throughput) as u64;
        let mut measurement = Measurement {
            ios: (throughput / workload.size_mean as f64) as u64,
            bytes: throughput as u64,
            elapsed_s: 1.0,
            throughput_bytes_per_s: throughput,
            throughput_ci95: [throughput / within, throughput * within],
            response_time_ns: ResponseTime {
                p50: response,
                max: response * 4,
                ..ResponseTime::default()
            },
            read: (workload.read_frac > 0.0).then(|| Direction {
                bytes: (throughput * workload.read_frac) as u64,
                ..Direction::default()
            }),
            write: (workload.read_frac < 1.0).then(|| Direction {
                bytes: (throughput * (1.0 - workload.read_frac)) as u64,
                ..Direction::default()
            }),
            io_time_frac: 1.0,
            cost_s,
            disturbed,
            ..Measurement::empty(workload.clone(), Stop::Confident)
        };
        self.witness(&mut random, &mut measurement);
        if let Some(run) = self.long_run.filter(|_| request.purpose == Purpose::Flush) {
            run.measure(&mut random, self.noise, self.counters, &mut measurement);
        }
        Ok(measurement)
    }

    fn progress(&mut self, _: &Evaluation, _: &Progress) {}
}
