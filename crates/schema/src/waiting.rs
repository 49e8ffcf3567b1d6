//! Whether the processes of a run waited for storage, and what besides it may have held them up.

use crate::{Measurement, WarningKind};

/// Share of the time spent computing below which processes are taken to wait for storage.
const WAITING: f64 = 0.5;
/// Others that read less than this share of what storage read for the processes are not told to have held them up.
const BESIDE: f64 = 0.25;
/// So much in a second any system reads on its own, as to begin a program.
const USUAL_PER_S: f64 = 1_048_576.0;
/// For each write, a file system that copies on write may read so much of its own, a few blocks, when it writes back.
const OF_WRITE: f64 = 65_536.0;
/// The largest request over the mean one.
const LARGEST: f64 = 8.0;
/// Least share of what was asked for that storage read where processes that waited are taken to have waited for that.
const MISSED: f64 = 0.01;
/// Share of the time for which a quota may stop processes before warnings of stops are taken to be about that.
const BY_QUOTA: f64 = 0.1;

impl Measurement {
    /// How many clients ran the workload, each in a set of its own: bytes and times of processors are of all of them.
    pub fn client_count(&self) -> f64 {
        self.clients.as_ref().map_or(1.0, |clients| clients.each.len().max(1) as f64)
    }

    /// Seconds for which its processes together had a processor, or could have had one; where the time they waited for one is not
    /// known, they are taken to have had one each.
    pub fn available_s(&self) -> f64 {
        let delay_s = self.witness.run_delay_s.unwrap_or(0.0);
        self.elapsed_s * f64::from(self.workload.process_num) * self.client_count() - delay_s
    }

    /// Whether its processes waited most of the time, and not for a processor.
    pub fn waits(&self) -> bool {
        let computed_s = self.cpu_user_s + self.cpu_system_s;
        let is_known = self.workload.process_num == 1 || self.witness.run_delay_s.is_some();
        is_known && computed_s > 0.0 && computed_s < WAITING * self.available_s()
    }

    /// Whether its processes computed most of the time.
    pub fn computes(&self) -> bool {
        let computed_s = self.cpu_user_s + self.cpu_system_s;
        computed_s >= WAITING * self.available_s() && self.cpu_system_s > 0.0
    }

    /// Bytes that others read from the device, where its processes waited for storage, which may have served those instead; `None` where that is no more
    /// than can be theirs (what was in flight when counting began, what a file system reads to write) or than any system reads, or is not counted, and where
    /// they pause, which looks like waiting.
    ///
    /// How much these reads held them up is not told: a drive that serves many requests at once hardly feels what fills a slow disk.
    /// What others write is not told from what the file system writes: that is more than it was asked to, and later.
    pub fn read_by_others(&self) -> Option<f64> {
        let asked = self.read.filter(|read| read.bytes > 0)?.bytes as f64;
        let (own, others) = (self.storage_read_bytes? as f64, self.read_beside()?);
        let depth = f64::from(self.workload.process_num) * f64::from(self.workload.queue_depth);
        let in_flight = depth * LARGEST * self.workload.size_mean as f64;
        let to_write = self.write.map_or(0.0, |write| OF_WRITE * write.ios as f64);
        let explained = BESIDE * own + in_flight + to_write + USUAL_PER_S * self.elapsed_s;
        let pauses = self.workload.think_time_ns > 0 || !self.workload.phases.is_empty();
        let is_from_storage = !pauses && self.waits() && own >= MISSED * asked;
        // Clients may read from one device, each beside the others.
        (self.clients.is_none() && is_from_storage && others > explained).then_some(others)
    }

    /// Bytes in a second that the device read for others, whatever its own speed was; absent where either is not counted.
    pub fn read_beside_per_s(&self) -> Option<f64> {
        let others = self.read_beside()?;
        (self.elapsed_s > 0.0).then(|| others / self.elapsed_s)
    }

    fn read_beside(&self) -> Option<f64> {
        Some(self.witness.device_read_bytes?.saturating_sub(self.storage_read_bytes?) as f64)
    }

    /// Whether its processes were stopped or frozen for a while, or the machine was suspended; a quota, which stops them in every run, hides that.
    pub fn was_stopped(&self) -> bool {
        let by_quota_s = self.witness.throttled_s.unwrap_or(0.0);
        let is_told = self.warnings.iter().any(|one| one.kind == WarningKind::Stopped);
        self.disturbed && is_told && by_quota_s <= BY_QUOTA * self.elapsed_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Direction, Stop, Warning, Workload};

    /// Ten seconds of random reads from a slow disk: what storage read for them, and what the device read, in MB.
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

    /// A backup at night took more than half of what a disk gives, and no witness saw it.
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

    /// One of random writes brings several blocks of metadata in when it is written back.
    #[test]
    fn what_a_file_system_reads_to_write_is_not_by_others() {
        let mut m = reads(15, 115);
        assert!(m.read_by_others().is_some());
        m.write = Some(Direction { ios: 4000, bytes: 15_000_000, ..Direction::default() });
        assert_eq!(m.read_by_others(), None);
        m.witness.device_read_bytes = Some(815_000_000);
        assert!(m.read_by_others().is_some(), "far more than that");
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
