//! The arms of the simulated disk: how long a request takes, and when it is done.
//!
//! A request takes `overhead + position + bytes / bandwidth`. `position` is 0 if the request begins
//! at the arm's position, otherwise `seek_min + (seek_max - seek_min) sqrt(distance / share) +
//! rotation`, where `share` is an arm's part of the disk. The square root is the usual form of
//! short seeks (Ruemmler and Wilkes, "An introduction to disk drive modeling", 1994). Each arm
//! serves one request at a time, in order of arrival. A rate limit with credit may come before the
//! arms (a token bucket, as virtual disks have).

use super::counters::Counters;
use super::parameters::Parameters;

/// A single arm.
#[derive(Clone, Copy, Debug, Default)]
struct Arm {
    /// Where its last request ended, in bytes within its share.
    position: u64,
    /// When it has served everything given to it, in nanoseconds.
    free_ns: u64,
}

/// The arms and their positions.
#[derive(Debug, Default)]
pub struct Mechanism {
    arms: Vec<Arm>,
    /// When the credit is full again if nothing more comes, in nanoseconds.
    whole_ns: u64,
}

/// The part of a request that one arm serves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Part {
    offset: u64,
    length: u64,
}

impl Mechanism {
    /// Passes a request that arrives at `now_ns` to the arms; returns when the last of them is
    /// done, in nanoseconds.
    pub fn submit(
        &mut self,
        parameters: &Parameters,
        counters: &mut Counters,
        (offset, length): (u64, u64),
        now_ns: u64,
    ) -> u64 {
        self.arms.resize(parameters.arms as usize, Arm::default());
        let now_ns = self.admit(parameters, length, now_ns);
        let mut done_ns = now_ns;
        for (arm, part) in self.arms.iter_mut().zip(parts(parameters, offset, length)) {
            if part.length == 0 {
                continue;
            }
            let distance = part.offset.abs_diff(arm.position);
            let service_ns = service_ns(parameters, distance, part.length);
            let kind = if distance == 0 { &mut counters.sequential } else { &mut counters.seeks };
            *kind += 1;
            counters.busy_ns += service_ns;
            arm.free_ns = arm.free_ns.max(now_ns) + service_ns;
            arm.position = part.offset + part.length;
            done_ns = done_ns.max(arm.free_ns);
        }
        done_ns
    }

    /// When a request that arrives at `now_ns` passes the rate limit.
    fn admit(&mut self, parameters: &Parameters, length: u64, now_ns: u64) -> u64 {
        if parameters.limit_mb_s <= 0.0 {
            return now_ns;
        }
        let takes_ns = |bytes: f64| (bytes / parameters.limit_mb_s * 1e3) as u64;
        let credit_ns = takes_ns(parameters.credit_mib * 1_048_576.0);
        let goes_ns = now_ns.max(self.whole_ns.saturating_sub(credit_ns));
        self.whole_ns = self.whole_ns.max(goes_ns) + takes_ns(length as f64);
        goes_ns
    }
}

/// Service time, in nanoseconds, of `length` bytes that begin `distance` bytes from the arm.
pub fn service_ns(parameters: &Parameters, distance: u64, length: u64) -> u64 {
    let share = parameters.size_bytes() as f64 / parameters.arms;
    let seek_us = parameters.seek_min_us
        + (parameters.seek_max_us - parameters.seek_min_us) * (distance as f64 / share).sqrt();
    let position_us = if distance == 0 { 0.0 } else { seek_us + parameters.rotation_us };
    let transfer_us = match parameters.bandwidth_mb_s {
        rate if rate > 0.0 => length as f64 / rate,
        _ => 0.0,
    };
    ((parameters.overhead_us + position_us + transfer_us) * 1e3).round() as u64
}

/// Divides a request among the arms.
fn parts(parameters: &Parameters, offset: u64, length: u64) -> Vec<Part> {
    let arms = parameters.arms as u64;
    if arms == 1 {
        return vec![Part { offset, length }];
    }
    let unit = (parameters.stripe_kib * 1024.0) as u64;
    let mut parts = vec![Part::default(); arms as usize];
    let (mut at, end) = (offset, offset + length);
    while at < end {
        let (stripe, inside) = (at / unit, at % unit);
        let chunk = (unit - inside).min(end - at);
        let part = &mut parts[(stripe % arms) as usize];
        if part.length == 0 {
            part.offset = stripe / arms * unit + inside;
        }
        part.length += chunk;
        at += chunk;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    const DISK: Parameters = Parameters {
        size_mib: 64.0,
        arms: 1.0,
        stripe_kib: 64.0,
        seek_min_us: 500.0,
        seek_max_us: 4000.0,
        rotation_us: 1000.0,
        bandwidth_mb_s: 40.0,
        overhead_us: 100.0,
        limit_mb_s: 0.0,
        credit_mib: 0.0,
        cache_mib: 0.0,
        hit_us: 50.0,
        cached_writes: 0.0,
        write_back: 0.0,
        direct_io: 0.0,
        keep_cache: 0.0,
    };
    const SIZE: u64 = 64 << 20;

    #[test]
    fn the_seek_curve_is_what_the_parameters_say() {
        let us = |distance, length| service_ns(&DISK, distance, length) as f64 / 1e3;
        assert_eq!(us(0, 0), 100.0);
        assert_eq!(us(0, 4000), 200.0);
        assert_eq!(us(SIZE, 0), 100.0 + 4000.0 + 1000.0);
        assert_eq!(us(SIZE / 4, 0), 100.0 + 500.0 + 3500.0 / 2.0 + 1000.0);
        assert_eq!(us(SIZE / 16, 40_000), 100.0 + 500.0 + 3500.0 / 4.0 + 1000.0 + 1000.0);
        let unlimited = Parameters { bandwidth_mb_s: 0.0, ..DISK };
        assert_eq!(service_ns(&unlimited, 0, 1 << 30), 100_000);
    }

    #[test]
    fn one_arm_serves_one_request_at_a_time() {
        let (mut arms, mut counters) = (Mechanism::default(), Counters::default());
        let first = arms.submit(&DISK, &mut counters, (0, 4000), 1_000);
        assert_eq!(first, 1_000 + 200_000, "it begins where the arm stands");
        let second = arms.submit(&DISK, &mut counters, (4000, 4000), 2_000);
        assert_eq!(second, first + 200_000, "it waits and is sequential");
        let late = arms.submit(&DISK, &mut counters, (0, 4000), 10_000_000);
        assert_eq!(late, 10_000_000 + service_ns(&DISK, 8000, 4000), "the arm was idle");
        assert_eq!((counters.sequential, counters.seeks), (2, 1));
        assert_eq!(counters.busy_ns, 400_000 + service_ns(&DISK, 8000, 4000));
    }

    #[test]
    fn credit_goes_at_once_and_the_rest_at_the_limit() {
        let limited = Parameters { limit_mb_s: 1.0, credit_mib: 1.0, ..Parameters::default() };
        let (mut arms, mut counters) = (Mechanism::default(), Counters::default());
        let mut passes =
            |now_ns| arms.submit(&limited, &mut counters, (0, 524_288), now_ns) / 1_000_000;
        assert_eq!([0; 5].map(&mut passes), [0, 0, 0, 524, 1048]);
        assert_eq!(
            [1_000_000_000_000; 4].map(passes),
            [1_000_000, 1_000_000, 1_000_000, 1_000_524]
        );
    }

    #[test]
    fn stripes_go_round_the_arms() {
        let four = Parameters { arms: 4.0, ..DISK };
        let kib = 1024;
        let found = parts(&four, 96 * kib, 128 * kib);
        let part = |offset, length| Part { offset: offset * kib, length: length * kib };
        assert_eq!(found, [Part::default(), part(32, 32), part(0, 64), part(0, 32)]);
        let around = parts(&four, 0, 512 * kib);
        assert_eq!(around, [part(0, 128); 4]);
        assert_eq!(parts(&four, 300 * kib, 8 * kib)[0], part(64 + 44, 8));
    }

    #[test]
    fn arms_work_side_by_side() {
        let four = Parameters { arms: 4.0, ..DISK };
        let (mut arms, mut counters) = (Mechanism::default(), Counters::default());
        let unit = 64 << 10;
        let done: Vec<u64> =
            (0..5).map(|i| arms.submit(&four, &mut counters, (i * unit, 4000), 0)).collect();
        assert_eq!(done[..4], [200_000; 4]);
        assert!(done[4] > 200_000, "the first arm is busy");
    }
}
