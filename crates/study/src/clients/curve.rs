//! Throughput against the number of clients, at the focal point of each region.

use ioscape_schema::{Evaluation, Measurement, Point, Workload};

/// Share of the budget for exploring with all clients; the remainder is for these curves.
const EXPLORING: f64 = 0.8;
/// Longest measured part of a point, in seconds.
const POINT_S: f64 = 2.0;
/// Name of these curves among the parts that may be left out.
const NAME: &str = "number of clients";

/// Returns the seconds of `budget_s` for exploring with all clients.
pub fn exploring_s(budget_s: f64, clients: u32) -> f64 {
    budget_s * if clients > 1 { EXPLORING } else { 1.0 }
}

/// Adds the curves of 1 to `clients` clients to an evaluation by all of them, until `is_over`.
/// `measure` takes the workload, the shortest and the longest time in seconds, and the number of
/// clients. Nothing is added for one client.
///
/// # Errors
/// The error of `measure`; earlier measurements are kept.
pub fn curves<E>(
    evaluation: &mut Evaluation,
    clients: u32,
    is_over: impl Fn() -> bool,
    measure: impl Fn(&Workload, f64, f64, u32) -> Result<Measurement, E>,
) -> Result<(), E> {
    if clients == 1 {
        return Ok(());
    }
    let Evaluation { regions, shortened, .. } = evaluation;
    for region in regions {
        for number in numbers(clients) {
            if is_over() {
                let why = "the budget was over before all numbers of clients were measured";
                shortened.insert(NAME.to_owned(), why.to_owned());
                return Ok(());
            }
            let measurement = measure(&region.focal, POINT_S / 4.0, POINT_S, number)?;
            let rounds = vec![measurement.throughput_bytes_per_s];
            let point = Point { value: f64::from(number), measurement, rounds, spread: None };
            region.curves.client_num.push(point);
        }
    }
    Ok(())
}

/// 1, 2, 4, ... and finally `clients`.
fn numbers(clients: u32) -> Vec<u32> {
    let doubled = (0..31).map(|power| 1u32 << power).take_while(|number| *number < clients);
    doubled.chain([clients]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_clients_double_up_to_all() {
        assert_eq!(numbers(1), [1]);
        assert_eq!(numbers(4), [1, 2, 4]);
        assert_eq!(numbers(6), [1, 2, 4, 6]);
    }
}
