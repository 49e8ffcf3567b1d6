//! Warnings derived from a tally alone, real or simulated.

use crate::{Measurement, Stop, Warning, WarningKind};

/// Returns the warning about a run whose rate was not steady after the warm-up.
pub fn doubt_of_steadiness(warm_up_s: f64) -> Warning {
    let message =
        format!("the rate was not steady after {warm_up_s:.1} s of warm-up; allow a longer run");
    Warning::new(WarningKind::NotSteady, message)
}

/// Returns the warning about a run that reached its time cap with an interval wider than
/// `confidence`, or without a request.
pub fn doubt_of_confidence(m: &Measurement, confidence: f64) -> Option<Warning> {
    (m.stop == Stop::TimeCap && m.relative_error() > confidence).then(|| {
        let [known, aim] = [m.relative_error(), confidence].map(|share| 100.0 * share);
        if known.is_infinite() {
            let message = "no request ended in the measured part, which tells nothing of the throughput: measure longer (--seconds)";
            return Warning::new(WarningKind::NotConfident, message);
        }
        // With equal rounding the sentence would contradict itself.
        let digits = usize::from(known < aim + 1.0);
        let message = format!(
            "when time was up the throughput was known to {known:.digits$} % only, not to the {aim:.0} % aimed for"
        );
        Warning::new(WarningKind::NotConfident, message)
    })
}

/// Returns the warning about a run that spent most of its time on something other than I/O.
pub fn doubt_of_io_share(m: &Measurement) -> Option<Warning> {
    (m.io_limited == Some(false)).then(|| {
        let (io, besides) = (m.io_time_frac, 1.0 - m.io_time_frac);
        let streams_ns = f64::from(m.workload.process_num) * m.elapsed_s * 1e9;
        let thought = m.workload.think_time_ns as f64 * m.ios as f64 / streams_ns;
        let message = if thought > besides / 2.0 {
            format!(
                "{:.0} % of the time was spent in the pauses that the workload asks for: its throughput says little of the system, its response times do",
                100.0 * besides
            )
        } else {
            format!(
                "only {:.0} % of the time was spent in I/O: the figure says more about this program than about the system",
                100.0 * io
            )
        };
        Warning::new(WarningKind::NotIoLimited, message)
    })
}
