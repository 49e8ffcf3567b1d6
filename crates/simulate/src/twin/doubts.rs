//! Reasons not to call a twin calibrated even if its throughputs are close: other processes
//! disturbed the measurements, the drive changed meanwhile, or its sustained rates differ.

use super::course::{DISTURBANCE, says};
use super::explained::last;
use super::replica::{Replica, Requests};
use super::sustained::Endured;
use crate::ssd::{Limit, Model, Only};
use ioscape_schema::statistics::{mean, student};
use ioscape_schema::sustained::{CourseKind, Sustained};
use ioscape_schema::units::{Bytes, Rate};
use ioscape_schema::{Bounded, Measurement, Workload};

/// Largest median throughput error on unseen workloads with which a twin is called calibrated.
pub const ERROR_MOST: f64 = 0.15;
/// A throughput that differs by less than this share counts as unchanged.
const CHANGED: f64 = 0.1;
/// Probability of reporting a change for a drive that stayed the same.
const CHANCE: f64 = 0.05;
/// No twin is within [`ERROR_MOST`] of two rates whose ratio is larger than this.
const APART: f64 = (1.0 + ERROR_MOST) / (1.0 - ERROR_MOST);
/// A course counts as fallen if it stayed low for this many steps, and for longer than a
/// [disturbance](DISTURBANCE).
const FALL_STEPS: f64 = 4.0;
/// Largest share of disturbed workloads: so few hardly move the median of all.
const DISTURBED_MOST: f64 = 0.1;
/// Largest relative error for a rate that held from the beginning. It is generous, since even a
/// calibrated twin is off by more than the median error on half of its workloads.
const STEADY_MOST: f64 = 1.0;

/// Reports that too many of the fitting or the judging workloads were disturbed.
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

/// Reports which workloads surely became faster or slower during the measurements, so that no twin
/// matches the drive all the time, or that this cannot be told. `twice` are workloads measured at
/// the beginning and at the end; `repeated` are others measured twice.
pub fn changed(twice: [&[Measurement]; 2], repeated: [&[Measurement]; 2]) -> Option<String> {
    const UNTOLD: &str = "whether the drive changed while it was measured cannot be told: too few workloads were measured twice, or the two runs of one differ too much; a quieter machine or longer workloads (--seconds) would tell";
    let count = twice[1].len();
    let is_open = count > 0 && by_chance(repeated, count) > APART.ln();
    let one = |(workload, ratio): &(&Workload, f64)| {
        format!("{} {ratio:.2} times as fast at the end as at the beginning", what(workload))
    };
    let said: Vec<String> = changes(twice, repeated).iter().map(one).collect();
    let sure = (!said.is_empty()).then(|| {
        format!(
            "the drive changed while it was measured, so that no twin is right all the time: {}",
            said.join(", ")
        )
    });
    sure.or_else(|| is_open.then(|| UNTOLD.to_owned()))
}

/// Reports that the drive changed so much that no twin is close to both its states.
pub fn changed_too_much(
    twice: [&[Measurement]; 2],
    repeated: [&[Measurement]; 2],
) -> Option<String> {
    let is_much = |(_, ratio): &(&Workload, f64)| *ratio > APART || *ratio * APART < 1.0;
    changes(twice, repeated).iter().any(is_much).then(|| {
        format!(
            "not calibrated: the drive changed while it was measured, by so much that no twin is within {:.0} % of it all the time",
            100.0 * ERROR_MOST
        )
    })
}

/// Reports that the model's rates differ from the sustained ones: short fitting workloads show only
/// the beginning of a course, unless a limit explains the rest. If the sustained rate is unknown, a
/// fall from which the course did not recover is enough, since the initial rate then did not hold.
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

/// The highest rate after a course surely fell without recovering, by so much that no twin is close
/// to both that rate and the first.
fn fallen(course: &Sustained) -> Option<Bounded> {
    let least = course.phases.first()?.bytes_per_s.low;
    let before = course.phases.iter().rposition(|part| APART * part.bytes_per_s.high >= least)?;
    let since = &course.phases[before + 1..];
    let length_s = says::length_s(course);
    // Lengths are whole steps; half a step of tolerance covers rounding.
    let least_s = ((FALL_STEPS - 0.5) * course.step_s).max(DISTURBANCE * length_s);
    let is_long = length_s - since.first()?.from_s > least_s;
    let rates = since.iter().map(|part| part.bytes_per_s);
    rates.max_by(|a, b| a.high.total_cmp(&b.high)).filter(|_| is_long)
}

/// By how much, in its logarithm, a throughput may change by chance. A run's confidence interval
/// covers only variation within the run; the workloads measured twice show the variation between
/// runs. A drive that stays the same exceeds the result in any of `count` workloads with
/// probability [`CHANCE`].
fn by_chance([once, again]: [&[Measurement]; 2], count: usize) -> f64 {
    let rate = |one: &Measurement| one.throughput_bytes_per_s;
    let logs = once.iter().zip(again).map(|(once, again)| (rate(again) / rate(once)).ln());
    let squares: Vec<f64> = logs.filter(|log| log.is_finite()).map(|log| log * log).collect();
    let t = student(squares.len() as f64, CHANCE / (2 * count.max(1)) as f64);
    if t.is_finite() { t * mean(&squares).sqrt() } else { t }
}

/// The workloads that surely became faster or slower, and by what factor.
fn changes<'m>(
    [first, again]: [&'m [Measurement]; 2],
    repeated: [&[Measurement]; 2],
) -> Vec<(&'m Workload, f64)> {
    let most = by_chance(repeated, again.len());
    let one = |(before, after): (&'m Measurement, &'m Measurement)| {
        let [low, high] = before.throughput_ci95;
        let is_apart = after.throughput_ci95[0] > high || after.throughput_ci95[1] < low;
        let ratio = after.throughput_bytes_per_s / before.throughput_bytes_per_s;
        let matters = before.throughput_bytes_per_s > 0.0 && (ratio - 1.0).abs() > CHANGED;
        let matters = matters && ratio.ln().abs() > most;
        (is_apart && matters).then_some((&before.workload, ratio))
    };
    first.iter().zip(again).filter_map(one).collect()
}

/// Names the requests of a workload that only reads or only writes.
fn what(workload: &Workload) -> String {
    let what = if workload.read_frac > 0.5 { "reads" } else { "writes" };
    format!("{what} of {}", Bytes(workload.size_mean as f64))
}

/// The bytes per second that a limit without credit allows a workload; `None` if the limit does not
/// apply to its requests.
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

    /// A measurement of 128 KiB reads or writes at `rate`, known to within the share `open`.
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
        let said = changed([&first, &again], [&first, &first]).expect("a change");
        assert!(said.contains("reads of 128 KiB 1.90 times") && !said.contains("writes"), "{said}");
        assert_eq!(said.matches("times as fast").count(), 1, "{said}");
        assert_eq!(changed([&first, &first], [&first, &first]), None);
        assert_eq!(changed([&[], &[]], [&first, &first]), None);
    }

    /// Guards against calling the usual variation between runs a change: with runs that differ by
    /// 14 %, 94 of 100 unchanged drives were once reported as changed.
    #[test]
    fn the_usual_scatter_of_runs_is_no_change() {
        let runs = |rates: &[f64]| -> Vec<Measurement> {
            rates.iter().map(|rate| of(rate * 1e8, 1.0, 0.01)).collect()
        };
        let [first, again] = [[1.0; 3], [1.12, 0.85, 1.45]].map(|rates| runs(&rates));
        let once = runs(&[1.0; 10]);
        let scattered = |by: f64| runs(&[1.0 + by, 1.0 - by].repeat(5));
        let said = |by| changed([&first, &again], [&once, &scattered(by)]).unwrap_or_default();
        assert!(said(0.02).contains("the drive changed") && said(0.02).contains("1.12 times"));
        let some = said(0.08);
        assert!(some.contains("1.45 times") && !some.contains("1.12"), "{some}");
        assert!(said(0.2).contains("cannot be told"), "{}", said(0.2));
        assert!(changed([&first, &again], [&[], &[]]).expect("a word").contains("too few"));
        let too_much = |by| changed_too_much([&first, &again], [&once, &scattered(by)]);
        assert!(too_much(0.08).is_some() && too_much(0.2).is_none());
    }

    #[test]
    fn a_change_that_a_twin_in_the_middle_is_near_leaves_it_calibrated() {
        let first = [of(1e8, 1.0, 0.02)];
        let doubt = |rate| changed_too_much([&first, &[of(rate, 1.0, 0.02)]], [&first, &first]);
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
