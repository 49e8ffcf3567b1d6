//! How fast the processor computes at a moment: what shares the core beneath a virtual machine, or a lower clock, slows it, and no
//! count of the kernel tells.

use std::hint::black_box;
use std::time::Instant;

/// Rounds of the loop: some microseconds.
const ROUNDS: u64 = 3000;

/// Nanoseconds that a fixed piece of computing takes now; the lesser of two, so that one interruption is not seen.
pub(crate) fn pace_ns() -> u64 {
    let one = || {
        let start = Instant::now();
        black_box(work(black_box(ROUNDS)));
        u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    };
    one().min(one()).max(1)
}

/// Independent chains, so that as many units of the core as possible are busy: this is what a neighbour on the core slows most.
#[inline(never)]
fn work(rounds: u64) -> u64 {
    let (mut a, mut b, mut c, mut d) = (1u64, 2u64, 3u64, 4u64);
    for round in 0..rounds {
        a = a.rotate_left(5) ^ round;
        b = b.wrapping_add(a >> 3);
        c = c.rotate_left(7).wrapping_add(round);
        d ^= d << 1 ^ c;
    }
    a ^ b ^ c ^ d
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
