//! Systems with known true throughput, and evaluations of them, on which predictions are tested.
//!
//! They do not have the form of the models: processes queue for processors and disk arms (mean
//! value analysis), seek time grows with the square root of distance, and several sequential
//! streams on one arm disturb each other.
#![allow(dead_code, reason = "every test and example uses its own part")]

pub mod evaluation;

use ioscape_schema::{Advice, Workload};

/// The usual number of points off the curves in an evaluation of a made-up system.
pub const EXTRA: usize = 12;

const MB: f64 = (1 << 20) as f64;

/// A disk or array of disks.
#[derive(Clone, Copy, Debug)]
pub struct Disk {
    /// Seek time over no distance, and over the whole disk, in seconds.
    pub seek_s: [f64; 2],
    /// Half a rotation, in seconds.
    pub rotation_s: f64,
    /// The controller's time per request, in seconds.
    pub overhead_s: f64,
    /// Transfer rate, in bytes per second.
    pub bytes_per_s: f64,
    /// The number of disks that work in parallel.
    pub arms: f64,
}

/// A cache in front of the next level: it overflows at `onset` bytes, and then still serves `kept`.
#[derive(Clone, Copy, Debug)]
pub struct Cache {
    /// In bytes.
    pub onset: f64,
    /// In bytes.
    pub kept: f64,
}

/// One level, which serves the requests that miss all earlier levels.
#[derive(Clone, Copy, Debug)]
pub enum Level {
    /// Memory that moves this many bytes per second for small sets, and a fifth of that for large
    /// ones.
    Memory(f64),
    /// A network: seconds per request, and bytes per second.
    Network(f64, f64),
    /// A disk, with a factor on its positioning time for how well requests are grouped.
    Disk(Disk, f64),
}

/// A made-up system: levels and caches, of reads and of writes.
#[derive(Clone, Debug)]
pub struct System {
    /// Name in tables.
    pub name: &'static str,
    /// Levels of reads, then of writes.
    pub levels: [Vec<Level>; 2],
    /// Caches between these; one fewer than levels.
    pub caches: [Vec<Cache>; 2],
    /// The number of processors.
    pub processors: f64,
    /// Whether it breaks the default model's assumptions: caches overflow gradually, read-ahead
    /// starts late, large requests use several arms, and reads wait behind writes.
    pub untidy: bool,
    /// Whether written pages leave the caches of reads, as on a network file system: levels that
    /// share a set by its size cannot express that.
    pub writes_drop: bool,
    /// Whether writers of one file wait for one another in memory, as under a single-writer lock.
    pub writers_wait: bool,
}

impl Level {
    /// The seconds that one request spends at the processors, the network and the arms, and the
    /// number of arms.
    fn demand(&self, w: &Workload, held: f64) -> [f64; 4] {
        let (size, processes) = (w.size_mean as f64, f64::from(w.process_num));
        match *self {
            Self::Memory(rate) => {
                let crowded = 1.0 / (1.0 + 4.0 * held / (held + 64.0 * MB));
                let beyond = 1.0 + 0.5 * size / (size + MB);
                [1.5e-6 + size / (rate * crowded.max(0.2)) * beyond, 0.0, 0.0, 1.0]
            }
            Self::Network(each_s, rate) => [5e-6, each_s + size / rate, 0.0, 1.0],
            Self::Disk(disk, grouped) => {
                let span = (w.unique_bytes as f64 / (1024.0 * MB)).min(1.0).sqrt();
                let seek = disk.seek_s[0] + (disk.seek_s[1] - disk.seek_s[0]) * span;
                let others = (processes - 1.0) / disk.arms;
                let random = 1.0 - w.seq_frac / (1.0 + 0.3 * others);
                let position = random * (seek + disk.rotation_s) * grouped;
                let busy = position + disk.overhead_s + size / disk.bytes_per_s;
                [5e-6, 0.0, busy, disk.arms]
            }
        }
    }
}

impl System {
    /// Share of the bytes of a set that a cache leaves to the next level; needless read-ahead takes
    /// a tenth of a cache that overflows.
    fn miss(&self, cache: &Cache, set: f64, aided: bool) -> f64 {
        let over = if set > cache.onset { 1.0 } else { 0.0 };
        let soft = (((set / cache.onset).ln() + 0.08) / 0.4).clamp(0.0, 1.0);
        (1.0 - cache.kept * if aided { 0.9 } else { 1.0 } / set).max(0.0)
            * if self.untidy { soft } else { over }
    }

    /// The workload as read-ahead sees it.
    fn effective(&self, w: &Workload) -> Workload {
        let late = (w.seq_frac * w.seq_frac * (1.5 - 0.5 * w.seq_frac)).clamp(0.0, 1.0);
        Workload { seq_frac: if self.untidy { late } else { w.seq_frac }, ..w.clone() }
    }

    /// The system whose every write waits for storage.
    pub fn written_through(&self) -> Self {
        let mut through = self.clone();
        through.caches[1].clear();
        through.levels[1].drain(..through.levels[1].len() - 1);
        through
    }

    /// True throughput in bytes per second.
    pub fn throughput(&self, w: &Workload) -> f64 {
        let (mut demand, mut locked) = ([0.0; 3], 0.0);
        let mut arms: f64 = 1.0;
        for (operation, fraction) in [w.read_frac, 1.0 - w.read_frac].into_iter().enumerate() {
            let set = w.unique_bytes as f64;
            let aided = operation == 0 && w.advice == Advice::Normal;
            let mut arriving: f64 = 1.0;
            for (k, level) in self.levels[operation].iter().enumerate() {
                let cache = self.caches[operation].get(k);
                let miss = cache.map_or(0.0, |c| self.miss(c, set, aided));
                let miss = match self.writes_drop && operation == 0 && cache.is_some() {
                    true => 1.0 - (1.0 - miss) * w.read_frac.powf(0.25),
                    false => miss,
                };
                let leaving = miss.min(arriving);
                let held = cache.map_or(set, |c| set.min(c.onset));
                let mut each = level.demand(&self.effective(w), held);
                if aided {
                    each[2] *= 1.0 + 0.15 * (1.0 - w.seq_frac);
                }
                let share = fraction * (arriving - leaving);
                if self.writers_wait && operation == 1 && matches!(level, Level::Memory(_)) {
                    locked += share * std::mem::take(&mut each[0]);
                }
                for (total, own) in demand.iter_mut().zip(each) {
                    *total += share * own;
                }
                arms = arms.max(each[3]);
                arriving = leaving;
            }
        }
        if self.untidy {
            let busy = demand[2] / arms.max(w.size_mean as f64 / 262_144.0).min(4.0) * arms;
            demand[2] = busy * (1.0 + 1.2 * w.read_frac * (1.0 - w.read_frac));
        }
        let stations =
            [(demand[0], self.processors), (locked, 1.0), (demand[1], 4.0), (demand[2], arms)];
        let rate = queueing(&stations, w.process_num);
        // The holder of the lock needs a processor too.
        let most = self.processors / (demand[0] + locked).max(f64::MIN_POSITIVE);
        rate.min(if locked > 0.0 { most } else { f64::INFINITY }) * w.size_mean as f64
    }
}

/// Requests per second of `processes` that cycle through stations of (seconds, servers): mean value
/// analysis, with a station of several servers as one fast server and a delay (Seidmann's
/// approximation).
fn queueing(stations: &[(f64, f64)], processes: u32) -> f64 {
    let mut waiting = vec![0.0; stations.len()];
    let mut rate = 0.0;
    for n in 1..=processes {
        let times: Vec<f64> = stations
            .iter()
            .zip(&waiting)
            .map(|((demand, servers), queue)| demand / servers * (servers - 1.0 + 1.0 + queue))
            .collect();
        rate = f64::from(n) / times.iter().sum::<f64>();
        for ((queue, (demand, servers)), _) in waiting.iter_mut().zip(stations).zip(&times) {
            *queue = rate * demand / servers * (1.0 + *queue);
        }
    }
    rate
}

const DISK: Disk =
    Disk { seek_s: [1e-3, 8e-3], rotation_s: 4e-3, overhead_s: 3e-4, bytes_per_s: 40e6, arms: 1.0 };

fn cache(onset: f64, kept: f64) -> Cache {
    Cache { onset: onset * MB, kept: kept * MB }
}

/// The made-up system of this name.
pub fn system(name: &str) -> System {
    systems().into_iter().find(|system| system.name == name).unwrap()
}

/// All made-up systems.
pub fn systems() -> Vec<System> {
    let memory = Level::Memory(20e9);
    let (disk, grouped) = (Level::Disk(DISK, 1.0), Level::Disk(DISK, 0.6));
    let array = Level::Disk(Disk { arms: 4.0, ..DISK }, 1.0);
    let network = Level::Network(1e-3, 100e6);
    let system = |name, levels, caches| System {
        name,
        levels,
        caches,
        processors: 2.0,
        untidy: false,
        writes_drop: false,
        writers_wait: false,
    };
    let untidy = system(
        "untidy",
        [vec![memory, array], vec![Level::Memory(4e9), grouped]],
        [vec![cache(64.0, 60.0)], vec![cache(30.0, 15.0)]],
    );
    vec![
        System { untidy: true, ..untidy },
        system(
            "one cache",
            [vec![memory, disk], vec![Level::Memory(6e9), grouped]],
            [vec![cache(64.0, 62.0)], vec![cache(64.0, 60.0)]],
        ),
        system(
            "dirty limit",
            [vec![memory, disk], vec![Level::Memory(4e9), grouped]],
            [vec![cache(64.0, 63.0)], vec![cache(40.0, 34.0)]],
        ),
        system(
            "write-through",
            [vec![memory, disk], vec![disk]],
            [vec![cache(64.0, 63.0)], vec![]],
        ),
        system(
            "log-structured",
            [vec![memory, disk], vec![Level::Memory(3e9), Level::Disk(DISK, 0.3)]],
            [vec![cache(128.0, 112.0)], vec![cache(24.0, 12.0)]],
        ),
        system(
            "client-server",
            [vec![memory, network, disk], vec![network, grouped]],
            [vec![cache(32.0, 32.0), cache(96.0, 96.0)], vec![cache(96.0, 90.0)]],
        ),
        system("array, no cache", [vec![array], vec![array]], [vec![], vec![]]),
        system("memory only", [vec![memory], vec![Level::Memory(5e9)]], [vec![], vec![]]),
        system(
            "workstation 1990",
            [
                vec![Level::Memory(6e6), Level::Disk(Disk { bytes_per_s: 1e6, ..DISK }, 1.0)],
                vec![Level::Memory(4e6), Level::Disk(Disk { bytes_per_s: 1e6, ..DISK }, 0.8)],
            ],
            [vec![cache(20.0, 2.0)], vec![cache(20.0, 2.0)]],
        ),
    ]
}

/// A system with randomly drawn parts: one of those above with other speeds and caches, sometimes
/// untidy or with written pages dropped.
pub fn random_system(seed: u64) -> System {
    use rand::{RngExt, SeedableRng};
    let mut generator = rand_pcg::Pcg64Mcg::seed_from_u64(seed);
    let all = systems();
    let mut system = all[generator.random_range(0..all.len())].clone();
    let mut factor = |most: f64| most.powf(generator.random_range(-1.0..1.0));
    let scale = factor(2.0);
    for cache in system.caches.iter_mut().flatten() {
        let own = factor(1.2);
        (cache.onset, cache.kept) = (cache.onset * scale, cache.kept * scale * own.min(1.0));
    }
    for level in system.levels.iter_mut().flatten() {
        match level {
            Level::Memory(rate) => *rate *= factor(3.0),
            Level::Network(each_s, rate) => {
                (*each_s, *rate) = (*each_s * factor(3.0), *rate * factor(2.0))
            }
            Level::Disk(disk, _) => {
                let speed = factor(3.0);
                disk.seek_s = disk.seek_s.map(|seek| seek * speed);
                (disk.rotation_s, disk.bytes_per_s) =
                    (disk.rotation_s * speed, disk.bytes_per_s * factor(2.0));
            }
        }
    }
    system.untidy |= generator.random_bool(0.25);
    system.writes_drop = generator.random_bool(0.35);
    system
}
