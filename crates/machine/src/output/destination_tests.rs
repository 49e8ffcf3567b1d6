//! Tests of destinations of every kind: replaced whole, written through, or refused.
#![allow(unsafe_code, reason = "a thread with the rights of another user")]

use super::*;
use crate::testing::{in_child, skipped, with_mount};
use ioscape_schema::text::{PAGE_MARK, TRACE_MARK};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

fn options(force: bool) -> DestinationOptions {
    DestinationOptions { content: Some(Content::Trace), force, ..DestinationOptions::default() }
}

fn write(destination: &mut Destination, text: &str) -> io::Result<u64> {
    let draft = destination.begin()?;
    draft.file().write_all(text.as_bytes())?;
    destination.keep(draft)
}

#[test]
fn a_result_is_replaced_and_keeps_its_mode() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    std::fs::write(&path, TRACE_MARK).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let before = path.metadata().unwrap().ino();
    let mut destination = Destination::open(&path, options(false)).unwrap();
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "the trial leaves nothing");
    drop(destination.begin().unwrap());
    assert_eq!(
        std::fs::read(&path).unwrap(),
        TRACE_MARK.as_bytes(),
        "a draft that is dropped is no result"
    );
    assert_eq!(write(&mut destination, "# ioscape trace 1").unwrap(), 17);
    assert_ne!(path.metadata().unwrap().ino(), before, "a new file took its place");
    assert_eq!(write(&mut destination, "# ioscape trace 22").unwrap(), 18);
    let after = path.metadata().unwrap();
    assert_eq!(after.mode() & 0o7777, 0o600);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn what_is_not_ours_needs_force() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    std::fs::write(&path, "precious").unwrap();
    let refused = Destination::open(&path, options(false)).unwrap_err();
    assert!(refused.is_misuse() && refused.to_string().contains("--force"), "{refused}");
    write(&mut Destination::open(&path, options(true)).unwrap(), "new").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"new");
}

#[test]
fn a_result_is_replaced_by_its_own_kind_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    std::fs::write(&path, format!("<!DOCTYPE html>{PAGE_MARK}0.1.0\">")).unwrap();
    for (content, why) in [
        (Some(Content::Trace), "holds a page, and a trace would replace it"),
        (None, "holds a page, and a file for another program would replace it"),
    ] {
        let refused = Destination::open(&path, DestinationOptions { content, ..options(false) });
        let refused = refused.unwrap_err();
        let told = refused.to_string();
        assert!(refused.is_misuse() && told.contains(why) && told.contains("--force"), "{told}");
    }
    let page = DestinationOptions { content: Some(Content::Page), ..options(false) };
    drop(Destination::open(&path, page).unwrap());
    drop(Destination::open(&path, options(true)).unwrap());
}

#[test]
fn a_folder_that_takes_no_files_is_told_as_such() {
    // Not even root can create a file there.
    let refused = Destination::open(Path::new("/sys/a.json"), options(false)).unwrap_err();
    let told = refused.to_string();
    assert!(refused.is_misuse() && told.contains("/sys/a.json: cannot be written"), "{told}");
    assert!(!told.contains("scratch"), "{told}");
}

#[test]
fn what_came_meanwhile_is_not_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    let mut destination = Destination::open(&path, options(true)).unwrap();
    std::fs::write(&path, "precious").unwrap();
    assert!(write(&mut destination, "new").is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    let mut destination = Destination::open(&path, options(true)).unwrap();
    std::fs::write(dir.path().join("b"), "other").unwrap();
    std::fs::rename(dir.path().join("b"), &path).unwrap();
    assert!(write(&mut destination, "new").is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"other");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "no draft is left");
}

#[test]
fn results_without_a_name_find_one_each() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.ioscape.json");
    let own = DestinationOptions { unnamed: true, ..options(false) };
    let mut destinations = [(); 3].map(|()| Destination::open(&path, own).unwrap());
    for destination in &mut destinations {
        write(destination, TRACE_MARK).unwrap();
        write(destination, TRACE_MARK).unwrap();
    }
    let names = destinations.each_ref().map(|p| p.path().file_name().unwrap().to_owned());
    assert_eq!(names, ["a.ioscape.json", "a.2.ioscape.json", "a.3.ioscape.json"]);
    destinations[1].remove();
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
}

/// Once, a result meant for a private folder was readable for all in `/tmp`.
#[test]
fn only_its_user_reads_what_goes_elsewhere() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.ioscape.json");
    let mut one = Destination::open_unnamed(&path, true, |_| ()).unwrap();
    for _ in 0..2 {
        write(&mut one, TRACE_MARK).unwrap();
        assert_eq!(path.metadata().unwrap().mode() & 0o7777, 0o600);
    }
}

#[test]
fn devices_are_written_through_and_block_devices_are_not() {
    let mut full = Destination::open(Path::new("/dev/full"), options(true)).unwrap();
    assert!(!full.is_replaced() && full.identity().is_none());
    let aside = full.begin_seekable().unwrap();
    assert!(full.begin().unwrap().is_through() && !aside.is_through());
    assert_eq!(write(&mut full, "x").unwrap_err().raw_os_error(), Some(libc::ENOSPC));
    write(&mut Destination::open(Path::new("/dev/null"), options(false)).unwrap(), "x").unwrap();
    assert!(refused_kind(FileType::BlockDevice).contains("destroy"));
}

/// As `docker run -v FILE:FILE` mounts it, visible to one thread only.
#[test]
fn a_file_that_is_a_mount_of_its_own_is_refused_before_the_work() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    std::fs::write(&path, TRACE_MARK).unwrap();
    drop(Destination::open(&path, options(false)).unwrap());
    with_mount(&["--bind"], &[&path, &path], || {
        let refused = Destination::open(&path, options(true)).unwrap_err();
        let told = refused.to_string();
        assert!(refused.is_misuse() && told.contains("mount its folder"), "{told}");
    });
}

#[test]
fn a_result_whose_group_we_are_not_in_is_replaced_and_gets_ours() {
    /// User and group of nobody, and another group.
    const US: u32 = 65534;
    const OTHER: u32 = 65533;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    std::fs::write(&path, TRACE_MARK).unwrap();
    if chown(dir.path(), Some(US), None).and(chown(&path, Some(US), Some(OTHER))).is_err() {
        return skipped("to give a file to another user needs root");
    }
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o2664)).unwrap();
    let is_written = std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            // SAFETY: they have no preconditions, and affect the calling thread only.
            let is_other = unsafe {
                libc::setfsgid(US);
                libc::setfsuid(US);
                libc::setfsuid(u32::MAX) == US as i32
            };
            if !is_other || path.metadata().is_err() {
                return false;
            }
            let mut destination = Destination::open(&path, options(false)).unwrap();
            write(&mut destination, "# ioscape trace 1").unwrap();
            true
        });
        other.join().unwrap()
    });
    if !is_written {
        return skipped("no rights of another user to be had who reaches the file");
    }
    let after = path.metadata().unwrap();
    assert_eq!((after.uid(), std::fs::read(&path).unwrap().len()), (US, 17));
    assert_eq!((after.gid(), after.mode() & 0o7777), (US, 0o644), "ours gets what all have");
}

/// As in a user's own container, whose namespace has no number for the group: the kernel calls it
/// invalid there.
#[test]
fn a_result_whose_group_has_no_number_here_is_replaced_and_gets_ours() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    std::fs::write(&path, TRACE_MARK).unwrap();
    let [uid, gid] = [rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw()];
    if chown(&path, None, Some(65533)).is_err() {
        return skipped("to give a file to another group needs root");
    }
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let numbers = [
        ("uid_map", format!("0 {uid} 1")),
        ("setgroups", "deny".to_owned()),
        ("gid_map", format!("0 {gid} 1")),
    ];
    let replaced = || {
        let set = |(map, text): &(&str, String)| {
            let map = Path::new("/proc/self").join(map);
            std::fs::write(map, text)
        };
        // SAFETY: it has no preconditions, and affects the calling process only.
        let is_own = unsafe { libc::unshare(libc::CLONE_NEWUSER) } == 0;
        if !is_own || numbers.iter().try_for_each(set).is_err() {
            return 2;
        }
        let opened = Destination::open(&path, options(false));
        let is_written = opened.is_ok_and(|mut to| write(&mut to, "# ioscape trace 1").is_ok());
        i32::from(!is_written)
    };
    match in_child(replaced) {
        Some(2) => return skipped("no namespace of users to be had"),
        ended => assert_eq!(ended, Some(0)),
    }
    let after = path.metadata().unwrap();
    assert_eq!((after.gid(), after.mode() & 0o7777), (gid, 0o600), "it was for the other group");
}

/// Returns an empty floppy file system: FAT with clusters of 512 bytes.
fn floppy() -> Vec<u8> {
    const BOOT: [u8; 27] = [
        0xeb, 0x3c, 0x90, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 1, 0, 2, 0xe0, 0, 0x40, 0x0b, 0xf0, 9,
        0, 18, 0, 2,
    ];
    let mut image = vec![0; 1440 << 10];
    image[..27].copy_from_slice(&BOOT);
    for table in [512, 10 * 512] {
        image[table..table + 3].copy_from_slice(&[0xf0, 0xff, 0xff]);
    }
    image
}

/// As on a USB stick mounted by root for all users: once, no result could be written there, and
/// leftovers of killed runs stayed.
#[test]
fn a_file_system_that_gives_files_an_owner_takes_results_of_every_user() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let [image, point] = ["image", "point"].map(|name| dir.path().join(name));
    std::fs::write(&image, floppy()).unwrap();
    std::fs::create_dir(&point).unwrap();
    with_mount(&["-t", "vfat", "-o", "loop,uid=0,umask=000"], &[&image, &point], || {
        let left = point.join(".ioscape-scratch-0123456789abcdef");
        std::fs::write(&left, "x").unwrap();
        let folder = point.join(".ioscape-folder-a1B2c3D4");
        std::fs::create_dir(&folder).unwrap();
        let path = point.join("a");
        let written = in_child(|| {
            // SAFETY: it has no preconditions, and affects this process, which ends soon.
            let is_other = unsafe { libc::setuid(65534) } == 0;
            if !is_other || left.metadata().is_err() {
                return 2;
            }
            let write = || {
                let mut destination = Destination::open(&path, options(false)).ok()?;
                write(&mut destination, "# ioscape trace 1").ok()
            };
            let is_left = left.exists() || folder.exists();
            i32::from([write(), write()] != [Some(17); 2] || is_left)
        });
        match written {
            Some(2) => skipped("another user does not reach the directory of temporary files"),
            ended => assert_eq!(ended, Some(0)),
        }
    });
}

/// As on NFS with root mapped to nobody: once, leftovers of root's killed runs stayed forever.
#[test]
fn what_root_left_is_removed_where_its_files_get_another_owner() {
    const OTHER: u32 = 65534;
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let name = ".ioscape-scratch-0123456789abcdef";
    let left = dir.path().join(name);
    std::fs::write(&left, "x").unwrap();
    if chown(&left, Some(OTHER), None).is_err() {
        return skipped("to give a file to another user needs root");
    }
    assert!(scratch::sweep_at(dir.path()).is_empty(), "it is another user's");
    let swept = std::thread::scope(|scope| {
        let taken_for_other = scope.spawn(|| {
            // SAFETY: they have no preconditions, and affect the calling thread only.
            let is_other = unsafe {
                libc::setfsuid(OTHER);
                libc::setfsuid(u32::MAX) == OTHER as i32
            };
            (is_other && left.metadata().is_ok()).then(|| scratch::sweep_at(dir.path()))
        });
        taken_for_other.join().unwrap()
    });
    match swept {
        Some(swept) => assert_eq!(swept, [name]),
        None => skipped("no rights of another user to be had who reaches the file"),
    }
}

/// Once, on a USB stick with FAT, a result got another inode number when memory was short. It was
/// not saved again: "another program has put a file in its place".
#[test]
fn a_file_is_held_while_it_is_known_by_its_number() {
    let dir = tempfile::tempdir().unwrap();
    let path = std::fs::canonicalize(dir.path()).unwrap().join("a");
    std::fs::write(&path, TRACE_MARK).unwrap();
    let is_held = || {
        let mut all = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
        all.any(|one| std::fs::read_link(one.path()).is_ok_and(|file| file == path))
    };
    assert!(!is_held());
    let mut destination = Destination::open(&path, options(false)).unwrap();
    assert!(is_held(), "as it was found");
    for _ in 0..2 {
        write(&mut destination, "# ioscape trace 1").unwrap();
        assert!(is_held(), "as it was written");
    }
}

/// Once, on sshfs, no result was saved twice: the link that gives a result its name has another
/// inode number than the draft.
#[test]
fn a_file_is_known_by_the_number_that_its_name_shows() {
    let dir = tempfile::tempdir().unwrap();
    let [draft, link] = ["draft", "link"].map(|name| dir.path().join(name));
    for path in [&draft, &link] {
        std::fs::write(path, "as long").unwrap();
    }
    let Kind::Name(slot) = Destination::open(&link, options(true)).unwrap().kind else {
        panic!("a file");
    };
    let [written, shown] = [&draft, &link].map(|path| rustix::fs::stat(path).unwrap());
    assert_eq!(slot.named(written).st_ino, shown.st_ino);
    std::fs::write(&link, "another program's").unwrap();
    assert_eq!(slot.named(written).st_ino, written.st_ino);
}

#[test]
fn where_the_kernel_does_not_tell_the_mount_of_a_file_its_table_does() {
    let table = mounts::parse(
        "27 1 8:2 / / rw - ext4 /dev/sda2 rw\n\
         41 27 8:2 /srv/a /run/a.json rw - ext4 /dev/sda2 rw\n",
    );
    let [at, beside] = ["/run/a.json", "/run/b.json"].map(Path::new);
    assert!(is_point(&table, at) && !is_point(&table, beside) && !is_point(&[], at));
}

/// Once, a file that a shell had opened for reading only was written through its number.
#[test]
fn a_descriptor_is_written_as_it_is_open() {
    use std::io::Seek;
    use std::os::fd::AsRawFd;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    std::fs::write(&path, "precious").unwrap();
    let numbered = |file: &File| PathBuf::from(format!("/dev/fd/{}", file.as_raw_fd()));
    let read = File::open(&path).unwrap();
    let refused = Destination::open(&numbered(&read), options(true)).err().unwrap().to_string();
    assert!(refused.contains("is not open for writing"), "{refused}");
    let mut written = File::create(&path).unwrap();
    written.write_all(b"before ").unwrap();
    let mut destination = Destination::open(&numbered(&written), options(true)).unwrap();
    write(&mut destination, "result ").unwrap();
    written.write_all(b"after").unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "before result after");
    assert_eq!(written.stream_position().unwrap(), 19);
}
