//! What only the rows of a source show about its clock: requests that took less than a step of it,
//! arrivals in coarse steps, and time that starts over.

use super::arrival_step::{ArrivalStep, divisor};
use super::decode::{Decode, Epoch};
use super::restarts::Restarts;
use crate::error::Error;
use ioscape_schema::units::Nanos;
use ioscape_schema::{Io, TraceInfo};

/// The rows that show the step, at most one batch more.
const FIRST: usize = 4096;
/// The finest step within which requests may end, in nanoseconds: no device answers sooner.
const LEAST_NS: u64 = 1000;

/// A decoder that notes what its rows show. It gives 1 ns to the requests of a coarse clock that
/// end when they were issued, so that they are not taken for requests without a recorded
/// completion.
struct Stepped {
    decoder: Box<dyn Decode>,
    /// The step; `Some(0)` if it is fine, or if a row without time may lack its completion.
    step_ns: Option<u64>,
    /// Whether a request took less than a step.
    is_short: bool,
    arrivals: ArrivalStep,
    restarts: Restarts,
    /// The decoder's with notes, once the rows showed anything.
    info: Option<TraceInfo>,
}

/// Returns the decoder of one source with a time for each recorded completion, and with notes about
/// its clock. A file of this program has both; besides, a part of it must be read as the whole is.
pub(crate) fn stepped(decoder: Box<dyn Decode>) -> Box<dyn Decode> {
    if decoder.is_own() {
        return decoder;
    }
    Box::new(Stepped {
        decoder,
        step_ns: None,
        is_short: false,
        arrivals: ArrivalStep::default(),
        restarts: Restarts::default(),
        info: None,
    })
}

impl Stepped {
    /// Brings the info up to date with the decoder's, and adds what the rows showed.
    fn note(&mut self) {
        let (coarse_ns, restarts) = (self.arrivals.coarse(), self.restarts.told());
        if !self.is_short && coarse_ns.is_none() && restarts.is_none() && self.info.is_none() {
            return;
        }
        let info = self.info.get_or_insert_default();
        info.follow(self.decoder.info());
        info.arrival_step_ns = info.arrival_step_ns.max(coarse_ns);
        let steps = self.is_short.then(|| too_short(self.step_ns.unwrap_or(0)));
        let notes = [("steps", steps), ("restarts", restarts)];
        let notes = notes.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?)));
        info.notes.extend(notes);
    }
}

impl Decode for Stepped {
    fn decode(&mut self, into: &mut Vec<Io>) -> Result<bool, Error> {
        let from = into.len();
        let mut more = self.decoder.decode(into)?;
        if self.step_ns.is_none() {
            while more && into.len() - from < FIRST {
                more = self.decoder.decode(into)?;
            }
            self.step_ns = Some(step_ns(&into[from..]));
        }
        let rows = &mut into[from..];
        if self.step_ns > Some(0) {
            for io in rows.iter_mut().filter(|io| took_ns(io) == Some(0)) {
                io.completed_ns += 1;
                self.is_short = true;
            }
        }
        self.arrivals.update(rows);
        self.restarts.update(rows);
        self.note();
        Ok(more)
    }

    fn info(&self) -> &TraceInfo {
        self.info.as_ref().unwrap_or_else(|| self.decoder.info())
    }

    fn epoch(&self) -> Epoch {
        self.decoder.epoch()
    }

    fn namesake(&self) -> Option<&str> {
        self.decoder.namesake()
    }

    fn is_ordered(&self) -> bool {
        self.decoder.is_ordered()
    }

    fn narrow(&mut self, from_ns: Option<u64>, to_ns: Option<u64>, is_alone: bool) {
        self.decoder.narrow(from_ns, to_ns, is_alone);
    }
}

/// Returns the time at the device; `None` if the completion is before that, as is 0, which stands
/// for not recorded unless the request begins at 0 too.
fn took_ns(io: &Io) -> Option<u64> {
    io.completed_ns.checked_sub(io.issued_ns.max(io.queued_ns))
}

/// Returns the step of which all times are multiples; 0 if it is fine, or if no request took just
/// one: requests of no time would then be too far from the others, so they lack a completion.
fn step_ns(rows: &[Io]) -> u64 {
    let start_ns = rows.first().map_or(0, |io| io.queued_ns);
    // A time of 0 is not recorded.
    let finer = |step, ns: u64| if ns > 0 { divisor(step, ns.abs_diff(start_ns)) } else { step };
    let begun = rows.iter().flat_map(|io| [io.queued_ns, io.issued_ns]).fold(0, finer);
    let step = rows.iter().map(|io| io.completed_ns).fold(begun, finer);
    let shortest = rows.iter().filter_map(took_ns).filter(|ns| *ns > 0).min();
    // Requests of one length, all begun at times of larger steps, show no step of the clock.
    if step >= LEAST_NS && begun == step && shortest == Some(step) { step } else { 0 }
}

/// The note about requests that took less than a step.
fn too_short(step_ns: u64) -> String {
    format!(
        "times are in steps of {}, and requests that took less count as 1 ns: mean response times hold, but medians and percentiles only to within a step",
        Nanos(step_ns as f64)
    )
}

#[cfg(test)]
mod tests {
    use crate::analyze::{Analysis, AnalysisOptions};
    use crate::read::{ReadOptions, Source, open};
    use ioscape_schema::trace_summary::TraceSummary;
    use std::io::Cursor;

    const MS: u64 = 1_000_000;

    /// The analysis of a text of requests with these arrivals and completions.
    fn analysed(times: impl Iterator<Item = [u64; 2]>) -> TraceSummary {
        let mut text = "queued_ns,is_write,offset_bytes,length_bytes,completed_ns\n".to_owned();
        times.for_each(|[from, to]| text.push_str(&format!("{from},0,0,4096,{to}\n")));
        let source = Source::stream("t", Cursor::new(text.into_bytes()));
        let mut reader = open(vec![source], &ReadOptions::default()).unwrap();
        let (mut all, mut batch) = (Analysis::new(&AnalysisOptions::default()), Vec::new());
        while reader.next_batch(&mut batch).unwrap() {
            all.update(&batch);
        }
        all.finish("t", reader.info())
    }

    /// 10,000 requests at odd times that take 0.2 ms, in steps; every tenth completion is `tenth`,
    /// if given.
    fn odd(step_ns: u64, tenth: Option<u64>) -> TraceSummary {
        let cut = move |ns: u64| ns / step_ns * step_ns;
        analysed((1..=10_000_u64).map(move |at| {
            let from = at * 5 * MS + at * 7_919_993 % (4 * MS);
            let to = tenth.filter(|_| at.is_multiple_of(10)).unwrap_or(cut(from + MS / 5));
            [cut(from), to]
        }))
    }

    #[test]
    fn requests_that_take_less_than_a_step_count_in_the_mean() {
        let found = odd(MS, None);
        let elapsed = &found.response_times.all.elapsed_ns;
        assert_eq!((elapsed.count, elapsed.max), (10_000, 1e6));
        assert!((elapsed.mean / 2e5 - 1.0).abs() < 0.05, "{}", elapsed.mean);
        let told = &found.warnings[0].message;
        assert!(
            told.starts_with("times are in steps of 1 ms, and requests that took less"),
            "{told}"
        );
        assert!(!found.disks[0].queue_length.is_empty() && !found.disks[0].idle_ns.is_empty());
    }

    #[test]
    fn coarse_arrivals_are_told_of_any_format() {
        let at = |at: u64| at * 20 * MS + at * 7_919_993 % (30 * MS);
        let step = |step_ns| {
            let times = (1..10_000).map(move |n| [at(n) / step_ns * step_ns, at(n) + MS]);
            analysed(times).info.arrival_step_ns
        };
        assert_eq!([1, 1000 * MS].map(step), [None, Some(1000 * MS)]);
    }

    #[test]
    fn joined_recordings_are_told() {
        let one = || (1..1000).map(|at| [at * MS + at % 7, at * MS + 500]);
        let told = |found: TraceSummary| {
            let told = found.warnings.into_iter().map(|one| one.message);
            told.filter(|message| message.starts_with("time goes back by")).count()
        };
        assert_eq!([told(analysed(one())), told(analysed(one().chain(one())))], [0, 1]);
    }

    #[test]
    fn completions_that_are_not_recorded_stay_so() {
        let count = |found: TraceSummary| found.response_times.all.elapsed_ns.count;
        assert_eq!(count(odd(MS, Some(0))), 9000, "0 is not recorded");
        let none = analysed((1..100).map(|at| [at * MS; 2]));
        assert_eq!(count(none), 0, "no source has all requests within a step");
        // None of the others takes just one step of 1 us, and ns are no steps.
        for unit in [1000, 1] {
            let took = |at: u64| if at.is_multiple_of(10) { 0 } else { 50 + at % 7 };
            let few =
                analysed((1..1000).map(|at| [at * 101, at * 101 + took(at)].map(|t| t * unit)));
            assert_eq!(count(few), 900, "{unit} ns");
        }
    }
}
