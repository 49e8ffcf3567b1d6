//! Whether the processes of a run waited for storage, and what else may have delayed them.

use crate::{Measurement, WarningKind};

/// Fraction of the time spent computing below which processes are assumed to wait for storage.
const WAITING: f64 = 0.5;
/// Reads by other processes below this fraction of the run's own storage reads are not reported.
const BESIDE: f64 = 0.25;
/// Bytes per second that any system reads on its own, for example to start a program.
const USUAL_PER_S: f64 = 1_048_576.0;
/// Bytes that a copy-on-write file system may read for each write at write-back: a few blocks.
const OF_WRITE: f64 = 65_536.0;
/// Ratio of the largest request to the mean request.
const LARGEST: f64 = 8.0;
/// Smallest fraction of the requested bytes read from storage if waiting processes are assumed to
/// have waited for it.
const MISSED: f64 = 0.01;
/// Fraction of the time throttled by a quota above which warnings of stops are attributed to the
/// quota.
const BY_QUOTA: f64 = 0.1;
/// Fraction of the time from which on it matters that others kept processes from the processors.
const LOST: f64 = 0.1;
/// Fraction of the time that others can have had at most, since the run moved bytes.
const MOST_LOST: f64 = 0.999;
/// Fraction of its processes' time that the hypervisor may take before it also disturbs a run that
/// waits for storage: to handle a completion, a processor has to run.
const STOLEN: f64 = 0.05;

impl Measurement {
    /// Returns the number of clients that ran the workload, each on its own set. Bytes and CPU
    /// times are the sums over all of them.
    pub fn client_count(&self) -> f64 {
        self.clients.as_ref().map_or(1.0, |clients| clients.each.len().max(1) as f64)
    }

    /// Returns the total seconds that its processes lasted.
    fn lasted_s(&self) -> f64 {
        self.elapsed_s * f64::from(self.workload.process_num) * self.client_count()
    }

    /// Returns the total seconds that its processes computed.
    fn computed_s(&self) -> f64 {
        self.cpu_user_s + self.cpu_system_s
    }

    /// Returns the seconds that the hypervisor took from its processes, if it took as much from
    /// each program in proportion to its processor time. The kernel counts them neither as
    /// computing nor as waiting.
    fn stolen_s(&self) -> f64 {
        let others_s = self.other_cpu.unwrap_or(0.0) * self.elapsed_s;
        let ours = self.computed_s() / (self.computed_s() + others_s);
        self.witness.steal_s.filter(|_| ours > 0.0).map_or(0.0, |steal_s| steal_s * ours)
    }

    /// Returns the total seconds for which its processes had, or could have had, a processor. If
    /// their time waiting for one is unknown, each is assumed to have had one.
    fn available_s(&self) -> f64 {
        self.lasted_s() - self.witness.run_delay_s.unwrap_or(0.0) - self.stolen_s()
    }

    /// Returns whether its processes waited most of the time, and not for a processor.
    pub fn waits(&self) -> bool {
        let is_known = self.workload.process_num == 1 || self.witness.run_delay_s.is_some();
        let waited = self.computed_s() < WAITING * self.available_s();
        is_known && self.computed_s() > 0.0 && waited
    }

    /// Returns whether its processes computed for at least this fraction of the time for which they
    /// could have had a processor.
    pub(crate) fn computed(&self, fraction: f64) -> bool {
        self.computed_s() > 0.0 && self.computed_s() >= fraction * self.available_s()
    }

    /// Returns whether its processes computed most of the time.
    pub fn computes(&self) -> bool {
        self.computed(WAITING) && self.cpu_system_s > 0.0
    }

    /// Returns the throughput in bytes per second by which an evaluation judges the run. If its
    /// processes computed most of the time, this is that of the time in which others did not keep
    /// them from the processors; otherwise, and where that is unknown, the measured one, the interval
    /// of which then reaches up to that of the remaining time.
    ///
    /// Where processors of this machine serve the storage, the processes also wait for a processor
    /// because of their own requests; and a quota keeps them from one in every run.
    pub fn judged_bytes_per_s(&self) -> f64 {
        self.undisturbed_bytes_per_s().unwrap_or(self.throughput_bytes_per_s)
    }

    /// Returns that throughput in bytes per second; `None` instead of the measured one if the
    /// throughput may be higher without others by an unknown amount.
    pub fn undisturbed_bytes_per_s(&self) -> Option<f64> {
        let by_quota_s = self.by_quota_s().unwrap_or(0.0);
        let by_others = !self.witness.served_by_processors;
        if by_others && by_quota_s <= BY_QUOTA * self.elapsed_s && self.computes() {
            return self.witness.undisturbed_bytes_per_s;
        }
        let is_slowed = by_others && self.lost_frac().is_some();
        (!is_slowed).then_some(self.throughput_bytes_per_s)
    }

    /// Returns the fraction of its time, 0 to 1, for which others can have kept its processes from
    /// the processors, if that is long enough to matter.
    pub fn lost_frac(&self) -> Option<f64> {
        self.witness.lost_frac.filter(|lost| *lost >= LOST)
    }

    /// Returns by what factor the throughput without others can exceed the one that judges the run,
    /// because of the time for which they kept its processes from the processors; 1 if that time is
    /// known not to matter or left out.
    pub fn faster_without_others(&self) -> f64 {
        let lost = self.lost_frac().filter(|_| self.undisturbed_bytes_per_s().is_none());
        lost.map_or(1.0, |lost| 1.0 / (1.0 - lost.min(MOST_LOST)))
    }

    /// Returns the 95 % confidence interval of the throughput that judges the run: low and high, in
    /// bytes per second.
    pub fn judged_ci95(&self) -> [f64; 2] {
        let measured = self.throughput_bytes_per_s;
        let times = if measured > 0.0 { self.judged_bytes_per_s() / measured } else { 1.0 };
        self.throughput_ci95.map(|end| end * times)
    }

    /// Returns the bytes that other processes read from the device while these processes waited for
    /// storage.
    ///
    /// `None` in these cases:
    /// - the bytes are not counted;
    /// - they may be the run's own: requests in flight when counting began, or file-system reads
    ///   for writes;
    /// - they are no more than any system reads;
    /// - the processes pause, which looks like waiting.
    ///
    /// How much these reads delayed the run is unknown: a drive that serves many requests at once
    /// hardly notices what saturates a slow disk. Writes by others cannot be told from the file
    /// system's own, which are more than requested and come later.
    pub fn read_by_others(&self) -> Option<f64> {
        let asked = self.read.filter(|read| read.bytes > 0)?.bytes as f64;
        let (own, others) = (self.storage_read_bytes? as f64, self.read_beside()?);
        let depth = f64::from(self.workload.process_num) * f64::from(self.workload.queue_depth);
        let in_flight = depth * LARGEST * self.workload.size_mean as f64;
        let to_write = self.write.map_or(0.0, |write| OF_WRITE * write.ios as f64);
        let explained = BESIDE * own + in_flight + to_write + USUAL_PER_S * self.elapsed_s;
        let pauses = self.workload.think_time_ns > 0 || !self.workload.phases.is_empty();
        let is_from_storage = !pauses && self.waits() && own >= MISSED * asked;
        // Several clients may read from one device, so each sees the reads of the others.
        (self.clients.is_none() && is_from_storage && others > explained).then_some(others)
    }

    /// Returns the bytes per second that the device read for other processes, whatever its own
    /// speed; `None` if either counter is missing.
    pub fn read_beside_per_s(&self) -> Option<f64> {
        let others = self.read_beside()?;
        (self.elapsed_s > 0.0).then(|| others / self.elapsed_s)
    }

    fn read_beside(&self) -> Option<f64> {
        Some(self.witness.device_read_bytes?.saturating_sub(self.storage_read_bytes?) as f64)
    }

    /// Returns the most seconds for which a quota can have stopped each process; `None` if that is
    /// unknown. The kernel counts for all members of a group, but a stopped one waits for a
    /// processor meanwhile.
    pub fn by_quota_s(&self) -> Option<f64> {
        let of_each = |waited_s: f64| waited_s / f64::from(self.workload.process_num.max(1));
        let waited_s = self.witness.run_delay_s.map_or(f64::INFINITY, of_each);
        Some(self.witness.throttled_s?.min(waited_s))
    }

    /// Returns whether its processes were stopped or frozen for a while, or the machine was
    /// suspended. A quota stops processes in every run and hides that.
    fn was_stopped(&self) -> bool {
        let by_quota_s = self.by_quota_s().unwrap_or(0.0);
        self.is_disturbed_by(WarningKind::Stopped) && by_quota_s <= BY_QUOTA * self.elapsed_s
    }

    /// Returns whether the hypervisor took so much of its processes' time that storage seems slower
    /// than it is.
    fn was_robbed(&self) -> bool {
        let is_much = self.stolen_s() > STOLEN * self.lasted_s();
        self.is_disturbed_by(WarningKind::Steal) && is_much
    }

    /// Returns whether something disturbed the run that also delays what waits for storage: a pause,
    /// a hypervisor or, if processors of this machine serve the storage, other work on them.
    pub fn was_delayed(&self) -> bool {
        let is_crowded = self.disturbed && self.witness.served_by_processors;
        is_crowded || self.was_stopped() || self.was_robbed()
    }

    fn is_disturbed_by(&self, kind: WarningKind) -> bool {
        self.disturbed && self.warnings.iter().any(|one| one.kind == kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Direction, Stop, Warning, Workload};

    /// Ten seconds of random reads from a slow disk: MB read by storage for the run, and MB read by
    /// the device.
    fn reads(own_mb: u64, device_mb: u64) -> Measurement {
        let workload = Workload { size_mean: 32 << 10, read_frac: 1.0, ..Workload::default() };
        let bytes = own_mb * 1_000_000;
        let mut m = Measurement {
            elapsed_s: 10.0,
            cpu_system_s: 0.05,
            read: Some(Direction { bytes, ..Direction::default() }),
            storage_read_bytes: Some(bytes),
            ..Measurement::empty(workload, Stop::TimeCap)
        };
        m.witness.device_read_bytes = Some(device_mb * 1_000_000);
        m
    }

    /// Once, a nightly backup took more than half of a disk's throughput, and no witness saw it.
    #[test]
    fn what_others_read_is_told_where_processes_wait_for_the_same_device() {
        assert_eq!(reads(15, 815).read_by_others(), Some(8e8));
        assert_eq!(reads(15, 17).read_by_others(), None, "a program was begun");
        assert_eq!(reads(15, 14).read_by_others(), None, "compressed");
        assert_eq!(reads(3000, 3300).read_by_others(), None, "hardly felt");
        let untold = |change: fn(&mut Measurement)| {
            let mut m = reads(15, 815);
            change(&mut m);
            m.read_by_others().is_none()
        };
        assert!(untold(|m| m.witness.device_read_bytes = None), "not counted");
        assert!(untold(|m| m.storage_read_bytes = None), "not counted");
        assert!(untold(|m| m.cpu_system_s = 9.0), "the file cache served it");
        assert!(untold(|m| m.storage_read_bytes = Some(4096)), "it waited for something else");
        assert!(untold(|m| m.workload.think_time_ns = 100_000_000), "it paused");
        let many = |m: &mut Measurement| {
            (m.workload.process_num, m.witness.run_delay_s) = (4096, Some(0.0));
        };
        assert!(untold(many), "in flight when counting began");
    }

    /// A copy-on-write file system reads several metadata blocks per random write at write-back.
    #[test]
    fn what_a_file_system_reads_to_write_is_not_by_others() {
        let mut m = reads(15, 115);
        assert!(m.read_by_others().is_some());
        m.write = Some(Direction { ios: 4000, bytes: 15_000_000, ..Direction::default() });
        assert_eq!(m.read_by_others(), None);
        m.witness.device_read_bytes = Some(815_000_000);
        assert!(m.read_by_others().is_some(), "far more than that");
    }

    /// Guards against taking the file cache for storage where the hypervisor had the rest of the
    /// time.
    #[test]
    fn time_that_the_hypervisor_took_is_not_waited_for_storage() {
        let cached = |steal_s, other_cpu| {
            let mut m = reads(0, 0);
            (m.cpu_system_s, m.resident_frac) = (8.5, Some(1.0));
            (m.witness.steal_s, m.other_cpu) = (steal_s, other_cpu);
            m.is_from_memory()
        };
        assert!(cached(Some(1.4), Some(0.0)) && cached(Some(1.4), None));
        assert!(!cached(Some(0.1), None) && !cached(None, None));
        assert!(!cached(Some(1.4), Some(3.0)), "it was taken from other programs as well");
        let mut slow = reads(15, 15);
        slow.witness.steal_s = Some(4.0);
        assert!(slow.waits(), "half of the time, for storage");
    }

    #[test]
    fn what_waits_for_storage_is_disturbed_by_a_hypervisor_that_takes_much() {
        let robbed = |kind, steal_s, other_cpu| {
            let warnings = vec![Warning::new(kind, "the hypervisor took 90 %")];
            let mut m = Measurement { disturbed: true, warnings, ..reads(15, 15) };
            (m.witness.steal_s, m.other_cpu) = (Some(steal_s), Some(other_cpu));
            (m.waits(), m.was_robbed())
        };
        assert_eq!(robbed(WarningKind::Steal, 4.0, 0.0), (true, true));
        assert_eq!(robbed(WarningKind::Steal, 0.3, 0.0), (true, false), "it mostly waited");
        assert_eq!(robbed(WarningKind::Steal, 4.0, 2.0), (true, false), "others had that time");
        assert_eq!(robbed(WarningKind::LoadByOthers, 4.0, 0.0), (true, false));
    }

    /// Once, runs on a loop device beside other programs were never in doubt, and wrong up to 22
    /// times.
    #[test]
    fn load_by_others_delays_storage_that_processors_of_this_machine_serve() {
        let delayed = |disturbed, served_by_processors| {
            let mut m = Measurement { disturbed, ..reads(15, 15) };
            m.witness.served_by_processors = served_by_processors;
            m.was_delayed()
        };
        assert!(delayed(true, true));
        assert!(!delayed(true, false) && !delayed(false, true));
    }

    #[test]
    fn runs_that_compute_are_judged_by_the_time_in_which_they_had_a_processor() {
        let judged = |computed_s, served_by_processors, throttled_s| {
            let mut m = reads(15, 15);
            (m.cpu_system_s, m.witness.run_delay_s) = (computed_s, Some(5.0));
            (m.throughput_bytes_per_s, m.throughput_ci95) = (100.0, [90.0, 120.0]);
            m.witness.undisturbed_bytes_per_s = Some(200.0);
            m.witness.served_by_processors = served_by_processors;
            m.witness.throttled_s = throttled_s;
            let judged = m.judged_bytes_per_s();
            assert_eq!(m.judged_ci95(), [0.9 * judged, 1.2 * judged]);
            m.witness.undisturbed_bytes_per_s = None;
            let is_unknown = m.undisturbed_bytes_per_s().is_none();
            assert_eq!((m.judged_bytes_per_s(), is_unknown), (100.0, judged > 100.0));
            judged
        };
        assert_eq!(judged(4.0, false, None), 200.0);
        assert_eq!(judged(1.0, false, None), 100.0, "it waits for storage");
        assert_eq!(judged(4.0, true, None), 100.0, "what serves the storage may have had them");
        assert_eq!(judged(4.0, false, Some(4.0)), 100.0, "a quota is part of the system");
    }

    #[test]
    fn what_others_may_have_cost_is_known_if_it_is_little_or_left_out() {
        let of = |computed_s, lost_frac, served_by_processors| {
            let mut m = reads(15, 15);
            (m.cpu_system_s, m.throughput_bytes_per_s) = (computed_s, 100.0);
            (m.witness.run_delay_s, m.witness.lost_frac) = (Some(5.0), lost_frac);
            m.witness.served_by_processors = served_by_processors;
            (m.undisturbed_bytes_per_s(), m.faster_without_others())
        };
        assert_eq!(of(1.0, Some(0.5), false), (None, 2.0), "it waits for storage");
        assert_eq!(of(4.0, Some(0.5), false), (None, 2.0), "storage has a part");
        assert_eq!(of(1.0, Some(0.05), false), (Some(100.0), 1.0));
        assert_eq!(of(1.0, None, false), (Some(100.0), 1.0), "not counted");
        assert_eq!(of(1.0, Some(0.5), true), (Some(100.0), 1.0), "it may serve the storage");
    }

    /// Guards against calling a worker stopped for all of the time that others of its group were.
    #[test]
    fn a_quota_stops_nobody_for_longer_than_it_waited() {
        let by_quota = |run_delay_s, throttled_s| {
            let mut m = reads(15, 15);
            (m.workload.process_num, m.witness.run_delay_s) = (2, run_delay_s);
            m.witness.throttled_s = throttled_s;
            m.by_quota_s()
        };
        assert_eq!(by_quota(Some(1.0), Some(10.0)), Some(0.5));
        assert_eq!(by_quota(Some(19.0), Some(5.0)), Some(5.0));
        assert_eq!([by_quota(None, Some(5.0)), by_quota(Some(1.0), None)], [Some(5.0), None]);
    }

    #[test]
    fn a_quota_is_no_stop() {
        let stopped = |disturbed, throttled_s| {
            let warnings = vec![Warning::new(WarningKind::Stopped, "stopped for 3 s")];
            let mut m = Measurement { disturbed, warnings, ..reads(15, 15) };
            m.witness.throttled_s = throttled_s;
            m.was_stopped()
        };
        assert!(stopped(true, None) && stopped(true, Some(0.2)));
        assert!(!stopped(true, Some(5.0)) && !stopped(false, None));
        assert!(!Measurement { disturbed: true, ..reads(15, 15) }.was_stopped(), "others computed");
    }
}
