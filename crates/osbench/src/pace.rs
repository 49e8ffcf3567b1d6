//! How fast the processor computes at a moment. A neighbour on the core (perhaps below a virtual
//! machine) or a lower clock slows it, and no kernel counter shows that.

use super::case::Op;
use std::hint::black_box;
use std::time::Instant;

/// Rounds of the loop: some microseconds.
const ROUNDS: u64 = 3000;

/// Returns the nanoseconds that the fixed computation takes now: the lesser of two runs, so that
/// one interruption does not show.
pub(crate) fn pace_ns() -> u64 {
    let one = || {
        let start = Instant::now();
        black_box(work(black_box(ROUNDS)));
        u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    };
    one().min(one()).max(1)
}

/// Returns a tenth of the fixed computation, as an operation of a benchmark.
pub(crate) fn compute() -> Op {
    Box::new(|count| {
        for _ in 0..count {
            black_box(work(black_box(ROUNDS / 10)));
        }
        Ok(())
    })
}

/// Performs so many independent additions at once that they saturate the core. Only then does a
/// neighbour on the core slow the work. A chain of dependent steps runs as fast with a neighbour as
/// without one.
#[inline(never)]
fn work(rounds: u64) -> u64 {
    let mut sums = [1u64, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    for round in 0..rounds {
        // Otherwise the compiler would replace the sum by a formula.
        let round = black_box(round);
        for (index, sum) in sums.iter_mut().enumerate() {
            *sum = if index % 2 == 0 { sum.wrapping_add(round) } else { *sum ^ round };
        }
    }
    sums.into_iter().fold(0, |all, sum| all ^ sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_is_the_same_every_time_and_depends_on_its_length() {
        assert_eq!(work(1000), work(1000));
        assert_ne!(work(1000), work(1001));
        assert!(pace_ns() >= 1);
    }
}
