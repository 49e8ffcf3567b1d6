//! What keeps a twin from being called calibrated though its throughputs are near: others disturbed what was measured, the drive changed
//! meanwhile, or it holds other rates for long.

use super::course::{DISTURBANCE, says};
use super::explained::last;
use super::replica::{Replica, Requests};
use super::sustained::Endured;
use crate::ssd::{Limit, Model, Only};
use ioscape_schema::sustained::{CourseKind, Sustained};
use ioscape_schema::units::{Bytes, Rate};
use ioscape_schema::{Bounded, Measurement, Workload};

/// Largest median error of the throughput of unseen workloads of a twin that is called calibrated.
pub const ERROR_MOST: f64 = 0.15;
/// A throughput that is another by less than this share has not changed.
const CHANGED: f64 = 0.1;
/// No twin is within [`ERROR_MOST`] of two rates of which one is more than so many times the other.
const APART: f64 = (1.0 + ERROR_MOST) / (1.0 - ERROR_MOST);
/// A course fell if it stayed below for so many steps, and for longer than a [disturbance](DISTURBANCE).
const FALL_STEPS: f64 = 4.0;
/// Others may have disturbed this share of the workloads at most: it hardly moves the median of all.
const DISTURBED_MOST: f64 = 0.1;
/// A drive may be off by this share of a rate that held from the beginning: of half of its workloads a calibrated twin is off by more than the
/// median.
const STEADY_MOST: f64 = 1.0;

/// That others disturbed too many of the workloads that a drive is fitted to, or of those that judge it.
pub fn disturbed(fitted_to: &[Measurement], judging: &[Measurement]) -> Option<String> {
    let counts = [fitted_to, judging].map(|some| {
        let disturbed = some.iter().filter(|one| one.disturbed).count();
        (disturbed, some.len(), disturbed as f64 > DISTURBED_MOST * some.len() as f64)
    });
    let [(of_fit, fitted, _), (of_judging, judging, _)] = counts;
    counts.iter().any(|(_, _, too_many)| *too_many).then(|| {
        format!(
            "not calibrated: others disturbed {of_fit} of {fitted} workloads that the drive is fitted to and {of_judging} of {judging} that judge it, as the warnings say; a quiet machine would tell"
        )
    })
}

/// What surely became faster or slower while the drive was measured: no twin is both what it was and what it became.
pub fn changed(twice: [&[Measurement]; 2]) -> Option<String> {
    let one = |(workload, ratio): &(&Workload, f64)| {
        format!("{} {ratio:.2} times as fast at the end as at the beginning", what(workload))
    };
    let said: Vec<String> = changes(twice).iter().map(one).collect();
    (!said.is_empty()).then(|| {
        format!(
            "the drive changed while it was measured, so that no twin is right all the time: {}",
            said.join(", ")
        )
    })
}

/// That it changed by so much that no twin between the two is near both.
pub fn changed_too_much(twice: [&[Measurement]; 2]) -> Option<String> {
    let is_much = |(_, ratio): &(&Workload, f64)| *ratio > APART || *ratio * APART < 1.0;
    changes(twice).iter().any(is_much).then(|| {
        format!(
            "not calibrated: the drive changed while it was measured, by so much that no twin is within {:.0} % of it all the time",
            100.0 * ERROR_MOST
        )
    })
}

/// That the drive of this model does not hold the rates that were found to hold: what was fitted in seconds is no more than their beginning, unless a
/// limit explains the rest. Where it cannot be told which rate holds, a fall from which the course did not come back is enough: then it is not that
/// of the beginning.
pub fn unheld(model: &Model, found: &Endured, requests: &Requests<'_>) -> Option<String> {
    let replica = Replica::new(model, requests);
    let one = |measured: &Measurement| {
        let (course, workload) = (measured.sustained.as_deref()?, &measured.workload);
        let held = last(course);
        let rate = held.or_else(|| fallen(course).filter(|_| !measured.disturbed))?;
        let limits = found.limits.iter().filter(|limit| limit.bucket().is_ok());
        let allowed = limits.filter_map(|limit| allowed(limit, workload));
        let told = allowed.fold(replica.bytes_per_s(workload), f64::min);
        let is_steady = course.kind == CourseKind::Steady;
        let most = 1.0 + if is_steady { STEADY_MOST } else { ERROR_MOST };
        let is_off = told > most * rate.high || (held.is_some() && rate.low > most * told);
        is_off.then(|| {
            let (what, [rate, told]) = (what(workload), [rate.value, told].map(Rate));
            match held {
                Some(_) => format!("{what} hold {rate} for long, where this drive says {told}"),
                None => format!("{what} fell to {rate}, where this drive says {told}"),
            }
        })
    };
    let said: Vec<String> = found.measurements.iter().filter_map(one).collect();
    (!said.is_empty()).then(|| format!("not calibrated: {}", said.join(", ")))
}

/// The highest rate since a course surely fell, by so much that no twin is near both that and the first, and did not come back.
fn fallen(course: &Sustained) -> Option<Bounded> {
    let least = course.phases.first()?.bytes_per_s.low;
    let before = course.phases.iter().rposition(|part| APART * part.bytes_per_s.high >= least)?;
    let since = &course.phases[before + 1..];
    let length_s = says::length_s(course);
    // A length in seconds is that of whole steps, but for rounding.
    let least_s = ((FALL_STEPS - 0.5) * course.step_s).max(DISTURBANCE * length_s);
    let is_long = length_s - since.first()?.from_s > least_s;
    let rates = since.iter().map(|part| part.bytes_per_s);
    rates.max_by(|a, b| a.high.total_cmp(&b.high)).filter(|_| is_long)
}

/// What surely became faster or slower, and how many times as fast.
fn changes<'m>([first, again]: [&'m [Measurement]; 2]) -> Vec<(&'m Workload, f64)> {
    let one = |(before, after): (&'m Measurement, &'m Measurement)| {
        let [low, high] = before.throughput_ci95;
        let is_apart = after.throughput_ci95[0] > high || after.throughput_ci95[1] < low;
        let ratio = after.throughput_bytes_per_s / before.throughput_bytes_per_s;
        let matters = before.throughput_bytes_per_s > 0.0 && (ratio - 1.0).abs() > CHANGED;
        (is_apart && matters).then_some((&before.workload, ratio))
    };
    first.iter().zip(again).filter_map(one).collect()
}

/// The requests of a workload that reads, or writes, alone.
fn what(workload: &Workload) -> String {
    let what = if workload.read_frac > 0.5 { "reads" } else { "writes" };
    format!("{what} of {}", Bytes(workload.size_mean as f64))
}

/// Bytes a second of a workload that a limit allows without credit; `None` where it is not of its requests.
fn allowed(limit: &Limit, workload: &Workload) -> Option<f64> {
    let writes = workload.read_frac < 0.5;
    let is_of_it = limit.only.is_none_or(|only| (only == Only::Writes) == writes);
    let of_operations = limit.operations_per_s.map(|rate| rate * workload.size_mean as f64);
    limit.bytes_per_s.or(of_operations).filter(|_| is_of_it)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::Stop;

    /// Reads of 128 KiB, or writes, at a rate that is known to this share.
    fn of(rate: f64, read_frac: f64, open: f64) -> Measurement {
        Measurement {
            throughput_bytes_per_s: rate,
            throughput_ci95: [rate * (1.0 - open), rate * (1.0 + open)],
            ..Measurement::empty(
                Workload { read_frac, size_mean: 131_072, ..Workload::default() },
                Stop::Confident,
            )
        }
    }

    #[test]
    fn what_changed_meanwhile_is_said_where_it_is_sure_and_matters() {
        let first = [of(1e8, 1.0, 0.02), of(1e8, 0.0, 0.02), of(1e8, 1.0, 0.5)];
        let again = [of(1.9e8, 1.0, 0.02), of(1.07e8, 0.0, 0.02), of(1.9e8, 1.0, 0.5)];
        let said = changed([&first, &again]).expect("a change");
        assert!(said.contains("reads of 128 KiB 1.90 times") && !said.contains("writes"), "{said}");
        assert_eq!(said.matches("times as fast").count(), 1, "{said}");
        assert_eq!(changed([&first, &first]), None);
    }

    #[test]
    fn a_change_that_a_twin_in_the_middle_is_near_leaves_it_calibrated() {
        let first = [of(1e8, 1.0, 0.02)];
        let doubt = |rate| changed_too_much([&first, &[of(rate, 1.0, 0.02)]]);
        assert_eq!([doubt(1.3e8), doubt(0.8e8)], [None, None]);
        assert!(doubt(1.4e8).is_some() && doubt(0.7e8).is_some());
    }

    #[test]
    fn one_workload_in_ten_may_have_been_disturbed() {
        let of = |count: usize| {
            let one = |at| Measurement { disturbed: at < count, ..of(1e8, 1.0, 0.02) };
            (0..20).map(one).collect::<Vec<_>>()
        };
        assert_eq!(disturbed(&of(2), &of(2)), None);
        let said = disturbed(&of(2), &of(3)).expect("three of twenty");
        assert!(said.contains("2 of 20") && said.contains("and 3 of 20 that judge it"), "{said}");
        assert!(disturbed(&of(20), &[]).is_some());
        assert_eq!(disturbed(&[], &[]), None);
    }
}
