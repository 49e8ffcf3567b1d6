//! A simulation as what a result file keeps of it: means, quantiles and distributions.

use crate::cache::Destage;
use crate::calibrate::paired;
use crate::command::WriteCache;
use crate::compare::agreement;
use crate::drive::Drive;
use crate::schedule::SCHEDULERS;
use crate::simulate::{Configuration, Job, SimulatedRequest, SimulatedTrace, simulate};
use ioscape_schema::{
    Counters, Op, SimulatedCell, SimulatedOperations, SimulatedParts, SimulationAgreement,
};

/// Points of a distribution that is kept.
const DISTRIBUTION: usize = 100;

fn operations(
    rows: &[SimulatedRequest],
    time: fn(&SimulatedRequest) -> u64,
) -> SimulatedOperations {
    let [mut read, mut write] = [Counters::new(), Counters::new()];
    for row in rows {
        let one = if row.io.request.op == Op::Write { &mut write } else { &mut read };
        one.add(0, time(row));
    }
    let mut all = read.clone();
    all.merge(&write);
    let [all, read, write] = [all, read, write].map(|counters| counters.simulated_times());
    SimulatedOperations { all, read, write }
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

fn parts(rows: &[SimulatedRequest]) -> SimulatedParts {
    let count = rows.len().max(1) as f64;
    let mean = |part: fn(&SimulatedRequest) -> u64| {
        rows.iter().map(|o| part(o) as f64).sum::<f64>() / count
    };
    SimulatedParts {
        queue_ns: mean(|o| o.io.issued_ns.saturating_sub(o.io.queued_ns)),
        wait_ns: mean(|o| o.parts.waited_ns),
        overhead_ns: mean(|o| o.parts.overhead_ns),
        bus_ns: mean(|o| o.parts.bus_ns),
        seek_ns: mean(|o| o.parts.seek_ns),
        rotation_ns: mean(|o| o.parts.rotation_ns),
        transfer_ns: mean(|o| o.parts.transfer_ns),
    }
}

/// What is kept of one simulation.
pub fn cell(drive: &Drive, options: &Configuration, run: &SimulatedTrace) -> SimulatedCell {
    let scheduler = SCHEDULERS.iter().find(|(_, known)| *known == options.scheduler);
    let (cache, destage, cache_bytes) = match options.disk.cache {
        WriteCache::None => ("none", None, None),
        WriteCache::Immediate => ("immediate", None, Some(drive.buffer.bytes)),
        WriteCache::Nvram { bytes, destage: Destage::Fcfs, .. } => {
            ("nvram", Some("fcfs"), Some(bytes))
        }
        WriteCache::Nvram { bytes, destage: Destage::Satf, .. } => {
            ("nvram", Some("satf"), Some(bytes))
        }
    };
    let sector = u64::from(drive.sector_bytes);
    SimulatedCell {
        write_amplification: None,
        scheduler: scheduler.map_or("", |(name, _)| name).to_owned(),
        cache: cache.to_owned(),
        destage: destage.map(str::to_owned),
        cache_bytes,
        read_ahead: options.disk.read_ahead,
        physical: operations(&run.rows, SimulatedRequest::physical_ns),
        elapsed: operations(&run.rows, SimulatedRequest::elapsed_ns),
        parts: parts(&run.rows),
        written_bytes: run.traffic.written * sector,
        absorbed_bytes: run.traffic.absorbed * sector,
        physical_distribution: distribution(
            run.rows.iter().map(SimulatedRequest::physical_ns).collect(),
        ),
    }
}

/// What is kept of a simulation against a solid-state drive: it has a write buffer of its own, and takes requests as they come.
pub fn flash_cell(model: &crate::ssd::Model, run: &SimulatedTrace) -> SimulatedCell {
    let (traffic, block) = (&run.traffic, 512);
    SimulatedCell {
        scheduler: "no host queue".to_owned(),
        cache: "write buffer".to_owned(),
        cache_bytes: Some(model.buffer_pages as u64 * model.page_blocks * block),
        physical: operations(&run.rows, SimulatedRequest::physical_ns),
        elapsed: operations(&run.rows, SimulatedRequest::elapsed_ns),
        parts: parts(&run.rows),
        written_bytes: traffic.written * block,
        absorbed_bytes: traffic.absorbed * block,
        write_amplification: (traffic.written > traffic.held)
            .then(|| traffic.destaged as f64 / (traffic.written - traffic.held) as f64),
        physical_distribution: distribution(
            run.rows.iter().map(SimulatedRequest::physical_ns).collect(),
        ),
        ..SimulatedCell::default()
    }
}

/// The agreement of a simulation with these options with the recorded times, for the device with most requests; `None` when the
/// trace has none.
pub fn busiest_agreement(
    drive: &Drive,
    jobs: &[Job],
    options: &Configuration,
) -> Option<SimulationAgreement> {
    let mut counts = std::collections::BTreeMap::new();
    for job in jobs {
        *counts.entry(job.disk).or_insert(0u64) += 1;
    }
    let (&disk, _) =
        counts.iter().max_by_key(|(disk, count)| (**count, std::cmp::Reverse(**disk)))?;
    let of_disk = |job: &Job| job.disk == disk;
    let mut one: Vec<Job> =
        jobs.iter().filter(|j| of_disk(j)).map(|j| Job { disk: 0, ..*j }).collect();
    let measured: Vec<u64> = one.iter().map(|j| j.io.physical_ns()).collect();
    if measured.iter().all(|&ns| ns == 0) {
        return None;
    }
    let run = simulate(drive, jobs, options);
    let rows = jobs.iter().zip(&run.rows).filter(|(job, _)| of_disk(job));
    let simulated: Vec<u64> = rows.map(|(_, row)| row.physical_ns()).collect();
    let free = agreement(&measured, &simulated);
    one.sort_by_key(|j| j.io.issued_ns);
    let (paired, _) = paired(drive, options.disk, &one);
    Some(SimulationAgreement {
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
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_keep_their_ends() {
        let points = distribution((1..=1000).collect());
        assert_eq!(points.first(), Some(&[1.0, 0.001]));
        assert_eq!(points.last(), Some(&[1000.0, 1.0]));
        assert!(points.len() <= DISTRIBUTION + 1);
        assert!(distribution(vec![]).is_empty());
    }
}
