//! What the kernels of several clients told of one measurement, as if there were one.

use super::{ClientRun, Window};
use ioscape_schema::Witness;
use ioscape_schema::tally::mean;

/// The clients' share of their sets in their own caches before the first window and after the last, on average, and what storage read for
/// all of them; each only where every client tells. What a kernel counts for its whole machine or for everybody is left out: two clients may
/// run on one machine, and all of them share a device.
pub(super) fn of_all(windows: &[Window]) -> Witness {
    let all = || windows.iter().flat_map(|window| &window.runs).map(|run| &run.measurement.witness);
    let is_any = all().next().is_some();
    Witness {
        resident_frac: resident(windows),
        storage_read_bytes: all()
            .map(|one| one.storage_read_bytes)
            .sum::<Option<_>>()
            .filter(|_| is_any),
        major_faults: all().map(|one| one.major_faults).sum::<Option<_>>().filter(|_| is_any),
        ..Witness::default()
    }
}

fn resident(windows: &[Window]) -> Option<[f64; 2]> {
    let mean_of = |runs: &[ClientRun], at: usize| {
        let shares =
            runs.iter().map(|run| run.measurement.witness.resident_frac.map(|pair| pair[at]));
        shares
            .collect::<Option<Vec<f64>>>()
            .filter(|shares| !shares.is_empty())
            .map(|shares| mean(&shares))
    };
    let (first, last) = (windows.first()?, windows.last()?);
    Some([mean_of(&first.runs, 0)?, mean_of(&last.runs, 1)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{Measurement, Stop, Workload};

    fn window(witnesses: &[([f64; 2], Option<u64>)]) -> Window {
        let run = |(at, (resident, read)): (usize, &([f64; 2], Option<u64>))| {
            let mut measurement = Measurement::empty(Workload::default(), Stop::Confident);
            measurement.witness = Witness {
                resident_frac: Some(*resident),
                storage_read_bytes: *read,
                steal_s: Some(1.0),
                ..Witness::default()
            };
            let host = format!("host{at}");
            ClientRun { rank: at as u32, host, measurement, rates: vec![1.0], began_unix_ns: 0 }
        };
        Window { runs: witnesses.iter().enumerate().map(run).collect(), ..Window::default() }
    }

    #[test]
    fn what_every_client_tells_is_of_all_from_the_first_beginning_to_the_last_end() {
        let first = window(&[([0.4, 0.5], Some(10)), ([0.6, 0.7], Some(20))]);
        let last = window(&[([0.5, 0.6], Some(1)), ([0.7, 0.8], Some(2))]);
        let found = of_all(&[first, last]);
        let [before, after] = found.resident_frac.unwrap();
        assert!((before - 0.5).abs() < 1e-12 && (after - 0.7).abs() < 1e-12);
        assert_eq!((found.storage_read_bytes, found.steal_s), (Some(33), None));
    }

    #[test]
    fn one_silent_client_leaves_all_untold() {
        let found = of_all(&[window(&[([1.0, 1.0], Some(10)), ([1.0, 1.0], None)])]);
        assert_eq!((found.resident_frac, found.storage_read_bytes), (Some([1.0; 2]), None));
        assert!(of_all(&[]).is_silent());
    }
}
