//! Whether a target has moving parts: what it says of them, as far as its reads agree.

use ioscape_schema::Measurement;

/// Single reads of what rotates wait for its platter: for so many seconds at least, on average.
const TURN_S: f64 = 2e-3;
/// Of so many reads in flight an arm serves the nearest first, which is nearer than the nearest of so few.
const MANY: u32 = 32;
const FEW: u32 = 8;
/// So many come to more than so many times the rate of single ones, and of few. A limit of requests gives as many of all, or, where the way to the
/// device takes so long that single ones stay below it, of few and many.
const OVER_ONE: f64 = 1.3;
const OVER_FEW: f64 = 1.1;

/// What a target says of moving parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rotates {
    /// That it has none, or nothing.
    No,
    /// That it has some, as flash on USB often says, too.
    Perhaps,
    /// That it has some, in what may be a virtual machine: most disks there say so, and a limit of requests makes flash as slow as an arm.
    Virtual,
    /// That it has some.
    Yes,
}

/// What follows from that and from the time of its reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turns {
    /// Nothing shows moving parts.
    No,
    /// It may have some.
    Perhaps,
    /// It has some.
    Yes,
    /// A cache may hide those that it says it has, or they are none.
    Hidden,
}

impl Turns {
    /// What follows for a target that says this of itself, and of which these workloads were measured.
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

/// Reads anywhere in the set.
fn reads(probed: &[Measurement]) -> impl Iterator<Item = &Measurement> {
    probed.iter().filter(|m| m.workload.read_frac == 1.0 && m.workload.seq_frac == 0.0)
}

/// The smallest of them that are alone in flight.
fn single(probed: &[Measurement]) -> Option<&Measurement> {
    let alone = reads(probed).filter(|m| m.workload.queue_depth == 1);
    alone.min_by_key(|m| m.workload.size_mean)
}

/// Whether the smallest single reads take less time than anything that rotates needs: the kernel says of much USB flash that it does.
fn is_fast(probed: &[Measurement]) -> bool {
    single(probed).is_some_and(|m| m.workload.size_mean as f64 / m.throughput_bytes_per_s < TURN_S)
}

/// Whether many of the smallest reads in flight are faster than single ones, and than few.
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

    /// What follows from every word of a target that serves so many reads of 4 KiB a second, one in flight, 8 and 32.
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
        // A cache on bare metal is no flash.
        assert_eq!(turns([1e4, 5e4, 1e5]), [Turns::No, Turns::No, Turns::No, Turns::Hidden]);
        assert_eq!(Turns::of(Rotates::Yes, &[]), Turns::Yes, "it was not measured");
    }

    #[test]
    fn a_limit_of_requests_in_a_virtual_machine_is_no_arm_though_its_reads_take_as_long() {
        // One read at a time reaches the limit, or the network keeps it below.
        let limited = [[300.0, 305.0, 310.0], [300.0, 500.0, 500.0]].map(turns);
        // On USB there is no such limit, but there are disks that serve one request after the other.
        assert_eq!(limited, [[Turns::No, Turns::Perhaps, Turns::No, Turns::Yes]; 2]);
    }
}
