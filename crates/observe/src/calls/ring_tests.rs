//! Requests on a ring in our own memory, shared as between a program and the kernel, and what is
//! made of them.

use super::description::Shared;
use super::descriptors::Descriptors;
use super::files::Files;
use super::numbers::Call;
use super::requests::{Caller, Ledger, Pending, parted};
use super::schedule::Turns;
use super::sink::CallSink;
use ioscape_schema::FileCall;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd, OwnedFd};
use tempfile::NamedTempFile;

/// The ring's descriptor, which is never opened.
const RING: i32 = 1 << 20;
/// Commands of requests.
const SYNC: u64 = 3;
const RANGE: u64 = 8;
const READ: u64 = 22;
const WRITE: u64 = 23;
const OPEN: u64 = 18;
const CLOSE: u64 = 19;
/// The flag of a request on a file of the ring's table.
const FIXED: u64 = 1;
/// `RWF_DSYNC`, `RWF_APPEND`.
const DSYNC: u64 = 2;
const APPEND: u64 = 0x10;

/// `struct io_uring_sqe` of `linux/io_uring.h` on machines where the lower half of a word comes
/// first.
#[derive(Clone, Copy, Default)]
struct Entry {
    opcode: u64,
    flags: u64,
    fd: u32,
    offset: u64,
    len: u64,
    rw_flags: u64,
    key: u64,
    place: u64,
}

impl Entry {
    fn words(self) -> [u64; 8] {
        let first = self.opcode | self.flags << 8 | u64::from(self.fd) << 32;
        let length = self.len | self.rw_flags << 32;
        [first, self.offset, 0, length, self.key, self.place << 32, 0, 0]
    }
}

/// A ring with eight places.
struct Memory {
    /// `struct io_uring_params`.
    params: [u32; 30],
    /// Head, tail and mask, and the entries of the places.
    submissions: [u32; 11],
    /// Tail, mask, an unused word, and the places.
    completions: [u32; 36],
    entries: [[u64; 8]; 8],
}

/// A program with a ring.
struct Stage<'a> {
    ledger: Ledger<'a>,
    descriptors: Shared<Descriptors>,
    memory: Box<Memory>,
}

impl<'a> Stage<'a> {
    fn new(sink: &'a mut dyn CallSink) -> Self {
        let mut params = [0; 30];
        // The offsets of head, tail, mask and places of submissions, then tail, mask and places of
        // completions.
        for (at, offset) in [(10, 0), (11, 4), (12, 8), (16, 12), (21, 0), (22, 4), (25, 16)] {
            params[at] = offset;
        }
        let (mut submissions, mut completions) = ([0; 11], [0; 36]);
        (submissions[2], completions[1]) = (7, 7);
        let memory = Memory { params, submissions, completions, entries: [[0; 8]; 8] };
        let ledger = Ledger::new(Files::new(None), sink);
        let mut stage = Self { ledger, descriptors: Shared::default(), memory: Box::new(memory) };
        let params = stage.memory.params.as_ptr() as u64;
        stage.leave(Call::RingSetup, [8, params, 0, 0, 0, 0], i64::from(RING));
        let parts = [
            (0, stage.memory.submissions.as_ptr() as i64),
            (0x0800_0000, stage.memory.completions.as_ptr() as i64),
            (0x1000_0000, stage.memory.entries.as_ptr() as i64),
        ];
        for (offset, address) in parts {
            stage.leave(Call::Map, [0, 0, 0, 0, RING as u64, offset], address);
        }
        stage
    }

    fn leave(&mut self, call: Call, arguments: [u64; 6], value: i64) {
        let caller = Caller { tid: own(), descriptors: &self.descriptors };
        self.ledger.left(&caller, &pending(call, arguments), value, 20);
    }

    /// The program submits these requests with one call, and the kernel takes them.
    fn submit(&mut self, all: &[Entry]) {
        let first = self.memory.submissions[1];
        for (number, one) in (first..).zip(all) {
            let at = number & 7;
            self.memory.entries[at as usize] = one.words();
            self.memory.submissions[3 + at as usize] = at;
        }
        self.memory.submissions[1] = first + all.len() as u32;
        let caller = Caller { tid: own(), descriptors: &self.descriptors };
        let pending = pending(Call::RingEnter, [RING as u64, all.len() as u64, 0, 0, 0, 0]);
        self.ledger.about_to_submit(&caller, &pending);
        self.ledger.submitted(&caller, &pending, all.len() as i64, 0);
        self.memory.submissions[0] = self.memory.submissions[1];
    }

    /// Requests with these keys end with these values, which the program sees at its next call.
    fn complete(&mut self, all: &[(u32, i32)]) {
        for (key, value) in all {
            let at = 4 + 4 * (self.memory.completions[0] & 7) as usize;
            self.memory.completions[at..at + 3].copy_from_slice(&[*key, 0, *value as u32]);
            self.memory.completions[0] += 1;
        }
        self.leave(Call::RingEnter, [RING as u64, 0, 0, 0, 0, 0], 0);
    }

    /// The program closes a descriptor with a call of its own.
    fn close(&mut self, fd: u32) {
        let caller = Caller { tid: own(), descriptors: &self.descriptors };
        self.ledger.enter(&caller, Call::Close, [fd.into(), 0, 0, 0, 0, 0], 0);
    }
}

fn own() -> i32 {
    std::process::id() as i32
}

fn pending(call: Call, arguments: [u64; 6]) -> Pending {
    Pending { call, arguments, issued_ns: 10, before: Turns::default(), deletes: None }
}

/// A file, and a descriptor of it that can be made to refer to another file.
fn opened() -> (NamedTempFile, OwnedFd, u32) {
    let file = NamedTempFile::new().expect("a file");
    let fd = OwnedFd::from(file.reopen().expect("the file"));
    let number = fd.as_raw_fd() as u32;
    (file, fd, number)
}

/// Makes `fd` refer to a new file, which no longer has a name.
fn replace(fd: &mut OwnedFd) {
    let file = NamedTempFile::new().expect("a file");
    rustix::io::dup2(file.as_file(), fd).expect("a descriptor");
}

/// The numbers of the files that a program's reads of 100 bytes went to.
fn files_of(program: impl FnOnce(&mut Stage<'_>)) -> (Vec<u32>, u64) {
    let mut rows: Vec<FileCall> = Vec::new();
    let mut sink = |call: &FileCall| rows.push(*call);
    let mut stage = Stage::new(&mut sink);
    program(&mut stage);
    let unseen = stage.ledger.unseen_calls;
    drop(stage);
    assert!(rows.iter().all(|row| row.request.len == 100 && row.is_read()));
    (rows.iter().map(|row| row.file).collect(), unseen)
}

fn reads(fd: u32, key: u64) -> Entry {
    Entry { opcode: READ, fd, len: 100, key, ..Entry::default() }
}

#[test]
fn a_descriptor_that_a_ring_closed_stands_for_another_file_when_it_is_used_again() {
    let (_old, mut fd, number) = opened();
    let found = files_of(|stage| {
        let close = Entry { opcode: CLOSE, fd: number, key: 2, ..Entry::default() };
        stage.submit(&[reads(number, 1), close]);
        replace(&mut fd);
        stage.submit(&[reads(number, 3)]);
        stage.complete(&[(1, 100), (2, 0), (3, 100)]);
    });
    assert_eq!(found, (vec![0, 1], 0));
}

#[test]
fn a_descriptor_that_a_ring_opened_stands_for_what_it_opened() {
    let (_old, mut fd, number) = opened();
    let found = files_of(|stage| {
        stage.submit(&[reads(number, 1), Entry { opcode: OPEN, key: 2, ..Entry::default() }]);
        replace(&mut fd);
        stage.complete(&[(1, 100), (2, number as i32)]);
        stage.submit(&[reads(number, 3)]);
        stage.complete(&[(3, 100)]);
    });
    assert_eq!(found, (vec![0, 1], 0));
}

#[test]
fn a_registered_file_stays_the_same_when_its_descriptor_is_used_again() {
    let (_old, mut fd, number) = opened();
    let list = [number as i32];
    let register = [RING as u64, 2, list.as_ptr() as u64, 1, 0, 0];
    let found = files_of(|stage| {
        stage.leave(Call::RingRegister, register, 0);
        stage.close(number);
        replace(&mut fd);
        stage.submit(&[Entry { flags: FIXED, ..reads(0, 1) }, reads(number, 2)]);
        stage.submit(&[Entry { flags: FIXED, ..reads(1, 3) }]);
        stage.submit(&[Entry { opcode: CLOSE, place: 1, ..Entry::default() }]);
        stage.submit(&[Entry { flags: FIXED, ..reads(0, 4) }]);
        stage.complete(&[(1, 100), (2, 100)]);
        stage.complete(&[(3, 100), (4, 100)]);
    });
    assert_eq!(found, (vec![0, 1], 2), "what was never registered, or is no more, is not seen");
}

#[test]
fn files_are_registered_with_tags_and_on_a_ring_that_is_registered_itself() {
    let (_file, _fd, number) = opened();
    let list = [number as i32];
    let by_number = 1u64 << 31;
    let ring = [3, RING as u64];
    let table = [1, 0, list.as_ptr() as u64, 0];
    let update = [2, list.as_ptr() as u64, 0, 1];
    let found = files_of(|stage| {
        let register = |command, argument: &[u64], count, ring| {
            [ring, command, argument.as_ptr() as u64, count, 0, 0]
        };
        stage.leave(Call::RingRegister, register(20, &ring, 1, RING as u64), 1);
        stage.leave(Call::RingRegister, register(13 | by_number, &table, 32, 3), 0);
        stage.leave(Call::RingRegister, register(14, &update, 32, RING as u64), 1);
        let fixed = [0u32, 2].map(|place| Entry { flags: FIXED, ..reads(place, place.into()) });
        stage.submit(&fixed);
        stage.complete(&[(0, 100), (2, 100)]);
    });
    assert_eq!(found, (vec![0, 0], 0));
}

#[test]
fn a_range_that_a_ring_only_begins_to_write_is_no_wait() {
    let (_file, _fd, number) = opened();
    let mut waits = 0;
    let mut sink = |call: &FileCall| waits += u32::from(call.is_sync());
    let mut stage = Stage::new(&mut sink);
    let range = |rw_flags, key| {
        let fd = number;
        Entry { opcode: RANGE, fd, rw_flags, key, ..Entry::default() }
    };
    stage.submit(&[range(2, 1), range(7, 2)]);
    stage.complete(&[(1, 0), (2, 0)]);
    drop(stage);
    assert_eq!(waits, 1);
}

/// As with a database that makes the name of its journal durable.
#[test]
fn the_sync_of_a_directory_is_a_wait_of_no_file() {
    let place = tempfile::tempdir().expect("a directory");
    let inside = File::open(place.path()).expect("the directory");
    let outside = File::open("/").expect("another directory");
    let [inside, outside] = [&inside, &outside].map(|one| one.as_raw_fd() as u32);
    let mut waits = Vec::new();
    let mut sink = |call: &FileCall| waits.push((call.is_sync(), call.file));
    let mut stage = Stage::new(&mut sink);
    stage.ledger.files = Files::new(Some(place.path().canonicalize().expect("a path")));
    let sync = |fd, key| Entry { opcode: SYNC, fd, key, ..Entry::default() };
    stage.submit(&[sync(inside, 1), sync(outside, 2)]);
    stage.complete(&[(1, 0), (2, 0)]);
    let caller = Caller { tid: own(), descriptors: &stage.descriptors };
    let arguments = [u64::from(inside), 0, 0, 0, 0, 0];
    let pending = stage.ledger.enter(&caller, Call::Sync, arguments, 0).expect("it waits");
    let called = stage.ledger.leave(&caller, &pending, 0)[0].expect("it waited");
    assert_eq!((called.is_sync(), called.file), (true, FileCall::NO_FILE));
    let elsewhere = std::mem::take(&mut stage.ledger.elsewhere);
    assert_eq!(elsewhere, BTreeMap::from([("file not asked for", 1)]));
    drop(stage);
    assert_eq!(waits, [(true, FileCall::NO_FILE)]);
}

/// As in PostgreSQL, whose postmaster makes a ring for each of the processes that it will fork.
#[test]
fn an_inherited_ring_is_seen_without_what_others_asked_of_it() {
    let (_file, _fd, number) = opened();
    let mut lengths = Vec::new();
    let mut sink = |call: &FileCall| lengths.push(call.request.len);
    let mut stage = Stage::new(&mut sink);
    let parent = Shared::clone(&stage.descriptors);
    for moved in [50, 100] {
        stage.descriptors = parted(&parent);
        stage.submit(&[reads(number, 1)]);
        stage.complete(&[(1, moved)]);
    }
    let unseen = stage.ledger.unseen_calls;
    drop(stage);
    assert_eq!((lengths, unseen), (vec![50, 100], 0));
}

#[test]
fn requests_on_an_unknown_ring_are_told() {
    let mut sink = |_: &FileCall| ();
    let mut stage = Stage::new(&mut sink);
    stage.descriptors = Shared::default();
    stage.submit(&[reads(0, 1), reads(0, 2)]);
    assert_eq!(stage.ledger.unseen_calls, 1);
}

#[test]
fn appends_that_are_submitted_together_lie_one_behind_the_other() {
    let file = NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), [1; 10]).expect("a file of ten bytes");
    let open = |append: bool| -> File {
        let mut options = OpenOptions::new();
        options.write(true).append(append).open(file.path()).expect("the file")
    };
    let (end, any) = (open(true), open(false));
    let [end_fd, any_fd] = [&end, &any].map(|file| file.as_raw_fd() as u32);
    let write = |fd, len, key| Entry { opcode: WRITE, fd, len, key, ..Entry::default() };
    let mut rows: Vec<FileCall> = Vec::new();
    let mut sink = |call: &FileCall| rows.push(*call);
    let mut stage = Stage::new(&mut sink);
    let once = Entry { rw_flags: APPEND | DSYNC, ..write(any_fd, 4, 4) };
    stage.submit(&[write(end_fd, 5, 1), write(end_fd, 7, 2), write(any_fd, 2, 3), once]);
    stage.submit(&[write(end_fd, 1, 5)]);
    stage.complete(&[(1, 5), (2, 7), (3, 2), (4, 4), (5, 1)]);
    stage.submit(&[write(end_fd, 3, 6)]);
    stage.complete(&[(6, 3)]);
    drop(stage);
    let found: Vec<_> = rows.iter().map(|row| (row.request.offset, row.request.len)).collect();
    let told = "nothing was written, so the last one is at the end as it is";
    assert_eq!(found, [(10, 5), (15, 7), (0, 2), (22, 4), (26, 1), (10, 3)], "{told}");
    let synchronous: Vec<u32> =
        rows.iter().filter(|row| row.is_synchronous).map(|row| row.request.len).collect();
    assert_eq!(synchronous, [4]);
}
