//! Programs that keep the recorder busy: it serves all of their threads alike.

use super::tests::{folder, play_in};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Barrier;

const READERS: usize = 8;
const READS: usize = 500;

#[test]
fn threads_that_call_all_the_time_are_served_in_turn() {
    let place = folder();
    let (_, calls) = play_in(place.path(), "turns");
    let readers: Vec<u32> = calls.iter().filter(|c| c.is_read()).map(|c| c.process).collect();
    assert_eq!(readers.len(), READERS * READS);
    let mut counts = [0; READERS];
    let first = readers[..readers.len() / 2].iter();
    first.for_each(|&reader| counts[reader as usize - 1] += 1);
    // Half of their reads each, if processors were free all the time.
    let is_served = |count: &usize| *count > READS / 16;
    assert!(counts.iter().all(is_served), "reads of each in the first half: {counts:?}");
}

/// Reads all the time, by many threads.
pub(super) fn turns(path: &Path) -> std::io::Result<()> {
    std::fs::write(path, [0; 4096])?;
    let file = File::open(path)?;
    let together = Barrier::new(READERS);
    std::thread::scope(|scope| {
        let read = || {
            together.wait();
            (0..READS).try_for_each(|_| file.read_exact_at(&mut [0; 4096], 0))
        };
        let all: Vec<_> = (0..READERS).map(|_| scope.spawn(read)).collect();
        all.into_iter().try_for_each(|one| one.join().expect("no panic"))
    })
}
