//! Sentences about the replay of a trace: what was done, and how late.

use crate::text::duration;
use ioscape_schema::units::{Bytes, Count, Nanos};
use ioscape_schema::{Access, ReplayTiming, TraceReplay};

/// What was replayed and how, in one sentence.
pub fn lead(replay: &TraceReplay) -> String {
    let timing = match replay.timing {
        ReplayTiming::Speed(1.0) => "at their original times".to_owned(),
        ReplayTiming::Speed(speed) => format!("at {speed} times the original speed"),
        ReplayTiming::AsFastAsPossible => "as fast as possible".to_owned(),
    };
    let through = match replay.access {
        Access::Direct => "bypassing the file cache",
        _ => "through the file cache",
    };
    let seconds = duration(replay.elapsed_ns as f64);
    format!(
        "{} requests of {} on {} ({}), {timing}, {through}, at most {} in flight: {seconds} for a trace of {}.",
        Count(replay.ios() as f64),
        replay.trace,
        replay.target,
        Bytes(replay.target_bytes as f64),
        replay.in_flight,
        duration(replay.span_ns as f64),
    )
}

/// How late requests were, in one sentence; absent when they had no times.
pub fn lateness(replay: &TraceReplay) -> Option<String> {
    let late = replay.lateness_ns.as_ref().filter(|late| late.count > 0)?;
    Some(format!(
        "Issue delay: median {}, 99 % at most {}, 99.9 % at most {}, longest {}.",
        Nanos(late.p50),
        Nanos(late.p99),
        Nanos(late.p999),
        Nanos(late.max)
    ))
}

/// How long the requests had taken in the trace, in one sentence; absent where it does not tell.
pub fn recorded(replay: &TraceReplay) -> Option<String> {
    let mean = Nanos(replay.recorded_mean_ns?);
    Some(format!("In the trace the mean time from arrival to completion was {mean}."))
}
