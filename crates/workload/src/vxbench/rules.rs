//! Contradictory options in a `vxbench` job: refused before anything is opened.

use super::error::VxError;
use ioscape_schema::{VxJob, VxWorkload};

/// The most requests in flight per stream.
pub const QUEUE_DEPTH_MAX: u32 = 4096;

/// Refuses a job with contradictory options.
///
/// # Errors
/// The first contradiction, with what to leave out.
pub fn validate(job: &VxJob) -> Result<(), VxError> {
    for rule in [reading, seeing, mapping, caching, atomic, deep, extending, space] {
        rule(job)?;
    }
    Ok(())
}

fn refuse(broken: bool, sentence: impl FnOnce() -> String) -> Result<(), VxError> {
    if broken { Err(VxError::Contradiction(sentence())) } else { Ok(()) }
}

/// Reads never write; options for other workloads are refused.
fn reading(job: &VxJob) -> Result<(), VxError> {
    let workload = job.workload;
    let changes = [
        (job.append, "-o append"),
        (job.trunc, "-o trunc"),
        (job.fsync, "-i fsync"),
        (job.truncup.is_some(), "-i truncup"),
        (job.reserve_only, "-i reserveonly"),
        (job.extsize.is_some(), "-e"),
        (job.reservation.is_some(), "-r"),
    ];
    let change = changes.into_iter().find(|(given, _)| *given && !workload.writes());
    refuse(change.is_some(), || {
        let word = change.map_or("", |(_, word)| word);
        format!("{word} changes the file, but {workload} only reads: leave one of them out")
    })?;
    let random = VxWorkload::RandMixed;
    refuse(job.rdpct != 50 && workload != random, || {
        format!("rdpct is the share of reads in {random}, but the workload is {workload}")
    })?;
    let limited = job.max_file_size.is_some() || job.truncup.is_some();
    refuse(limited && !workload.is_random() && workload != VxWorkload::MmapWrite, || {
        format!(
            "maxfilesize and truncup are for random I/O, but {workload} is sequential: give iocount"
        )
    })
}

/// Options for writes and random choices have no effect on sequential reads.
fn seeing(job: &VxJob) -> Result<(), VxError> {
    let workload = job.workload;
    if workload.writes() || workload.is_mapped() {
        return Ok(());
    }
    let words = [
        (job.sync, "-o sync"),
        (job.dsync, "-c dsync"),
        (job.rand_seed != 1 && !workload.is_random(), "-i randseed"),
    ];
    let word = words.into_iter().find(|(given, _)| *given);
    refuse(word.is_some(), || {
        let word = word.map_or("", |(_, word)| word);
        format!("{word} does nothing to {workload}: leave it out")
    })
}

fn mapping(job: &VxJob) -> Result<(), VxError> {
    let words = [
        (job.direct, "-c direct"),
        (job.direct_above.is_some(), "--direct-above"),
        (job.dsync, "-c dsync"),
        (job.sync, "-o sync"),
        (job.append, "-o append"),
    ];
    let word = words.into_iter().find(|(given, _)| *given && job.workload.is_mapped());
    refuse(word.is_some(), || {
        let word = word.map_or("", |(_, word)| word);
        format!(
            "{word} has no meaning for {}, which moves data by loads and stores: leave it out",
            job.workload
        )
    })
}

fn caching(job: &VxJob) -> Result<(), VxError> {
    refuse(job.random && job.seq, || {
        "-c random and -c seq contradict each other: choose one".to_owned()
    })?;
    refuse(job.direct && job.direct_above.is_some(), || {
        "-c direct makes every request direct and --direct-above only the large ones: choose one"
            .to_owned()
    })?;
    refuse(job.direct && job.noreuse, || {
        "-c noreuse is about the file cache, which -c direct bypasses: choose one".to_owned()
    })
}

/// The kernel's rules for atomic writes: direct, of a power of two, at multiples of their size.
fn atomic(job: &VxJob) -> Result<(), VxError> {
    if !job.atomic {
        return Ok(());
    }
    refuse(!job.workload.writes() || job.workload.is_mapped(), || {
        format!("-c atomic is about writes by request, but the workload is {}", job.workload)
    })?;
    refuse(!job.direct, || {
        "the kernel takes atomic writes only past the file cache: give -c direct,atomic".to_owned()
    })?;
    refuse(!job.iosize.is_power_of_two(), || {
        format!("atomic writes have the size of a power of two, but iosize is {}", job.iosize)
    })?;
    refuse(job.append, || {
        "with -o append the places of writes need not be multiples of their size, as -c atomic needs it: leave one out".to_owned()
    })
}

/// Rules for several requests in flight.
fn deep(job: &VxJob) -> Result<(), VxError> {
    let Some(depth) = job.queue_depth else { return Ok(()) };
    refuse(!(1..=QUEUE_DEPTH_MAX).contains(&depth), || {
        format!("--queue-depth is {depth}: from 1 to {QUEUE_DEPTH_MAX} are possible")
    })?;
    let words = [
        (job.workload.is_mapped(), "a mapping has no requests"),
        (job.append, "with -o append the places of requests in flight would be left to chance"),
        (job.noreuse, "-c noreuse is for one request at a time"),
        (job.atomic, "-c atomic is for one request at a time"),
        (job.direct_above.is_some(), "--direct-above would need a ring for either way"),
    ];
    let word = words.into_iter().find(|(given, _)| *given).map(|(_, why)| why);
    refuse(word.is_some(), || format!("--queue-depth is not possible here: {}", word.unwrap_or("")))
}

fn extending(job: &VxJob) -> Result<(), VxError> {
    refuse(job.append && job.workload != VxWorkload::Write, || {
        format!("-o append is for write: {} has places of its own", job.workload)
    })?;
    refuse(job.append && job.noextend, || {
        "-o append extends the file, which -f noextend forbids: choose one".to_owned()
    })?;
    refuse((job.append || job.trunc) && job.workload == VxWorkload::MmapWrite, || {
        "mmap_write overwrites existing data, so the file cannot be emptied first".to_owned()
    })
}

fn space(job: &VxJob) -> Result<(), VxError> {
    let flags = [
        (job.chgsize, "chgsize"),
        (job.contig, "contig"),
        (job.noextend, "noextend"),
        (job.noreserve, "noreserve"),
        (job.trim, "trim"),
    ];
    let flag = flags.into_iter().find(|(given, _)| *given && job.reservation.is_none());
    refuse(flag.is_some(), || {
        let flag = flag.map_or("", |(_, flag)| flag);
        format!("-f {flag} is about a reservation: give its size with -r")
    })?;
    refuse(job.chgsize && (job.trim || job.noreserve), || {
        "-f chgsize gives the file all of its reservation, so that -f trim and noreserve have nothing to give back: choose one"
            .to_owned()
    })?;
    refuse(job.align && job.reservation.is_none() && job.extsize.is_none(), || {
        "-f align is about extents: give a reservation (-r) or an extent size (-e)".to_owned()
    })?;
    refuse(job.reserve_only && job.reservation.is_none(), || {
        "-i reserveonly needs the size to reserve: give -r".to_owned()
    })?;
    let end = job.span_bytes().filter(|_| job.workload == VxWorkload::Write);
    let past = end.zip(job.reservation).filter(|(end, reserved)| end > reserved);
    refuse(job.noextend && past.is_some(), || {
        let (end, reserved) = past.unwrap_or_default();
        format!(
            "the writes end at byte {end}, past the reservation of {reserved} bytes, which -f noextend forbids"
        )
    })
}
