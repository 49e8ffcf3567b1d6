//! The idle rest after a burst: how long it lasts, and the report on the credit that came back.

use super::course::{is_bucket, says};
use ioscape_schema::Bounded;
use ioscape_schema::sustained::Sustained;

/// Longest rest, as a share of a workload's run time.
pub const MOST: f64 = 0.5;
/// Shortest rest, in steps of the course.
const STEPS_LEAST: f64 = 4.0;
/// Longest rest that can be evaluated, as a share of the time in which the whole credit comes back:
/// after more, all of it may be back.
const WHOLE: f64 = 0.9;
/// Longest rest to ask for, as a share of that time: a real rest takes longer than asked.
const WHOLE_ASKED: f64 = 0.8;

/// The report if the rest, or the run after it, was cut off.
pub const CUT_OFF: &str =
    "cannot be told: what comes back in a rest, since that was not measured to its end";
/// Why the recovered credit is unknown if the rate did not fall to the previous last rate.
pub const NOT_FALLEN: &str = "the rate did not fall again";
/// Why the recovered credit is unknown if [`seconds`] returns `None`.
pub const TOO_SHORT: &str =
    "all of the credit may have come back before the shortest rest that can be measured ends";
/// Why the recovered credit is unknown if [`idle_s`] returns `None`.
pub const TOO_LONG: &str =
    "the drive was idle, or flushed, for so long that all of the credit may have come back";

/// The seconds to rest after a burst in a workload that runs for `runs_s` seconds and ended at the
/// rate `last`: half the time in which its credit comes back. `None` if the whole credit may be
/// back before the rest ends, which would make the recovery rate seem too low.
pub fn seconds(course: &Sustained, last: Bounded, runs_s: f64) -> Option<f64> {
    let credit_s = course.credit_bytes?.value / last.value;
    let rest_s = (credit_s / 2.0).min(MOST * runs_s).max(STEPS_LEAST * course.step_s);
    (rest_s <= WHOLE_ASKED * credit_s).then_some(rest_s)
}

/// The seconds for which a drive was idle around a rest of `rest_s`, between the end of one course
/// and the beginning of the next, both on one clock, with `in_flight` bytes outstanding at the end.
/// The drive still serves these at the last rate. A flush after that counts as idle. `None` if the
/// whole credit may have come back meanwhile.
pub fn idle_s(
    course: &Sustained,
    last: Bounded,
    rest_s: f64,
    [ended_s, begun_s]: [f64; 2],
    in_flight: f64,
) -> Option<f64> {
    let credit_s = course.credit_bytes?.value / last.value;
    let idle_s = (begun_s - ended_s - in_flight / last.value).max(rest_s);
    (idle_s <= WHOLE * credit_s).then_some(idle_s)
}

/// Reports the rate at which credit came back compared with the `last` rate, or why it is unknown.
pub fn recovery(back: Result<Bounded, &str>, last: Option<Bounded>) -> String {
    let known = back.and_then(|back| Ok((back, last.ok_or(NOT_FALLEN)?)));
    let (back, last) = match known {
        Ok(known) => known,
        Err(why) => return format!("cannot be told: what came back in a rest, since {why}"),
    };
    let came = format!("in a rest, credit came back at {}", says::rate(back));
    match is_bucket(back, last) {
        Some(true) => format!(
            "{came}, which is the last rate: as of a rate limit that saves what is not used (token bucket)"
        ),
        Some(false) => format!(
            "{came}, other than the last rate: as of a cache, not of a rate limit with credit"
        ),
        None => format!("{came}; cannot be told: whether that is the last rate"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::course::judge;
    use super::*;

    fn of(value: f64) -> Bounded {
        Bounded { value, low: value, high: value }
    }

    #[test]
    fn a_drive_rests_while_it_is_flushed_and_not_while_it_serves_what_is_in_flight() {
        let course = Sustained { credit_bytes: Some(of(1e8)), ..judge(0.1, &[1e8; 40]) };
        let idle = |begun_s: f64| idle_s(&course, of(1e8), 0.5, [4.0, begun_s], 1e6);
        assert!(idle(4.71).is_some_and(|s| (s - 0.7).abs() < 1e-9), "a flush of 0.2 s");
        assert_eq!(idle(4.505), Some(0.5), "no less than was asked for");
        assert_eq!(idle(5.0), None, "it may be whole again");
    }

    #[test]
    fn a_rest_that_takes_a_little_longer_than_the_shortest_tells_of_a_small_credit() {
        let course = judge(20.0 / 240.0, &[1e8; 240]);
        let course = Sustained { credit_bytes: Some(of(4.2e7)), ..course };
        let rest_s = seconds(&course, of(1e8), 20.0).expect("four steps");
        let idle = |begun_s: f64| idle_s(&course, of(1e8), rest_s, [20.0, begun_s], 2e6);
        assert!(idle(20.36).is_some_and(|s| (s - 0.34).abs() < 1e-9));
        assert_eq!(idle(20.45), None, "it may be whole again");
    }

    #[test]
    fn a_rest_ends_before_all_of_the_credit_is_back_or_there_is_none() {
        let resting = |credit: f64, runs_s: f64| {
            let course = Sustained { credit_bytes: Some(of(credit)), ..judge(0.1, &[1e8; 40]) };
            seconds(&course, of(1e8), runs_s)
        };
        assert_eq!(resting(1e8, 20.0), Some(0.5), "half of the second that it takes");
        assert_eq!(resting(6e7, 20.0), Some(0.4), "four steps");
        assert_eq!(resting(4e7, 20.0), None, "it is whole after these");
        assert_eq!(resting(1e10, 20.0), Some(10.0), "half of the time");
        let said = recovery(Err(TOO_SHORT), Some(of(1e8)));
        assert!(said.starts_with("cannot be told") && !said.contains("cache"), "{said}");
    }
}
