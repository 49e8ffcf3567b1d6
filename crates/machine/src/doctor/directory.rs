//! Abilities of a directory: a scratch file, space, direct I/O, preallocation, and a view of the
//! file cache.

use super::workers;
use crate::arrays;
use crate::cache;
use crate::cgroup::{Traffic, enclosing_limit};
use crate::error::Error;
use crate::layers::{cached_below, disks_below, io_limits};
use crate::limits::file_size;
use crate::memory::memory;
use crate::output::tell_leftovers;
use crate::target::{Target, TargetOptions};
use crate::terminal;
use crate::traps::traps;
use ioscape_schema::units::Bytes;
use ioscape_schema::{Access, Check, CheckState, Warning, WarningKind};
use rustix::fs::{FallocateFlags, StatVfs, StatVfsMountFlags};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes written by each trial.
const TRIAL: usize = 64 << 10;
/// Memory alignment that every device accepts.
const ALIGN: usize = 4096;
/// Free space, in bytes, below which no sensible measurement is possible.
const SPACE_LEAST: u64 = 64 << 20;
/// Multiple of the memory size at which a set shows the storage behind the file cache.
const MEMORIES: u64 = 4;
/// Recommended memory limit if space allows, and the smallest one, in bytes.
const LIMIT_USUAL: u64 = 512 << 20;
const LIMIT_LEAST: u64 = 32 << 20;

/// Returns the checks, given the state of control groups; without a scratch file only the first
/// one.
pub fn checks(directory: &Path, control_groups: CheckState) -> Vec<Check> {
    let options = TargetOptions { destroy_data: false, write_needed: true };
    let opened = match directory.is_dir() {
        true => Target::open(directory, &options),
        false => Err(Error::target(directory, "is no directory: name one for `doctor`")),
    };
    let target = match opened.and_then(written) {
        Ok(target) => {
            tell_leftovers(target.leftovers(), terminal::tell);
            target
        }
        Err(error) => return vec![scratch_file(directory, Err(&error))],
    };
    // Direct writes drop what was written before.
    let (cached, direct) = (cached(&target), direct(&target));
    let (system, disks) = (target.file_system(), disks_below(target.file_system()));
    let always = [
        scratch_file(directory, Ok(&target)),
        workers::check(&target),
        space(&target, control_groups, direct.state),
        direct,
        io_limit(io_limits(system, &disks, Traffic::ALL), cached_below(system, &disks)),
        fallocate(&target),
        cached,
    ];
    always.into_iter().chain(array(arrays::doubts_among(system, &disks))).collect()
}

/// Returns the check of the arrays below a target, if there are `doubts` about them.
fn array(doubts: Vec<Warning>) -> Option<Check> {
    let told: Vec<String> = doubts.into_iter().map(|doubt| doubt.message).collect();
    let check = Check::works("array", "the speed of all its drives", told.join("; "));
    let advice = "measure when the array is whole and idle";
    (!told.is_empty()).then(|| check.but(CheckState::Limited, advice))
}

/// Returns the target with its first page written: not every file system that makes files takes
/// writes (hugetlbfs).
fn written(target: Target) -> Result<Target, Error> {
    match target.file().write_all_at(&[0; ALIGN], 0) {
        Ok(()) => Ok(target),
        Err(error) => Err(Error::io_at("write", target.path(), 0, error)),
    }
}

fn scratch_file(directory: &Path, target: Result<&Target, &Error>) -> Check {
    let check = |found: String| Check {
        required: true,
        ..Check::works("scratch file", "every measurement in a directory", found)
    };
    match target {
        Ok(target) => {
            let system = target.file_system();
            check(format!("made, written and removed on {}", system.name))
        }
        Err(error) => check(error.to_string()).but(CheckState::Missing, advice_instead(directory)),
    }
}

/// Returns the advice where no scratch file can be made or written.
fn advice_instead(directory: &Path) -> &'static str {
    let is_locked = |state: StatVfs| state.f_flag.contains(StatVfsMountFlags::RDONLY);
    match rustix::fs::statvfs(directory).is_ok_and(is_locked) {
        true => {
            "read a file of this read-only file system as it is: ioscape vxbench -w read FILE; or name a directory that you may write to: ioscape doctor DIR"
        }
        false => "name a directory that you may write to: ioscape doctor DIR",
    }
}

fn space(target: &Target, control_groups: CheckState, direct: CheckState) -> Check {
    let free = target.free_bytes();
    let memory = memory().total.min(enclosing_limit().unwrap_or(u64::MAX));
    let found = format!("{} free, {} of memory", Bytes(free as f64), Bytes(memory as f64));
    let check = Check {
        required: true,
        ..Check::works("free space", "sets larger than the file cache", found)
    };
    if free < SPACE_LEAST {
        return check.but(CheckState::Missing, "free some space, or name another directory");
    }
    if let Some(by) = target.in_memory() {
        let advice = format!(
            "files lie in memory here ({by}) and nowhere else: name a directory on a disk to measure storage"
        );
        return check.but(CheckState::Limited, &advice);
    }
    let (capacity, system) = (target.capacity_bytes(), target.file_system());
    match system.is_dax() || outgrows(capacity, memory) {
        true => check,
        false if capacity == file_size() => {
            let most = Bytes(capacity as f64);
            let advice = format!("files may have at most {most} (ulimit -f): raise that limit");
            check.but(CheckState::Limited, &advice)
        }
        false => {
            let advice = smaller_cache(capacity, system.own_cache(), control_groups, direct);
            check.but(CheckState::Limited, &advice)
        }
    }
}

/// Returns whether sets of up to `capacity` bytes exceed a file cache of `memory` bytes enough to
/// show the storage behind it.
fn outgrows(capacity: u64, memory: u64) -> bool {
    capacity >= memory.saturating_mul(MEMORIES)
}

/// Returns advice if sets of up to `capacity` bytes cannot exceed the file cache: the setting of the
/// file system's `own` cache, or a memory limit that they do exceed, if there is one, and direct I/O
/// where it works.
fn smaller_cache(
    capacity: u64,
    own: Option<&str>,
    control_groups: CheckState,
    direct: CheckState,
) -> String {
    let limit = (capacity / MEMORIES).min(LIMIT_USUAL).checked_ilog2().map_or(0, |log| 1 << log);
    let is_limit = own.is_none() && limit >= LIMIT_LEAST;
    let way = match own {
        Some(setting) => format!("make the file system's own cache smaller ({setting})"),
        None if is_limit => format!("make the cache smaller with --memory {}M", limit >> 20),
        None => "free some space".to_owned(),
    };
    let is_refused = is_limit && control_groups == CheckState::Missing;
    let needs = if is_refused { ", which needs control groups (see below)" } else { "" };
    let or = if direct == CheckState::Works { ", or use --direct" } else { "" };
    format!("sets stay below four times the memory: {way}{needs}{or}")
}

fn direct(target: &Target) -> Check {
    let check = |found: String| Check::works("direct I/O", "--direct", found);
    let doubts = traps(target, Traffic::ALL);
    let is_of_cache =
        |kind| matches!(kind, WarningKind::DirectWithoutDevice | WarningKind::Unsupported);
    match write_directly(target) {
        Ok(()) => {
            let check = check(match target.direct_align() {
                Some(align) => format!("64 KiB written with O_DIRECT, alignment {align} bytes"),
                None => "64 KiB written with O_DIRECT".to_owned(),
            });
            match doubts.iter().find(|doubt| is_of_cache(doubt.kind)) {
                Some(doubt) => check.but(CheckState::Limited, &doubt.message),
                None => check,
            }
        }
        Err(why) => check(why).but(
            CheckState::Missing,
            "leave out --direct here, or name a directory on a local disk",
        ),
    }
}

/// Returns the check of what limits I/O, where a loop device may serve requests from a cache.
fn io_limit(limits: Option<String>, cached_by: Option<String>) -> Check {
    let check = |found: &str| Check::works("I/O limit", "the speed of the device", found);
    match limits.as_deref() {
        None => check("not all control groups that could limit I/O show here").but(
            CheckState::Limited,
            "mount them in /sys/fs/cgroup; in a container, ask who runs it for limits on I/O",
        ),
        Some("") => check("no control group limits I/O here"),
        Some(limits) => {
            let advice = match cached_by {
                Some(by) => format!(
                    "a control group limits I/O, but a loop device ({by}) may serve even direct I/O faster, from the file cache: attach its file with losetup --direct-io=on, and run outside of that group to measure the device"
                ),
                None => "a control group limits I/O, and such direct I/O is no faster than that: run outside of that group to measure the device".to_owned(),
            };
            check(limits).but(CheckState::Limited, &advice)
        }
    }
}

fn write_directly(target: &Target) -> Result<(), String> {
    let file = target.open_file(Access::Direct, true).map_err(|e| e.to_string())?;
    let memory = vec![0_u8; TRIAL + ALIGN];
    let start = memory.as_ptr().align_offset(ALIGN);
    file.write_all_at(&memory[start..start + TRIAL], 0)
        .map_err(|e| format!("a write with O_DIRECT failed: {e}"))
}

fn fallocate(target: &Target) -> Check {
    let check = |found: String| Check::works("fallocate", "`vxbench` with reserved space", found);
    match rustix::fs::fallocate(target.file(), FallocateFlags::empty(), 0, TRIAL as u64) {
        Ok(()) => check("64 KiB reserved".to_owned()),
        Err(error) => check(io::Error::from(error).to_string()).but(
            CheckState::Missing,
            "files are written instead of reserved; no other command needs it",
        ),
    }
}

fn cached(target: &Target) -> Check {
    let check =
        |found: &str| Check::works("file cache", "telling cached from uncached reads", found);
    match cache::resident_bytes(target.file(), 0, ALIGN as u64) {
        _ if target.file_system().is_dax() => {
            check("files are memory of the device itself (DAX), with no file cache")
        }
        Some(bytes) if bytes > 0 => check("the kernel tells which pages of a file are cached"),
        Some(_) => check("a page that was just written is not counted as cached").but(
            CheckState::Limited,
            "cached and uncached reads are distinguished by throughput alone",
        ),
        None => check("the kernel does not tell which pages of a file are cached").but(
            CheckState::Missing,
            "cached and uncached reads are distinguished by throughput alone",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{build_directory, in_child, skipped, with_mount};
    use rustix::process::{Resource, Rlimit, setrlimit};

    #[test]
    fn a_directory_is_tried_and_left_empty() {
        let dir = tempfile::tempdir().unwrap();
        let found = checks(dir.path(), CheckState::Works);
        assert_eq!(found.len(), 7);
        assert_eq!((found[0].name.as_str(), found[0].state), ("scratch file", CheckState::Works));
        assert!(
            found.iter().all(|check| (check.state == CheckState::Works) != check.advice.is_some())
        );
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    /// Once, hugetlbfs could be measured, which takes no writes, and nothing could on a read-only
    /// file system, whose files `vxbench` reads.
    #[test]
    fn where_no_file_can_be_written_is_told_with_what_to_do_instead() {
        let dir = tempfile::tempdir().unwrap();
        let told = |words: &[&str], instead: &str| {
            with_mount(words, &[dir.path()], || {
                let found = checks(dir.path(), CheckState::Works);
                assert_eq!((found.len(), found[0].state), (1, CheckState::Missing), "{found:?}");
                assert!(found[0].advice.as_ref().unwrap().starts_with(instead), "{found:?}");
            });
        };
        told(&["-t", "hugetlbfs", "hugetlbfs"], "name a directory");
        told(&["-t", "tmpfs", "-o", "ro", "tmpfs"], "read a file of this read-only file system");
    }

    #[test]
    fn a_limit_of_file_sizes_is_told() {
        let told = in_child(|| {
            let most = Rlimit { current: Some(1 << 20), maximum: None };
            let is_limited = setrlimit(Resource::Fsize, most).is_ok();
            let target = Target::open(&build_directory(), &TargetOptions::default()).unwrap();
            let found = space(&target, CheckState::Works, CheckState::Works);
            let is_told = found.advice.is_some_and(|advice| advice.contains("1 MiB (ulimit -f)"));
            i32::from(is_limited && (is_told || target.in_memory().is_some()))
        });
        assert_eq!(told, Some(1));
    }

    #[test]
    fn a_limit_of_io_is_told_where_it_is_known() {
        let check = |limits: Option<&str>, by: Option<&str>| {
            io_limit(limits.map(str::to_owned), by.map(str::to_owned))
        };
        let state = |limits| check(limits, None).state;
        assert_eq!(state(Some("")), CheckState::Works);
        assert_eq!(state(Some("sda: reads up to 20 MB/s")), CheckState::Limited);
        assert_eq!(state(None), CheckState::Limited);
        let holds = |by| {
            let advice = check(Some("sda: reads up to 20 MB/s"), by).advice.unwrap_or_default();
            advice.contains("no faster than that")
        };
        assert_eq!([holds(None), holds(Some("loop0 on /image"))], [true, false]);
    }

    /// Free space of eight times the memory suffices if half of it may be used, but not if a third
    /// may.
    #[test]
    fn it_is_the_part_of_the_free_space_that_sets_may_take_that_must_outgrow_memory() {
        let (free, memory) = (24 << 30, 3 << 30);
        assert!(outgrows(free / 2, memory) && !outgrows(free / 3, memory));
        assert!(!outgrows(u64::MAX - 1, u64::MAX));
    }

    /// Guards against recommending a limit of 512 MiB where sets could have 45 MiB.
    #[test]
    fn a_limit_that_sets_outgrow_is_recommended() {
        let works = CheckState::Works;
        let advice = |mib: u64| smaller_cache(mib << 20, None, works, works);
        assert!(advice(30_000).contains("--memory 512M"), "{}", advice(30_000));
        assert!(advice(266).contains("--memory 64M"), "{}", advice(266));
        for mib in [0, 45] {
            assert!(!advice(mib).contains("--memory") && advice(mib).contains("free some space"));
        }
    }

    /// Guards against a defect: both options were recommended where neither works.
    #[test]
    fn only_what_works_is_recommended() {
        use CheckState::{Limited, Missing, Works};
        let advice = |mib: u64, groups, direct| smaller_cache(mib << 20, None, groups, direct);
        assert!(advice(266, Limited, Works).ends_with("with --memory 64M, or use --direct"));
        assert!(advice(266, Works, Limited).ends_with("with --memory 64M"));
        let told = advice(266, Missing, Missing);
        assert!(told.ends_with("--memory 64M, which needs control groups (see below)"), "{told}");
        assert!(advice(45, Missing, Missing).ends_with(": free some space"));
        let of_zfs = smaller_cache(266 << 20, Some("zfs_arc_max"), Missing, Limited);
        assert!(of_zfs.ends_with("own cache smaller (zfs_arc_max)"), "{of_zfs}");
    }

    #[test]
    fn files_in_memory_are_not_said_to_be_written_directly() {
        let Ok(dir) = tempfile::tempdir_in("/dev/shm") else { return skipped("no /dev/shm") };
        let target = Target::open(dir.path(), &TargetOptions::default());
        if !target.is_ok_and(|target| target.file_system().is_in_memory()) {
            return skipped("/dev/shm has too little room, or is no file system in memory");
        }
        let found = checks(dir.path(), CheckState::Works);
        let of = |name: &str| found.iter().find(|check| check.name == name).unwrap();
        assert_ne!(of("direct I/O").state, CheckState::Works);
        assert_eq!(of("I/O limit").state, CheckState::Works, "nothing there can be limited");
        let space = of("free space");
        assert_eq!(space.state, CheckState::Limited);
        assert!(!space.advice.as_ref().unwrap().contains("--direct"), "{space:?}");
    }

    #[test]
    fn what_is_no_directory_is_missing() {
        for path in ["/nowhere/at/all", "/dev/null", "/proc"] {
            let found = checks(Path::new(path), CheckState::Works);
            assert_eq!((found.len(), found[0].state), (1, CheckState::Missing), "{path}");
            assert!(found[0].found.contains(path), "{}", found[0].found);
        }
    }
}
