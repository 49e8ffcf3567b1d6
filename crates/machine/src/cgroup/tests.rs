//! Tests of memory limits with the real kernel; visibly skipped without the right to create control
//! groups.

use super::*;
use crate::testing::{build_directory, in_child, skipped};
use std::os::unix::fs::FileExt;

const LIMIT: u64 = 32 << 20;

/// Returns a group, or `None` if this user cannot have one.
fn group() -> Option<MemoryGroup> {
    match MemoryGroup::create(LIMIT) {
        Ok(group) => Some(group),
        Err(why) => {
            assert!(matches!(why, Error::Unsupported { .. }), "{why}");
            skipped(&why.to_string());
            None
        }
    }
}

#[test]
fn the_file_cache_of_a_member_stays_within_the_limit() {
    let Some(group) = group() else { return };
    let named = tempfile::NamedTempFile::new_in(build_directory()).unwrap();
    let file = named.reopen().unwrap();
    let system = crate::mounts::system_of(&file, named.path());
    if system.is_in_memory() || system.caches_elsewhere() {
        return skipped("files of the build lie where no control group limits their cache");
    }
    let mut buffer = vec![9; 1 << 20];
    for offset in (0..3 * LIMIT).step_by(buffer.len()) {
        file.write_all_at(&buffer, offset).unwrap();
    }
    crate::cache::evict(&file).unwrap();
    let code = in_child(|| {
        if group.join().is_err() {
            return 1;
        }
        let mut offset = 0;
        while let Ok(got @ 1..) = file.read_at(&mut buffer, offset) {
            offset += got as u64;
        }
        i32::from(offset != 3 * LIMIT) * 2
    });
    assert_eq!(code, Some(0));
    let usage = group.usage_bytes().unwrap();
    assert!((LIMIT / 2..=LIMIT).contains(&usage), "{usage}");
    let resident = crate::cache::resident_bytes(&file, 0, 3 * LIMIT).unwrap();
    assert!(resident <= LIMIT, "{resident}");
    assert_eq!(group.limit_bytes(), LIMIT);
}

#[test]
fn it_goes_when_dropped_by_its_maker_only() {
    let Some(mut group) = group() else { return };
    let directory = group.directory.clone();
    let maker = group.creator;
    group.creator += 1;
    // As in a worker: if it were unlocked, a concurrent test would sweep it.
    let held = group._held.try_clone().unwrap();
    drop(group);
    assert!(directory.exists());
    drop(held);
    remove(&directory);
    restore(directory.parent().unwrap());
    assert!(!directory.exists());
    assert_eq!(maker, std::process::id());
}

#[test]
fn groups_of_dead_processes_are_swept() {
    let Some(first) = group() else { return };
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let pid = child.id();
    child.wait().unwrap();
    let parent = first.directory.parent().unwrap();
    let dead = parent.join(format!("ioscape-{pid}-0"));
    let other = parent.join(format!("ioscape-{pid}-x"));
    std::fs::create_dir(&dead).unwrap();
    std::fs::create_dir(&other).unwrap();
    let second = group();
    // A concurrent test may have locked it, just to remove it.
    let is_swept = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        !dead.exists()
    });
    let kept = other.exists();
    std::fs::remove_dir(&other).unwrap();
    assert!(kept && is_swept);
    assert!(first.directory.exists() && second.is_some_and(|g| g.directory.exists()));
}

#[test]
fn a_limit_without_room_is_refused() {
    let error = MemoryGroup::create(1 << 20).unwrap_err();
    assert!(error.is_misuse() && error.to_string().contains("8 MiB"), "{error}");
}

#[test]
fn only_our_own_names_are_ours() {
    assert!(is_ours("ioscape-12-0"));
    for name in ["ioscape-12", "ioscape--1", "ioscape-12-0x", "fioscape-1-2", "ioscape-x-1"] {
        assert!(!is_ours(name), "{name}");
    }
}

/// Another process may have our number in another container, or live there without a number here.
/// The groups are plain folders, which need no rights.
#[test]
fn groups_of_other_containers_are_neither_taken_nor_swept() {
    let parent = tempfile::tempdir().unwrap();
    let (next, own) = (NEXT.load(Ordering::Relaxed), std::process::id());
    let ours = (next..next + 5).map(|number| parent.path().join(format!("ioscape-{own}-{number}")));
    let ours: Vec<PathBuf> = ours.collect();
    // Above any process number.
    let theirs = parent.path().join("ioscape-4194305-0");
    ours.iter().chain([&theirs]).for_each(|one| std::fs::create_dir(one).unwrap());
    let living = [&ours[0], &theirs].map(|one| File::open(one).unwrap());
    assert!(living.iter().all(|one| lock(one).is_ok()));
    let (made, held) = make(parent.path()).unwrap();
    assert!(!ours.contains(&made));
    sweep(parent.path());
    let left = [&ours[0], &theirs, &made, &ours[1]].map(|one| one.exists());
    assert_eq!(left, [true, true, true, false], "nobody has locked the last one");
    drop((living, held));
}

/// Once, a neighbour's 8 GB in /proc/meminfo left nothing of a run's sustained rate.
#[test]
fn dirty_bytes_are_those_of_the_group_that_tells_of_them() {
    let group = tempfile::tempdir().unwrap();
    let stat = group.path().join("memory.stat");
    assert_eq!(dirt_of(group.path()), None);
    std::fs::write(&stat, "cache 1\n").unwrap();
    assert_eq!(dirt_of(group.path()), None);
    std::fs::write(&stat, "anon 7\nfile_dirty 540672\nfile_writeback 0\n").unwrap();
    assert_eq!(dirt_of(group.path()), Some(stat));
}

#[test]
fn a_hierarchy_that_is_not_mounted_is_no_matter_of_rights() {
    let why = MemoryGroup::below(Path::new("/nowhere/at/all"), Version::V1, LIMIT).unwrap_err();
    assert_eq!(why.kind(), io::ErrorKind::NotFound);
}

#[test]
fn a_kernel_without_control_groups_limits_nothing() {
    crate::testing::with_mount(&["-t", "tmpfs", "tmpfs"], &[Path::new("/proc")], || {
        assert_eq!(io_limits(Traffic::ALL), None, "without /proc nobody knows");
        std::fs::create_dir("/proc/self").unwrap();
        assert!(io_limits(Traffic::ALL).is_some_and(|limits| limits.is_empty()));
        let refusal = MemoryGroup::create(LIMIT).unwrap_err().to_string();
        assert!(refusal.contains("has no control groups; use one with CONFIG_CG"), "{refusal}");
        assert!(!refusal.contains("root"), "{refusal}");
        assert!(shows_limits("memory"), "there are none");
    });
}
