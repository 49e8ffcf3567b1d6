//! Judges how well a twin predicts workloads to which it was not fitted.

use super::doubts::{ERROR_MOST, changed, changed_too_much, disturbed, unheld};
use super::fit::Fitted;
use super::inside;
use super::replica::{Replica, Requests};
use super::sustained::Endured;
use super::turns::Turns;
use super::written::{as_large, sources};
use crate::Error;
use crate::drive::Status;
use crate::ssd::{JUDGED_ON, Limit, Model, Parameters};
use ioscape_schema::statistics::{median, median_interval};
use ioscape_schema::units::{Bytes, Rate};
use ioscape_schema::{Measurement, ResponseTime, Workload};
use std::fmt;

/// Largest median uncertainty of the measured throughputs with which a twin can be judged.
const OPEN_MOST: f64 = ERROR_MOST / 2.0;
/// Fewest unseen workloads for which order statistics give the median error a 95 % interval.
const BOUNDED_FROM: usize = 6;
/// Least mean request size of workloads that are called large.
const LARGE: u64 = 64 << 10;
/// A write buffer larger than the set divided by this merges enough rewrites to speed up writes.
const MERGING: u64 = 16;
/// Bytes of a page; a set has whole pages.
const PAGE: u64 = 4096;
/// The report if no drive of the target's size can be built.
const TOO_LARGE: &str = "the drive is as large as the set that was measured: one as large as the target cannot be simulated";

/// A workload as measured, and as the twin predicts it.
#[derive(Clone, Debug, PartialEq)]
pub struct TwinPoint {
    /// The workload.
    pub workload: Workload,
    /// Bytes per second, measured and predicted.
    pub bytes_per_s: [f64; 2],
    /// Response times, measured and predicted.
    pub response: [ResponseTime; 2],
}

/// Relative errors over some workloads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// The median.
    pub median: f64,
    /// Its 95 % interval, from the order of the errors alone; with fewer than six errors, from 0 to
    /// the largest error.
    pub interval95: [f64; 2],
    /// Largest error of the best nine tenths of the workloads.
    pub p90: f64,
}

/// A twin's name, and what is known about it without fitting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Named<'a> {
    /// Its name.
    pub name: &'a str,
    /// Capacity in bytes.
    pub capacity_bytes: u64,
    /// Bytes of the set on which it was measured.
    pub set_bytes: u64,
    /// Whether it has moving parts, so that requests over a larger part of it take longer.
    pub turns: Turns,
    /// Bytes of its write buffer.
    pub write_buffer_bytes: u64,
    /// The long runs, if any.
    pub sustained: Option<&'a Endured>,
    /// The measurements to which it was fitted.
    pub fitted_to: &'a [Measurement],
    /// The same workloads, measured before all others and after them.
    pub twice: [&'a [Measurement]; 2],
    /// First and second measurements of some unseen workloads.
    pub repeated: [&'a [Measurement]; 2],
}

/// A judged twin.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The drive.
    pub parameters: Parameters,
    /// Its prediction for each unseen workload.
    pub told: Vec<TwinPoint>,
    /// How far to trust it, in sentences.
    pub summary: Vec<String>,
}

/// Judges a fitted drive by workloads to which it was not fitted. Gives it its name and the
/// target's size.
///
/// # Errors
/// The drive cannot be built.
pub fn verdict(
    mut fitted: Fitted,
    unseen: &[Measurement],
    named: &Named<'_>,
    requests: &Requests<'_>,
) -> Result<Verdict, Error> {
    // With the buffer of the fit: the same numbers give other rates with another buffer.
    let model = fitted.parameters.build()?;
    let told = told(&model, unseen, requests);
    let unheld = named.sustained.and_then(|found| unheld(&model, found, requests));
    let merging = merging(named, fitted.parameters.controller.write_buffer_bytes);
    fitted.parameters.controller.write_buffer_bytes = named.write_buffer_bytes;
    let figures = figures(&told);
    let fit = Errors::of(fitted.residuals.iter().map(|r| [1.0, r.exp()]));
    let mut summary = Vec::new();
    summary.extend(fit.map(|errors| {
        let count = fitted.residuals.len();
        format!("fitted to {count} workloads: throughput {errors}")
    }));
    let count = told.len();
    summary.extend(figures.iter().filter_map(|(what, errors)| {
        errors.map(|errors| format!("{count} unseen workloads: {what} {errors}"))
    }));
    summary.extend(untrusted(&figures));
    summary.extend(by_kind(&told));
    let open = Errors::of(unseen.iter().map(|m| [1.0, 1.0 + m.relative_error().min(1.0)]));
    let open = open.map_or(0.0, |errors| errors.median);
    summary.extend((open > 0.0).then(|| {
        format!("the measured throughputs themselves are known to {:.1} % (median)", 100.0 * open)
    }));
    summary.extend(repeated(named.repeated));
    summary.extend(changed(named.twice, named.repeated));
    summary.extend(inside::says(&fitted));
    summary.push(untold(named, &told));
    summary.extend(merging);
    summary.extend(unmeasured(named));
    summary.extend(named.sustained.iter().flat_map(|found| &found.summary).cloned());
    let doubts = [
        doubt(figures[0].1, count, open),
        disturbed(named.fitted_to, unseen),
        named.seeks(),
        changed_too_much(named.twice, named.repeated),
        unheld,
    ];
    let is_good = doubts.iter().all(Option::is_none);
    let status = if is_good { Status::Calibrated } else { Status::NotCalibrated };
    summary.extend(doubts.into_iter().flatten());
    let (parameters, is_whole) = as_large(fitted.parameters, named.capacity_bytes, named.set_bytes);
    parameters.build()?;
    summary.extend((!is_whole).then(|| TOO_LARGE.to_owned()));
    let limits =
        named.sustained.map_or_else(Vec::new, |found| possible(&found.limits, &mut summary));
    let mut sources = sources(&summary, &parameters, is_whole);
    if !limits.is_empty() {
        sources.insert("limit".to_owned(), "writes and reads that ran for long".to_owned());
    }
    let (name, title) = (named.name.to_owned(), format!("Twin of {}, as measured", named.name));
    let parameters = Parameters { name, title, status, sources, limits, ..parameters };
    Ok(Verdict { parameters, told, summary })
}

impl Named<'_> {
    /// Whether the set was smaller than the target by at least a page.
    fn is_in_part(&self) -> bool {
        self.set_bytes < self.capacity_bytes / PAGE * PAGE
    }

    /// Why the twin is not called calibrated even if its throughputs on the set are close: seeks
    /// were short, or a cache may have hidden them.
    fn seeks(&self) -> Option<String> {
        let why = match self.turns {
            Turns::No => return None,
            Turns::Perhaps => {
                "not calibrated: the device may rotate, since it says so and its reads take as long; then requests over more of it than that set seek farther"
            }
            Turns::Yes => {
                "not calibrated: the device rotates, by its word and the time of its reads, and requests over more of it than that set seek farther"
            }
            Turns::Hidden => {
                "not calibrated: the device says that it rotates, and is faster than anything that does: it may be flash whose controller or array says so, or a disk behind a cache, where requests over more of it than that set may take milliseconds; if it is flash, write 0 to its `queue/rotational` and measure again"
            }
        };
        self.is_in_part().then(|| why.to_owned())
    }
}

/// Says what part of the target was measured, if not all of it.
fn unmeasured(named: &Named<'_>) -> Option<String> {
    let [set, all] = [named.set_bytes, named.capacity_bytes].map(|bytes| Bytes(bytes as f64));
    named.is_in_part().then(|| {
        format!(
            "{JUDGED_ON} {set} of {all}; what requests over more of it take was not measured: if an array's memory, or that of a virtual machine's host, held the set, they take longer, and a larger set would tell (--unique-bytes)"
        )
    })
}

/// Warns that the twin predicts faster writes to a small set than it was judged by, if the assumed
/// buffer is larger than `judged_bytes` and merges rewrites.
fn merging(named: &Named<'_>, judged_bytes: u64) -> Option<String> {
    let assumed_bytes = named.write_buffer_bytes;
    let [set, judged, assumed] =
        [named.set_bytes, judged_bytes, assumed_bytes].map(|bytes| Bytes(bytes as f64));
    (assumed_bytes > judged_bytes.max(named.set_bytes / MERGING)).then(|| {
        format!(
            "judged with a write buffer of {judged}, as it was fitted; with the {assumed} that are assumed, writes to a set as small as {set} are told faster, since rewrites are merged in the buffer"
        )
    })
}

/// The limits that a simulated drive can have; adds to the summary why it lacks the others.
fn possible(limits: &[Limit], summary: &mut Vec<String>) -> Vec<Limit> {
    let whys = limits.iter().filter_map(|limit| limit.bucket().err());
    summary.extend(whys.map(|why| {
        format!("the drive is without a limit that was found, which cannot be simulated: {why}")
    }));
    limits.iter().copied().filter(|limit| limit.bucket().is_ok()).collect()
}

/// Names the response times that are surely farther off than a calibrated twin's throughputs may
/// be: the status covers throughput alone.
fn untrusted(figures: &[(&str, Option<Errors>)]) -> Option<String> {
    let is_off = |errors: &Errors| errors.interval95[0] > ERROR_MOST;
    let times = figures.iter().filter(|(what, _)| *what != "throughput");
    let off: Vec<&str> =
        times.filter(|(_, e)| e.as_ref().is_some_and(is_off)).map(|(what, _)| *what).collect();
    (!off.is_empty()).then(|| {
        format!(
            "not to be taken from this twin, whatever its throughputs are worth: response times at {}",
            off.join(" and ")
        )
    })
}

/// Where a twin is surely off, and in which direction: the median error of workloads by size
/// (small, large) and kind (mostly reads, mostly writes).
fn by_kind(told: &[TwinPoint]) -> Option<String> {
    let one = |(what, is_large, is_read): (&str, bool, bool)| {
        let of = |t: &&TwinPoint| {
            let Workload { size_mean, read_frac, .. } = t.workload;
            (size_mean >= LARGE, read_frac >= 0.5) == (is_large, is_read)
        };
        let ratio = |t: &TwinPoint| (t.bytes_per_s[1] / t.bytes_per_s[0]).ln();
        let logs: Vec<f64> =
            told.iter().filter(of).map(ratio).filter(|log| log.is_finite()).collect();
        let [low, high] = median_interval(&logs)?;
        let is_sure = low > 0.0 || high < 0.0;
        let off = 100.0 * (median(&logs).exp() - 1.0);
        let way = if off < 0.0 { "slow" } else { "fast" };
        is_sure.then(|| format!("{what} {:.0} % too {way}", off.abs()))
    };
    let kinds = [
        ("small reads", false, true),
        ("small writes", false, false),
        ("large reads", true, true),
        ("large writes", true, false),
    ];
    let said: Vec<String> = kinds.into_iter().filter_map(one).collect();
    let large = Bytes(LARGE as f64);
    (!said.is_empty()).then(|| {
        format!(
            "told, in the median (large: {large} and more, reads: half or more): {}",
            said.join(", ")
        )
    })
}

/// How far repeated measurements of the same workloads differ.
fn repeated([once, again]: [&[Measurement]; 2]) -> Option<String> {
    let rate = |m: &Measurement| m.throughput_bytes_per_s;
    let errors = Errors::of(once.iter().zip(again).map(|(once, again)| [once, again].map(rate)))?;
    let count = once.len();
    Some(format!("{count} of the unseen workloads measured once more: throughput {errors}"))
}

/// What short workloads cannot determine, and what would.
fn untold(named: &Named<'_>, told: &[TwinPoint]) -> String {
    let buffer = Bytes(named.write_buffer_bytes as f64);
    let size = format!("the size of the write buffer ({buffer} is assumed)");
    if named.sustained.is_some_and(Endured::is_told) {
        return format!("cannot be told: {size}");
    }
    let burst = "a rate that is limited only once the credit for bursts is used up";
    let fastest = told.iter().map(|t| t.bytes_per_s[0]).fold(0.0, f64::max);
    let at = match fastest > 0.0 {
        true => format!(" (up to {} was measured)", Rate(fastest)),
        false => String::new(),
    };
    let tells = match named.sustained {
        Some(_) => "what ran for long leaves that open",
        None => "workloads that run for long (--sustain) would",
    };
    format!("cannot be told: {size}, and {burst}{at}; {tells}")
}

/// Why a twin's throughput errors, over `count` workloads, do not allow calling it calibrated;
/// `open` is the median uncertainty of the measurements.
fn doubt(throughput: Option<Errors>, count: usize, open: f64) -> Option<String> {
    let most = 100.0 * ERROR_MOST;
    Some(match throughput {
        None => "not calibrated: no unseen workload was measured".to_owned(),
        Some(_) if open > OPEN_MOST => {
            "not calibrated: too noisy to tell, as on a busy machine; longer workloads (--seconds) or a quiet one would"
                .to_owned()
        }
        Some(errors) if errors.median > ERROR_MOST => {
            format!(
                "not calibrated: half of the unseen throughputs are off by more than {most:.0} %"
            )
        }
        Some(errors) if errors.interval95[1] > ERROR_MOST || count < BOUNDED_FROM => {
            format!(
                "not calibrated: so few unseen workloads leave open whether their median error is within {most:.0} %; more would tell"
            )
        }
        Some(_) => return None,
    })
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [median, low, high, p90] =
            [self.median, self.interval95[0], self.interval95[1], self.p90].map(|e| 100.0 * e);
        write!(
            f,
            "off by {median:.1} % (median; 95 % interval {low:.1} to {high:.1} %), nine of ten within {p90:.1} %"
        )
    }
}

/// The errors of throughput and of the median and 99th-percentile response times.
fn figures(told: &[TwinPoint]) -> [(&'static str, Option<Errors>); 3] {
    let quantile = |of: fn(&ResponseTime) -> u64| {
        Errors::of(told.iter().map(|t| [&t.response[0], &t.response[1]].map(|r| of(r) as f64)))
    };
    let throughput = Errors::of(told.iter().map(|t| t.bytes_per_s));
    [("throughput", throughput), ("p50", quantile(|r| r.p50)), ("p99", quantile(|r| r.p99))]
}

/// A twin's predictions for measured workloads.
fn told(model: &Model, measured: &[Measurement], requests: &Requests<'_>) -> Vec<TwinPoint> {
    let replica = Replica::new(model, requests);
    let one = |m: &Measurement| {
        let told = replica.told(&m.workload);
        TwinPoint {
            workload: m.workload.clone(),
            bytes_per_s: [m.throughput_bytes_per_s, told.throughput_bytes_per_s],
            response: [m.response_time_ns, told.response_time_ns],
        }
    };
    measured.iter().map(one).collect()
}

impl Errors {
    /// The errors of pairs of a measured and a predicted figure; `None` without any pair.
    pub fn of(pairs: impl IntoIterator<Item = [f64; 2]>) -> Option<Self> {
        let known = pairs.into_iter().filter(|[measured, _]| *measured > 0.0);
        let mut errors: Vec<f64> = known.map(|[m, told]| (told / m - 1.0).abs()).collect();
        errors.sort_by(f64::total_cmp);
        let (count, last) = (errors.len(), *errors.last()?);
        let at = |share: f64| errors[((count - 1) as f64 * share).round() as usize];
        let median = (errors[(count - 1) / 2] + errors[count / 2]) / 2.0;
        let interval95 = median_interval(&errors).unwrap_or([0.0, last]);
        Some(Self { median, interval95, p90: at(0.9) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::course::judge;
    use super::*;

    #[test]
    fn noise_is_said_before_the_model_is_blamed() {
        let far = Errors::of([[1.0, 2.0]; 10]);
        let said = |errors, open| doubt(errors, 10, open).unwrap_or_default();
        assert!(said(far, 0.2).contains("too noisy") && said(far, 0.01).contains("half of the"));
        assert!(said(None, 0.2).contains("no unseen"));
        let near = Errors::of([[1.0, 1.1]; 10]);
        assert_eq!([10, 5].map(|count| doubt(near, count, 0.01).is_some()), [false, true]);
    }

    #[test]
    fn response_times_that_are_surely_off_are_not_to_be_taken() {
        let [near, far] = [1.1, 1.5].map(|told| Errors::of([[1.0, told]; 10]));
        assert_eq!(untrusted(&[("throughput", far), ("p50", near), ("p99", None)]), None);
        let said = untrusted(&[("throughput", near), ("p50", near), ("p99", far)]).expect("p99");
        assert!(said.ends_with("response times at p99"), "{said}");
        let few = Errors::of([[1.0, 1.5]; 3]);
        assert_eq!(untrusted(&[("p50", few)]), None, "three do not tell");
    }

    #[test]
    fn what_seconds_cannot_tell_is_said() {
        let mut named = Named {
            name: "d",
            capacity_bytes: 1 << 30,
            set_bytes: 1 << 30,
            turns: Turns::No,
            write_buffer_bytes: 16 << 20,
            sustained: None,
            fitted_to: &[],
            twice: [&[], &[]],
            repeated: [&[], &[]],
        };
        let said = untold(&named, &[]);
        assert!(said.contains("cannot be told") && said.contains("16 MiB is assumed"), "{said}");
        assert!(said.contains("credit for bursts") && !said.contains("up to"), "{said}");
        let run = |rates: &[f64]| Measurement {
            sustained: Some(Box::new(judge(0.1, rates))),
            ..Measurement::empty(Workload::default(), ioscape_schema::Stop::TimeCap)
        };
        let steady = [1e8; 40];
        let of = |last: &[f64]| {
            let mut found = Endured::default();
            found.measurements.extend([&steady[..], &steady, &steady, last].map(run));
            found
        };
        let (told, open) = (of(&steady), of(&steady[..9]));
        named.sustained = Some(&told);
        assert!(!untold(&named, &[]).contains("credit"), "that was measured");
        named.sustained = Some(&open);
        let said = untold(&named, &[]);
        assert!(said.contains("credit") && said.ends_with("leaves that open"), "{said}");
    }

    #[test]
    fn kinds_of_which_there_are_enough_say_which_way_they_are_off() {
        let of = |size_mean, read_frac, ratio: f64| TwinPoint {
            workload: Workload { size_mean, read_frac, ..Workload::default() },
            bytes_per_s: [1e8, ratio * 1e8],
            response: Default::default(),
        };
        let read = |ratios: &[f64]| -> Vec<TwinPoint> {
            ratios.iter().map(|ratio| of(256 << 10, 0.9, *ratio)).collect()
        };
        let reads = read(&[0.5, 0.8, 0.8, 0.8, 0.8, 0.8, 0.9, 0.9, 1.9]);
        let writes = [1.25; 3].map(|ratio| of(8 << 10, 0.1, ratio));
        let said = by_kind(&[&reads[..], &writes[..]].concat()).expect("large reads");
        assert!(said.ends_with("large reads 20 % too slow"), "{said}");
        assert_eq!(by_kind(&writes), None);
        assert_eq!(by_kind(&read(&[0.5, 0.6, 0.7, 0.8, 0.8, 1.1, 1.2, 1.9])), None, "either way");
    }

    #[test]
    fn what_a_drive_does_not_repeat_is_said() {
        let of = |rate: f64| Measurement {
            throughput_bytes_per_s: rate,
            ..Measurement::empty(Workload::default(), ioscape_schema::Stop::Confident)
        };
        let [once, again] = [[100.0; 3], [90.0, 130.0, 100.0]].map(|rates| rates.map(of));
        let said = repeated([&once, &again]).expect("pairs");
        assert!(said.starts_with("3 of the unseen workloads measured once more"), "{said}");
        assert!(said.contains("off by 10.0 % (median"), "{said}");
        assert_eq!(repeated([&[], &[]]), None);
    }

    #[test]
    fn the_interval_of_a_median_is_that_of_the_sign_test() {
        let errors = Errors::of((1..=20).map(|n| [100.0, 100.0 + f64::from(n)])).unwrap();
        assert!((errors.median - 0.105).abs() < 1e-9 && errors.interval95[0] > 0.059);
        assert!(Errors::of([[0.0, 1.0]]).is_none());
    }
}
