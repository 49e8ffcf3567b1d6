//! Whether a target has moving parts: its own claim, checked against its read latencies.

use ioscape_schema::Measurement;

/// Least mean latency, in seconds, of a single read from a rotating device, which waits for the
/// platter.
const TURN_S: f64 = 2e-3;
/// Queue depths to compare: an arm serves the nearest read first, so with more reads in flight its
/// seeks are shorter.
const MANY: u32 = 32;
const FEW: u32 = 8;
/// With an arm, [`MANY`] reads in flight are faster than a single one, and than [`FEW`], by more
/// than these factors. A limit on IOPS gives the same rate for all three, or for few and many if
/// the path to the device is so slow that single reads stay below the limit.
const OVER_ONE: f64 = 1.3;
const OVER_FEW: f64 = 1.1;

/// A target's own claim about moving parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rotates {
    /// It claims to have none, or claims nothing.
    No,
    /// It claims to have some, as USB flash often does, too.
    Perhaps,
    /// It claims to have some, in what may be a virtual machine: most disks there claim so, and an
    /// IOPS limit can make flash as slow as an arm.
    Virtual,
    /// It claims to have some, and the claim is credible.
    Yes,
}

/// The conclusion from that claim and the read latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turns {
    /// Nothing shows moving parts.
    No,
    /// It may have moving parts.
    Perhaps,
    /// It has moving parts.
    Yes,
    /// It claims moving parts, but a cache may hide them, or it has none.
    Hidden,
}

impl Turns {
    /// Concludes from a target's claim and its measured workloads.
    pub fn of(said: Rotates, probed: &[Measurement]) -> Self {
        match (said, is_fast(probed)) {
            (Rotates::Yes, false) => Self::Yes,
            (Rotates::Yes, true) => Self::Hidden,
            (Rotates::Perhaps, false) => Self::Perhaps,
            (Rotates::Virtual, false) if is_sorted(probed) => Self::Perhaps,
            _ => Self::No,
        }
    }
}

/// Random reads over the whole set.
fn reads(probed: &[Measurement]) -> impl Iterator<Item = &Measurement> {
    probed.iter().filter(|m| m.workload.read_frac == 1.0 && m.workload.seq_frac == 0.0)
}

/// The smallest random reads at queue depth 1.
fn single(probed: &[Measurement]) -> Option<&Measurement> {
    let alone = reads(probed).filter(|m| m.workload.queue_depth == 1);
    alone.min_by_key(|m| m.workload.size_mean)
}

/// Whether the smallest single reads are faster than any rotating device: the kernel reports much
/// USB flash as rotating.
fn is_fast(probed: &[Measurement]) -> bool {
    single(probed).is_some_and(|m| m.workload.size_mean as f64 / m.throughput_bytes_per_s < TURN_S)
}

/// Whether the smallest reads are faster with many in flight than with one, and than with few.
fn is_sorted(probed: &[Measurement]) -> bool {
    let Some(one) = single(probed) else { return false };
    let rate = |queue_depth: u32| {
        let mut alike = reads(probed).filter(|m| m.workload.size_mean == one.workload.size_mean);
        alike.find(|m| m.workload.queue_depth == queue_depth).map(|m| m.throughput_bytes_per_s)
    };
    rate(FEW).zip(rate(MANY)).is_some_and(|(few, many)| {
        many > OVER_ONE * one.throughput_bytes_per_s && many > OVER_FEW * few
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{Stop, Workload};

    /// The conclusions for every claim of a target that serves these numbers of 4 KiB reads per
    /// second at queue depths 1, 8 and 32.
    fn turns(each_s: [f64; 3]) -> [Turns; 4] {
        let read = |(queue_depth, each_s): (u32, f64)| {
            let workload = Workload {
                size_mean: 4096,
                read_frac: 1.0,
                seq_frac: 0.0,
                queue_depth,
                ..Workload::default()
            };
            Measurement {
                throughput_bytes_per_s: 4096.0 * each_s,
                ..Measurement::empty(workload, Stop::Confident)
            }
        };
        let probed = [(1, each_s[0]), (8, each_s[1]), (32, each_s[2])].map(read);
        [Rotates::No, Rotates::Perhaps, Rotates::Virtual, Rotates::Yes]
            .map(|said| Turns::of(said, &probed))
    }

    #[test]
    fn what_reads_in_less_than_the_part_of_a_turn_does_not_rotate_whatever_is_said_of_it() {
        let slow = [Turns::No, Turns::Perhaps, Turns::Perhaps, Turns::Yes];
        assert_eq!([[75.0, 140.0, 200.0], [166.0, 300.0, 400.0]].map(turns), [slow; 2]);
        // On bare metal, fast reads from a device that claims to rotate may come from a cache.
        assert_eq!(turns([1e4, 5e4, 1e5]), [Turns::No, Turns::No, Turns::No, Turns::Hidden]);
        assert_eq!(Turns::of(Rotates::Yes, &[]), Turns::Yes, "it was not measured");
    }

    #[test]
    fn a_limit_of_requests_in_a_virtual_machine_is_no_arm_though_its_reads_take_as_long() {
        // Single reads either reach the limit, or the network keeps them below it.
        let limited = [[300.0, 305.0, 310.0], [300.0, 500.0, 500.0]].map(turns);
        // USB has no such limit, but some USB disks serve one request at a time.
        assert_eq!(limited, [[Turns::No, Turns::Perhaps, Turns::No, Turns::Yes]; 2]);
    }
}
