//! Abilities of a directory: a scratch file, space, direct I/O, preallocation, and a view of the
//! file cache.

use crate::cache;
use crate::cgroup::enclosing_limit;
use crate::error::Error;
use crate::memory::memory;
use crate::output::tell_leftovers;
use crate::target::{DirectIo, Target, TargetOptions};
use crate::terminal;
use crate::traps::{cached_writes, traps};
use ioscape_schema::units::Bytes;
use ioscape_schema::{Access, Check, CheckState, WarningKind};
use rustix::fs::FallocateFlags;
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

/// Returns the checks; without a scratch file only the first one.
pub fn checks(directory: &Path) -> Vec<Check> {
    let options = TargetOptions { destroy_data: false, write_needed: true };
    let opened = match directory.is_dir() {
        true => Target::open(directory, &options),
        false => Err(Error::target(directory, "is no directory: name one for `doctor`")),
    };
    let target = match opened {
        Ok(target) => {
            tell_leftovers(target.leftovers(), terminal::tell);
            target
        }
        Err(error) => return vec![scratch_file(Err(&error))],
    };
    vec![
        scratch_file(Ok(&target)),
        space(&target),
        direct(&target),
        fallocate(&target),
        cached(&target),
    ]
}

fn scratch_file(target: Result<&Target, &Error>) -> Check {
    let check = |found: String| Check {
        required: true,
        ..Check::works("scratch file", "every measurement in a directory", found)
    };
    match target {
        Ok(target) => {
            let system = target.file_system();
            check(format!("made and removed on {}", system.name))
        }
        Err(error) => check(error.to_string())
            .but(CheckState::Missing, "name a directory that you may write to: ioscape doctor DIR"),
    }
}

fn space(target: &Target) -> Check {
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
    let capacity = target.capacity_bytes();
    match outgrows(capacity, memory) {
        true => check,
        false => check.but(CheckState::Limited, &smaller_cache(capacity)),
    }
}

/// Returns whether sets of up to `capacity` bytes exceed a file cache of `memory` bytes enough to
/// show the storage behind it.
fn outgrows(capacity: u64, memory: u64) -> bool {
    capacity >= memory.saturating_mul(MEMORIES)
}

/// Returns advice if sets of up to `capacity` bytes cannot exceed the file cache: a memory limit
/// that they do exceed, if there is one.
fn smaller_cache(capacity: u64) -> String {
    let limit = (capacity / MEMORIES).min(LIMIT_USUAL).checked_ilog2().map_or(0, |log| 1 << log);
    match limit >= LIMIT_LEAST {
        true => format!(
            "sets stay below four times the memory: make the cache smaller with --memory {}M, or use --direct",
            limit >> 20
        ),
        false => {
            "sets stay below four times the memory: free some space, or use --direct".to_owned()
        }
    }
}

fn direct(target: &Target) -> Check {
    let check = |found: String| Check::works("direct I/O", "--direct", found);
    let doubts = traps(target, Access::Direct);
    let is_doubtful = doubts.iter().any(|one| one.kind == WarningKind::DirectWithoutDevice);
    match write_directly(target) {
        Ok(()) if is_doubtful => {
            let (found, advice) = doubtful(target.direct_io(), &target.file_system().name);
            check(found).but(CheckState::Limited, advice)
        }
        Ok(()) => {
            let check = check(match target.direct_align() {
                Some(align) => format!("64 KiB written with O_DIRECT, alignment {align} bytes"),
                None => "64 KiB written with O_DIRECT".to_owned(),
            });
            match cached_writes(target.file(), target.file_system()) {
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

/// Returns the finding and advice about a successful `O_DIRECT` write that is doubtful on the file
/// system `name`, given what the kernel reports about the file.
fn doubtful(told: DirectIo, name: &str) -> (String, &'static str) {
    match told {
        DirectIo::Refused => (
            format!(
                "64 KiB written with O_DIRECT, but the kernel does no direct I/O on this file on {name}, which may be encrypted or compressed, or have its data journaled"
            ),
            "name another directory, not encrypted, to measure a device",
        ),
        DirectIo::Untold | DirectIo::Aligned(_) => (
            format!("64 KiB written with O_DIRECT, which on {name} may still end in memory"),
            "name a directory on a local disk to measure a device",
        ),
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
    let known = target
        .file()
        .write_all_at(&[0; ALIGN], 0)
        .ok()
        .and_then(|()| cache::resident_bytes(target.file(), 0, ALIGN as u64));
    match known {
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
    use crate::testing::skipped;

    #[test]
    fn a_directory_is_tried_and_left_empty() {
        let dir = tempfile::tempdir().unwrap();
        let found = checks(dir.path());
        assert_eq!(found.len(), 5);
        assert_eq!((found[0].name.as_str(), found[0].state), ("scratch file", CheckState::Works));
        assert!(
            found.iter().all(|check| (check.state == CheckState::Works) != check.advice.is_some())
        );
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    /// For example, an encrypted home directory.
    #[test]
    fn who_has_no_direct_io_in_one_directory_is_not_sent_to_another_disk() {
        let (found, advice) = doubtful(DirectIo::Refused, "ext4");
        assert!(found.contains("on this file on ext4") && !advice.contains("disk"), "{found}");
        let (found, advice) = doubtful(DirectIo::Untold, "tmpfs");
        assert!(found.contains("on tmpfs may still end") && advice.contains("disk"), "{found}");
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
        let advice = |mib: u64| smaller_cache(mib << 20);
        assert!(advice(30_000).contains("--memory 512M"), "{}", advice(30_000));
        assert!(advice(266).contains("--memory 64M"), "{}", advice(266));
        for mib in [0, 45] {
            assert!(!advice(mib).contains("--memory") && advice(mib).contains("free some space"));
        }
    }

    #[test]
    fn files_in_memory_are_not_said_to_be_written_directly() {
        let Ok(dir) = tempfile::tempdir_in("/dev/shm") else { return skipped("no /dev/shm") };
        let target = Target::open(dir.path(), &TargetOptions::default());
        if !target.is_ok_and(|target| target.file_system().is_in_memory()) {
            return skipped("/dev/shm has too little room, or is no file system in memory");
        }
        let found = checks(dir.path());
        let of = |name: &str| found.iter().find(|check| check.name == name).unwrap();
        assert_ne!(of("direct I/O").state, CheckState::Works);
        let space = of("free space");
        assert_eq!(space.state, CheckState::Limited);
        assert!(!space.advice.as_ref().unwrap().contains("--direct"), "{space:?}");
    }

    #[test]
    fn what_is_no_directory_is_missing() {
        for path in ["/nowhere/at/all", "/dev/null", "/proc"] {
            let found = checks(Path::new(path));
            assert_eq!((found.len(), found[0].state), (1, CheckState::Missing), "{path}");
            assert!(found[0].found.contains(path), "{}", found[0].found);
        }
    }
}
