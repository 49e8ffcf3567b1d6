//! The rest after a burst: how long it lasts, and what is said of the credit that came back in it.

use super::course::{is_bucket, says};
use ioscape_schema::Bounded;
use ioscape_schema::sustained::Sustained;

/// A rest takes at most this share of the time for which a workload runs.
pub const MOST: f64 = 0.5;
/// A rest takes at least so many steps of the course.
const STEPS_LEAST: f64 = 4.0;
/// In a longer part of the time that all of the credit takes to come back, all of it may have.
const WHOLE: f64 = 0.8;

/// What is said where a rest, or what follows it, was cut off.
pub const CUT_OFF: &str =
    "cannot be told: what comes back in a rest, since that was not measured to its end";
/// Why it is not known what came back where the rate did not come back to the one before.
pub const NOT_FALLEN: &str = "the rate did not fall again";
/// Why no rest is measured where [`seconds`] gives none.
pub const TOO_SHORT: &str =
    "all of the credit may have come back before the shortest rest that can be measured ends";

/// Seconds to rest after a burst, of a workload that runs for `runs_s` seconds and whose rate was `last` at the end: half of what its credit
/// takes to come back. `None` where all of it may be back before the rest ends, so that its rate would come out too low.
pub fn seconds(course: &Sustained, last: Bounded, runs_s: f64) -> Option<f64> {
    let credit_s = course.credit_bytes?.value / last.value;
    let rest_s = (credit_s / 2.0).min(MOST * runs_s).max(STEPS_LEAST * course.step_s);
    (rest_s <= WHOLE * credit_s).then_some(rest_s)
}

/// What came back beside the `last` rate, in words; or why that is not known.
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
