//! Operations on names by many threads: files created, looked up, renamed, listed and removed, in
//! empty directories and in full ones.

use super::{Watch, begin_with};
use crate::worker::meter::ThreadTime;
use ioscape_machine::clock::{Clock, monotonic_ns};
use ioscape_machine::error::Error;
use ioscape_machine::limits::raise_open_files;
use ioscape_machine::parallel::on_threads;
use ioscape_machine::target::ScratchFolder;
use ioscape_schema::{CampaignSample, Counters, NameJob, NameOperation};
use rustix::fs::{AtFlags, Dir, Mode, OFlags, RawDir};
use std::fs::File;
use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Barrier;

/// Number of operations between two checks whether the user interrupted.
const LOOK_EVERY: u64 = 256;

/// Sizes of the files of a tree in bytes, used in turn: empty and small ones, as in source trees
/// and mail folders.
const TREE_SIZES: [usize; 8] = [0, 512, 1024, 2048, 4096, 4096, 8192, 32768];

/// The prefix of the names of the threads' own files.
const OWN: &str = "file-";

/// Buffer for directory entries in bytes: as large as the C library's.
const ENTRIES: usize = 32 << 10;

/// A directory of one thread or of all, held open: whoever owns the parent of our folder may put
/// another folder or a link in its place.
struct Home {
    path: PathBuf,
    open: OwnedFd,
}

/// The names of all directories, each once.
fn home_names(job: &NameJob) -> Vec<String> {
    match job.shared {
        true => vec!["all".to_owned()],
        false => (0..job.threads).map(|thread| format!("own-{thread}")).collect(),
    }
}

/// All directories that [`lay_out`] made: a thread's directory is at its number or, if there is
/// only one, first.
fn homes(folder: &ScratchFolder, job: &NameJob) -> Result<Vec<Home>, Error> {
    let open = |name: String| {
        let path = folder.path().join(&name);
        match rustix::fs::openat(folder.file(), &name, directory(), Mode::empty()) {
            Ok(open) => Ok(Home { path, open }),
            Err(error) => Err(Error::io("open", &path, error)),
        }
    };
    // Many systems allow only 1024 open files at first, and there may be as many threads.
    raise_open_files();
    home_names(job).into_iter().map(open).collect()
}

/// The flags for opening a directory.
fn directory() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

impl Home {
    /// Creates an empty file.
    fn create(&self, name: &str) -> io::Result<OwnedFd> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(&self.open, name, flags, Mode::from_raw_mode(0o600))?)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.open, name, AtFlags::empty())?)
    }

    /// Opens and reads the directory anew; returns the number of its entries without `.` and `..`.
    fn list(&self) -> io::Result<u64> {
        let mut buffer = [const { MaybeUninit::uninit() }; ENTRIES];
        let open = rustix::fs::openat(&self.open, ".", directory(), Mode::empty())?;
        let (mut entries, mut count) = (RawDir::new(open, &mut buffer), 0);
        while let Some(entry) = entries.next() {
            count += u64::from(!matches!(entry?.file_name().to_bytes(), b"." | b".."));
        }
        Ok(count)
    }
}

/// Creates the directories and the files in them. Then removes half of these, drawn at random, and
/// creates them again, as often as the job says.
///
/// # Errors
/// A file cannot be created, or the user interrupts.
pub(super) fn lay_out(folder: &ScratchFolder, job: &NameJob, watch: &Watch) -> Result<(), Error> {
    for name in home_names(job) {
        rustix::fs::mkdirat(folder.file(), &name, Mode::RWXU)
            .map_err(|e| Error::io("make", &folder.path().join(&name), e))?;
    }
    let homes = homes(folder, job)?;
    let place = |number: u64| {
        let home = &homes[number as usize % homes.len()];
        (home, format!("tree-{number}"))
    };
    let make = |number: u64| {
        if watch.is_interrupted() {
            return Err(Error::Interrupted);
        }
        let bytes = vec![7; TREE_SIZES[number as usize % TREE_SIZES.len()]];
        let (home, name) = place(number);
        let made = home.create(&name).and_then(|file| File::from(file).write_all(&bytes));
        made.map_err(|e| Error::io("make", &home.path.join(name), e))
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
            let (home, name) = place(number);
            home.remove(&name).map_err(|e| Error::io("remove", &home.path.join(name), e))?;
        }
        chosen.into_iter().try_for_each(make)?;
    }
    // Only this file system: others may be slow, or not answer.
    rustix::fs::syncfs(folder.file()).map_err(|e| Error::io("write back", folder.path(), e))
}

/// What one thread did.
struct Done {
    counters: Counters,
    ends_ns: [u64; 2],
    cpu_ns: u64,
}

/// Runs the job in the directories that [`lay_out`] made, and leaves them as they were.
///
/// # Errors
/// An operation fails, or the user interrupts.
pub(super) fn run(
    folder: &ScratchFolder,
    job: &NameJob,
    watch: &Watch,
) -> Result<CampaignSample, Error> {
    let failed = |e: io::Error| match e.kind() {
        io::ErrorKind::Interrupted => Error::Interrupted,
        _ => Error::io("work on names in", folder.path(), e),
    };
    let homes = homes(folder, job)?;
    let clock = Clock::new();
    let start = Barrier::new(job.threads as usize);
    let one = |thread: u32| {
        let home = &homes[thread as usize % homes.len()];
        Task::new(home, job, thread).run(&start, &clock, watch)
    };
    let threads = on_threads(0..job.threads, one, || ()).and_then(|(threads, ())| {
        let panicked = |_| Err(io::Error::other("a thread panicked"));
        let done = threads.into_iter().map(|one| one.unwrap_or_else(panicked));
        done.collect::<io::Result<Vec<Done>>>()
    });
    let removed = homes.iter().try_for_each(|home| remove_own(home, watch));
    let all = threads.map_err(failed)?;
    removed.map_err(failed)?;
    let mut counters = Counters::new();
    all.iter().for_each(|one| counters.merge(&one.counters));
    let began_ns = all.iter().map(|one| one.ends_ns[0]).min().unwrap_or(0);
    let ended_ns = all.iter().map(|one| one.ends_ns[1]).max().unwrap_or(0);
    Ok(CampaignSample {
        elapsed_s: ended_ns.saturating_sub(began_ns) as f64 / 1e9,
        // Directory entries are counted in the bytes of a call.
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

/// Fails once the user interrupts. It is called before each operation but checks only before some,
/// by `number`.
fn look(watch: &Watch, number: u64) -> io::Result<()> {
    match number.is_multiple_of(LOOK_EVERY) && watch.is_interrupted() {
        true => Err(io::ErrorKind::Interrupted.into()),
        false => Ok(()),
    }
}

/// Removes the files that the threads created and left.
fn remove_own(home: &Home, watch: &Watch) -> io::Result<()> {
    for (number, entry) in (0..).zip(Dir::read_from(&home.open)?) {
        look(watch, number)?;
        let entry = entry?;
        if entry.file_name().to_bytes().starts_with(OWN.as_bytes()) {
            rustix::fs::unlinkat(&home.open, entry.file_name(), AtFlags::empty())?;
        }
    }
    Ok(())
}

/// One thread's share of the work.
struct Task<'a> {
    job: &'a NameJob,
    home: &'a Home,
    names: Vec<String>,
}

impl<'a> Task<'a> {
    fn new(home: &'a Home, job: &'a NameJob, thread: u32) -> Self {
        let names = (0..job.entries).map(|n| format!("{OWN}{thread}-{n}")).collect();
        Self { job, home, names }
    }

    fn run(&self, start: &Barrier, clock: &Clock, watch: &Watch) -> io::Result<Done> {
        let make = |(number, name): (u64, &String)| {
            look(watch, number).and_then(|()| self.home.create(name).map(drop))
        };
        let made = match self.job.operation {
            NameOperation::Create => Ok(()),
            _ => (0..).zip(&self.names).try_for_each(make),
        };
        // All threads come to the start, even if their files failed; otherwise, the others would
        // wait forever.
        let is_one = start.wait().is_leader();
        if let Some(others) = watch.together.as_deref() {
            if is_one {
                begin_with(others, watch);
            }
            start.wait();
        }
        made?;
        let mut counters = Counters::new();
        let (began_ns, before) = (monotonic_ns(), ThreadTime::now());
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
        Ok(Done { counters, ends_ns: [began_ns, monotonic_ns()], cpu_ns: user_ns + system_ns })
    }

    /// Carries out one operation; returns the number of entries that it read.
    fn one(&self, name: &str) -> io::Result<u64> {
        let home = &self.home.open;
        match self.job.operation {
            NameOperation::Create => drop(self.home.create(name)?),
            NameOperation::Stat => {
                rustix::fs::statat(home, name, AtFlags::SYMLINK_NOFOLLOW)?;
            }
            NameOperation::Rename => {
                rustix::fs::renameat(home, name, home, format!("{name}.new"))?;
            }
            NameOperation::Unlink => self.home.remove(name)?,
            NameOperation::List => return self.home.list(),
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn job(operation: NameOperation, shared: bool) -> NameJob {
        NameJob { operation, threads: 3, entries: 40, shared, tree_files: 20, tree_churn: 2 }
    }

    /// The names of the files in all directories.
    fn files(folder: &ScratchFolder, job: &NameJob) -> Vec<String> {
        let all = home_names(job).into_iter().map(|name| fs::read_dir(folder.path().join(name)));
        let all = all.flat_map(Result::unwrap).map(Result::unwrap);
        all.map(|entry| entry.file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn every_operation_is_done_and_leaves_the_tree_as_it_was() {
        for shared in [false, true] {
            let place = tempfile::tempdir().unwrap();
            let folder = ScratchFolder::new_in(place.path()).unwrap();
            let watch = Watch::default();
            lay_out(&folder, &job(NameOperation::Create, shared), &watch).unwrap();
            let left = || files(&folder, &job(NameOperation::Create, shared)).len();
            assert_eq!(left(), 20, "as many as before, though half were made again");
            for (word, operation) in NameOperation::ALL {
                let sample = run(&folder, &job(operation, shared), &watch).unwrap();
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
        let place = tempfile::tempdir().unwrap();
        let folder = ScratchFolder::new_in(place.path()).unwrap();
        let watch = Watch::default();
        let job = job(NameOperation::Stat, true);
        lay_out(&folder, &job, &watch).unwrap();
        watch.interrupt.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(matches!(run(&folder, &job, &watch), Err(Error::Interrupted)));
        let begun = files(&folder, &job).iter().any(|name| name.starts_with(OWN));
        assert!(!begun, "nothing was begun after the interrupt");
    }

    /// Whoever owns the parent of the folder may move the folder away and put something else there.
    #[test]
    fn what_is_put_in_the_place_of_our_folder_or_of_a_part_of_it_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        let [other, away] = ["other", "away"].map(|name| place.path().join(name));
        let precious = other.join("own-0/file-0-0");
        fs::create_dir_all(precious.parent().unwrap()).unwrap();
        fs::write(&precious, "precious").unwrap();
        let folder = ScratchFolder::new_in(place.path()).unwrap();
        let (job, watch) = (job(NameOperation::Create, false), Watch::default());
        lay_out(&folder, &job, &watch).unwrap();
        fs::rename(folder.path(), &away).unwrap();
        std::os::unix::fs::symlink(&other, folder.path()).unwrap();
        run(&folder, &job, &watch).unwrap();
        assert_eq!(fs::read(&precious).unwrap(), b"precious");
        let own = away.join("own-0");
        fs::write(own.join("of-another"), "x").unwrap();
        run(&folder, &job, &watch).unwrap();
        assert!(own.join("of-another").exists(), "it is none of ours");
        fs::remove_dir_all(&own).unwrap();
        std::os::unix::fs::symlink(other.join("own-0"), &own).unwrap();
        assert!(run(&folder, &job, &watch).is_err());
        assert_eq!(fs::read(&precious).unwrap(), b"precious");
        fs::remove_dir_all(&away).unwrap();
        fs::remove_file(folder.path()).unwrap();
    }
}
