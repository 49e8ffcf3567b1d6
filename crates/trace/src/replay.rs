//! A replay on another device: how much room a trace needs, and where each request goes.

use ioscape_schema::units::Bytes;
use ioscape_schema::{Io, Op, Placed, ReplayFit, ReplayTiming, TraceReplay, Warning, WarningKind};
use rustc_hash::FxHashMap;

/// The devices of a trace lie side by side on the target, each at a multiple of this many bytes.
const STEP: u64 = 1 << 20;

/// The most changed places, of 64 MiB each, that are tracked; a trace with more may change
/// anything.
const CHANGED_MOST: usize = 1 << 20;

/// The lateness of the 99th percentile, in nanoseconds, above which a replay did not keep up.
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
    /// Which mebibytes of each device change: 64 of them in a word, by device and place.
    changed: FxHashMap<(u16, u64), u64>,
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

    /// Notes which mebibytes a write touches.
    fn change(&mut self, io: &Io) {
        if io.request.len == 0 {
            return;
        }
        for place in io.request.offset / STEP..io.end().div_ceil(STEP) {
            if self.changed.len() < CHANGED_MOST {
                *self.changed.entry((io.device, place / 64)).or_default() |= 1u64 << (place % 64);
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
        let (start, end) = (from / align * align, to.div_ceil(align) * align);
        placed.rounded = (start, end) != (from, to);
        let most = u128::from(self.target_bytes).min(u128::from(u32::MAX) / align * align);
        let len = (end - start).min(most);
        placed.cut = len < end - start;
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

/// Returns warnings about what limits the meaning of a replay of the surveyed trace.
pub fn doubts(result: &TraceReplay, survey: &Survey) -> Vec<Warning> {
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
    doubts.extend(doubt_of_times(result, survey));
    doubts
}

/// Warns that requests were late, or that the trace has no arrival times to issue them at.
fn doubt_of_times(result: &TraceReplay, survey: &Survey) -> Option<Warning> {
    let late = result.lateness_ns.as_ref()?;
    if survey.first_ns == survey.last_ns && survey.ios > u64::from(result.in_flight) {
        let text = "all requests arrive at one time, so the trace does not tell how many were under way: say it with --as-fast-as-possible and --in-flight";
        return Some(Warning::new(WarningKind::TimesUnknown, text).at("trace_replay"));
    }
    let text = format!(
        "the replay did not keep up: one request in a hundred was issued {:.0} ms late or more; allow more --in-flight, or lower --speed",
        late.p99 / 1e6
    );
    let doubt = Warning::new(WarningKind::NotSteady, text).at("trace_replay");
    (late.p99 > LATE_NS).then_some(doubt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{Distribution, Request};
    use proptest::prelude::*;

    fn io(device: u16, offset: u64, len: u32) -> Io {
        Io { device, request: Request { offset, len, ..Request::default() }, ..Io::default() }
    }

    #[test]
    fn devices_lie_side_by_side_and_what_is_beyond_wraps() {
        let rows = [io(0, STEP, 512), io(1, 4096, 4096), io(1, STEP - 512, 512)];
        let mut survey = Survey::default();
        survey.update(&rows);
        assert_eq!((survey.bytes(), survey.largest), (3 * STEP, 4096));
        assert_eq!((survey.reads, survey.writes), (true, false));
        let whole = Placement::new(&survey, survey.bytes(), 512, ReplayFit::Wrap);
        let places = rows.map(|row| whole.place(&row));
        assert_eq!(places.map(|p| p.io.request.offset), [STEP, 2 * STEP + 4096, 3 * STEP - 512]);
        assert!(places.iter().all(|p| !p.moved && !p.rounded && !p.cut));
        let half = Placement::new(&survey, 2 * STEP, 4096, ReplayFit::Wrap);
        let placed = rows.map(|row| half.place(&row));
        assert_eq!(placed.map(|p| p.io.request.offset), [STEP, 4096, STEP - 4096]);
        assert_eq!(placed[0].io.request.len, 4096);
        assert_eq!(placed.map(|p| p.moved), [false, true, true]);
        assert_eq!(placed.map(|p| p.rounded), [true, false, true]);
        let third = Placement::new(&survey, STEP, 512, ReplayFit::Scale);
        let placed = rows.map(|row| third.place(&row).io.request.offset);
        assert_eq!(placed, [STEP / 3 / 512 * 512, (2 * STEP + 4096) / 3 / 512 * 512, STEP - 512]);
    }

    #[test]
    fn a_request_longer_than_the_target_is_cut_and_said_to_be() {
        let rows = [io(0, 0, 1 << 20), io(0, 0, 4096)];
        let mut survey = Survey::default();
        survey.update(&rows);
        let small = Placement::new(&survey, 65_536, 1, ReplayFit::Wrap);
        let placed = rows.map(|row| small.place(&row));
        assert_eq!(placed.map(|p| (p.cut, p.io.request.len)), [(true, 65_536), (false, 4096)]);
        let result = TraceReplay { cut: 1, target_bytes: 65_536, ..TraceReplay::default() };
        let told = doubts(&result, &survey);
        assert!(
            told[0].message.contains("1 requests were made shorter, to the 64 KiB"),
            "{told:?}"
        );
    }

    /// Guards against rows that report the trace's errors and queue lengths although every request
    /// of the replay succeeded.
    #[test]
    fn what_the_trace_tells_of_its_own_device_is_not_told_of_the_target() {
        let write = Request { op: Op::Write, len: 512, ..Request::default() };
        let row = Io { request: write, queue_length: 37, error: 5, partition: 2, ..Io::default() };
        let mut survey = Survey::default();
        survey.update(&[row, row, io(0, 0, 4096)]);
        assert_eq!((survey.writes, survey.changed_mebibytes()), (true, Some(1)));
        let placement = Placement::new(&survey, STEP, 512, ReplayFit::Wrap);
        assert_eq!(placement.place(&row).io, Io { request: write, ..Io::default() });
    }

    /// Guards against counting each write to a hot place, and each flush, as a place of its own.
    #[test]
    fn what_is_written_again_is_changed_once() {
        let write = |device, offset, len| {
            let request = Request { op: Op::Write, offset, len };
            Io { device, request, ..Io::default() }
        };
        let mut survey = Survey::default();
        let hot: Vec<Io> = (0..10_000).map(|i| write(0, i % 256 * 4096, 4096)).collect();
        survey.update(&hot);
        survey.update(&[io(0, 1 << 40, 4096), write(0, 5 * STEP + 1, 0)]);
        assert_eq!(survey.changed_mebibytes(), Some(1));
        // Spans three mebibytes, the first already written; and one on another device.
        survey.update(&[write(0, STEP - 512, 1024 + (1 << 20)), write(1, 100 * STEP, 512)]);
        assert_eq!(survey.changed_mebibytes(), Some(4));
        (0..1 << 20).for_each(|i| survey.update(&[write(2, i << 26, 512)]));
        assert_eq!(survey.changed_mebibytes(), None);
    }

    /// Guards against counting a lost completion as a time of 0.
    #[test]
    fn the_mean_is_that_of_the_requests_whose_completion_is_told() {
        let timed = Io { issued_ns: 5, completed_ns: 10_000_000, ..io(0, 0, 512) };
        let mut survey = Survey::default();
        survey.update(&[timed, io(0, 512, 512), Io { request: Request::default(), ..timed }]);
        assert_eq!(survey.elapsed_mean_ns(), Some(10e6));
        assert_eq!(survey.empty, 1, "a read of no bytes");
    }

    /// Guards against advice to raise `--in-flight` or lower `--speed`, which does not help where
    /// the trace has no times.
    #[test]
    fn requests_that_all_arrive_at_one_time_are_not_said_to_be_late() {
        let lateness_ns = Some(Distribution { p99: 1e9, ..Distribution::default() });
        let result = TraceReplay { in_flight: 64, lateness_ns, ..TraceReplay::default() };
        let mut survey = Survey::default();
        (0..1000).for_each(|_| survey.update(&[io(0, 0, 4096)]));
        let told = doubts(&result, &survey);
        assert_eq!((told.len(), told[0].kind), (1, WarningKind::TimesUnknown));
        let said = &told[0].message;
        assert!(said.contains("--as-fast-as-possible") && !said.contains("--speed"), "{said}");
        survey.update(&[Io { queued_ns: 1, ..io(0, 0, 4096) }]);
        let told = doubts(&result, &survey);
        assert_eq!((told.len(), told[0].kind), (1, WarningKind::NotSteady));
        assert!(doubts(&TraceReplay::default(), &survey).is_empty(), "as fast as possible");
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
            let placement = Placement::new(&survey, target, align, fit);
            for row in &rows {
                let placed = placement.place(row).io.request;
                prop_assert!(placed.len == 0 || placed.offset + u64::from(placed.len) <= target);
                prop_assert!(placed.len == 0 || placed.offset.is_multiple_of(align));
                prop_assert_eq!(u64::from(placed.len) % align, 0);
                prop_assert_eq!(placed.len == 0, row.request.len == 0);
            }
        }
    }
}
