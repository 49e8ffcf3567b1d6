//! How much a prediction of the structural model changes with each of its parameters.
//!
//! Costs and speed-ups are differentiated in closed form, since a fit needs these slopes at every
//! observation and step. The parameters that decide where bytes are served are few and are
//! differentiated numerically.

use super::input::ModelInput;
use super::levels::{Demand, Loads, SHARPEST, logistic};
use super::parameters::{Layout, ProcessorParameters};

/// Step of the numerical derivatives; all parameters are logarithms, logits or exponents of order
/// 1.
const STEP: f64 = 1e-5;

impl Layout {
    /// Derivatives of ln(throughput) at `place` by every parameter; 0 where one is not finite.
    pub(super) fn gradient(&self, theta: &[f64], place: &ModelInput) -> Vec<f64> {
        let demands = self.demands(theta, place);
        let mut slopes = vec![0.0; self.len()];
        let pulls = pulls(&demands, self.stations(), place.process_num);
        for (component, (demand, pull)) in self.each_component().zip(demands.iter().zip(pulls)) {
            let at = self.level(component.0, component.1);
            let shared = if demand.exclusive > 0.0 { self.level(0, demand.station) } else { at };
            slopes[shared.ln_serial] += pull.serial;
            slopes[at.ln_serial] += pull.exclusive;
            slopes[at.ln_sharpness] = pull.sharpness;
            self.add_costs(theta, place, component, demand, pull.demand, &mut slopes);
        }
        let fractions = [place.read_frac, 1.0 - place.read_frac];
        let asked = (0..2).filter(|operation| fractions[*operation] > 0.0);
        let places: Vec<usize> =
            asked.flat_map(|operation| self.places_felt(theta, place, operation)).collect();
        for (i, slope) in stepped(theta, &places, |theta| self.log_throughput(theta, place)) {
            slopes[i] = slope;
        }
        slopes.iter_mut().filter(|slope| !slope.is_finite()).for_each(|slope| *slope = 0.0);
        slopes
    }

    /// Positions of the parameters that affect, at `place`, where an operation's bytes are served.
    /// Below every onset nothing passes a cache, so that only `ln_dropping` of reads matters.
    fn places_felt(&self, theta: &[f64], place: &ModelInput, operation: usize) -> Vec<usize> {
        let mut all = self.places_of(operation);
        if self.levels[operation] > 1 && !self.overflows(theta, place, operation) {
            let dropping = self.mix().ln_dropping;
            all.retain(|parameter| *parameter == dropping);
        }
        all
    }

    /// Derivatives of the share of the bytes read at `place` that the file cache holds, by the
    /// parameters on which it depends.
    pub(super) fn gradient_of_held(&self, theta: &[f64], place: &ModelInput) -> Vec<(usize, f64)> {
        stepped(theta, &self.places_felt(theta, place, 0), |theta| self.held_reads(theta, place))
    }

    /// Adds to `slopes` the effect of a component's cost, whose logarithm changes the result by
    /// `pull`.
    fn add_costs(
        &self,
        theta: &[f64],
        place: &ModelInput,
        (operation, level): (usize, usize),
        demand: &Demand,
        pull: f64,
        slopes: &mut [f64],
    ) {
        let (at, cost) = (self.level(operation, level), demand.cost);
        let own = at.of(theta);
        let size = (demand.held / self.reference_bytes).ln();
        let part = |seconds: f64| pull * seconds / cost.seconds_per_byte();
        let request = part(cost.random * (1.0 - cost.saved + cost.wasted));
        let (bytes, saved) = (part(cost.bytes), part(cost.random * cost.saved));
        slopes[at.ln_overhead_s] = request;
        slopes[at.overhead_growth] = size * request;
        slopes[at.ln_byte_s] = bytes;
        slopes[at.byte_growth] = size * bytes;
        slopes[at.logit_saving] = -saved * (1.0 - logistic(own.logit_saving));
        slopes[at.ln_interleaving] = saved * place.process_num.ln() * own.ln_interleaving.exp();
        slopes[self.advice().ln_waste] += part(cost.random * cost.wasted);
        if operation == 0 && level + 1 == self.levels[0] && place.advised {
            slopes[self.advice().ln_cost] += pull;
        }
        if level == 0 {
            let ProcessorParameters { ln_beyond, ln_bytes } = self.processors();
            let beyond = bytes * (1.0 - self.crowded(theta, demand.held).recip());
            let theirs = theta[ln_bytes].exp();
            slopes[ln_beyond] += beyond;
            slopes[ln_bytes] -= beyond * theirs / (demand.held + theirs);
        }
    }
}

/// Slopes of a figure by the parameters at `places`.
fn stepped(theta: &[f64], places: &[usize], figure: impl Fn(&[f64]) -> f64) -> Vec<(usize, f64)> {
    let mut moved = theta.to_vec();
    let here = figure(theta);
    let slope = |i: &usize| {
        moved[*i] = theta[*i] + STEP;
        let slope = (figure(&moved) - here) / STEP;
        moved[*i] = theta[*i];
        (*i, if slope.is_finite() { slope } else { 0.0 })
    };
    places.iter().map(slope).collect()
}

/// The change of ln(throughput) with each property of one component.
#[derive(Clone, Copy, Debug)]
struct Pull {
    /// With ln(seconds per byte).
    demand: f64,
    /// With ln(serial).
    serial: f64,
    /// With ln(exclusive), the same for the wait of writers alone.
    exclusive: f64,
    /// With its sharpness.
    sharpness: f64,
}

/// The derivatives of the throughput that several processes get from all stations together.
fn pulls(demands: &[Demand], stations: usize, processes: f64) -> Vec<Pull> {
    let total: f64 = demands.iter().map(|d| d.seconds_per_byte).sum::<f64>().max(f64::MIN_POSITIVE);
    let mean = demands.iter().map(|d| d.seconds_per_byte * d.sharpness).sum::<f64>() / total;
    let sharp = mean.clamp(-SHARPEST, SHARPEST).exp();
    let loads = Loads::new(demands, stations, total);
    let each = processes.powf(-sharp);
    let powers = |load: &f64| load.powf(sharp);
    let queued: f64 = loads.0.iter().map(powers).sum();
    let logs: f64 = loads.0.iter().filter(|load| **load > 0.0).map(|l| powers(l) * l.ln()).sum();
    let sum = each + (1.0 - each) * queued;
    let by_sharp = each * processes.ln() * (queued - 1.0) + (1.0 - each) * logs;
    let sharper = by_sharp / sum - sum.ln() / sharp;
    let sharper = if mean.abs() < SHARPEST { sharper } else { 0.0 };
    let pull = |d: &Demand| {
        let own = d.seconds_per_byte / total;
        let [station, exclusive] = loads.felt(d, own, sharp).map(|felt| (1.0 - each) * felt / sum);
        Pull {
            demand: -each * own / sum - station - exclusive - sharper * own * (d.sharpness - mean),
            serial: -station,
            exclusive: -exclusive,
            sharpness: -sharper * own,
        }
    };
    demands.iter().map(pull).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A vector of plausible parameters, no two of them equal.
    fn plausible(layout: &Layout) -> Vec<f64> {
        let mut theta: Vec<f64> = (0..layout.len()).map(|i| (i as f64 * 1.3).sin() * 0.3).collect();
        for (operation, level) in layout.each_component() {
            let at = layout.level(operation, level);
            theta[at.ln_overhead_s] += [-12.0, -7.0][level.min(1)];
            theta[at.ln_byte_s] += [-23.0, -19.0][level.min(1)];
        }
        for (operation, level) in [(0, 0), (0, 1), (1, 0)] {
            let at = layout.border(operation, level);
            theta[at.ln_onset] = (32e6 * (level as f64 + 1.0)).ln();
            theta[at.ln_width] = -1.0;
        }
        theta[layout.processors().ln_bytes] = 32e6f64.ln();
        theta
    }

    #[test]
    fn every_slope_is_that_of_a_small_step() {
        for writers_wait in [false, true] {
            slopes_are_those_of_small_steps(writers_wait);
        }
    }

    fn slopes_are_those_of_small_steps(writers_wait: bool) {
        let levels = Layout { levels: [3, 2], reference_bytes: 1e7, ..Layout::default() };
        let layout = Layout { writers_wait, ..levels };
        let theta = plausible(&layout);
        let all: Vec<usize> = (0..layout.len()).collect();
        let mut least = vec![0.0f64; layout.len()];
        for (i, unique_bytes) in [4e6, 45e6, 8e7, 2e8].into_iter().enumerate() {
            for (read_frac, process_num, advised) in
                [(0.4, 1.0, false), (0.7, 6.0, true), (1.0, 3.0, false), (0.0, 2.0, false)]
            {
                let size_mean = 1e4 * (i as f64 + 1.0);
                let place = ModelInput {
                    unique_bytes,
                    size_mean,
                    read_frac,
                    seq_frac: 0.6,
                    process_num,
                    advised,
                };
                let slopes = layout.gradient(&theta, &place);
                for (i, slope) in stepped(&theta, &all, |t| layout.log_throughput(t, &place)) {
                    assert!(
                        (slopes[i] - slope).abs() < 1e-3,
                        "{i} {place:?}: {slope} {}",
                        slopes[i]
                    );
                    least[i] = least[i].max(slope.abs());
                }
            }
        }
        assert!(least.iter().all(|slope| *slope > 1e-6), "every one matters somewhere: {least:?}");
    }

    #[test]
    fn no_slope_of_what_the_file_cache_holds_is_left_out() {
        let levels = Layout { levels: [3, 2], reference_bytes: 1e7, ..Layout::default() };
        let layout = Layout { file_cache: Some(1), ..levels };
        let theta = plausible(&layout);
        let all: Vec<usize> = (0..layout.len()).collect();
        let felt = |slopes: Vec<(usize, f64)>| -> Vec<(usize, f64)> {
            slopes.into_iter().filter(|(_, slope)| *slope != 0.0).collect()
        };
        let own = layout.border(0, 1).ln_onset;
        for (unique_bytes, is_beyond) in [(4e6, false), (45e6, false), (2e8, true)] {
            let reads = ModelInput { read_frac: 0.7, seq_frac: 0.6, ..ModelInput::PLAIN };
            let place = ModelInput { unique_bytes, advised: true, ..reads };
            let found = felt(layout.gradient_of_held(&theta, &place));
            assert_eq!(found, felt(stepped(&theta, &all, |t| layout.held_reads(t, &place))));
            assert_eq!(found.iter().any(|(at, _)| *at == own), is_beyond, "{unique_bytes}");
        }
    }
}
