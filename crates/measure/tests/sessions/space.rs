//! How much free space a session leaves: some for other programs, and all that a file's holes would
//! need beyond it.

use crate::common::{in_memory, quick, session_in, session_on, skipped};
use ioscape_machine::Error;
use ioscape_measure::Session;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

/// Two sets that would each take less than half of the file system.
fn two_sets(place: &Path) {
    let (mut first, mut second) = (session_in(place), session_in(place));
    first.layout(100 << 20, &quick()).unwrap();
    let refused = second.layout(100 << 20, &quick()).unwrap_err();
    assert!(matches!(refused, Error::Space { .. }), "{refused}");
    assert!(refused.to_string().contains("of it stays free for others)"), "{refused}");
    let left = second.target().free_bytes();
    assert!(left > 100 << 20, "{left}: it was refused while there was room for it");
    drop(first);
    // Workers that other tests forked meanwhile hold the file as long as they run.
    let has_room = || second.target().free_bytes() > 200 << 20;
    assert!(
        (0..6000).any(|_| has_room() || {
            std::thread::sleep(Duration::from_millis(10));
            false
        }),
        "what the first held is free again"
    );
    second.layout(100 << 20, &quick()).unwrap();
}

/// Uses as much as was promised, step by step.
fn whole_capacity(place: &Path) {
    let mut session = session_in(place);
    let most = session.max_unique_bytes();
    for part in 1..=8 {
        session.layout(most / 8 * part, &quick()).unwrap();
    }
}

/// Existing data needs no more space, but the sets of later runs do.
fn again(place: &Path) {
    let mut session = session_in(place);
    session.layout(100 << 20, &quick()).unwrap();
    let mut others = File::create(place.join("others")).unwrap();
    let block = vec![1u8; 1 << 20];
    (0..120).for_each(|_| others.write_all(&block).unwrap());
    assert_eq!(session.target().lacks(0, 100 << 20), None);
    let refused = session.layout(120 << 20, &quick()).unwrap_err();
    assert!(!refused.is_misuse(), "{refused}");
}

fn holes(place: &Path) {
    let file = place.join("sparse");
    File::create(&file).and_then(|file| file.set_len(1 << 30)).unwrap();
    let mut session = session_on(&file);
    let refused = session.layout(512 << 20, &quick()).unwrap_err();
    assert!(refused.is_misuse() && refused.to_string().contains("has holes"), "{refused}");
    session.layout(32 << 20, &quick()).unwrap();
    assert_eq!(session.target().len().unwrap(), 1 << 30);
}

#[test]
fn two_sets_of_one_file_system_leave_some_of_it_to_others() {
    if !in_memory("size=256m", two_sets) {
        skipped("mounting needs root");
    }
}

/// Once, `ab` laid out the larger set of another job again in each of its runs.
#[test]
fn a_smaller_set_laid_out_anew_leaves_the_rest_of_a_larger_one() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut session = session_in(folder.path());
    let pages = |session: &Session| {
        let mut set = vec![0; 8 << 20];
        session.target().file().read_exact_at(&mut set, 0).unwrap();
        assert!(set.chunks(4096).all(|page| page.iter().any(|byte| *byte != 0)), "no holes");
        [0, 1 << 20, 7 << 20].map(|place| set[place..place + 4096].to_vec())
    };
    session.layout(8 << 20, &quick()).unwrap();
    let before = pages(&session);
    session.layout_anew(1 << 20, &quick()).unwrap();
    let is_kept = session.target().len().unwrap() == 8 << 20;
    session.layout(8 << 20, &quick()).unwrap();
    let after = pages(&session);
    let is_same = [0, 1, 2].map(|page| before[page] == after[page]);
    assert_eq!(is_same, [false, is_kept, is_kept]);
    session.layout_anew(9 << 20, &quick()).unwrap();
    assert_eq!(session.target().len().unwrap(), 9 << 20);
}

#[test]
fn a_set_that_lies_there_needs_no_space() {
    if !in_memory("size=256m", again) {
        skipped("mounting needs root");
    }
}

#[test]
fn a_set_grows_to_the_part_of_the_free_space_that_it_may_have() {
    if !in_memory("size=100m", whole_capacity) {
        skipped("mounting needs root");
    }
}

#[test]
fn the_holes_of_a_file_are_not_filled_beyond_the_free_space() {
    if !in_memory("size=128m", holes) {
        skipped("mounting needs root");
    }
}
