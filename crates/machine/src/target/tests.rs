//! Tests of targets: what is refused, and that a scratch file comes and goes.

use super::*;
use crate::testing::{build_directory, in_child, lock_part, skipped, with_mount};
use rustix::fs::IFlags;
use rustix::process::{Signal, getpid, kill_process};
use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt, chown, symlink};
use std::process::{Command, Stdio};

const DESTROY: TargetOptions = TargetOptions { destroy_data: true, write_needed: true };

fn open(path: &Path) -> Result<Target, Error> {
    Target::open(path, &TargetOptions::default())
}

/// Returns the message of the refusal of `path`, which must be refused.
fn refusal(path: &Path, options: &TargetOptions) -> String {
    let error = Target::open(path, options).unwrap_err();
    assert!(error.is_misuse(), "{error}");
    error.to_string()
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn a_directory_gets_a_scratch_file_that_goes_with_the_target() {
    let dir = tempfile::tempdir().unwrap();
    let target = open(dir.path()).unwrap();
    let path = target.path().to_owned();
    assert!(
        target.is_scratch()
            && path.exists()
            && path.starts_with(fs::canonicalize(dir.path()).unwrap())
    );
    assert_eq!(target.len().unwrap(), 0);
    assert!(target.capacity_bytes() > 0 && target.capacity_bytes() <= target.total_bytes());
    assert!(!target.file_system().name.is_empty());
    fs::write(&path, [1; 8192]).unwrap();
    assert_eq!(target.len().unwrap(), 8192);
    drop(target);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn two_runs_in_one_directory_leave_each_other_alone() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(".ioscape-scratch-00000000000000aa"), "left by a killed run")
        .unwrap();
    let first = open(dir.path()).unwrap();
    assert_eq!(first.leftovers(), [".ioscape-scratch-00000000000000aa"]);
    let second = open(dir.path()).unwrap();
    assert!(second.leftovers().is_empty());
    assert!(first.path().exists() && first.path() != second.path());
}

#[test]
fn what_a_killed_run_left_is_removed_by_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let ended = in_child(|| {
        let _target = open(dir.path());
        i32::from(kill_process(getpid(), Signal::KILL).is_err())
    });
    assert_eq!(ended, None, "it was killed");
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 1);
    assert_eq!(open(dir.path()).unwrap().leftovers(), [left[0].to_str().unwrap()]);
}

/// Creates a folder as a killed run leaves one in `parent`.
fn left_in(parent: &Path) -> PathBuf {
    let folder = parent.join(".ioscape-folder-a1B2c3D4");
    fs::create_dir_all(folder.join("below")).unwrap();
    fs::write(folder.join("file"), "x").unwrap();
    folder
}

#[test]
fn root_takes_no_folder_for_a_leftover_that_another_user_may_have_renamed() {
    let swept = |owner: u32, mode: u32| {
        let dir = tempfile::tempdir().unwrap();
        let left = left_in(dir.path());
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(mode)).unwrap();
        chown(dir.path(), Some(owner), None).ok()?;
        let swept = sweep_at(dir.path());
        assert_eq!(left.join("file").exists(), swept.is_empty());
        Some(!swept.is_empty())
    };
    if !is_root() || swept(65_534, 0o755).is_none() {
        return skipped("it is about root, in a directory of another user");
    }
    let places = [(65_534, 0o755), (65_534, 0o1777), (0, 0o777), (0, 0o775)];
    assert_eq!(places.map(|(owner, mode)| swept(owner, mode)), [Some(false); 4]);
    assert_eq!([0o755, 0o1777].map(|mode| swept(0, mode)), [Some(true); 2]);
}

#[test]
fn what_is_mounted_in_a_leftover_stays() {
    on_small_file_system("size=1m,mode=755", |path| {
        let (left, shown) = (left_in(path), path.join("shown"));
        let below = left.join("below");
        fs::create_dir(&shown).unwrap();
        // On the same file system, so that device numbers do not distinguish it from ours.
        let mounted = Command::new("mount").arg("--bind").args([&shown, &below]).status();
        if !mounted.is_ok_and(|status| status.success()) {
            return skipped("there is no program `mount`");
        }
        fs::write(shown.join("precious"), "x").unwrap();
        assert!(sweep_at(path).is_empty() && below.join("precious").exists());
        assert!(left.join("file").exists(), "nothing of it is touched");
    });
}

#[test]
fn a_link_of_another_user_leads_to_no_target() {
    let dir = tempfile::tempdir().unwrap();
    let (file, link) = (dir.path().join("data"), dir.path().join("link"));
    fs::write(&file, [3; 8192]).unwrap();
    symlink(&file, &link).unwrap();
    assert!(Target::open(&link, &DESTROY).is_ok(), "a link of ours");
    if std::os::unix::fs::lchown(&link, Some(65_534), None).is_err() {
        return skipped("only root can give a link to another user");
    }
    assert!(refusal(&link, &DESTROY).contains("a symbolic link of another user"));
}

#[test]
fn what_cannot_be_a_target_is_refused_in_a_sentence() {
    let dir = tempfile::tempdir().unwrap();
    let fifo = dir.path().join("fifo");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    assert!(refusal(&fifo, &DESTROY).contains("is a named pipe: name a directory"));
    assert!(refusal(Path::new("/dev/null"), &DESTROY).contains("is a character device"));
    assert!(refusal(&dir.path().join("none"), &DESTROY).contains("does not exist"));
    assert!(refusal(&fifo.join("x"), &DESTROY).contains("cannot be looked at"));
    assert!(refusal(Path::new("/proc/self"), &DESTROY).starts_with("/proc/"));
    let small = dir.path().join("small");
    fs::write(&small, [0; 100]).unwrap();
    assert!(refusal(&small, &DESTROY).contains("holds 100 bytes"));
}

#[test]
fn a_file_is_taken_only_with_permission_and_only_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("data");
    fs::write(&path, [3; 20_000]).unwrap();
    assert!(refusal(&path, &TargetOptions::default()).contains("--destroy-data"));
    let target = Target::open(&path, &DESTROY).unwrap();
    assert!(!target.is_scratch());
    assert_eq!((target.capacity_bytes(), target.len().unwrap()), (20_000, 20_000));
    assert!(refusal(&path, &DESTROY).contains("locked by another program"));
    drop(target);
    assert_eq!(
        fs::read(&path).unwrap(),
        [3; 20_000],
        "opening changes nothing, dropping removes nothing"
    );
}

#[test]
fn files_are_opened_as_asked() {
    let dir = tempfile::tempdir_in(build_directory()).unwrap();
    let target = open(dir.path()).unwrap();
    let flags = |access, write| {
        let file = target.open_file(access, write).unwrap();
        assert!(rustix::io::fcntl_getfd(&file).unwrap().contains(rustix::io::FdFlags::CLOEXEC));
        rustix::fs::fcntl_getfl(&file).unwrap().bits() as i32
    };
    assert_eq!(flags(Access::Buffered, false) & libc::O_ACCMODE, libc::O_RDONLY);
    assert_eq!(flags(Access::Buffered, true) & libc::O_ACCMODE, libc::O_RDWR);
    let synchronous = flags(Access::Dsync, true);
    assert_eq!(synchronous & libc::O_SYNC, libc::O_DSYNC, "data only, not all metadata");
    match target.open_file(Access::Direct, true) {
        Ok(file) => {
            let flags = rustix::fs::fcntl_getfl(&file).unwrap();
            assert!(flags.contains(rustix::fs::OFlags::DIRECT));
            assert!(target.direct_align().is_none_or(u32::is_power_of_two));
        }
        Err(error) => assert!(matches!(error, Error::Unsupported { .. }), "{error}"),
    }
}

/// Guards against advising to leave out options that the command does not have.
#[test]
fn a_refusal_of_direct_io_leaves_the_advice_to_the_command() {
    // The kernel opens no file there for direct I/O, and nothing writes to it.
    let path = Path::new("/sys/devices/system/cpu/online");
    let reading = TargetOptions { write_needed: false, ..DESTROY };
    let Ok(target) = Target::open(path, &reading) else { return skipped("there is no /sys") };
    let refused = target.open_file(Access::Direct, false).unwrap_err().to_string();
    assert!(refused.ends_with("refuses O_DIRECT"), "{refused}");
}

#[test]
fn a_file_put_in_the_targets_place_is_never_opened() {
    let dir = tempfile::tempdir().unwrap();
    let target = open(dir.path()).unwrap();
    fs::remove_file(target.path()).unwrap();
    fs::write(target.path(), "precious").unwrap();
    let file = target.open_file(Access::Buffered, true).unwrap();
    assert_eq!(file.metadata().unwrap().len(), 0);
}

#[test]
fn a_mounted_device_is_refused() {
    let table = mounts::table();
    let devices = table.iter().flat_map(|mount| mounts::source_devices(&mount.source));
    let Some((major, minor)) = devices.into_iter().next() else {
        return skipped("no device node of a mounted file system");
    };
    let source = table.iter().find(|m| mounts::source_devices(&m.source).contains(&(major, minor)));
    let path = source.unwrap().source.split(':').next().unwrap().to_owned();
    assert!(refusal(Path::new(&path), &DESTROY).contains("is mounted on"));
    assert!(refusal(Path::new(&path), &TargetOptions::default()).contains("--destroy-data"));
}

/// Attaches `file` to a loop device and returns its path.
fn attach(file: &Path) -> Option<PathBuf> {
    let made = Command::new("losetup").args(["--find", "--show"]).arg(file).output().ok()?;
    let path = String::from_utf8_lossy(&made.stdout).trim().to_owned();
    (made.status.success() && !path.is_empty()).then(|| path.into())
}

#[test]
fn less_is_taken_of_a_file_system_that_copies_on_write() {
    let share = |name: &str| {
        super::space_share(&FileSystemInfo { name: name.into(), ..FileSystemInfo::default() })
    };
    assert_eq!(["ext4", "xfs", "tmpfs", "btrfs"].map(share), [2, 2, 2, 3]);
}

/// Runs `check` on a file system made by `maker` in a file, visible to the calling thread only.
fn on_new_file_system(maker: &str, check: impl FnOnce(&Path) + Send) {
    let dir = tempfile::tempdir_in(build_directory()).unwrap();
    let [image, point] = ["image", "point"].map(|name| dir.path().join(name));
    fs::File::create(&image).unwrap().set_len(320 << 20).unwrap();
    fs::create_dir(&point).unwrap();
    let made = Command::new(maker).arg("-q").arg(&image).stderr(Stdio::null()).status();
    if !made.is_ok_and(|status| status.success()) {
        return skipped(&format!("no {maker}"));
    }
    with_mount(&["-o", "loop"], &[&image, &point], || check(&point));
}

/// Guards against a set as large as the file filling the file system because a copy shared its
/// blocks.
#[test]
fn what_a_copy_has_too_is_overwritten_only_as_far_as_there_is_room() {
    on_new_file_system("mkfs.xfs", |path| {
        let [file, copy] = ["file", "copy"].map(|name| path.join(name));
        fs::write(&file, vec![1; 120 << 20]).unwrap();
        let capacity = || Target::open(&file, &DESTROY).unwrap().capacity_bytes();
        assert_eq!(capacity(), 120 << 20, "it is its own");
        let [from, to] = [fs::File::open(&file), fs::File::create(&copy)].map(Result::unwrap);
        if rustix::fs::ioctl_ficlone(&to, &from).is_err() {
            return skipped("this XFS shares no blocks");
        }
        assert!(capacity() < 100 << 20, "{}", capacity());
    });
}

/// Once, a file of 560 MB took up 713 MB while it was rewritten at random.
#[test]
fn what_is_written_elsewhere_takes_room_although_the_file_is_whole() {
    on_new_file_system("mkfs.btrfs", |path| {
        let [copied, in_place] = ["copied", "in_place"].map(|name| path.join(name));
        let capacity = |file: &Path, flags| {
            let made = fs::File::create(file).unwrap();
            rustix::fs::ioctl_setflags(&made, flags).unwrap();
            made.write_all_at(&vec![1; 60 << 20], 0).unwrap();
            made.sync_all().unwrap();
            Target::open(file, &DESTROY).unwrap().capacity_bytes()
        };
        assert_eq!(capacity(&in_place, IFlags::NOCOW), 60 << 20);
        assert!(capacity(&copied, IFlags::empty()) < 60 << 20);
    });
}

/// Guards against a defect: a run was refused just after another of the same set, whose space btrfs
/// had not given back yet.
#[test]
fn what_was_just_removed_is_room_where_files_are_copied_on_write() {
    on_new_file_system("mkfs.btrfs", |path| {
        let capacity = || open(path).unwrap().capacity_bytes();
        let before = capacity();
        let file = path.join("file");
        fs::write(&file, vec![1; 90 << 20]).unwrap();
        fs::File::open(&file).unwrap().sync_all().unwrap();
        fs::remove_file(&file).unwrap();
        assert!(capacity() + (9 << 20) > before, "{} of {before}", capacity());
    });
}

#[test]
fn a_free_device_is_taken_and_its_backing_file_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("disk");
    fs::write(&file, vec![5; 1 << 20]).unwrap();
    let Some(device) = is_root().then(|| attach(&file)).flatten() else {
        return skipped("loop devices need root and losetup");
    };
    let denied = Target::open(&device, &TargetOptions::default()).is_err();
    let taken = Target::open(&device, &DESTROY);
    let facts = taken.as_ref().ok().map(|t| {
        (
            t.capacity_bytes(),
            t.file_system().name.clone(),
            t.file_system().has_device,
            t.direct_align(),
        )
    });
    let again = Target::open(&device, &DESTROY).map(drop);
    let backing = Target::open(&file, &DESTROY).map(drop);
    drop(taken);
    let detached = Command::new("losetup").arg("-d").arg(&device).status();
    assert!(denied && detached.is_ok_and(|status| status.success()));
    assert_eq!(facts, Some((1 << 20, "block".into(), true, Some(512))));
    assert!(again.unwrap_err().to_string().contains("is in use by the kernel or another program"));
    assert!(backing.unwrap_err().to_string().contains("is attached to /dev/loop"));
    assert_eq!(fs::read(&file).unwrap(), vec![5; 1 << 20]);
}

/// Its size was given as no more than what was free below it.
#[test]
fn a_device_over_a_sparse_file_keeps_its_size_and_takes_smaller_sets() {
    let dir = tempfile::tempdir_in(build_directory()).unwrap();
    let (file, size) = (dir.path().join("disk"), 8 << 40);
    let is_made = fs::File::create(&file).unwrap().set_len(size).is_ok();
    let Some(device) = (is_made && is_root()).then(|| attach(&file)).flatten() else {
        return skipped("loop devices need root and losetup, and this one a large file");
    };
    let taken = Target::open(&device, &DESTROY).map(|t| (t.capacity_bytes(), t.total_bytes()));
    let detached = Command::new("losetup").arg("-d").arg(&device).status();
    assert!(detached.is_ok_and(|status| status.success()));
    let (capacity, total) = taken.unwrap();
    assert!(capacity < size && total == size, "{capacity} of {total}");
}

#[test]
fn a_loop_device_whose_file_is_used_elsewhere_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("disk");
    fs::write(&file, vec![5; 1 << 20]).unwrap();
    let Some(first) = is_root().then(|| attach(&file)).flatten() else {
        return skipped("loop devices need root and losetup");
    };
    let told = |path: &Path| Target::open(path, &DESTROY).map(drop).map_err(|e| e.to_string());
    let alone = told(&file);
    let held = fs::File::options().read(true).write(true).open(&file).unwrap();
    let locked = lock_part(&held, libc::F_WRLCK).then(|| told(&first));
    lock_part(&held, libc::F_UNLCK);
    let second = attach(&file);
    // As a mounted file system holds it.
    let mounted = fs::File::options().read(true).custom_flags(libc::O_EXCL).open(&first);
    let by_second = second.as_deref().map(&told);
    let by_name = told(&file);
    drop(mounted);
    for device in second.iter().chain([&first]) {
        assert!(Command::new("losetup").arg("-d").arg(device).status().unwrap().success());
    }
    let advice = format!("or name it instead of {}", fs::canonicalize(&file).unwrap().display());
    assert!(alone.clone().is_err_and(|why| why.ends_with(&advice)), "{alone:?}");
    assert!(locked.is_some_and(|told| told.is_err_and(|why| why.contains("is locked by"))));
    let by_second = by_second.expect("a second loop device");
    assert!(
        by_second.as_ref().is_err_and(|why| why.contains(", which is attached to /dev/loop")),
        "{by_second:?}"
    );
    assert!(by_name.is_err_and(|why| why.contains(" and /dev/loop") && !why.contains("instead")));
    assert_eq!(fs::read(&file).unwrap(), vec![5; 1 << 20]);
}

/// Runs `check` on a file system in memory with these mount options, visible to the calling thread
/// only.
fn on_small_file_system(options: &str, check: impl FnOnce(&Path) + Send) {
    let dir = tempfile::tempdir().unwrap();
    let words = ["-t", "tmpfs", "-o", options, "tmpfs"];
    with_mount(&words, &[dir.path()], || check(dir.path()));
}

#[test]
fn a_full_file_system_is_refused_and_left_alone() {
    on_small_file_system("size=1m", |path| {
        let error = open(path).unwrap_err();
        assert!(matches!(error, Error::Space { needed: FREE_LEAST, free, .. } if free <= 1 << 20));
        assert!(error.to_string().contains("64 MiB of free space is needed"), "{error}");
        assert_eq!(fs::read_dir(path).unwrap().count(), 0);
    });
}

/// As on a board whose card is mounted read-only: once, memory was laid out and measured as if it
/// were the card.
#[test]
fn what_an_overlay_keeps_in_memory_is_memory() {
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else { return skipped("no /dev/shm") };
    if !mounts::system_of(&fs::File::open(memory.path()).unwrap(), memory.path()).is_in_memory() {
        return skipped("/dev/shm is no file system in memory");
    }
    let [lower, upper, work, point] = ["lower", "upper", "work", "point"].map(|name| {
        let folder = memory.path().join(name);
        fs::create_dir(&folder).unwrap();
        folder
    });
    fs::write(lower.join("file"), [1; 8192]).unwrap();
    let [lower, upper, work] = [lower, upper, work].map(|folder| folder.display().to_string());
    let options = format!("lowerdir={lower},upperdir={upper},workdir={work}");
    with_mount(&["-t", "overlay", "-o", &options, "overlay"], &[&point], || {
        let Ok(target) = open(&point) else { return skipped("/dev/shm has too little room") };
        assert_eq!((&*target.file_system().name, target.in_memory()), ("overlay", Some("tmpfs")));
        let facts = crate::TargetFacts::of(&target);
        assert!(facts.is_in_memory && !facts.comes_by_pages);
        let doubts = crate::traps::traps(&target, crate::cgroup::Traffic::ALL);
        assert!(doubts.iter().any(|doubt| doubt.message.contains("(tmpfs)")), "{doubts:?}");
        let only_read = TargetOptions { destroy_data: true, write_needed: false };
        let below = Target::open(&point.join("file"), &only_read).unwrap();
        assert_eq!((below.in_memory(), below.are_files_memory()), (None, false), "it stays there");
    });
}

#[test]
fn a_file_with_holes_is_filled_no_further_than_half_of_the_free_space() {
    on_small_file_system("size=128m", |path| {
        let file = path.join("sparse");
        fs::File::create(&file).unwrap().set_len(1 << 40).unwrap();
        let target = Target::open(&file, &DESTROY).unwrap();
        assert!((1..target.free_bytes()).contains(&target.capacity_bytes()), "{target:?}");
        assert_eq!(target.len().unwrap(), 1 << 40);
        drop(target);
        let reading = TargetOptions { write_needed: false, ..DESTROY };
        let target = Target::open(&file, &reading).unwrap();
        assert_eq!(target.capacity_bytes(), 1 << 40, "reading takes no space");
        drop(target);
        fs::write(&file, vec![1; 80 << 20]).unwrap();
        let target = Target::open(&file, &DESTROY).unwrap();
        assert_eq!(target.capacity_bytes(), 80 << 20, "all of it is there, however little is free");
        drop(target);
        let sparse = fs::File::create(&file).unwrap();
        sparse.set_len(1 << 30).unwrap();
        sparse.write_all_at(&vec![1; 60 << 20], 900 << 20).unwrap();
        let target = Target::open(&file, &DESTROY).unwrap();
        let (most, free) = (target.capacity_bytes(), target.free_bytes());
        assert!((1..free).contains(&most), "{most} of {free}, whatever lies behind");
        drop(target);
        sparse.set_len(0).unwrap();
        sparse.write_all_at(&vec![1; 20 << 20], 20 << 20).unwrap();
        let target = Target::open(&file, &DESTROY).unwrap();
        assert_eq!(target.capacity_bytes(), 40 << 20, "there is room for the hole before it");
    });
}

/// Once, the file system of the file was filled to its last block.
#[test]
fn a_loop_device_is_filled_no_further_than_its_file() {
    on_small_file_system("size=128m", |path| {
        let path = path.join("image");
        let image = fs::File::create(&path).unwrap();
        image.set_len(100 << 20).unwrap();
        image.write_all_at(&vec![1; 16 << 20], 0).unwrap();
        let half = space(&image, true).unwrap().1 / 2;
        let room =
            |from: u64, size: u64| room::room_in_file(&path, from..from + size, true).unwrap();
        assert_eq!(room(0, 8 << 20), 8 << 20, "all of it is there");
        assert_eq!(room(0, 100 << 20), (16 << 20) + half);
        assert_eq!(room(8 << 20, 92 << 20), (8 << 20) + half, "of a part that begins later");
        image.write_all_at(&vec![1; 70 << 20], 0).unwrap();
        assert_eq!(room(0, 70 << 20), 70 << 20, "however little is free");
    });
}

#[test]
fn a_read_only_file_system_is_refused() {
    on_small_file_system("ro,size=128m", |path| {
        assert!(refusal(path, &DESTROY).contains("is read-only"));
    });
}
