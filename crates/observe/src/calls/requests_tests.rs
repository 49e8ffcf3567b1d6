//! Tests of what calls add up to.

use super::*;
use ioscape_machine::testing::build_directory;
use rustix::fs::{MemfdFlags, memfd_create};
use std::os::fd::AsRawFd;

#[test]
fn a_write_that_asks_for_storage_is_synchronous_whatever_its_file_was_opened_for() {
    let file = tempfile::tempfile().unwrap();
    let (fd, tid) = (file.as_raw_fd() as u64, std::process::id() as i32);
    let mut sink = |_: &FileCall| ();
    let mut ledger = Ledger::new(Files::new(None), &mut sink);
    let descriptors = Shared::default();
    let caller = Caller { tid, descriptors: &descriptors };
    let mut is_synchronous = |call, flags| {
        let pending = ledger.enter(&caller, call, [fd, 0, 1, 0, 0, flags], 0).unwrap();
        let [moved, _] = ledger.leave(&caller, &pending, 100);
        moved.unwrap().is_synchronous
    };
    let high_priority = 1;
    assert!(!is_synchronous(Call::WriteAtOrOn, 0));
    assert!(!is_synchronous(Call::WriteAtOrOn, high_priority));
    assert!(is_synchronous(Call::WriteAtOrOn, 0x2) && is_synchronous(Call::WriteAtOrOn, 0x4));
    assert!(!is_synchronous(Call::WriteAt, 0x2), "it has no flags");
}

#[test]
fn calls_that_succeed_on_files_that_cannot_be_identified_are_counted() {
    let mut sink = |_: &FileCall| ();
    let mut ledger = Ledger::new(Files::new(None), &mut sink);
    let descriptors = Shared::default();
    // No process can have this number.
    let caller = Caller { tid: i32::MAX, descriptors: &descriptors };
    let calls = [Call::Read, Call::WriteAt, Call::Sync, Call::SendFile];
    for (call, value) in calls.into_iter().flat_map(|call| [(call, -9), (call, 4096)]) {
        let pending = ledger.enter(&caller, call, [7, 7, 0, 0, 0, 0], 0).unwrap();
        assert_eq!(ledger.leave(&caller, &pending, value), [None, None]);
    }
    assert_eq!(ledger.elsewhere, BTreeMap::from([("unidentified", 5)]));
}

#[test]
fn mappings_are_noticed_of_files_that_do_not_count_but_not_of_programs_devices_and_memory() {
    let place = build_directory();
    let on_disk = u64::from(!files::is_in_memory(&place));
    let memory = memfd_create("shared", MemfdFlags::CLOEXEC).unwrap();
    let null = std::fs::File::open("/dev/null");
    let all = [tempfile::tempfile_in(place), null, Ok(memory.into())].map(Result::unwrap);
    let [one, device, memory] = all.each_ref().map(|file| file.as_raw_fd() as u64);
    let (mut sink, descriptors) = (|_: &FileCall| (), Shared::default());
    let mut ledger = Ledger::new(Files::new(Some("/proc".into())), &mut sink);
    let caller = Caller { tid: std::process::id() as i32, descriptors: &descriptors };
    let [read, code] = [libc::PROT_READ, libc::PROT_READ | libc::PROT_EXEC];
    let all = [(one, read), (one, code), (device, read), (memory, read), (u64::MAX, read)];
    let mapped = all.map(|(fd, how)| {
        let arguments = [0, 8192, how as u64, libc::MAP_PRIVATE as u64, fd, 0];
        ledger.enter(&caller, Call::Map, arguments, 0);
        (ledger.mapped, std::mem::take(&mut ledger.files.mappings))
    });
    assert_eq!(mapped, [(None, on_disk), (None, 0), (None, 0), (None, 0), (None, 0)]);
}

/// Guards against commands that seemed to map 200 MB each, unseen, and against Java programs of
/// which a command was given only if they read more than the 10 MiB of classes of its start.
#[test]
fn archives_of_locales_and_classes_are_part_of_programs() {
    let place = tempfile::tempdir_in(build_directory()).unwrap();
    let create = |name| std::fs::File::create_new(place.path().join(name)).unwrap();
    std::fs::create_dir(place.path().join("lib")).unwrap();
    let all = ["locale-archive", "lib/modules", "classes.jsa", "data"].map(create);
    let (mut sink, descriptors) = (|_: &FileCall| (), Shared::default());
    let mut ledger = Ledger::new(Files::new(None), &mut sink);
    let caller = Caller { tid: std::process::id() as i32, descriptors: &descriptors };
    let mapped = all.each_ref().map(|file| {
        let (how, fd) = ([libc::PROT_READ, libc::MAP_PRIVATE], file.as_raw_fd() as u64);
        ledger.enter(&caller, Call::Map, [0, 8192, how[0] as u64, how[1] as u64, fd, 0], 0);
        ledger.mapped.take()
    });
    assert_eq!(mapped, [None, None, None, Some(3)]);
}

#[derive(Default)]
struct Begun(Vec<(Option<u32>, u64)>, Vec<std::ops::Range<u64>>);

impl CallSink for Begun {
    fn call(&mut self, _: &FileCall) {}
    fn write_back_begun(&mut self, file: Option<u32>, at_ns: u64) {
        self.0.push((file, at_ns));
    }
    fn dropped(&mut self, _: u32, bytes: std::ops::Range<u64>) {
        self.1.push(bytes);
    }
}

#[test]
fn a_range_that_is_only_begun_to_be_written_is_no_wait() {
    let file = tempfile::tempfile().unwrap();
    let (fd, tid) = (file.as_raw_fd() as u64, std::process::id() as i32);
    let mut sink = Begun::default();
    let mut ledger = Ledger::new(Files::new(None), &mut sink);
    let descriptors = Shared::default();
    let caller = Caller { tid, descriptors: &descriptors };
    let waits = [0x2, 0x7, 0x3].map(|flags| {
        let pending = ledger.enter(&caller, Call::SyncRange, [fd, 0, 8192, flags, 0, 0], 5)?;
        let [moved, _] = ledger.leave(&caller, &pending, 0);
        moved.map(|moved| (moved.is_sync(), moved.is_write_back))
    });
    drop(ledger);
    assert_eq!(waits, [None, Some((true, true)), Some((true, true))]);
    assert_eq!(sink.0, [(Some(0), 5)]);
}

#[test]
fn only_a_sync_of_everything_writes_back_all_files() {
    let directory = std::fs::File::open(build_directory()).unwrap();
    let (fd, tid) = (directory.as_raw_fd() as u64, std::process::id() as i32);
    let mut sink = Begun::default();
    let mut ledger = Ledger::new(Files::new(None), &mut sink);
    let descriptors = Shared::default();
    let caller = Caller { tid, descriptors: &descriptors };
    for (call, at_ns) in [(Call::Sync, 5), (Call::SyncAll, 7)] {
        let pending = ledger.enter(&caller, call, [fd, 0, 0, 0, 0, 0], at_ns).unwrap();
        assert_eq!(ledger.leave(&caller, &pending, 0), [Some(sync_of_no_file()), None]);
    }
    drop(ledger);
    assert_eq!(sink.0, [(None, 7)]);
}

#[test]
fn what_the_file_cache_is_told_to_drop_is_told() {
    let file = tempfile::tempfile().unwrap();
    file.set_len(10_000).unwrap();
    let (fd, tid) = (file.as_raw_fd() as u64, std::process::id() as i32);
    let mut sink = Begun::default();
    let mut ledger = Ledger::new(Files::new(None), &mut sink);
    let descriptors = Shared::default();
    let caller = Caller { tid, descriptors: &descriptors };
    let [drop, random] = [libc::POSIX_FADV_DONTNEED, libc::POSIX_FADV_RANDOM];
    let all = [(4096, 10, drop, 0), (0, 10_000, drop, 0), (0, 0, drop, 0)];
    let advised = all.into_iter().chain([(0, 0, random, 0), (0, 0, drop, -22)]);
    for (from, len, advice, value) in advised {
        let arguments = [fd, from, len, advice as u64, 0, 0];
        let pending = ledger.enter(&caller, Call::Advise, arguments, 5).unwrap();
        ledger.leave(&caller, &pending, value);
    }
    let whole = 0..10_000_u64.next_multiple_of(rustix::param::page_size() as u64);
    let dropped = vec![4096..4106, whole.clone(), whole];
    assert_eq!((sink.1, sink.0), (dropped, vec![(Some(0), 5); 3]));
}
