//! The structural model: where each byte is found, and what it costs there.
//!
//! Time per byte, the inverse of throughput, is a sum over operations and levels of the storage hierarchy:
//!
//! ```text
//! 1/T = r·Σk share_k(U)·cost_k(S, q, p)  +  (1-r)·Σk share'_k(U)·cost'_k(S, q, p)
//! ```
//!
//! with the reads first and the writes second, since their caches differ in size: a dirty page cannot be dropped. A cache
//! that starts to overflow at `onset` bytes, sharply or over some `width`, and then still serves `kept` of them leaves `1 - kept/U` of the bytes to the
//! next level. Under uniform random access `kept` is the onset; a cache that thrashes keeps less. One request at
//! a level costs `overhead·(1 - gain·q) + S·byte` seconds, over the speed-up of `p` processes.

use super::place::Place;

/// Natural logarithm of the seconds a random request costs besides its bytes.
pub(super) const OVERHEAD: usize = 0;
/// Natural logarithm of the seconds one byte costs.
pub(super) const BYTE: usize = 1;
/// Logit of the share of the overhead that a sequential request saves.
pub(super) const GAIN: usize = 2;
/// Natural logarithm of the inverse of the largest speed-up by many processes.
pub(super) const SERIAL: usize = 3;
/// Natural logarithm of how sharply the speed-up reaches its limit.
pub(super) const SHARPNESS: usize = 4;
/// Exponent with which the overhead grows with the bytes of the set that are at this level: seeks get longer.
pub(super) const OVERHEAD_GROWTH: usize = 5;
/// Exponent with which the cost of a byte grows with them: the processor's own caches are outgrown.
pub(super) const BYTE_GROWTH: usize = 6;
/// Natural logarithm of the exponent with which processes destroy each other's sequentiality.
pub(super) const MINGLING: usize = 7;
/// Numbers that describe a level.
pub(super) const PER_LEVEL: usize = 8;

/// Natural logarithm of the set, in bytes, at which the cache overflows.
pub(super) const ONSET: usize = 0;
/// Logit of the share of the onset that an overflowing cache still serves.
pub(super) const KEPT: usize = 1;
/// Change of the onset's logarithm when half of the requests are reads.
pub(super) const MIXED: usize = 2;
/// Natural logarithm of the width of the overflow, in ln(bytes) from the onset on: some caches give way little by little.
pub(super) const WIDTH: usize = 3;
/// Numbers that describe a border.
pub(super) const PER_BORDER: usize = 4;

/// Natural logarithm of what advice against read-ahead makes of a read's cost at the device; counted from the end.
pub(super) const ADVISED_COST: usize = 2;
/// What it adds to the logit of the share that an overflowing cache of reads still serves; counted from the end.
pub(super) const ADVISED_KEPT: usize = 1;

/// Which number of the parameter vector means what.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layout {
    /// Levels that reads and that writes may reach, each at least 1.
    pub(super) levels: [usize; 2],
    /// The set to which level costs refer, in bytes.
    pub(super) reference_bytes: f64,
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// From 0 at -1 to 1 at 1, smoothly.
fn step(x: f64) -> f64 {
    let t = ((x + 1.0) / 2.0).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

impl Layout {
    /// Length of the parameter vector.
    pub(super) fn len(&self) -> usize {
        let levels = self.levels.iter().map(|n| n * PER_LEVEL + (n - 1) * PER_BORDER);
        levels.sum::<usize>() + 2
    }

    /// Number of components: pairs of operation and level.
    pub(super) fn components(&self) -> usize {
        self.levels.iter().sum()
    }

    /// Where the numbers of one level begin; reads are operation 0, writes 1.
    pub(super) fn level(&self, operation: usize, level: usize) -> usize {
        (operation * self.levels[0] + level) * PER_LEVEL
    }

    /// Where the numbers of the border behind `level` begin.
    pub(super) fn border(&self, operation: usize, level: usize) -> usize {
        let before = if operation == 0 { 0 } else { self.levels[0] - 1 };
        self.components() * PER_LEVEL + (before + level) * PER_BORDER
    }

    /// The level of reads that the same part of the machine serves as this level of writes: the last is the device, the
    /// first of several is memory.
    pub(super) fn read_level_of(&self, write_level: usize) -> usize {
        let [reads, writes] = self.levels;
        if write_level == 0 && writes > 1 {
            return 0;
        }
        (reads + write_level).saturating_sub(writes)
    }

    /// Which components are served where the smallest sets are, reads first: those before the device, or all if there is no
    /// other level.
    pub(super) fn near_components(&self) -> impl Iterator<Item = bool> + '_ {
        let reads = self.levels[0];
        let near = move |level: usize| reads == 1 || level + 1 < reads;
        let writes = (0..self.levels[1]).map(|level| self.read_level_of(level));
        (0..reads).chain(writes).map(near)
    }

    /// What `theta` says of `place`.
    pub(super) fn outcome(&self, theta: &[f64], place: &Place) -> Outcome {
        let mut demands = Vec::with_capacity(self.components());
        for (operation, fraction) in
            [place.read_frac, 1.0 - place.read_frac].into_iter().enumerate()
        {
            self.push_demands(theta, place, operation, fraction, &mut demands);
        }
        combine(&demands, self.levels.into_iter().max().unwrap_or(1), place.process_num)
    }

    fn push_demands(
        &self,
        theta: &[f64],
        place: &Place,
        operation: usize,
        fraction: f64,
        demands: &mut Vec<Demand>,
    ) {
        let mix = 4.0 * place.read_frac * (1.0 - place.read_frac);
        let log_set = place.unique_bytes.ln();
        let levels = self.levels[operation];
        let [dearer, fuller] = self.advised(theta, place, operation);
        let (mut arriving, mut onset) = (1.0f64, 0.0f64);
        for level in 0..levels {
            let (mut leaving, mut held) = (0.0, place.unique_bytes);
            if level + 1 < levels {
                let border = &theta[self.border(operation, level)..][..PER_BORDER];
                onset = onset.max(border[ONSET] + mix * border[MIXED]);
                let kept = (onset.exp() * logistic(border[KEPT] + fuller)).min(place.unique_bytes);
                let over = step(2.0 * (log_set - onset) / border[WIDTH].exp().max(1e-3) - 1.0);
                leaving = (over * (1.0 - kept / place.unique_bytes)).max(0.0).min(arriving);
                held = held.min(onset.exp());
            }
            let numbers = &theta[self.level(operation, level)..][..PER_LEVEL];
            let size = (held / self.reference_bytes).ln();
            demands.push(Demand {
                seconds_per_byte: fraction
                    * (arriving - leaving)
                    * cost(numbers, place, size)
                    * if level + 1 == levels { dearer.exp() } else { 1.0 },
                serial: numbers[SERIAL].exp(),
                sharpness: numbers[SHARPNESS],
                station: if operation == 0 { level } else { self.read_level_of(level) },
            });
            arriving = leaving;
        }
    }

    /// What advice changes at `place`: ln(cost) at the device, and the logit of the share kept.
    fn advised(&self, theta: &[f64], place: &Place, operation: usize) -> [f64; 2] {
        let number = |back: usize| theta[self.len() - back];
        if place.advised && operation == 0 {
            [number(ADVISED_COST), number(ADVISED_KEPT)]
        } else {
            [0.0, 0.0]
        }
    }

    /// Natural logarithm of the throughput in bytes per second.
    pub(super) fn log_throughput(&self, theta: &[f64], place: &Place) -> f64 {
        self.outcome(theta, place).log_throughput
    }
}

/// What the structural model says of one place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    /// Natural logarithm of the throughput in bytes per second.
    pub(super) log_throughput: f64,
    /// By how much ln(time) changes with the logarithm of each component's cost, reads first; their sum is 1.
    pub(super) shares: Vec<f64>,
}

/// What one component asks of its station.
struct Demand {
    seconds_per_byte: f64,
    serial: f64,
    sharpness: f64,
    station: usize,
}

/// Seconds per byte of one level for one process, at a set of `size` = ln(bytes over the reference).
fn cost(numbers: &[f64], place: &Place, size: f64) -> f64 {
    let mingled = place.process_num.powf(-numbers[MINGLING].exp());
    let saved = logistic(numbers[GAIN]) * place.seq_frac * mingled;
    let overhead = (numbers[OVERHEAD] + numbers[OVERHEAD_GROWTH] * size).exp() * (1.0 - saved);
    overhead / place.size_mean + (numbers[BYTE] + numbers[BYTE_GROWTH] * size).exp()
}

/// Throughput of `processes` that go from station to station, by a smooth maximum of the asymptotic bounds of operational analysis
/// (Denning and Buzen, ACM Computing Surveys 10, 1978): no byte is faster than all demands over the number of
/// processes, nor than the busiest station, which `1/serial` processes saturate. For one process it is the plain sum.
fn combine(demands: &[Demand], stations: usize, processes: f64) -> Outcome {
    let total: f64 = demands.iter().map(|d| d.seconds_per_byte).sum();
    let sharp = demands.iter().map(|d| d.seconds_per_byte * d.sharpness).sum::<f64>() / total;
    let sharp = sharp.clamp(-3.0, 3.0).exp();
    let mut loads = vec![0.0; stations];
    for demand in demands {
        loads[demand.station] += demand.seconds_per_byte * demand.serial / total;
    }
    let crowd = 1.0 - processes.powf(-sharp);
    let each = processes.powf(-sharp);
    let sum = each + crowd * loads.iter().map(|load| load.powf(sharp)).sum::<f64>();
    let shares = demands.iter().map(|d| {
        let own = d.seconds_per_byte / total;
        let load = loads[d.station];
        let station = if load > 0.0 { load.powf(sharp - 1.0) * own * d.serial } else { 0.0 };
        (each * own + crowd * station) / sum
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
        };
        let demands = [demand(1.0, 0.5, 0), demand(3.0, 0.25, 1), demand(1.0, 0.25, 1)];
        let time = |processes| (-combine(&demands, 2, processes).log_throughput).exp();
        assert!((time(1.0) - 5.0).abs() < 1e-9);
        assert!((time(1e9) - 1.0).abs() < 0.2, "{}", time(1e9));
        for processes in [1.0, 3.0, 50.0] {
            let shares = combine(&demands, 2, processes).shares;
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        }
    }

    /// Two levels for reads, one for writes, on round numbers.
    fn simple() -> (Layout, Vec<f64>) {
        let layout = Layout { levels: [2, 1], reference_bytes: 1e6 };
        let mut theta = vec![0.0; layout.len()];
        for (operation, level, overhead) in [(0, 0, 1e-6), (0, 1, 1e-2), (1, 0, 1e-2)] {
            let at = layout.level(operation, level);
            theta[at + OVERHEAD] = f64::ln(overhead);
            theta[at + BYTE] = -100.0;
            theta[at + GAIN] = -100.0;
        }
        theta[layout.border(0, 0) + ONSET] = 64e6f64.ln();
        theta[layout.border(0, 0) + KEPT] = 100.0;
        theta[layout.border(0, 0) + WIDTH] = -5.0;
        (layout, theta)
    }

    #[test]
    fn reads_behind_the_border_pay_for_what_misses_and_writes_for_all() {
        let (layout, theta) = simple();
        let mut place = Place {
            unique_bytes: 128e6,
            size_mean: 1e4,
            read_frac: 1.0,
            seq_frac: 0.5,
            process_num: 1.0,
            advised: false,
        };
        let time = (-layout.log_throughput(&theta, &place)).exp() * 1e4;
        assert!((time - (0.5e-6 + 0.5e-2)).abs() < 1e-9, "{time}");
        place.unique_bytes = 32e6;
        place.read_frac = 0.5;
        let time = (-layout.log_throughput(&theta, &place)).exp() * 1e4;
        assert!((time - (0.5e-6 + 0.5e-2)).abs() < 1e-9, "{time}");
    }

    #[test]
    fn every_number_has_its_own_place() {
        let layout = Layout { levels: [3, 2], reference_bytes: 1.0 };
        let mut begins: Vec<usize> = (0..3).map(|k| layout.level(0, k)).collect();
        begins.extend((0..2).map(|k| layout.level(1, k)));
        begins.extend([
            layout.border(0, 0),
            layout.border(0, 1),
            layout.border(1, 0),
            layout.len(),
        ]);
        let lengths: Vec<usize> = begins.windows(2).map(|w| w[1] - w[0]).collect();
        assert_eq!(lengths, [8, 8, 8, 8, 8, 4, 4, 6]);
    }
}
