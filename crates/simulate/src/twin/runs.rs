//! The measurements for a twin, in order, and the drive that follows from them.

use super::{
    Before, Endure, Endured, Measure, Named, REPEATED, Requests, Rotates, Turns, Verdict, all,
    endure, fit, longest_s, order, probes, references, verdict,
};
use crate::Error;
use crate::drive::Status;
use ioscape_schema::units::{Bytes, Seconds};
use ioscape_schema::{Measurement, TwinKept, Warning, WarningKind, Workload};

/// Bytes of the smallest measured requests; set sizes are multiples of it.
const LEAST: u64 = 4096;
/// Write buffers of simulated drives are smaller than this many bytes.
const BUFFER_MOST: u64 = 64 << 30;
/// Workloads to which the drive is fitted run up to this many times as long as those that judge it:
/// an error in the few fitting workloads affects everything the twin predicts.
const LONGER: f64 = 4.0;
/// Shortest measurement, as a share of the longest time of a judging workload.
const LEAST_PART: f64 = 0.25;
/// Usual upper bound of a workload's time including its warm-up, as a multiple of its measured
/// time.
const WITH_WARM_UP: f64 = 1.5;

/// Rejects a set too small for the smallest requests, and a write buffer size that no drive file
/// can have.
///
/// # Errors
/// A sentence for the user.
pub fn check_sizes(unique_bytes: u64, write_buffer: u64) -> Result<(), String> {
    let [set, least, buffer, most] =
        [unique_bytes, LEAST, write_buffer, BUFFER_MOST].map(|bytes| Bytes(bytes as f64));
    if unique_bytes < LEAST {
        return Err(format!(
            "--unique-bytes {set}: the smallest requests have {least}, so the set needs as much"
        ));
    }
    if !(LEAST..BUFFER_MOST).contains(&write_buffer) {
        return Err(format!(
            "--write-buffer {buffer}: from {least}, one page, to less than {most} is possible"
        ));
    }
    Ok(())
}

/// How long a fit takes on one processor: 15 to 40 s in a debug build, for several virtual disks
/// and for memory, quiet and noisy.
const FIT: &str = "up to a minute or so";

/// The measurements to make.
#[derive(Clone, Debug, PartialEq)]
pub struct TwinPlan {
    unique_bytes: u64,
    /// Whether there is no room for a larger set.
    is_largest: bool,
    /// Workloads to which the drive is fitted; empty if no drive is asked for.
    probes: Vec<Workload>,
    /// Workloads by which the drive is judged.
    unseen: Vec<Workload>,
    /// How many of the `unseen` workloads, from the first on, are measured twice.
    repeated: usize,
    /// Workloads that are measured at the beginning and at the end.
    references: Vec<Workload>,
    /// Seconds for each of the long runs of writes and reads at the end, if any.
    sustain_s: Option<f64>,
}

impl TwinPlan {
    /// A plan on a set of up to `most_bytes` on a target of `capacity_bytes`. `unseen` gives the
    /// judging workloads for the set's size; without it no drive is fitted. Long writes and reads
    /// run for `sustain_s` seconds each.
    pub fn new(
        most_bytes: u64,
        capacity_bytes: u64,
        unseen: Option<impl FnOnce(u64) -> Vec<Workload>>,
        sustain_s: Option<f64>,
    ) -> Self {
        let unique_bytes = most_bytes.min(capacity_bytes) / LEAST * LEAST;
        let is_largest = unique_bytes == capacity_bytes / LEAST * LEAST;
        let Some(unseen) = unseen.map(|of| of(unique_bytes)) else {
            let (probes, unseen, references, repeated) = Default::default();
            return Self {
                unique_bytes,
                is_largest,
                probes,
                unseen,
                repeated,
                references,
                sustain_s,
            };
        };
        Self {
            unique_bytes,
            is_largest,
            probes: probes(unique_bytes, true),
            repeated: unseen.len().min(REPEATED),
            unseen,
            references: references(unique_bytes),
            sustain_s,
        }
    }

    /// Bytes of the set.
    pub fn unique_bytes(&self) -> u64 {
        self.unique_bytes
    }

    /// Whether a drive is fitted.
    pub fn is_fitted(&self) -> bool {
        !self.probes.is_empty()
    }

    /// The number of workloads measured to fit and judge a drive.
    pub fn count(&self) -> usize {
        self.probes.len() + self.unseen.len() + self.repeated + 2 * self.references.len()
    }

    /// The least and the most seconds for which to measure a workload of the plan; `seconds` is the
    /// longest time of a judging workload.
    pub fn lengths_s(&self, workload: &Workload, seconds: f64) -> [f64; 2] {
        let times = if self.probes.contains(workload) { LONGER } else { 1.0 };
        [LEAST_PART * seconds, times * seconds]
    }

    /// Carries out the plan, in random order by `seed`; the long runs come last, since they may use
    /// up credit or cache that the others need.
    ///
    /// # Errors
    /// As `drive`; earlier measurements are kept in `runs`.
    pub fn carry_out<D, E>(&self, seed: u64, drive: &mut D, runs: &mut TwinRuns) -> Result<(), E>
    where
        D: Measure<Error = E> + Endure<Error = E>,
    {
        all(&self.references, drive, &mut runs.first)?;
        let (probes, unseen) = (self.probes.len(), self.unseen.len());
        for at in order(probes + unseen + self.repeated, seed) {
            match at.checked_sub(probes) {
                None => runs.probed.push(drive.measure(&self.probes[at])?),
                Some(at) if at < unseen => runs.judging.push(drive.measure(&self.unseen[at])?),
                Some(at) => runs.repeated.push(drive.measure(&self.unseen[at - unseen])?),
            }
        }
        all(&self.references, drive, &mut runs.again)?;
        let Some(seconds) = self.sustain_s else { return Ok(()) };
        let moved = runs.fitting().map(|m| m.bytes).sum::<u64>();
        let before = Before { bytes: self.unique_bytes + moved, is_all: moved == 0 };
        let (endured, ended) = endure(drive, self.unique_bytes, self.is_largest, seconds, before);
        runs.endured = Some(endured);
        ended
    }

    /// Describes the plan for `target` in one line, with up to `seconds` per workload and a warm-up
    /// of at least and at most `warm_up_s` seconds each.
    pub fn describe(&self, target: &str, seconds: f64, warm_up_s: [f64; 2]) -> String {
        let set = Bytes(self.unique_bytes as f64);
        let mut text = format!("{target}: a set of {set} is written");
        if self.is_fitted() {
            let count = self.count();
            let measured_s = seconds * (count as f64 + (LONGER - 1.0) * self.probes.len() as f64);
            let [least_s, most_s] = warm_up_s.map(|each_s| measured_s + count as f64 * each_s);
            let usual = Seconds(least_s.max(WITH_WARM_UP * measured_s));
            let most = Seconds(most_s.max(WITH_WARM_UP * measured_s));
            text += &format!(
                "; then {count} workloads, each until its throughput is known to 1 %, about {usual} with their warm-ups, {most} at most if no rate becomes steady (not counting flushes of what they write); then a drive is fitted to them, which takes no I/O and a processor for {FIT}"
            );
        }
        if let Some(seconds) = self.sustain_s {
            let (each, most) = (Seconds(seconds), Seconds(longest_s(seconds)));
            text += &format!(
                "; then writes and reads for {each} each, with rests and small requests {most} at most"
            );
        }
        text + "\n"
    }
}

/// The measurements made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TwinRuns {
    /// Those to which the drive is fitted.
    probed: Vec<Measurement>,
    /// Those by which it is judged.
    judging: Vec<Measurement>,
    /// Second measurements of some of the `judging` workloads.
    repeated: Vec<Measurement>,
    /// The reference workloads, before all others and after them.
    first: Vec<Measurement>,
    again: Vec<Measurement>,
    /// The long runs, if asked for.
    endured: Option<Endured>,
}

impl TwinRuns {
    /// All measurements to fit and judge a drive.
    fn fitting(&self) -> impl Iterator<Item = &Measurement> {
        let all = [&self.probed, &self.judging, &self.first, &self.again, &self.repeated];
        all.into_iter().flatten()
    }

    /// The judging workloads that were measured twice: the first and the second measurements.
    fn pairs(&self) -> [Vec<Measurement>; 2] {
        let of = |again: &Measurement| {
            let once = self.judging.iter().find(|m| m.workload == again.workload)?;
            Some((once.clone(), again.clone()))
        };
        let (once, again) = self.repeated.iter().filter_map(of).unzip();
        [once, again]
    }

    /// Fits a drive to the measurements and judges it. The drive gets this name, `capacity_bytes`
    /// of capacity and a write buffer of `write_buffer_bytes`. Its claim about moving parts,
    /// `rotates`, counts as far as its reads agree. `stop` says whether the user wants to stop.
    ///
    /// # Errors
    /// The drive cannot be built, or the user wants to stop.
    pub fn verdict(
        &self,
        name: &str,
        capacity_bytes: u64,
        write_buffer_bytes: u64,
        rotates: Rotates,
        requests: &Requests,
        stop: &dyn Fn() -> bool,
    ) -> Result<Verdict, Error> {
        let fitted = fit(&self.probed, requests, stop)?;
        let [once, repeated] = self.pairs();
        let named = Named {
            name,
            capacity_bytes,
            set_bytes: self.probed.iter().map(|one| one.workload.unique_bytes).max().unwrap_or(0),
            turns: Turns::of(rotates, &self.probed),
            write_buffer_bytes,
            sustained: self.endured.as_ref(),
            fitted_to: &self.probed,
            twice: [&self.first, &self.again],
            repeated: [&once, &repeated],
        };
        let mut verdict = verdict(fitted, &self.judging, &named, requests)?;
        self.doubt(&mut verdict);
        Ok(verdict)
    }

    /// Marks a verdict as not calibrated if there may be no device behind the measurements.
    fn doubt(&self, verdict: &mut Verdict) {
        if let Some(doubt) = self.no_device() {
            verdict.parameters.status = Status::NotCalibrated;
            verdict.parameters.sources.insert("target".to_owned(), doubt.clone());
            verdict.summary.push(doubt);
        }
    }

    /// Lists each kind of warning once, with the number of workloads that have it. Leaves out the
    /// warning that there may be no device, which the verdict reports.
    pub fn warnings(&self) -> Vec<String> {
        let long = self.endured.iter().flat_map(|found| &found.measurements);
        let measured: Vec<&Measurement> = self.fitting().chain(long).collect();
        let mut firsts: Vec<&Warning> = Vec::new();
        for warning in measured.iter().flat_map(|one| &one.warnings) {
            let is_known = firsts.iter().any(|first| first.kind == warning.kind);
            if !is_known && warning.kind != WarningKind::DirectWithoutDevice {
                firsts.push(warning);
            }
        }
        let said = |first: &Warning| {
            let has = |one: &&&Measurement| one.warnings.iter().any(|w| w.kind == first.kind);
            let (count, all) = (measured.iter().filter(has).count(), measured.len());
            format!("of {count} of {all} workloads, this of the first: {}", first.message)
        };
        firsts.into_iter().map(said).collect()
    }

    /// Reports that the twin may not be one of a storage device at all, if the measurements say so.
    fn no_device(&self) -> Option<String> {
        let mut warnings = self.probed.iter().flat_map(|one| &one.warnings);
        let doubt = warnings.find(|one| one.kind == WarningKind::DirectWithoutDevice)?;
        Some(format!(
            "not calibrated: whether this is the twin of a device cannot be told; {}",
            doubt.message
        ))
    }

    /// Records the roles of the [`measurements`](Self::measurements), with the target's name and
    /// size and the size of its write buffer.
    pub fn kept(&self, target: &str, capacity_bytes: u64, write_buffer_bytes: u64) -> TwinKept {
        let count = |some: &[Measurement]| some.len() as u64;
        TwinKept {
            target: target.to_owned(),
            capacity_bytes,
            write_buffer_bytes,
            fitted: count(&self.probed),
            judging: count(&self.judging),
            first: count(&self.first),
            again: count(&self.again),
            repeated: count(&self.repeated),
        }
    }

    /// Restores kept measurements.
    ///
    /// # Errors
    /// No drive can be fitted to them: a sentence for the user.
    pub fn of(kept: &TwinKept, measurements: Vec<Measurement>) -> Result<Self, String> {
        let counts = [kept.fitted, kept.judging, kept.first, kept.again, kept.repeated];
        let (held, counted) =
            (measurements.len() as u128, counts.map(u128::from).iter().sum::<u128>());
        if kept.fitted == 0 {
            return Err("nothing was measured for a drive".to_owned());
        }
        if held < counted {
            return Err(format!("{held} measurements are left of {counted}"));
        }
        if kept.again == 0 || kept.again < kept.first {
            return Err("it ended before all was measured".to_owned());
        }
        let wrong = measurements.iter().find_map(|one| one.workload.validate().err());
        if let Some(wrong) = wrong {
            return Err(wrong.to_string());
        }
        let mut rest = measurements.into_iter();
        let mut next = |count| rest.by_ref().take(count as usize).collect();
        let [probed, judging, first, again, repeated]: [Vec<Measurement>; 5] =
            counts.map(&mut next);
        let mut runs = Self { probed, judging, repeated, first, again, endured: None };
        let long: Vec<Measurement> = rest.collect();
        if !long.is_empty() {
            let moved = runs.fitting().map(|one| one.bytes).sum();
            runs.endured = Some(Endured::kept(long, Before { bytes: moved, is_all: false }));
        }
        Ok(runs)
    }

    /// All measurements: those to which the drive is fitted, those by which it is judged, the
    /// references, the repetitions, and the long runs.
    pub fn measurements(self) -> Vec<Measurement> {
        let fitting: Vec<Measurement> = self.fitting().cloned().collect();
        [fitting, self.endured.unwrap_or_default().measurements].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ssd::{self, Parameters};
    use ioscape_schema::Stop;

    fn runs() -> TwinRuns {
        let mut size_mean = 0;
        let mut some = |count: usize| {
            let one = |_| {
                size_mean += 4096;
                let workload = Workload { unique_bytes: 1 << 30, size_mean, ..Workload::default() };
                Measurement { bytes: size_mean, ..Measurement::empty(workload, Stop::Confident) }
            };
            (0..count).map(one).collect::<Vec<_>>()
        };
        let [probed, judging, repeated, first, again] = [5, 4, 2, 3, 3].map(&mut some);
        TwinRuns { probed, judging, repeated, first, again, endured: None }
    }

    #[test]
    fn a_twin_of_what_need_not_be_a_device_is_not_called_calibrated() {
        let verdict = |warnings: Vec<Warning>| {
            let mut runs = runs();
            runs.probed[1].warnings = warnings;
            let parameters = Parameters {
                status: Status::Calibrated,
                ..ssd::find("generic-ssd").expect("it is shipped")
            };
            let mut verdict = Verdict { parameters, told: Vec::new(), summary: Vec::new() };
            runs.doubt(&mut verdict);
            (verdict.parameters.status, verdict.summary.join("\n"))
        };
        assert_eq!(verdict(Vec::new()), (Status::Calibrated, String::new()));
        let in_memory = Warning::new(WarningKind::DirectWithoutDevice, "all lies in memory");
        let (status, said) = verdict(vec![in_memory]);
        assert_eq!(status, Status::NotCalibrated);
        assert!(said.starts_with("not calibrated: ") && said.ends_with("in memory"), "{said}");
    }

    #[test]
    fn warnings_are_said_once_with_their_count() {
        let mut runs = runs();
        assert_eq!(runs.warnings(), Vec::<String>::new());
        let load = |message: &str| Warning::new(WarningKind::LoadByOthers, message);
        let steal = Warning::new(WarningKind::Steal, "8 %");
        runs.judging[0].warnings = vec![load("2.0 processors")];
        runs.repeated[1].warnings = vec![load("1.0 processors"), steal];
        let mut found = Endured::default();
        found.measurements.push(runs.judging[0].clone());
        runs.endured = Some(found);
        assert_eq!(
            runs.warnings(),
            [
                "of 3 of 18 workloads, this of the first: 2.0 processors",
                "of 1 of 18 workloads, this of the first: 8 %"
            ]
        );
    }

    #[test]
    fn the_longest_time_is_that_of_rates_that_never_become_steady() {
        let plan = TwinPlan::new(1 << 30, 1 << 40, Some(references), None);
        let (probes, count) = (plan.probes.len() as f64, plan.count() as f64);
        let said = plan.describe("disk", 0.1, [0.2, 10.0]);
        let measured_s = 0.1 * (count + 3.0 * probes);
        let usual = format!("about {} with", Seconds(measured_s + 0.2 * count));
        let most = format!("{} at most", Seconds(measured_s + 10.0 * count));
        assert!(said.contains(&usual) && said.contains(&most), "{said}");
        let said = plan.describe("disk", 4.0, [0.2, 10.0]);
        let usual = format!("about {} with", Seconds(1.5 * 40.0 * measured_s));
        assert!(said.contains(&usual), "{said}");
    }

    #[test]
    fn a_set_for_which_all_room_is_taken_is_the_largest() {
        let of = |most_bytes| TwinPlan::new(most_bytes, (1 << 30) + 512, Some(references), None);
        assert!(of(1 << 40).is_largest && of(1 << 30).is_largest && !of(1 << 29).is_largest);
    }

    #[test]
    fn what_was_kept_is_the_same_again() {
        let (runs, long) = (runs(), runs().first);
        let kept = runs.kept("disk", 1 << 40, 1 << 20);
        assert_eq!(TwinRuns::of(&kept, runs.clone().measurements()), Ok(runs.clone()));
        let with_long = [runs.clone().measurements(), long.clone()].concat();
        let again = TwinRuns::of(&kept, with_long).expect("a twin");
        assert_eq!(again.endured.map(|found| found.measurements), Some(long));
    }

    #[test]
    fn what_no_drive_can_be_fitted_to_is_refused() {
        let whole = runs();
        let kept = |runs: &TwinRuns| runs.kept("disk", 1 << 40, 1 << 20);
        let refused = |runs: &TwinRuns, measurements| {
            TwinRuns::of(&kept(runs), measurements).expect_err("no drive can be fitted")
        };
        let none = TwinRuns::default();
        assert!(refused(&none, Vec::new()).contains("nothing was measured for a drive"));
        let cut_off = TwinRuns { again: Vec::new(), ..whole.clone() };
        assert!(refused(&cut_off, cut_off.clone().measurements()).contains("ended before all"));
        assert!(refused(&whole, Vec::new()).contains("0 measurements are left of 17"));
        let mut broken = whole.clone().measurements();
        broken[0].workload.size_mean = 0;
        refused(&whole, broken);
    }
}
