//! How far runs of one workload scatter, by where the workload lies.
//!
//! A machine is not equally steady everywhere. A set that fits in a processor's cache is served at
//! one speed while the processors that share the cache are neighbours, and at another while they
//! are not; a disk may be steadier than either.

use super::input::{ModelInput, Observation};
use ioscape_schema::Parameter;
use ioscape_schema::statistics::variance;

/// Distances over which scatter is alike: natural logarithms, or fractions.
const LENGTHS: [(Parameter, f64); 3] =
    [(Parameter::UniqueBytes, 1.0), (Parameter::ProcessNum, 0.7), (Parameter::ReadFrac, 0.5)];
/// The weight of the whole evaluation's noise, in nearby repetitions.
const EVERYWHERE: f64 = 2.0;

/// The scatter of repeated workloads, each with its place.
#[derive(Clone, Debug)]
pub(super) struct Scatter {
    /// Places and the variance of ln(throughput) there.
    known: Vec<(ModelInput, f64)>,
    /// Standard deviation of a single run over the whole evaluation.
    noise: f64,
}

fn nearness(a: &ModelInput, b: &ModelInput) -> f64 {
    let apart = LENGTHS
        .map(|(parameter, length)| ((a.scaled(parameter) - b.scaled(parameter)) / length).powi(2));
    (-0.5 * apart.iter().sum::<f64>()).exp()
}

impl Scatter {
    /// The scatter of all `runs` at the places of `observations`, since a workload run once may
    /// meet any of it. `noise` is the standard deviation of ln(throughput) of a single run over the
    /// whole evaluation.
    pub(super) fn new(
        observations: &[Observation],
        runs: &[(ModelInput, f64)],
        noise: f64,
    ) -> Self {
        let at = |place: &ModelInput| {
            let here = runs.iter().filter(|(other, _)| other.same(place));
            let logs: Vec<f64> = here.map(|(_, log)| *log).filter(|log| log.is_finite()).collect();
            (logs.len() > 1).then(|| variance(&logs))
        };
        let known = observations.iter().filter_map(|o| Some((o.place, at(&o.place)?)));
        Self { known: known.collect(), noise }
    }

    /// Standard deviation of ln(throughput) of a single run at `place`: at least that of the whole
    /// evaluation, and more where runs nearby scattered more.
    pub(super) fn at(&self, place: &ModelInput) -> f64 {
        let whole = self.noise * self.noise;
        let (mut weights, mut sum) = (EVERYWHERE, EVERYWHERE * whole);
        for (known, variance) in &self.known {
            let weight = nearness(known, place);
            weights += weight;
            sum += weight * variance;
        }
        (sum / weights).max(whole).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_lie_apart_where_repetitions_did() {
        let place = |unique_bytes: f64, process_num: f64| ModelInput {
            unique_bytes,
            process_num,
            ..ModelInput::PLAIN
        };
        let observation = |place: ModelInput| Observation {
            place,
            log_throughput: 20.0,
            sd: 0.01,
            extra: false,
            resident: None,
        };
        let (small, large, alone) = (place(4e6, 2.0), place(4e9, 2.0), place(4e6, 1.0));
        let apart = |place: ModelInput, by: f64| [(place, 20.0 - by), (place, 20.0 + by)];
        let runs = [vec![apart(small, 0.4); 20].concat(), vec![apart(large, 0.02); 20].concat()];
        let observations = [small, large].map(|place| vec![observation(place); 20]).concat();
        let scatter = Scatter::new(&observations, &runs.concat(), 0.03);
        assert!(scatter.at(&small) > 0.35, "{}", scatter.at(&small));
        assert_eq!(scatter.at(&large), 0.03);
        let [near, nearer] = [scatter.at(&alone), scatter.at(&place(4e6, 3.0))];
        assert!(0.2 < near && near < nearer, "{near} {nearer}");
        let once = [(small, 20.0)];
        assert_eq!(Scatter::new(&observations, &once, 0.03).at(&small), 0.03);
    }
}
