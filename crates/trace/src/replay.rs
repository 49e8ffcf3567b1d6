//! A replay on another device: how much room a trace needs, and where each request goes.

use ioscape_schema::statistics::least_for;
use ioscape_schema::trace_lacks::TraceLacks;
use ioscape_schema::units::{Bytes, Nanos, Seconds, counted};
use ioscape_schema::{
    Distribution, Io, IoFlags, Op, Placed, ReplayFit, ReplayTiming, TraceInfo, TraceReplay,
    Warning, WarningKind,
};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The devices of a trace lie side by side on the target, each at a multiple of this many bytes.
const STEP: u64 = 1 << 20;

/// The most changed places, of 64 MiB each, that are tracked; a trace with more may change
/// anything.
const CHANGED_MOST: usize = 1 << 20;

/// Mebibytes of devices: 64 of them in a word, by device and place.
type Mebibytes = FxHashMap<(u16, u64), u64>;

/// The lateness in nanoseconds above which a replay did not keep up: of the 99th percentile, or of
/// the median where too few requests have one.
const LATE_NS: f64 = 10e6;

/// What a replay must know about a trace beforehand, found in a first pass over it.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// The byte after the last one touched, by device.
    ends: Vec<u64>,
    /// Arrival of the first request.
    pub first_ns: u64,
    /// Arrival of the last request.
    pub last_ns: u64,
    /// Number of requests.
    pub ios: u64,
    /// Length of the longest request that moves data.
    pub largest: u32,
    /// Whether any request is a read.
    pub reads: bool,
    /// Whether any request is a write, discard or flush.
    pub writes: bool,
    /// Which mebibytes of each device change.
    changed: Mebibytes,
    /// Which of them are discarded or zeroed as a whole, and not written since.
    emptied: Mebibytes,
    /// Reads that touch an emptied mebibyte.
    of_emptied: u64,
    /// Reads of no bytes, which are not sent to a device.
    pub empty: u64,
    /// Number of requests whose completion is recorded.
    timed: u64,
    /// Sum of the times from arrival to completion of these requests.
    elapsed_ns: u128,
}

/// Whether to send this to a device. A write without bytes is a flush; a read without bytes is
/// nothing.
pub fn is_request(io: &Io) -> bool {
    io.request.len > 0 || io.request.op == Op::Write
}

/// Whether a range is discarded or zeroed.
fn empties(io: &Io) -> bool {
    io.flags.intersects(IoFlags::DISCARD | IoFlags::ZEROES)
}

/// The words and bits of these mebibytes of a device.
fn bits(device: u16, places: Range<u64>) -> impl Iterator<Item = ((u16, u64), u64)> {
    places.map(move |place| ((device, place / 64), 1u64 << (place % 64)))
}

/// The mebibytes that a request touches.
fn touched(io: &Io) -> Range<u64> {
    if io.request.len > 0 { io.request.offset / STEP..io.end().div_ceil(STEP) } else { 0..0 }
}

impl Survey {
    /// Takes in the next requests, in order of arrival.
    pub fn update(&mut self, ios: &[Io]) {
        for io in ios {
            if self.ios == 0 {
                self.first_ns = io.queued_ns;
            }
            self.ios += 1;
            self.last_ns = self.last_ns.max(io.queued_ns);
            if io.request.op == Op::Write {
                self.writes = true;
                self.change(io);
            } else {
                self.reads = true;
                let is_emptied = |(key, bit)| self.emptied.get(&key).is_some_and(|w| w & bit != 0);
                self.of_emptied += u64::from(bits(io.device, touched(io)).any(is_emptied));
            }
            self.empty += u64::from(!is_request(io));
            if io.is_timed() {
                self.timed += 1;
                self.elapsed_ns += u128::from(io.elapsed_ns());
            }
            let device = usize::from(io.device);
            if device >= self.ends.len() {
                self.ends.resize(device + 1, 0);
            }
            self.ends[device] = self.ends[device].max(io.end());
            if io.moves_data() {
                self.largest = self.largest.max(io.request.len);
            }
        }
    }

    /// Notes which mebibytes a write touches, and which of them it empties or fills.
    fn change(&mut self, io: &Io) {
        for (key, bit) in bits(io.device, touched(io)) {
            if self.changed.len() < CHANGED_MOST {
                *self.changed.entry(key).or_default() |= bit;
            }
            if let Some(word) = self.emptied.get_mut(&key).filter(|_| !empties(io)) {
                *word &= !bit;
            }
        }
        let whole = io.request.offset.div_ceil(STEP)..io.end() / STEP;
        for (key, bit) in bits(io.device, whole).filter(|_| empties(io)) {
            if self.emptied.len() < CHANGED_MOST {
                *self.emptied.entry(key).or_default() |= bit;
            }
        }
    }

    /// Returns how many aligned mebibytes the trace changes; `None` if there are too many to track.
    pub fn changed_mebibytes(&self) -> Option<u64> {
        let count = || self.changed.values().map(|word| u64::from(word.count_ones())).sum::<u64>();
        (self.changed.len() < CHANGED_MOST).then(count)
    }

    /// Returns the first byte of each device on a target that is large enough, and that target's
    /// size.
    fn bases(&self) -> (Vec<u64>, u64) {
        let mut next = 0u64;
        let place = |end: &u64| {
            let base = next;
            next = next.saturating_add(end.div_ceil(STEP).saturating_mul(STEP));
            base
        };
        (self.ends.iter().map(place).collect(), next)
    }

    /// Returns the size of a target that holds the trace as it is.
    pub fn bytes(&self) -> u64 {
        self.bases().1
    }

    /// Returns the mean time from arrival to completion of the requests whose completion is
    /// recorded.
    pub fn elapsed_mean_ns(&self) -> Option<f64> {
        (self.timed > 0).then(|| self.elapsed_ns as f64 / self.timed as f64)
    }
}

/// Maps the requests of a trace to places on a target.
#[derive(Clone, Debug)]
pub struct Placement {
    bases: Vec<u64>,
    trace_bytes: u64,
    target_bytes: u64,
    align: u64,
    fit: ReplayFit,
    first_ns: u64,
}

impl Placement {
    /// Places requests on a target of `target_bytes`, at multiples of `align` bytes. Requests
    /// longer than the target are cut.
    pub fn new(survey: &Survey, target_bytes: u64, align: u64, fit: ReplayFit) -> Self {
        let (bases, trace_bytes) = survey.bases();
        let align = align.max(1);
        let target_bytes = target_bytes / align * align;
        let first_ns = survey.first_ns;
        Self { bases, trace_bytes, target_bytes, align, fit, first_ns }
    }

    /// Returns how many bytes of the target are used.
    pub fn target_bytes(&self) -> u64 {
        self.target_bytes
    }

    /// Returns the places and times of a replay of the surveyed trace, at `speed` times the
    /// recorded speed, or as fast as possible if `speed` is `None`.
    pub fn replayed(&self, survey: &Survey, speed: Option<f64>) -> TraceReplay {
        let span_ns = (survey.last_ns - survey.first_ns) as f64 / speed.unwrap_or(1.0);
        TraceReplay {
            target_bytes: self.target_bytes,
            trace_bytes: survey.bytes(),
            timing: speed.map_or(ReplayTiming::AsFastAsPossible, ReplayTiming::Speed),
            fit: self.fit,
            span_ns: span_ns as u64,
            recorded_mean_ns: survey.elapsed_mean_ns(),
            ..TraceReplay::default()
        }
    }

    /// Returns the request as it goes to the target: its place and size there, and its times since
    /// the first arrival. Queue length, error and partition are reset, because the target has its
    /// own.
    pub fn place(&self, io: &Io) -> Placed {
        let mut placed = Placed::from(*io);
        let Io { queued_ns, issued_ns, completed_ns, .. } = &mut placed.io;
        for time in [queued_ns, issued_ns, completed_ns] {
            *time = time.saturating_sub(self.first_ns);
        }
        (placed.io.device, placed.io.partition) = (0, 0);
        (placed.io.queue_length, placed.io.error) = (0, 0);
        if io.request.len == 0 {
            return placed;
        }
        let base = self.bases.get(usize::from(io.device)).copied().unwrap_or(0);
        let from = u128::from(base) + u128::from(io.request.offset);
        let to = from + u128::from(io.request.len);
        let align = u128::from(self.align);
        let (start, end) = if empties(io) {
            // What lies beside a discarded range keeps its data.
            (from.div_ceil(align) * align, to / align * align)
        } else {
            (from / align * align, to.div_ceil(align) * align)
        };
        placed.rounded = !empties(io) && (start, end) != (from, to);
        let whole = end.saturating_sub(start).min(u128::from(u32::MAX) / align * align);
        let len = whole.min(u128::from(self.target_bytes));
        placed.cut = len < whole;
        let (start, moved) = self.fitted(start, len);
        placed.moved = moved;
        placed.io.request.offset = start as u64;
        placed.io.request.len = len as u32;
        placed
    }

    /// Returns a place for `len` bytes within the target, and whether it differs from `start`.
    fn fitted(&self, start: u128, len: u128) -> (u128, bool) {
        let target = u128::from(self.target_bytes);
        let align = u128::from(self.align);
        let shrinks = self.fit == ReplayFit::Scale && self.trace_bytes > self.target_bytes;
        let within = match self.fit {
            _ if target == 0 => 0,
            ReplayFit::Scale if shrinks => {
                start * target / u128::from(self.trace_bytes) / align * align
            }
            _ => start % target,
        };
        let place = within.min(target - len);
        (place, place != start)
    }
}

/// Warns that rows were kept only of the first `kept` requests, if there were more.
pub fn without_room(kept: u64, result: &TraceReplay) -> Option<Warning> {
    let text = format!("rows were kept of the first {kept} of {} requests", result.ios());
    let doubt = Warning::new(WarningKind::TraceIncomplete, text).at("trace_replay");
    (kept < result.ios()).then_some(doubt)
}

/// Returns the result without its lateness if the trace's arrivals are in steps that are too coarse
/// for it: a delay is then a request's place among those of its step.
pub fn without_place(result: TraceReplay, info: &TraceInfo) -> TraceReplay {
    let late = result.lateness_ns.filter(|_| TraceLacks::of(info).tells(LATE_NS as u64));
    TraceReplay { lateness_ns: late, ..result }
}

/// Warns of reads, in a replay to a file, that the file system may answer without the storage.
pub fn doubt_of_emptied(result: &TraceReplay, survey: &Survey) -> Option<Warning> {
    let text = format!(
        "at least {} reads are of places that the trace discarded or zeroed before: in a file such places hold no data, so these reads need no storage; replay on a device",
        survey.of_emptied
    );
    let has_emptied = result.kinds.iter().any(|one| one.kind == "discard");
    let doubt = Warning::new(WarningKind::NeverWritten, text).at("trace_replay");
    (survey.of_emptied > 0 && has_emptied).then_some(doubt)
}

/// What a replay of these requests will take, said before it begins: how long its arrivals last,
/// and that the target is smaller than the trace's devices.
pub fn announced(planned: &TraceReplay, survey: &Survey) -> String {
    let requests = counted(survey.ios - survey.empty, "request");
    let span_s = planned.span_ns as f64 / 1e9;
    let span = match planned.timing {
        ReplayTiming::AsFastAsPossible => String::new(),
        ReplayTiming::Speed(_) if span_s < 60.0 => {
            format!(", arriving within {}", Nanos(span_s * 1e9))
        }
        ReplayTiming::Speed(_) => format!(", arriving within {}", Seconds(span_s)),
    };
    let [trace, target] =
        [planned.trace_bytes, planned.target_bytes].map(|bytes| Bytes(bytes as f64));
    let room = match planned.trace_bytes > planned.target_bytes {
        true => {
            format!("; its devices need {trace}, so some go to other places of the {target} here")
        }
        false => String::new(),
    };
    format!("{requests}{span}{room}")
}

/// Returns warnings about what limits the meaning of a replay of the surveyed trace.
pub fn doubts(result: &TraceReplay, survey: &Survey, info: &TraceInfo) -> Vec<Warning> {
    let mut doubts = Vec::new();
    let mut doubt = |kind, text: String| doubts.push(Warning::new(kind, text).at("trace_replay"));
    if result.moved > 0 {
        let (trace, target) = (Bytes(result.trace_bytes as f64), Bytes(result.target_bytes as f64));
        doubt(
            WarningKind::SetLimited,
            format!(
                "{} requests went to other places than in the trace, whose devices need {trace} where the target has {target}: name a larger target, or one disk with --disk",
                result.moved
            ),
        );
    }
    if result.cut > 0 {
        let target = Bytes(result.target_bytes as f64);
        let text = format!(
            "{} requests were made shorter, to the {target} of the target: name a larger one",
            result.cut
        );
        doubt(WarningKind::SetLimited, text);
    }
    if survey.empty > 0 {
        let text = format!(
            "{} reads of no bytes were left out: no device is asked for them",
            survey.empty
        );
        doubt(WarningKind::Unsupported, text);
    }
    if result.rounded > 0 {
        let text = "requests were made larger to the bounds that direct I/O takes here: --buffered takes any";
        doubt(WarningKind::Unsupported, format!("{} {text}", result.rounded));
    }
    if result.refused > 0 {
        let text =
            "discards or zeroings were left out: the target takes none, or none with their bounds";
        doubt(WarningKind::Unsupported, format!("{} {text}", result.refused));
    }
    doubts.extend(doubt_of_times(result, survey, info));
    doubts
}

/// Warns that requests were late, or that the trace has no arrival times to issue them at.
fn doubt_of_times(result: &TraceReplay, survey: &Survey, info: &TraceInfo) -> Option<Warning> {
    let ReplayTiming::Speed(speed) = result.timing else { return None };
    if survey.first_ns == survey.last_ns {
        let text = "all requests arrive at one time, so the trace does not tell how many were under way: say it with --as-fast-as-possible and --in-flight";
        let doubt = Warning::new(WarningKind::TimesUnknown, text).at("trace_replay");
        return (survey.ios > u64::from(result.in_flight)).then_some(doubt);
    }
    // A request may have arrived so long after its time in the trace.
    let unknown_ns = TraceLacks::of(info).arrival_step_ns as f64 / speed;
    let text = doubt_of_lateness(result.lateness_ns.as_ref()?, unknown_ns, info)?;
    Some(Warning::new(WarningKind::NotSteady, text).at("trace_replay"))
}

/// Says that the replay did not keep up, or that this cannot be told of requests that were so
/// `late`; `None` if they need not have been, where arrivals are known to `unknown_ns`.
fn doubt_of_lateness(late: &Distribution, unknown_ns: f64, info: &TraceInfo) -> Option<String> {
    let tails = [
        (990, late.p99, "one request in a hundred was"),
        (500, late.p50, "half of the requests were"),
    ];
    let mut tails = tails
        .into_iter()
        .filter(|(of, ..)| late.count >= least_for(*of))
        .map(|(of, ns, which)| (late.count * (1000 - of) / 1000, ns - unknown_ns, which))
        .filter(|(_, ns, _)| *ns > LATE_NS)
        .peekable();
    tails.peek()?;
    let unordered = info.notes.get("rows out of order").and_then(|count| count.parse().ok());
    let unordered: u64 = unordered.unwrap_or(0);
    // These are late even if the replay keeps up, so most of a tail must be others.
    Some(match tails.find(|(count, ..)| *count >= unordered.saturating_mul(2)) {
        Some((_, ns, which)) => format!(
            "the replay did not keep up: {which} issued {:.0} ms late or more; allow more --in-flight, lower --speed, or import the trace as Parquet first, which is read faster",
            ns / 1e6
        ),
        None => format!(
            "{unordered} requests are out of order in the trace and were late before they were read, so whether the replay kept up cannot be told: sort the trace by time"
        ),
    })
}

#[cfg(test)]
#[path = "replay_tests.rs"]
mod tests;
