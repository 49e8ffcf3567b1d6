//! Closed systems: users who pause between their requests, at a station whose rate depends on how
//! many of them it serves.

/// Numbers of users below `most` at which a rate is worth asking for: 1, 2, 3, 4, 6, 8, 12 and so
/// on. Between them it is nearly a line.
pub(crate) fn numbers_below(most: u32) -> impl Iterator<Item = u32> {
    let doubled = |first: u32| {
        std::iter::successors(Some(first), |n| n.checked_mul(2)).take_while(move |n| *n < most)
    };
    let mut all: Vec<u32> = [1].into_iter().chain(doubled(2)).chain(doubled(3)).collect();
    all.retain(|n| *n < most);
    all.sort_unstable();
    all.into_iter()
}

/// Requests per second of all users if the lengths of their pauses are exponential, with a mean of
/// `pause_s` seconds: the exact solution of the machine repair model.
///
/// `station` has the rate in requests per second by the number of users at it, `[number, rate]` in
/// increasing order; the last number is that of all users.
pub(crate) fn rate_with_pauses(station: &[[f64; 2]], pause_s: f64) -> f64 {
    let users = station[station.len() - 1][0].round() as usize;
    // ln of the probability of each number at the station, down from all of them.
    let mut logs = vec![0.0; users + 1];
    for n in (1..=users).rev() {
        let pausing = (users - n + 1) as f64;
        logs[n - 1] = logs[n] + (pause_s * rate(station, n as f64) / pausing).ln();
    }
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut all, mut done) = (0.0, 0.0);
    for (n, log) in logs.iter().enumerate() {
        let weight = (log - most).exp();
        all += weight;
        done += weight * rate(station, n as f64);
    }
    done / all
}

/// The same if requests never meet by chance: as many users are always at the station, so that this
/// is the most that pauses of any lengths allow.
pub(crate) fn rate_at_best(station: &[[f64; 2]], pause_s: f64) -> f64 {
    let users = station[station.len() - 1][0];
    let needed = |[busy, rate]: [f64; 2]| busy + rate * pause_s;
    let (below, above) = around(station, |one| needed(one) >= users);
    let step = (users - needed(below)) / (needed(above) - needed(below));
    below[1] + (above[1] - below[1]) * step
}

/// The rate with `n` users at the station, on a line between the known ones.
fn rate(station: &[[f64; 2]], n: f64) -> f64 {
    let (below, above) = around(station, |[busy, _]| busy >= n);
    below[1] + (above[1] - below[1]) * ((n - below[0]) / (above[0] - below[0])).min(1.0)
}

/// The first point that `is_enough`, or else the last, and the one before it, which is `[0, 0]` at
/// first.
fn around(station: &[[f64; 2]], is_enough: impl Fn([f64; 2]) -> bool) -> ([f64; 2], [f64; 2]) {
    let found = station.iter().position(|one| is_enough(*one));
    let at = found.unwrap_or(station.len() - 1);
    (at.checked_sub(1).map_or([0.0; 2], |before| station[before]), station[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_numbers_are_asked_for() {
        let below = |most| numbers_below(most).collect::<Vec<_>>();
        assert_eq!(below(1), []);
        assert_eq!(below(2), [1]);
        assert_eq!(below(13), [1, 2, 3, 4, 6, 8, 12]);
        assert_eq!(below(4096).len(), 23);
    }

    /// Against a simulation of events: eight users, service of exponential lengths.
    #[test]
    fn users_of_one_server_meet() {
        let station = [[1.0, 1000.0], [8.0, 1000.0]];
        let iops = rate_with_pauses(&station, 7e-3);
        let response_ms = (8.0 / iops - 7e-3) * 1e3;
        assert!((iops - 821.0).abs() < 1.0 && (response_ms - 2.74).abs() < 0.01, "{iops}");
        assert!((rate_at_best(&station, 7e-3) - 1000.0).abs() < 1e-6);
    }

    #[test]
    fn users_of_a_wide_station_do_not_meet() {
        for users in [1.0, 8.0, 4096.0] {
            let station = [[users, users * 1e4]];
            for found in [rate_with_pauses(&station, 9e-4), rate_at_best(&station, 9e-4)] {
                assert!((found / (users * 1e3) - 1.0).abs() < 1e-9, "{users}: {found}");
            }
            assert_eq!(rate_with_pauses(&station, 0.0), users * 1e4);
        }
    }
}
