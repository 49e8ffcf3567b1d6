//! Destinations of every kind: replaced whole, written through, or refused.

use super::*;
use ioscape_schema::text::TRACE_MARK;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

fn options(force: bool) -> DestinationOptions {
    DestinationOptions { force, unnamed: false }
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
fn a_folder_that_takes_no_files_is_told_as_such() {
    // Not even the superuser makes a file there.
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

#[test]
fn devices_are_written_through_and_block_devices_are_not() {
    let mut full = Destination::open(Path::new("/dev/full"), options(true)).unwrap();
    assert!(!full.is_replaced() && full.identity().is_none());
    assert_eq!(write(&mut full, "x").unwrap_err().raw_os_error(), Some(libc::ENOSPC));
    write(&mut Destination::open(Path::new("/dev/null"), options(false)).unwrap(), "x").unwrap();
    assert!(refused_kind(FileType::BlockDevice).contains("destroy"));
}
