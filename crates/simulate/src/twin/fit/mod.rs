//! Fits a solid-state drive to measured workloads: tries shapes, and adjusts the times and rates of
//! each until the simulated throughputs match the measured ones. Reads are fitted first: simulating
//! them takes a tenth of the time, and they distinguish most shapes.
//!
//! The distance between simulated and measured throughputs is that of their logarithms, in units of
//! the measurement's uncertainty; outliers pull with a constant force (Huber). Damped Gauss-Newton
//! steps with numerical derivatives find the times and rates (Levenberg 1944, Marquardt 1963).
//! Shapes are compared by their distance and their number of parameters (Schwarz 1978).

mod candidates;
mod exact;
mod joint;
mod moved;
mod others;
mod search;
mod seen;
mod steps;
mod told;
mod trials;
mod ways;

pub use search::{Ended, Fitted, Looked};
pub use seen::sized;
pub use seen::{BATCHES, CHANNELS, DIES};

use super::replica::Requests;
use crate::Error;
use candidates::READING;
use ioscape_schema::Measurement;
use moved::Part;
use search::{Pass, Search};
use seen::Seen;
use std::cell::Cell;
use steps::{known_to, residual};
use trials::Trials;

/// Passes over all measurements, which take one candidate to the end.
const BOTH: [Pass; 3] = [
    Pass { part: Part::All, kept: 3, rounds: 10, open_least: 0.01, is_rough: false },
    Pass { part: Part::All, kept: 1, rounds: 20, open_least: 0.001, is_rough: false },
    Pass { part: Part::All, kept: 1, rounds: 10, open_least: 0.0001, is_rough: false },
];
/// Largest unexplained relative error of reads for which the dies alone are taken to limit
/// throughput with many requests in flight.
const EXPLAINED: f64 = 0.02;

/// Fits a drive to measured workloads, all on one set. `requests` makes the requests that were
/// measured; `stop` says whether the user wants to stop, and is called several times a second.
///
/// # Errors
/// No read at queue depth 1 was measured, no drive can be built, or the user wants to stop.
pub fn fit(
    measured: &[Measurement],
    requests: &Requests<'_>,
    stop: &dyn Fn() -> bool,
) -> Result<Fitted, Error> {
    let measured: Vec<&Measurement> =
        measured.iter().filter(|m| m.throughput_bytes_per_s > 0.0).collect();
    let found = found(measured.clone(), requests, stop)?;
    // Workloads with a large uncertainty were simulated with fewer requests; now simulate them
    // fully.
    let model = found.parameters.build()?;
    let residuals = measured.iter().map(|m| residual(&model, requests, m, 1)).collect();
    Ok(Fitted { residuals, ..found })
}

/// Runs the search and returns its final drive.
fn found(
    measured: Vec<&Measurement>,
    requests: &Requests<'_>,
    stop: &dyn Fn() -> bool,
) -> Result<Fitted, Error> {
    let Some(seen) = Seen::of(&measured) else {
        return Err(Error::Configuration("no read of 4 KiB was measured".to_owned()));
    };
    // Only a simulated drive is known exactly.
    let is_exact = measured.iter().all(|m| known_to(m) == 0.0);
    let reads = measured.iter().copied().filter(|m| m.workload.read_frac >= 1.0).collect();
    let pass = &READING[0];
    let trials = Trials { measured: reads, requests, stop, simulated: Cell::new(0) };
    let mut search = Search { trials, writes: false, is_exact, pass };
    let mut found = search.readers(&seen)?;
    let unexplained = found.first().map_or(1.0, |best| search.unexplained(&best.residuals, false));
    if unexplained > EXPLAINED {
        return joint::fit(&seen, Trials { measured, ..search.trials });
    }
    if is_exact {
        found = search.other_shapes(found)?;
    }
    if measured.len() > search.trials.measured.len() {
        search = Search { trials: Trials { measured, ..search.trials }, writes: true, ..search };
        found = match is_exact {
            true => search.writers_exactly(&seen, &found)?,
            false => search.writers(&seen, &found)?,
        };
    }
    if is_exact {
        found = search.explaining(found)?;
        let looked = search.alike(&found)?;
        return search.told(found.into_iter().next(), looked);
    }
    found = candidates::best_of_each_shape(found, &search);
    search.through(&BOTH[..1], &mut found)?;
    found = search.with_others(found)?;
    let looked = search.looked(&found);
    search.through(&BOTH[1..], &mut found)?;
    search.told(found.into_iter().next(), looked)
}
