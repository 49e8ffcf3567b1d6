//! Worlds whose cache is empty at the start of every measurement, as behind a file system that
//! drops its pages at every open.

use super::{Counters, End, MIB, Overflow, World, Writes, log_uniform};
use ioscape_scaling::{Probe, ProbeRequest, Progress};
use ioscape_schema::{Evaluation, Measurement, Warning, WarningKind, Workload};
use rand::RngExt;
use rand_pcg::Pcg32;

/// Steps of a run while the cache fills.
const STEPS: f64 = 60.0;
/// A cache counts as full with this share of its capacity.
const FULL: f64 = 0.995;

/// The longest time to read a set before the warm-up, relative to the measurement, unless a warm-up
/// may take longer. Once the speed of reading is known, a set that would take longer is not read at
/// all.
const PASS: f64 = 2.0;
/// The longest time to read a set that fits while nothing is known to be dropped, in seconds.
const READ_CAP_S: f64 = 60.0;
/// A set counts as fitting up to this multiple of the cache.
const FITS: f64 = 1.1;

/// A world of one cache over storage, and its longest warm-up relative to the time that a
/// measurement may take.
pub struct Cold {
    pub world: World,
    warm_up: f64,
    /// Whether the speed of reading sets is known.
    is_known: bool,
}

/// One run: the share of the set that was resident before and after its measured part, how much
/// slower it was than with a full cache, and the shares of its computing time and of its requests
/// that missed.
struct Run {
    resident: [f64; 2],
    slower: f64,
    computing: f64,
    missed: f64,
    fill_s: f64,
    warm_up_s: f64,
    is_settled: bool,
}

impl Cold {
    pub fn new(seed: u64) -> Self {
        let mut world = World::new(seed);
        let random = &mut Pcg32::new(seed, u64::MAX / 3);
        let bytes = log_uniform(random, 64.0 * MIB, 2048.0 * MIB);
        world.largest = bytes * log_uniform(random, 3.0, 6.0);
        let slower = log_uniform(random, 20.0, 1000.0);
        world.reads = vec![End { bytes, added_s: 0.0, overflow: Overflow::Random }];
        world.reads[0].added_s = world.memory(bytes) * slower;
        world.policy = if random.random_bool(0.5) { Writes::Through } else { Writes::AsReads };
        let is_through = world.policy == Writes::Through;
        world.writes = if is_through { Vec::new() } else { world.reads.clone() };
        (world.flush, world.empty, world.long_run) = (None, 0.0, None);
        world.noise = world.noise.min(0.1);
        world.counters = Counters::Full;
        Self { world, warm_up: log_uniform(random, 0.5, 3.0), is_known: false }
    }

    /// Time per byte relative to that of memory alone, in arbitrary units, and the part of it that
    /// is not waiting.
    fn time(&self, workload: &Workload, missed: f64) -> [f64; 2] {
        let (world, reads) = (&self.world, workload.read_frac);
        let memory = world.memory(workload.unique_bytes as f64);
        let storage = world.reads[0].added_s;
        let computing = memory * (reads + (1.0 - reads) * world.write_cost);
        let written = match world.policy {
            Writes::Through => storage,
            _ => world.write_cost * storage * missed,
        };
        [computing + reads * storage * missed + (1.0 - reads) * written, computing]
    }

    /// The bytes read into the cache before the warm-up, and the seconds that takes; `allowed_s` is
    /// the time allowed where that is longer than usual.
    fn fill(&mut self, set: f64, cap_s: f64, allowed_s: f64) -> [f64; 2] {
        let in_order = Workload {
            unique_bytes: u64::MAX,
            size_mean: 1 << 20,
            read_frac: 1.0,
            seq_frac: 1.0,
            process_num: 1,
            ..Workload::default()
        };
        let rate = self.world.law(&in_order);
        let cache = self.world.reads[0].bytes;
        let wanted = set.min(cache);
        let is_first = !std::mem::replace(&mut self.is_known, true);
        let quick_s = (cap_s * PASS.max(self.warm_up)).max(allowed_s);
        let most_s = if is_first && set <= FITS * cache { READ_CAP_S } else { quick_s };
        if !is_first && wanted > quick_s * rate {
            return [0.0, 0.0];
        }
        let fill_s = (wanted / rate).min(most_s);
        [(fill_s * rate).min(wanted), fill_s]
    }

    fn run(&mut self, ProbeRequest { workload, limits, fill_s, .. }: &ProbeRequest) -> Run {
        let cap_s = limits.cap_s;
        let set = workload.unique_bytes as f64;
        let room = set.min(self.world.reads[0].bytes);
        let [settled, _] = self.time(workload, 1.0 - room / set);
        let per_byte = 1.0 / self.world.law(workload);
        let warm_cap_s = self.warm_up * cap_s;
        let [mut held, fill_s] = self.fill(set, cap_s, *fill_s);
        let mut warm_up_s = 0.0;
        let advance = |held: &mut f64, end_s: f64| {
            let missed = 1.0 - held.min(room) / set;
            let [time, computing] = self.time(workload, missed);
            let bytes = (0.02 * set).min(end_s / STEPS / (per_byte * time / settled));
            *held = (*held + missed * bytes).min(room);
            (bytes, bytes * per_byte * time / settled, computing / time, missed)
        };
        while warm_up_s < warm_cap_s && (warm_up_s < 0.3 || held < FULL * room) {
            warm_up_s += advance(&mut held, warm_cap_s).1;
        }
        let (before, is_settled) = (held / set, held >= FULL * room);
        let [mut moved, mut elapsed_s, mut computed_s, mut missed] = [0.0; 4];
        while elapsed_s < cap_s {
            let (bytes, time_s, computing, share) = advance(&mut held, cap_s);
            moved += bytes;
            missed += share * bytes;
            elapsed_s += time_s;
            computed_s += computing * time_s;
        }
        let slower = elapsed_s / moved / per_byte;
        let (computing, missed) = (computed_s / elapsed_s, missed / moved);
        let resident = [before, held / set];
        Run { resident, slower, computing, missed, fill_s, warm_up_s, is_settled }
    }
}

impl Probe for Cold {
    type Error = String;

    fn measure(&mut self, request: &ProbeRequest) -> Result<Measurement, String> {
        let mut m = self.world.measure(request)?;
        let cap_s = request.limits.cap_s;
        let run = self.run(request);
        self.world.clock_s += run.fill_s + run.warm_up_s;
        m.cost_s += run.fill_s + run.warm_up_s;
        m.throughput_bytes_per_s /= run.slower;
        m.throughput_ci95 = m.throughput_ci95.map(|bound| bound / run.slower);
        m.bytes = (m.throughput_bytes_per_s * cap_s) as u64;
        m.elapsed_s = cap_s;
        m.fill_s = (run.fill_s > 0.0).then_some(run.fill_s);
        let available_s = cap_s * f64::from(m.workload.process_num);
        m.cpu_system_s = run.computing * available_s;
        let [before, after] = run.resident;
        let read = m.bytes as f64 * m.workload.read_frac;
        m.resident_frac = Some(after);
        m.storage_read_bytes = Some((read * run.missed) as u64);
        m.witness.resident_frac = Some([before, after]);
        m.witness.storage_read_bytes = m.storage_read_bytes;
        if !run.is_settled {
            let message = "the share of the set in the file cache still changed";
            m.warnings.push(Warning::new(WarningKind::NotSteady, message));
        }
        Ok(m)
    }

    fn progress(&mut self, _: &Evaluation, _: &Progress) {}
}
