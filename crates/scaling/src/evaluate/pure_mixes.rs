//! Pure reads and pure writes by a number of processes other than the focal one, which no curve
//! measures.
//!
//! The curve over processes has the focal mix, and the curve over the mix has the focal number of
//! processes. So the speed-up by processes of reads and that of writes can only be guessed from
//! both. Yet writers of one file often wait for one another where readers do not.

use super::axis::Axis;
use super::exploration::Exploration;
use super::probe::Probe;
use ioscape_schema::{Parameter, Workload};

/// Their workloads, in the first region, where caches and locks decide.
pub(crate) fn pure_mixes<P: Probe>(exploration: &Exploration<'_, P>) -> Vec<Workload> {
    let Some(first) = exploration.state.levels.regions.first() else { return Vec::new() };
    let focal = &first.focal;
    let axis = Axis::new(&exploration.options, Parameter::ProcessNum, focal.unique_bytes);
    let Some(other) = other(&axis, f64::from(focal.process_num)) else { return Vec::new() };
    let of = |read_frac| Workload { read_frac, ..focal.clone() }.with(Parameter::ProcessNum, other);
    [1.0, 0.0].map(of).into_iter().take(exploration.allotment.pure_mixes).collect()
}

/// Another number of processes: one where the focal point has several, and several where it has
/// one.
fn other(axis: &Axis, focal: f64) -> Option<f64> {
    let several = axis.between(axis.low, axis.high).unwrap_or(axis.high);
    [axis.low, several].into_iter().find(|processes| *processes != focal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::options::tests::ten_minutes;

    #[test]
    fn the_other_number_is_one_or_between_one_and_all() {
        let others = |processes: [u32; 2], focal: f64| {
            let mut options = ten_minutes();
            options.bounds.process_num = processes;
            other(&Axis::new(&options, Parameter::ProcessNum, 1 << 20), focal)
        };
        assert_eq!(others([1, 16], 4.0), Some(1.0));
        assert_eq!(others([1, 16], 1.0), Some(4.0));
        assert_eq!(others([1, 2], 1.0), Some(2.0));
        assert_eq!(others([3, 3], 3.0), None);
    }
}
