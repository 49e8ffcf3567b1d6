//! The kernel witnesses of several clients, combined into one for the measurement.

use ioscape_schema::Witness;
use ioscape_schema::statistics::mean;

/// Combines what each client's kernel reported in every window: the average share of the clients'
/// sets in their own caches before the first window and after the last, and the bytes that storage
/// read for all of them. Each is given only if every client reports it. Counts for a whole machine
/// or for everyone are left out: two clients may run on one machine, and all share a device. Whether
/// processors serve the storage is that of any client.
pub(super) fn of_all(windows: &[Vec<Witness>]) -> Witness {
    let is_any = windows.iter().any(|window| !window.is_empty());
    let sum = |of: fn(&Witness) -> Option<u64>| {
        windows.iter().flatten().map(of).sum::<Option<u64>>().filter(|_| is_any)
    };
    Witness {
        resident_frac: resident(windows),
        storage_read_bytes: sum(|one| one.storage_read_bytes),
        served_by_processors: windows.iter().flatten().any(|one| one.served_by_processors),
        major_faults: sum(|one| one.major_faults),
        ..Witness::default()
    }
}

fn resident(windows: &[Vec<Witness>]) -> Option<[f64; 2]> {
    let mean_of = |window: &[Witness], at: usize| {
        mean_share(window.iter().map(|one| one.resident_frac.map(|pair| pair[at])))
    };
    Some([mean_of(windows.first()?, 0)?, mean_of(windows.last()?, 1)?])
}

/// The mean of the shares, if every client reports its own.
pub(super) fn mean_share(shares: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let shares: Option<Vec<f64>> = shares.collect();
    shares.filter(|shares| !shares.is_empty()).map(|shares| mean(&shares))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(resident_frac: [f64; 2], storage_read_bytes: Option<u64>) -> Witness {
        Witness {
            resident_frac: Some(resident_frac),
            storage_read_bytes,
            steal_s: Some(1.0),
            ..Witness::default()
        }
    }

    #[test]
    fn what_every_client_tells_is_of_all_from_the_first_beginning_to_the_last_end() {
        let first = vec![told([0.4, 0.5], Some(10)), told([0.6, 0.7], Some(20))];
        let last = vec![told([0.5, 0.6], Some(1)), told([0.7, 0.8], Some(2))];
        let found = of_all(&[first, last]);
        let [before, after] = found.resident_frac.unwrap();
        assert!((before - 0.5).abs() < 1e-12 && (after - 0.7).abs() < 1e-12);
        assert_eq!((found.storage_read_bytes, found.steal_s), (Some(33), None));
    }

    #[test]
    fn one_silent_client_leaves_all_untold() {
        let found = of_all(&[vec![told([1.0; 2], Some(10)), told([1.0; 2], None)]]);
        assert_eq!((found.resident_frac, found.storage_read_bytes), (Some([1.0; 2]), None));
        assert!(of_all(&[]).is_silent());
    }
}
