//! Made-up machines: systems with known borders, speeds and drift, because these are defined here.

use ioscape_scaling::{Bounds, EvaluationOptions, Probe, ProbeRequest, Progress};
use ioscape_schema::{
    Access, Evaluation, Measurement, Point, Purpose, Region, ResponseTime, Stop, Workload,
};
use rand_distr::{Distribution, Normal};
use rand_pcg::Pcg32;

/// Mebibyte, in bytes.
pub const MIB: f64 = 1048576.0;

/// A level of the hierarchy: how many bytes it holds and how fast it is, in bytes per second.
#[derive(Clone, Copy, Debug)]
pub struct Level(pub f64, pub f64);

/// Uniformly random requests over caches of the given sizes: every level serves its share of the set.
pub fn hierarchy(levels: &[Level], unique_bytes: f64) -> f64 {
    let mut served = 0.0;
    let mut time = 0.0;
    for &Level(capacity, speed) in levels {
        let reach = capacity.min(unique_bytes);
        time += (reach - served) / speed;
        served = reach;
    }
    unique_bytes / time
}

/// A machine that thrashes: a set that does not fit runs at the speed of the next level.
pub fn steps(levels: &[Level], unique_bytes: f64) -> f64 {
    let fits = levels.iter().find(|l| unique_bytes <= l.0);
    fits.or(levels.last()).map_or(0.0, |l| l.1)
}

/// Reads and writes take turns: the times per byte add up.
pub fn mix(workload: &Workload, reads: f64, writes: f64) -> f64 {
    1.0 / (workload.read_frac / reads + (1.0 - workload.read_frac) / writes)
}

/// The mild influence of request size and processes that every machine has.
pub fn shape(workload: &Workload) -> f64 {
    let size = workload.size_mean as f64;
    let processes = f64::from(workload.process_num);
    2.0 * size / (size + 32768.0) * (processes / (processes + 0.5) * 1.5)
}

/// The law of a cache of 100 MiB over a disk.
pub fn one_cache(workload: &Workload) -> f64 {
    let levels = [Level(100.0 * MIB, 8e9), Level(1e18, 1e7)];
    shape(workload) * hierarchy(&levels, workload.unique_bytes as f64)
}

/// The same where synchronous writes gain nothing from the cache, which distinguishes it from a
/// drive's own cache.
pub fn file_cache(workload: &Workload) -> f64 {
    if is_dsync(workload) { shape(workload) * 1e7 } else { one_cache(workload) }
}

/// The curves of a region.
pub fn curves(region: &Region) -> [&[Point]; 4] {
    let all = &region.curves;
    [&all.size_mean, &all.read_frac, &all.seq_frac, &all.process_num].map(Vec::as_slice)
}

/// A system with a known law, and with everything that makes it hard to measure.
pub struct Machine {
    law: Box<dyn Fn(&Workload) -> f64>,
    noise: Normal<f64>,
    seed: u64,
    /// Factor on the speed after this many seconds.
    pub drift: fn(f64) -> f64,
    /// Throughput of the busiest slices, relative to the mean, in long runs of writes: in the rest of
    /// the time writes stall.
    pub burst_ratio: Option<f64>,
    /// The longest run of writes until a flush, in seconds, however long it was to last.
    pub flush_most_s: f64,
    /// Wall seconds of one probe.
    pub cost: fn(&ProbeRequest) -> f64,
    /// Seconds spent.
    pub clock_s: f64,
    /// Number of the probe that fails.
    pub fails_at: Option<usize>,
    /// Whether a probe's run is reported as disturbed, by the probe's number.
    pub disturbed: fn(usize) -> bool,
    /// Processor time of a probe's run of one second; absent if it is not reported.
    pub computed_s: Option<fn(&ProbeRequest) -> f64>,
    /// Probes answered.
    pub asked: usize,
    /// Progress reports received.
    pub heard: Vec<Progress>,
}

impl Machine {
    /// A machine of the given law with 5 % of lognormal noise.
    pub fn new(seed: u64, law: impl Fn(&Workload) -> f64 + 'static) -> Self {
        Self::with_noise(seed, 0.05, law)
    }

    /// A machine of the given law, with noise of this standard deviation of log throughput.
    pub fn with_noise(seed: u64, noise: f64, law: impl Fn(&Workload) -> f64 + 'static) -> Self {
        Self {
            law: Box::new(law),
            noise: Normal::new(0.0, noise).unwrap(),
            seed,
            drift: |_| 1.0,
            burst_ratio: None,
            flush_most_s: f64::INFINITY,
            cost: |request| 0.2 + 1.2 * request.limits.cap_s,
            clock_s: 0.0,
            fails_at: None,
            disturbed: |_| false,
            computed_s: None,
            asked: 0,
            heard: Vec::new(),
        }
    }

    /// The throughput of an undisturbed, noiseless run.
    pub fn truth(&self, workload: &Workload) -> f64 {
        (self.law)(workload)
    }
}

impl Probe for Machine {
    type Error = String;

    fn measure(&mut self, request: &ProbeRequest) -> Result<Measurement, String> {
        request.workload.validate().map_err(|e| format!("{}: {e}", request.purpose))?;
        let number = self.asked;
        if self.fails_at == Some(number) {
            return Err(format!("probe {number} failed"));
        }
        self.asked += 1;
        // Noise depends on the number of the probe, so that an interrupted machine continues where
        // it was.
        let mut random = Pcg32::new(self.seed, number as u64);
        let factor = self.noise.sample(&mut random).exp();
        let throughput = (self.law)(&request.workload) * factor * (self.drift)(self.clock_s);
        let cost_s = (self.cost)(request);
        self.clock_s += cost_s;
        let mut measurement = answer(&request.workload, throughput, cost_s);
        measurement.disturbed = (self.disturbed)(number);
        if let Some(computed_s) = self.computed_s {
            measurement.cpu_system_s = computed_s(request);
            measurement.witness.run_delay_s = Some(0.0);
        }
        if request.purpose == Purpose::Flush {
            measurement.burst_ratio = self.burst_ratio;
            measurement.elapsed_s = request.limits.min_s.min(self.flush_most_s);
            measurement.response_time_ns.max = 3_000_000_000;
            let slower = self.burst_ratio.unwrap_or(1.0);
            let streams_s = measurement.elapsed_s * f64::from(measurement.workload.process_num);
            measurement.stalled_s = streams_s * (1.0 - 1.0 / slower);
        }
        Ok(measurement)
    }

    fn progress(&mut self, evaluation: &Evaluation, progress: &Progress) {
        assert!(evaluation.probes.len() >= self.asked);
        self.heard.push(progress.clone());
    }
}

fn answer(workload: &Workload, throughput: f64, cost_s: f64) -> Measurement {
    let iops = throughput / workload.size_mean as f64;
    let response = (1e9 * f64::from(workload.process_num) / iops) as u64;
    Measurement {
        ios: iops as u64,
        bytes: throughput as u64,
        elapsed_s: 1.0,
        throughput_bytes_per_s: throughput,
        throughput_ci95: [throughput * 0.98, throughput * 1.02],
        response_time_ns: ResponseTime {
            mean: response as f64,
            p50: response,
            max: response.saturating_mul(4),
            ..ResponseTime::default()
        },
        io_time_frac: 1.0,
        cost_s,
        ..Measurement::empty(workload.clone(), Stop::Confident)
    }
}

/// Ten minutes over 1 MiB to `most` bytes.
pub fn options(most: f64) -> EvaluationOptions {
    EvaluationOptions {
        bounds: Bounds {
            unique_bytes: [1 << 20, most as u64],
            size_mean: [4 << 10, 1 << 20],
            process_num: [1, 16],
        },
        base: Workload::default(),
        budget_s: 600.0,
        seed: 1,
        all_parameters: false,
        interactions: 0,
        points_max: None,
        typical_cost_s: 2.5,
        flush_interval_s: None,
        layout_bytes_per_s: None,
        level_counts: true,
    }
}

/// Whether it asks for synchronous writes.
pub fn is_dsync(workload: &Workload) -> bool {
    workload.access == Access::Dsync
}

/// A file system of the given speeds: reads and writes in the cache, synchronous writes, and the disk.
pub fn file_system(reads: f64, writes: f64, dsync: f64, disk: f64) -> Machine {
    Machine::with_noise(1, 0.02, move |w| {
        let unique_bytes = w.unique_bytes as f64;
        if is_dsync(w) {
            return dsync;
        }
        let fast = steps(&[Level(100.0 * MIB, reads), Level(1e18, disk)], unique_bytes);
        let slow =
            steps(&[Level(100.0 * MIB, writes), Level(1e18, writes.min(disk))], unique_bytes);
        mix(w, fast, slow)
    })
}
