//! What a directory allows: a scratch file, space, direct I/O, preallocation, and a view of the file cache.

use crate::cache;
use crate::error::Error;
use crate::memory::memory;
use crate::output::tell_leftovers;
use crate::target::{Target, TargetOptions};
use crate::terminal;
use ioscape_schema::units::Bytes;
use ioscape_schema::{Access, Check, CheckState};
use rustix::fs::FallocateFlags;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes that the trials write.
const TRIAL: usize = 64 << 10;
/// Alignment of memory that every device takes.
const ALIGN: usize = 4096;
/// Free space below which nothing sensible can be measured.
const SPACE_LEAST: u64 = 64 << 20;
/// A set of so many memories shows storage behind the file cache; twice that must be free, since half is taken.
const MEMORIES: u64 = 4;

/// The checks; without a scratch file the first one alone.
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
    let (free, memory) = (target.free_bytes(), memory().total);
    let show = |bytes: u64| Bytes(bytes as f64).to_string();
    let found = format!("{} free, {} of memory", show(free), show(memory));
    let check = Check {
        required: true,
        ..Check::works("free space", "sets larger than the file cache", found)
    };
    if free < SPACE_LEAST {
        return check.but(CheckState::Missing, "free some space, or name another directory");
    }
    match free >= 2 * MEMORIES * memory {
        true => check,
        false => check.but(
            CheckState::Limited,
            "sets stay below four times the memory: make the cache smaller with --memory 512M, or use --direct",
        ),
    }
}

fn direct(target: &Target) -> Check {
    let check = |found: String| Check::works("direct I/O", "--direct", found);
    match write_directly(target) {
        Ok(()) => check(match target.direct_align() {
            Some(align) => format!("64 KiB written with O_DIRECT, alignment {align} bytes"),
            None => "64 KiB written with O_DIRECT".to_owned(),
        }),
        Err(why) => check(why).but(
            CheckState::Missing,
            "leave out --direct here, or name a directory on a local disk",
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

    #[test]
    fn what_is_no_directory_is_missing() {
        for path in ["/nowhere/at/all", "/dev/null", "/proc"] {
            let found = checks(Path::new(path));
            assert_eq!((found.len(), found[0].state), (1, CheckState::Missing), "{path}");
            assert!(found[0].found.contains(path), "{}", found[0].found);
        }
    }
}
