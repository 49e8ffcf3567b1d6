//! The summary of a simulation in a result file: means, quantiles and distributions.

use crate::alone::{forget_queued, forget_together};
use crate::array::Array;
use crate::cache::Destage;
use crate::calibrate::paired;
use crate::command::{DiskOptions, Traffic, WriteCache};
use crate::compare::{Agreement, agreement};
use crate::drive::Drive;
use crate::job::{Configuration, Job, SimulatedRequest};
use crate::schedule::SCHEDULERS;
use crate::ssd::{Model, SECTOR_BYTES};
use ioscape_schema::{
    Counters, DeviceAgreement, Io, IoFlags, Op, SimulatedCell, SimulatedOperations, SimulatedParts,
    SimulationAgreement, Warning, WarningKind, units,
};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Number of points kept of a distribution.
const DISTRIBUTION: usize = 100;

/// The times of simulated requests, counted in memory that does not grow with their number, and
/// what they wrote.
#[derive(Clone, Debug, Default)]
pub struct Times {
    /// Of reads and of writes.
    physical: [Counters; 2],
    elapsed: [Counters; 2],
    /// In queue, waiting, overhead, bus, seek, rotation and transfer, in nanoseconds.
    parts: [u128; 7],
    /// Bytes the host wrote.
    written_bytes: u64,
}

impl Times {
    /// Adds a request.
    #[inline]
    pub fn add(&mut self, row: &SimulatedRequest) {
        let (kind, parts) = (usize::from(row.io.request.op == Op::Write), &row.parts);
        self.physical[kind].add(0, row.physical_ns());
        self.elapsed[kind].add(0, row.elapsed_ns());
        self.written_bytes += written_bytes(&row.io);
        let told = [
            row.io.issued_ns.saturating_sub(row.came_ns),
            parts.waited_ns,
            parts.overhead_ns,
            parts.bus_ns,
            parts.seek_ns,
            parts.rotation_ns,
            parts.transfer_ns,
        ];
        for (sum, ns) in self.parts.iter_mut().zip(told) {
            *sum += u128::from(ns);
        }
    }

    /// Number of requests counted.
    pub fn requests(&self) -> u64 {
        self.physical.iter().map(|counters| counters.ios).sum()
    }

    fn parts(&self) -> SimulatedParts {
        let count = self.requests().max(1) as f64;
        let [queue_ns, wait_ns, overhead_ns, bus_ns, seek_ns, rotation_ns, transfer_ns] =
            self.parts.map(|sum| sum as f64 / count);
        SimulatedParts { queue_ns, wait_ns, overhead_ns, bus_ns, seek_ns, rotation_ns, transfer_ns }
    }
}

/// Bytes of data that a request writes: none if it only releases or zeroes them.
#[inline]
fn written_bytes(io: &Io) -> u64 {
    let releases = io.flags.intersects(IoFlags::DISCARD | IoFlags::ZEROES);
    if io.request.op == Op::Write && !releases { u64::from(io.request.len) } else { 0 }
}

/// Estimates how many of the host's bytes the drives overwrote in their buffers, from the share of
/// bytes other than parity that they overwrote. An array also overwrites copies, and its parity
/// even if the host overwrites nothing.
fn absorbed_bytes(times: &Times, traffic: &Traffic) -> u64 {
    let absorbed = traffic.absorbed - traffic.parity_absorbed;
    let written = traffic.written - traffic.parity_written;
    let all = u128::from(times.written_bytes) * u128::from(absorbed);
    u64::try_from(all / u128::from(written.max(1))).unwrap_or(u64::MAX)
}

/// Bytes written to the flash for every byte the host wrote, without those that the drives' buffers
/// still hold.
fn amplification(times: &Times, traffic: &Traffic) -> Option<f64> {
    let left = traffic.written.checked_sub(traffic.held).filter(|bytes| *bytes > 0)?;
    // An array writes copies and parity, too.
    let copies = traffic.written as f64 / times.written_bytes.max(1) as f64;
    Some(traffic.destaged as f64 / left as f64 * copies)
}

fn operations([read, write]: &[Counters; 2]) -> SimulatedOperations {
    let mut all = read.clone();
    all.merge(write);
    let [all, read, write] = [&all, read, write].map(Counters::simulated_times);
    SimulatedOperations { all, read, write }
}

/// The distribution of counted times: points `[time, share]`, with times to three digits.
fn counted([read, write]: &[Counters; 2]) -> Vec<[f64; 2]> {
    let mut all = read.clone();
    all.merge(write);
    let most = all.simulated_times().max_ns;
    let (mut points, mut below) = (Vec::new(), 0);
    for (ns, count) in all.recorded() {
        below += count;
        let share = below as f64 / all.ios as f64;
        // A point at each step, and one at the end.
        if share * DISTRIBUTION as f64 >= points.len() as f64 + 1.0 || below == all.ios {
            points.push([ns.min(most) as f64, share]);
        }
    }
    points
}

/// The distribution of some times: points `[time, share]`.
pub fn distribution(mut times: Vec<u64>) -> Vec<[f64; 2]> {
    times.sort_unstable();
    let count = times.len();
    let step = count.div_ceil(DISTRIBUTION).max(1);
    let mut points: Vec<[f64; 2]> = (0..count)
        .step_by(step)
        .map(|at| [times[at] as f64, (at + 1) as f64 / count as f64])
        .collect();
    if let Some(&last) = times.last() {
        points.push([last as f64, 1.0]);
    }
    points
}

/// The summary of one simulation of disks, which wrote `traffic`.
pub fn cell(
    drive: &Drive,
    options: &Configuration,
    times: &Times,
    traffic: &Traffic,
) -> SimulatedCell {
    let scheduler = SCHEDULERS.iter().find(|(_, known)| *known == options.scheduler);
    let (cache, destage, cache_bytes) = match options.disk.cache {
        WriteCache::None => ("none", None, None),
        WriteCache::Immediate => ("immediate", None, Some(drive.buffer.segment_bytes())),
        WriteCache::Volatile { bytes } => ("volatile", None, Some(bytes)),
        WriteCache::Nvram { bytes, destage: Destage::Fcfs, .. } => {
            ("nvram", Some("fcfs"), Some(bytes))
        }
        WriteCache::Nvram { bytes, destage: Destage::Satf, .. } => {
            ("nvram", Some("satf"), Some(bytes))
        }
    };
    SimulatedCell {
        scheduler: scheduler.map_or("", |(name, _)| name).to_owned(),
        cache: cache.to_owned(),
        destage: destage.map(str::to_owned),
        cache_bytes,
        read_ahead: options.disk.read_ahead,
        physical: operations(&times.physical),
        elapsed: operations(&times.elapsed),
        parts: times.parts(),
        written_bytes: times.written_bytes,
        absorbed_bytes: absorbed_bytes(times, traffic),
        physical_distribution: counted(&times.physical),
        array: (options.array != Array::default()).then(|| options.array.to_string()),
        queue_depth: (options.disk.queue_depth > 1).then_some(options.disk.queue_depth),
        ..SimulatedCell::default()
    }
}

/// The summary of a simulation of a solid-state drive, which has a write buffer of its own and
/// takes requests as they come.
pub fn flash_cell(
    model: &Model,
    options: &Configuration,
    times: &Times,
    traffic: &Traffic,
) -> SimulatedCell {
    let block = u64::from(SECTOR_BYTES);
    SimulatedCell {
        scheduler: "no host queue".to_owned(),
        array: (options.array != Array::default()).then(|| options.array.to_string()),
        cache: "write buffer".to_owned(),
        cache_bytes: Some(model.buffer_pages as u64 * model.page_blocks * block),
        physical: operations(&times.physical),
        elapsed: operations(&times.elapsed),
        parts: times.parts(),
        written_bytes: times.written_bytes,
        absorbed_bytes: absorbed_bytes(times, traffic),
        write_amplification: amplification(times, traffic),
        erased_blocks: Some(traffic.erased),
        physical_distribution: counted(&times.physical),
        ..SimulatedCell::default()
    }
}

/// The comparison of a simulation with the times that a trace recorded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compared {
    /// How well the two agree; `None` if no recorded time can be compared.
    pub agreement: Option<SimulationAgreement>,
    /// Requests not compared, because their recorded times include queueing that the trace does not
    /// record.
    pub queued: u64,
    /// Requests not predicted one by one, because others were at the disk with them.
    pub together: u64,
}

impl Compared {
    /// Warns of recorded times that are not compared.
    pub fn doubts(&self) -> impl Iterator<Item = Warning> {
        let [queued, together] =
            [self.queued, self.together].map(|count| units::counted(count, "request"));
        let queued = format!(
            "the trace does not tell when requests were issued to the disk: the recorded times of {queued} that met others include a queue, and are not compared with the simulated ones"
        );
        let together = format!(
            "{together} were at the disk with others: their recorded times may include its queue (NCQ), and are compared as a distribution, not request by request"
        );
        let doubts = [(self.queued, queued), (self.together, together)].into_iter();
        let doubts = doubts.filter(|(count, _)| *count > 0);
        doubts.map(|(_, text)| Warning::new(WarningKind::TimesUnknown, text).at("agreement"))
    }

    /// Compares the requests of one disk, and counts those that are not compared.
    fn disk(
        &mut self,
        drive: &Drive,
        options: DiskOptions,
        judged: &[(Job, u64)],
        tells_issue: Option<bool>,
    ) -> Option<SimulationAgreement> {
        let mut jobs: Vec<Job> = judged.iter().map(|(job, _)| *job).collect();
        self.queued += forget_queued(&mut jobs, tells_issue);
        let timed = jobs.iter().zip(judged).filter(|(job, _)| job.io.is_timed());
        let (measured, simulated): (Vec<u64>, Vec<u64>) =
            timed.map(|(job, (_, simulated_ns))| (job.io.physical_ns(), *simulated_ns)).unzip();
        if measured.is_empty() {
            return None;
        }
        jobs.sort_by_key(|job| job.io.issued_ns);
        self.together += forget_together(&mut jobs);
        let (paired, _) = paired(drive, options, &jobs);
        Some(agreed([measured, simulated], &paired))
    }
}

/// Compares jobs with their simulated times at the disk, device by device. `disk` returns the disk
/// that stands for a device, its options and the device's name. `tells_issue` says whether the
/// trace records when requests were issued; `None` if its format leaves that open.
pub fn compared<'a>(
    judged: &[(Job, u64)],
    disk: impl Fn(u16) -> Option<(&'a Drive, DiskOptions, &'a str)>,
    tells_issue: Option<bool>,
) -> Compared {
    let mut devices: BTreeMap<u16, Vec<(Job, u64)>> = BTreeMap::new();
    judged.iter().for_each(|one| devices.entry(one.0.io.device).or_default().push(*one));
    let (mut compared, mut all, is_one) = (Compared::default(), Vec::new(), devices.len() == 1);
    for (device, judged) in devices {
        let Some((drive, options, name)) = disk(device) else { continue };
        all.extend(compared.disk(drive, options, &judged, tells_issue).map(|found| (name, found)));
    }
    all.sort_by_key(|(_, found)| Reverse(found.requests));
    let told = |(name, found): &(&str, SimulationAgreement)| DeviceAgreement {
        device: (*name).to_owned(),
        requests: found.requests,
        demerit: found.demerit,
        paired_requests: found.paired_requests,
        paired_within_1ms: found.paired_within_1ms,
    };
    let devices = if is_one { Vec::new() } else { all.iter().map(told).collect() };
    let first = all.into_iter().next();
    compared.agreement = first.map(|(_, found)| SimulationAgreement { devices, ..found });
    compared
}

/// How well simulated times at the disk agree with measured ones, as distributions, and request by
/// request as in `paired`.
fn agreed([measured, simulated]: [Vec<u64>; 2], paired: &Agreement) -> SimulationAgreement {
    let free = agreement(&measured, &simulated);
    SimulationAgreement {
        requests: free.count as u64,
        measured_mean_ns: free.measured_mean_ns,
        simulated_mean_ns: free.simulated_mean_ns,
        rms_ns: free.rms_ns,
        demerit: free.demerit,
        paired_requests: paired.count as u64,
        paired_median_ns: paired.paired_median_ns,
        paired_within_1ms: paired.within_1ms,
        measured_distribution: distribution(measured),
        simulated_distribution: distribution(simulated),
        devices: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::Request;

    #[test]
    fn what_an_array_writes_beside_the_hosts_bytes_is_not_told_as_the_hosts() {
        let mut times = Times::default();
        for flags in [IoFlags::empty(), IoFlags::DISCARD, IoFlags::ZEROES] {
            let request = Request { op: Op::Write, offset: 0, len: 4096 };
            let io = Io { request, flags, ..Io::default() };
            times.add(&SimulatedRequest { io, ..SimulatedRequest::default() });
        }
        assert_eq!(times.written_bytes, 4096);
        // Two copies, three quarters of which were overwritten.
        let disks = Traffic { written: 8192, absorbed: 6144, ..Traffic::default() };
        assert_eq!(absorbed_bytes(&times, &disks), 3072);
        // Data and parity; only parity was overwritten.
        let parity = Traffic { absorbed: 2048, parity_absorbed: 2048, ..disks };
        assert_eq!(absorbed_bytes(&times, &Traffic { parity_written: 4096, ..parity }), 0);
        // A quarter of each copy is still in the buffer.
        let flash = Traffic { written: 8192, destaged: 6144, held: 2048, ..Traffic::default() };
        assert_eq!(amplification(&times, &flash), Some(2.0));
        assert_eq!(amplification(&times, &Traffic::default()), None);
    }

    #[test]
    fn immediate_reporting_has_the_segment_that_the_disk_gives_it() {
        let drive = crate::drives::find("hp-c2247a").unwrap().build().unwrap();
        assert_eq!((drive.buffer.bytes, drive.buffer.segments), (262_144, 2));
        let disk = DiskOptions { cache: WriteCache::Immediate, ..DiskOptions::default() };
        let options = Configuration { disk, ..Configuration::default() };
        let kept = cell(&drive, &options, &Times::default(), &Traffic::default());
        assert_eq!(kept.cache_bytes, Some(131_072));
    }

    #[test]
    fn distributions_keep_their_ends() {
        let points = distribution((1..=1000).collect());
        assert_eq!(points.first(), Some(&[1.0, 0.001]));
        assert_eq!(points.last(), Some(&[1000.0, 1.0]));
        assert!(points.len() <= DISTRIBUTION + 1);
        assert!(distribution(vec![]).is_empty());
        let mut times = Times::default();
        for ns in 1..=1000 {
            let io = ioscape_schema::Io { completed_ns: ns, ..Default::default() };
            times.add(&SimulatedRequest { io, ..SimulatedRequest::default() });
        }
        let points = counted(&times.physical);
        assert_eq!((points.first(), points.last()), (Some(&[10.0, 0.01]), Some(&[1000.0, 1.0])));
        assert_eq!((points.len(), times.requests()), (DISTRIBUTION, 1000));
    }
}
