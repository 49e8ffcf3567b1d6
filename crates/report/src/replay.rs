//! Sentences about the replay of a trace: what was replayed, and how late its requests were.

use crate::text::duration;
use ioscape_schema::statistics::least_for;
use ioscape_schema::units::{Bytes, Count, Nanos};
use ioscape_schema::{Access, ReplayTiming, TraceReplay};

/// What was replayed and how, in one sentence.
pub fn lead(replay: &TraceReplay) -> String {
    let timing = match replay.timing {
        ReplayTiming::Speed(_) if replay.span_ns == 0 => "all due at one time".to_owned(),
        ReplayTiming::Speed(1.0) if replay.lateness_ns.is_none() => {
            "at the trace's times, in coarse steps".to_owned()
        }
        ReplayTiming::Speed(1.0) => "at their original times".to_owned(),
        ReplayTiming::Speed(speed) => format!("at {speed} times the original speed"),
        ReplayTiming::AsFastAsPossible => "as fast as possible".to_owned(),
    };
    let through = match replay.access {
        Access::Direct => "bypassing the file cache",
        _ => "through the file cache",
    };
    let seconds = duration(replay.elapsed_ns as f64);
    let span = match replay.span_ns {
        0 => String::new(),
        ns => format!(" for a trace of {}", duration(ns as f64)),
    };
    format!(
        "{} requests of {} on {} ({}), {timing}, {through}, at most {} in flight: {seconds}{span}.",
        Count(replay.ios() as f64),
        replay.trace,
        replay.target,
        Bytes(replay.target_bytes as f64),
        replay.in_flight,
    )
}

/// How late requests were, in one sentence; `None` if they had no times, coarse ones, or all the same time.
pub fn lateness(replay: &TraceReplay) -> Option<String> {
    let has_times = replay.span_ns > 0;
    let late = replay.lateness_ns.as_ref().filter(|late| late.count > 0 && has_times)?;
    let tails = [(990, "99", late.p99), (999, "99.9", late.p999)]
        .into_iter()
        .filter(|(of, ..)| late.count >= least_for(*of))
        .map(|(_, share, ns)| format!(" {share} % at most {},", Nanos(ns)));
    let (tails, longest) = (tails.collect::<String>(), Nanos(late.max));
    Some(format!("Issue delay: median {},{tails} longest {longest}.", Nanos(late.p50)))
}

/// How long the requests took when traced, in one sentence; `None` if the trace does not tell.
pub fn recorded(replay: &TraceReplay) -> Option<String> {
    let mean = Nanos(replay.recorded_mean_ns?);
    Some(format!("In the trace the mean time from arrival to completion was {mean}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::Distribution;

    /// Once, a log without times was reported as replayed "at their original times".
    #[test]
    fn requests_that_all_arrive_at_one_time_have_no_original_times() {
        let timing = ReplayTiming::Speed(1.0);
        let lateness_ns = Some(Distribution { count: 9, p50: 5e9, ..Distribution::default() });
        let elapsed_ns = 10_000_000_000;
        let replay = TraceReplay { timing, elapsed_ns, lateness_ns, ..TraceReplay::default() };
        assert_eq!(lateness(&replay), None, "it is the place in the queue");
        let said = lead(&replay);
        assert!(said.contains(", all due at one time, "), "{said}");
        assert!(!said.contains("for a trace of"), "{said}");
        let replay = TraceReplay { span_ns: 5_000_000_000, ..replay };
        let said = lateness(&replay);
        assert!(said.is_some_and(|said| said.contains("median 5 s, longest")), "of nine");
        let said = lead(&replay);
        assert!(said.contains(", at their original times, "), "{said}");
        assert!(said.contains(" for a trace of "), "{said}");
        let replay = TraceReplay { lateness_ns: None, ..replay };
        let said = lead(&replay);
        assert!(said.contains(", at the trace's times, in coarse steps, "), "{said}");
    }
}
