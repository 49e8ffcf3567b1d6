//! Operations on names by many threads: files made, looked up, renamed, listed and removed, in empty directories and in full ones.

use super::{Watch, begin_with};
use crate::worker::meter::ThreadTime;
use ioscape_machine::clock::Clock;
use ioscape_machine::error::Error;
use ioscape_machine::parallel::on_threads;
use ioscape_schema::{CampaignSample, Counters, NameJob, NameOperation};
use rustix::fs::{CWD, Mode, OFlags};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Barrier;

/// Operations between two looks at whether the user interrupted.
const LOOK_EVERY: u64 = 256;

/// Bytes of the files of a tree, in turns: empty ones and small ones, as in trees of sources and mail.
const TREE_SIZES: [usize; 8] = [0, 512, 1024, 2048, 4096, 4096, 8192, 32768];

/// The directory of a thread.
fn home(folder: &Path, job: &NameJob, thread: u32) -> PathBuf {
    folder.join(if job.shared { "all".to_owned() } else { format!("own-{thread}") })
}

/// All directories, each once.
fn homes(folder: &Path, job: &NameJob) -> Vec<PathBuf> {
    let count = if job.shared { 1 } else { job.threads };
    (0..count).map(|thread| home(folder, job, thread)).collect()
}

/// Makes the directories, and the files that lie in them beforehand; half of these, drawn at random, are removed and made again as often
/// as the job says.
///
/// # Errors
/// A file cannot be made, or the user interrupts.
pub(super) fn lay_out(folder: &Path, job: &NameJob, watch: &Watch) -> Result<(), Error> {
    let homes = homes(folder, job);
    for home in &homes {
        fs::create_dir(home).map_err(|e| Error::io("make", home, e))?;
    }
    let path = |number: u64| homes[number as usize % homes.len()].join(format!("tree-{number}"));
    let make = |number: u64| {
        if watch.is_interrupted() {
            return Err(Error::Interrupted);
        }
        let bytes = vec![7; TREE_SIZES[number as usize % TREE_SIZES.len()]];
        fs::write(path(number), bytes).map_err(|e| Error::io("make", &path(number), e))
    };
    (0..job.tree_files).try_for_each(make)?;
    let mut state = 1u64;
    for _ in 0..job.tree_churn {
        let chosen = (0..job.tree_files).filter(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 63 == 1
        });
        let chosen: Vec<u64> = chosen.collect();
        for &number in &chosen {
            if watch.is_interrupted() {
                return Err(Error::Interrupted);
            }
            fs::remove_file(path(number)).map_err(|e| Error::io("remove", &path(number), e))?;
        }
        chosen.into_iter().try_for_each(make)?;
    }
    // This file system alone: others may be slow, or not answer.
    let all = fs::File::open(folder).map_err(|e| Error::io("open", folder, e))?;
    rustix::fs::syncfs(&all).map_err(|e| Error::io("write back", folder, e))
}

/// What one thread did.
struct Done {
    counters: Counters,
    ends: [u64; 2],
    cpu_ns: u64,
}

/// Runs the job in directories that [`lay_out`] made, and leaves them as they were.
///
/// # Errors
/// An operation fails, or the user interrupts.
pub(super) fn run(folder: &Path, job: &NameJob, watch: &Watch) -> Result<CampaignSample, Error> {
    let failed = |e: io::Error| match e.kind() {
        io::ErrorKind::Interrupted => Error::Interrupted,
        _ => Error::io("work on names in", folder, e),
    };
    let clock = Clock::new();
    let start = Barrier::new(job.threads as usize);
    let one = |thread| Task::new(folder, job, thread).run(&start, &clock, watch);
    let threads = on_threads(0..job.threads, one, || ()).and_then(|(threads, ())| {
        let panicked = |_| Err(io::Error::other("a thread panicked"));
        let done = threads.into_iter().map(|one| one.unwrap_or_else(panicked));
        done.collect::<io::Result<Vec<Done>>>()
    });
    let removed = homes(folder, job).iter().try_for_each(|home| remove_own(home, watch));
    let all = threads.map_err(failed)?;
    removed.map_err(failed)?;
    let mut counters = Counters::new();
    all.iter().for_each(|one| counters.merge(&one.counters));
    let began = all.iter().map(|one| one.ends[0]).min().unwrap_or(0);
    let ended = all.iter().map(|one| one.ends[1]).max().unwrap_or(0);
    Ok(CampaignSample {
        elapsed_s: clock.nanos_between(began, ended) as f64 / 1e9,
        // Entries of directories are counted as the bytes of a call.
        operations: Some(if job.operation == NameOperation::List {
            counters.bytes
        } else {
            counters.ios
        }),
        cpu_s: all.iter().map(|one| one.cpu_ns).sum::<u64>() as f64 / 1e9,
        response_time_ns: (counters.ios > 0).then(|| counters.response_time()),
        ..CampaignSample::default()
    })
}

/// Fails once the user interrupts; asked before operation `number`, but not before every one.
fn look(watch: &Watch, number: u64) -> io::Result<()> {
    match number.is_multiple_of(LOOK_EVERY) && watch.is_interrupted() {
        true => Err(io::ErrorKind::Interrupted.into()),
        false => Ok(()),
    }
}

/// Removes what the threads made and left.
fn remove_own(home: &Path, watch: &Watch) -> io::Result<()> {
    for (number, entry) in (0..).zip(fs::read_dir(home)?) {
        look(watch, number)?;
        let entry = entry?;
        if !entry.file_name().to_string_lossy().starts_with("tree-") {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// One thread's share.
struct Task<'a> {
    job: &'a NameJob,
    home: PathBuf,
    names: Vec<PathBuf>,
}

impl<'a> Task<'a> {
    fn new(folder: &Path, job: &'a NameJob, thread: u32) -> Self {
        let home = home(folder, job, thread);
        let names = (0..job.entries).map(|n| home.join(format!("file-{thread}-{n}"))).collect();
        Self { job, home, names }
    }

    fn run(&self, start: &Barrier, clock: &Clock, watch: &Watch) -> io::Result<Done> {
        let make =
            |(number, name): (u64, &PathBuf)| look(watch, number).and_then(|()| create(name));
        let made = match self.job.operation {
            NameOperation::Create => Ok(()),
            _ => (0..).zip(&self.names).try_for_each(make),
        };
        // All come to the start, whatever became of their files, or the others would wait for ever.
        let is_one = start.wait().is_leader();
        if let Some(others) = watch.together.as_deref() {
            if is_one {
                begin_with(others, watch);
            }
            start.wait();
        }
        made?;
        let mut counters = Counters::new();
        let (began, before) = (clock.raw(), ThreadTime::now());
        for (number, name) in (0..).zip(&self.names) {
            look(watch, number)?;
            let issued = clock.raw();
            let entries = self.one(name)?;
            counters.add(entries, clock.nanos_between(issued, clock.raw()));
            if self.job.operation == NameOperation::List && counters.bytes >= self.job.entries {
                break;
            }
        }
        let [user_ns, system_ns] = ThreadTime::now().since(before);
        Ok(Done { counters, ends: [began, clock.raw()], cpu_ns: user_ns + system_ns })
    }

    /// One operation; gives the entries that it read.
    fn one(&self, name: &Path) -> io::Result<u64> {
        match self.job.operation {
            NameOperation::Create => create(name)?,
            NameOperation::Stat => {
                fs::symlink_metadata(name)?;
            }
            NameOperation::Rename => fs::rename(name, name.with_extension("new"))?,
            NameOperation::Unlink => fs::remove_file(name)?,
            NameOperation::List => {
                let entries = fs::read_dir(&self.home)?;
                return entries.map(|entry| entry.map(|_| 1)).sum();
            }
        }
        Ok(0)
    }
}

fn create(name: &Path) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    drop(rustix::fs::openat(CWD, name, flags, Mode::from_raw_mode(0o600))?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(operation: NameOperation, shared: bool) -> NameJob {
        NameJob { operation, threads: 3, entries: 40, shared, tree_files: 20, tree_churn: 2 }
    }

    #[test]
    fn every_operation_is_done_and_leaves_the_tree_as_it_was() {
        for shared in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let watch = Watch::default();
            lay_out(folder.path(), &job(NameOperation::Create, shared), &watch).unwrap();
            let left = || -> usize {
                let homes = homes(folder.path(), &job(NameOperation::Create, shared));
                homes.iter().map(|home| fs::read_dir(home).unwrap().count()).sum()
            };
            assert_eq!(left(), 20, "as many as before, though half were made again");
            for (word, operation) in NameOperation::ALL {
                let sample = run(folder.path(), &job(operation, shared), &watch).unwrap();
                let count = sample.operations.unwrap();
                let listed = operation == NameOperation::List;
                assert!(count == 120 || listed && count >= 120, "{word}: {count}");
                assert!(sample.elapsed_s > 0.0 && sample.rate() > 0.0);
                assert!(sample.response_time_ns.unwrap().max > 0);
                assert_eq!(left(), 20, "{word}");
            }
        }
    }

    #[test]
    fn an_interrupt_ends_the_work() {
        let folder = tempfile::tempdir().unwrap();
        let watch = Watch::default();
        let job = job(NameOperation::Stat, true);
        lay_out(folder.path(), &job, &watch).unwrap();
        watch.interrupt.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(matches!(run(folder.path(), &job, &watch), Err(Error::Interrupted)));
        let own = fs::read_dir(home(folder.path(), &job, 0)).unwrap().flatten();
        let own = own.filter(|one| one.file_name().to_string_lossy().starts_with("file-"));
        assert_eq!(own.count(), 0, "nothing was begun after the interrupt");
    }
}
