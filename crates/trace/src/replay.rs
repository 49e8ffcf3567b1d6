//! A trace on another device: how much room it needs, and where each of its requests goes.

use ioscape_schema::units::Bytes;
use ioscape_schema::{Io, Op, ReplayFit, ReplayTiming, TraceReplay, Warning, WarningKind};

/// Devices of a trace lie side by side on the target, each from a multiple of this on.
const STEP: u64 = 1 << 20;

/// Lateness of one in a hundred requests from which on a replay did not keep up, in nanoseconds.
const LATE_NS: f64 = 10e6;

/// What has to be known of a trace before it is replayed: found in a first pass over it.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// Last byte touched of each device.
    ends: Vec<u64>,
    /// Arrival of the first request.
    pub first_ns: u64,
    /// Arrival of the last.
    pub last_ns: u64,
    /// Requests.
    pub ios: u64,
    /// Longest request that moves data.
    pub largest: u32,
    /// Whether anything is changed.
    pub writes: bool,
    /// Sum of the elapsed times.
    elapsed_ns: u128,
}

impl Survey {
    /// Takes in the next requests, in the order of their arrival.
    pub fn update(&mut self, ios: &[Io]) {
        for io in ios {
            if self.ios == 0 {
                self.first_ns = io.queued_ns;
            }
            self.ios += 1;
            self.last_ns = self.last_ns.max(io.queued_ns);
            self.writes |= io.request.op == Op::Write;
            self.elapsed_ns += u128::from(io.elapsed_ns());
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

    /// First byte of each device on a target that is large enough, and that target's size.
    fn bases(&self) -> (Vec<u64>, u64) {
        let mut next = 0u64;
        let place = |end: &u64| {
            let base = next;
            next = next.saturating_add(end.div_ceil(STEP).saturating_mul(STEP));
            base
        };
        (self.ends.iter().map(place).collect(), next)
    }

    /// Size of a target that holds the trace as it is.
    pub fn bytes(&self) -> u64 {
        self.bases().1
    }

    /// Mean time from arrival to completion, when the trace tells completions.
    pub fn elapsed_mean_ns(&self) -> Option<f64> {
        (self.elapsed_ns > 0).then(|| self.elapsed_ns as f64 / self.ios as f64)
    }
}

/// Where requests go.
#[derive(Clone, Debug)]
pub struct Placement {
    bases: Vec<u64>,
    trace_bytes: u64,
    target_bytes: u64,
    align: u64,
    fit: ReplayFit,
    first_ns: u64,
    /// Requests brought in from beyond the target's end.
    pub moved: u64,
    /// Requests with bounds rounded to the alignment.
    pub rounded: u64,
}

impl Placement {
    /// On a target of so many bytes, which must be as long as a request at least, in multiples of `align` bytes.
    pub fn new(survey: &Survey, target_bytes: u64, align: u64, fit: ReplayFit) -> Self {
        let (bases, trace_bytes) = survey.bases();
        let align = align.max(1);
        let target_bytes = target_bytes / align * align;
        let first_ns = survey.first_ns;
        Self { bases, trace_bytes, target_bytes, align, fit, first_ns, moved: 0, rounded: 0 }
    }

    /// Bytes of the target that are used.
    pub fn target_bytes(&self) -> u64 {
        self.target_bytes
    }

    /// What a replay of the surveyed trace tells of its places and times, at `speed` times its speed or as fast as possible.
    pub fn replayed(&self, survey: &Survey, speed: Option<f64>) -> TraceReplay {
        let span_ns = (survey.last_ns - survey.first_ns) as f64 / speed.unwrap_or(1.0);
        TraceReplay {
            target_bytes: self.target_bytes,
            trace_bytes: survey.bytes(),
            timing: speed.map_or(ReplayTiming::AsFastAsPossible, ReplayTiming::Speed),
            fit: self.fit,
            moved: self.moved,
            rounded: self.rounded,
            span_ns: span_ns as u64,
            recorded_mean_ns: survey.elapsed_mean_ns(),
            ..TraceReplay::default()
        }
    }

    /// The request as it goes to the target: its place and size there, times from the first arrival on.
    pub fn place(&mut self, io: &Io) -> Io {
        let mut placed = *io;
        for time in [&mut placed.queued_ns, &mut placed.issued_ns, &mut placed.completed_ns] {
            *time = time.saturating_sub(self.first_ns);
        }
        placed.device = 0;
        if io.request.len == 0 {
            return placed;
        }
        let base = self.bases.get(usize::from(io.device)).copied().unwrap_or(0);
        let from = u128::from(base) + u128::from(io.request.offset);
        let to = from + u128::from(io.request.len);
        let align = u128::from(self.align);
        let (start, end) = (from / align * align, to.div_ceil(align) * align);
        self.rounded += u64::from((start, end) != (from, to));
        let most = u128::from(self.target_bytes).min(u128::from(u32::MAX) / align * align);
        let len = (end - start).min(most);
        let (start, moved) = self.fitted(start, len);
        self.moved += u64::from(moved);
        placed.request.offset = start as u64;
        placed.request.len = len as u32;
        placed
    }

    /// A place for `len` bytes within the target, and whether it is another one.
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

/// That only the first `kept` requests are among the rows that were kept, where there were more.
pub fn without_room(kept: u64, result: &TraceReplay) -> Option<Warning> {
    let text = format!("rows were kept of the first {kept} of {} requests", result.ios());
    let doubt = Warning::new(WarningKind::TraceIncomplete, text).at("trace_replay");
    (kept < result.ios()).then_some(doubt)
}

/// What limits the meaning of a replay.
pub fn doubts(result: &TraceReplay) -> Vec<Warning> {
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
    if result.rounded > 0 {
        let text = "requests were made larger to the bounds that direct I/O takes here: --buffered takes any";
        doubt(WarningKind::Unsupported, format!("{} {text}", result.rounded));
    }
    if result.refused > 0 {
        let text = "discards or zeroings were left out: the target takes none";
        doubt(WarningKind::Unsupported, format!("{} {text}", result.refused));
    }
    if let Some(late) = result.lateness_ns.as_ref().filter(|late| late.p99 > LATE_NS) {
        doubt(
            WarningKind::NotSteady,
            format!(
                "the replay did not keep up: one request in a hundred was issued {:.0} ms late or more; allow more --in-flight, or lower --speed",
                late.p99 / 1e6
            ),
        );
    }
    doubts
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::Request;
    use proptest::prelude::*;

    fn io(device: u16, offset: u64, len: u32) -> Io {
        Io { device, request: Request { offset, len, ..Request::default() }, ..Io::default() }
    }

    #[test]
    fn devices_lie_side_by_side_and_what_is_beyond_wraps() {
        let rows = [io(0, STEP, 512), io(1, 4096, 4096), io(1, STEP - 512, 512)];
        let mut survey = Survey::default();
        survey.update(&rows);
        assert_eq!((survey.bytes(), survey.largest, survey.writes), (3 * STEP, 4096, false));
        let mut whole = Placement::new(&survey, survey.bytes(), 512, ReplayFit::Wrap);
        let places = rows.map(|row| whole.place(&row).request.offset);
        assert_eq!(places, [STEP, 2 * STEP + 4096, 3 * STEP - 512]);
        assert_eq!((whole.moved, whole.rounded), (0, 0));
        let mut half = Placement::new(&survey, 2 * STEP, 4096, ReplayFit::Wrap);
        let placed = rows.map(|row| half.place(&row).request);
        assert_eq!(placed.map(|r| r.offset), [STEP, 4096, STEP - 4096]);
        assert_eq!((placed[0].len, half.moved, half.rounded), (4096, 2, 2));
        let mut third = Placement::new(&survey, STEP, 512, ReplayFit::Scale);
        let placed = rows.map(|row| third.place(&row).request.offset);
        assert_eq!(placed, [STEP / 3 / 512 * 512, (2 * STEP + 4096) / 3 / 512 * 512, STEP - 512]);
    }

    proptest! {
        #[test]
        fn every_request_lies_within_the_target(
            rows in prop::collection::vec((any::<u16>(), any::<u64>(), any::<u32>()), 1..20),
            blocks in 1u64..1 << 40,
            align in 0u32..13,
            scale in any::<bool>(),
        ) {
            let rows: Vec<Io> = rows.into_iter().map(|(d, o, l)| io(d, o, l)).collect();
            let mut survey = Survey::default();
            survey.update(&rows);
            let (align, fit) = (1u64 << align, if scale { ReplayFit::Scale } else { ReplayFit::Wrap });
            let target = blocks.saturating_mul(align);
            let mut placement = Placement::new(&survey, target, align, fit);
            for row in &rows {
                let placed = placement.place(row).request;
                prop_assert!(placed.len == 0 || placed.offset + u64::from(placed.len) <= target);
                prop_assert!(placed.len == 0 || placed.offset.is_multiple_of(align));
                prop_assert_eq!(u64::from(placed.len) % align, 0);
                prop_assert_eq!(placed.len == 0, row.request.len == 0);
            }
        }
    }
}
