//! Streams give the same rows however they are cut, and whichever way they are simulated.

use super::*;
use crate::testing;
use crate::{Command, WriteCache};
use ioscape_schema::Io;
use proptest::prelude::*;

const MS: u64 = 1_000_000;

/// Jobs for three disks in the order of arrival; each number of `dice` makes one.
fn jobs(dice: &[u64]) -> Vec<Job> {
    let mut now = 0;
    let job = |(row, dice): (usize, &u64)| {
        now += dice % (20 * MS);
        let (block, count) = (dice >> 8, 1 + (dice >> 24) % 80);
        let command = Command {
            block: block % 19_000,
            count,
            write: dice >> 40 & 1 == 0,
            synchronous: (dice >> 41) % 3 > 0,
        };
        let issued_ns = now + (dice >> 43) % 4 * 7 * MS;
        let io =
            Io { queued_ns: now, issued_ns, completed_ns: issued_ns + 4 * MS, ..Io::default() };
        Job { row: row as u64, disk: ((dice >> 46) % 3) as u16, io, command }
    };
    dice.iter().enumerate().map(job).collect()
}

type Told = Vec<(u64, SimulatedRequest)>;

/// All rows by ticket and what was written, when the jobs come in parts of `part`.
fn told(jobs: &[Job], mut stream: Stream<'_>, part: usize) -> (Told, Traffic) {
    let mut rows = Told::new();
    for some in jobs.chunks(part) {
        stream.take(some, &mut |ticket, row| rows.push((ticket, row)));
    }
    let traffic = stream.finish(&mut |ticket, row| rows.push((ticket, row)));
    rows.sort_by_key(|row| row.0);
    (rows, traffic)
}

fn caches() -> [(WriteCache, bool); 3] {
    let nvram = WriteCache::Nvram {
        bytes: 16 << 10,
        destage: crate::cache::Destage::Satf,
        freeing: crate::cache::Freeing::WholeWrite,
    };
    [(WriteCache::None, false), (WriteCache::Immediate, true), (nvram, false)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn lanes_and_events_agree_and_the_cut_does_not_matter(dice in prop::collection::vec(any::<u64>(), 1..400), part in 1usize..50) {
        let drive = testing::simple();
        let jobs = jobs(&dice);
        for arrivals in [Arrivals::Queued, Arrivals::Issued, Arrivals::Closed] {
            for (cache, read_ahead) in caches() {
                let disk = DiskOptions { read_ahead, cache };
                let options = Configuration { disk, arrivals, ..Configuration::default() };
                let with = |way| {
                    let mut stream = Stream { way, ..Stream::new(&options) };
                    (0..3).for_each(|_| stream.add(&drive, disk));
                    stream
                };
                let short = told(&jobs, with(Way::Lanes(Vec::new())), usize::MAX);
                prop_assert_eq!(short.0.len(), jobs.len());
                prop_assert!(short.0.iter().enumerate().all(|(at, (ticket, row))| at as u64 == *ticket && row.row == *ticket));
                prop_assert_eq!(&told(&jobs, with(Way::Events(Events::new(&options))), part), &short);
                prop_assert_eq!(&told(&jobs, with(Way::Lanes(Vec::new())), part), &short);
            }
        }
    }

    #[test]
    fn every_order_and_a_shared_bus_give_the_same_in_parts(dice in prop::collection::vec(any::<u64>(), 1..300), part in 1usize..50) {
        let drive = testing::simple();
        let jobs = jobs(&dice);
        for arrivals in [Arrivals::Queued, Arrivals::Issued, Arrivals::Closed] {
            for (_, scheduler) in crate::SCHEDULERS {
                let options = Configuration { arrivals, scheduler, shared_bus: true, ..Configuration::default() };
                let stream = || {
                    let mut stream = Stream::new(&options);
                    (0..3).for_each(|_| stream.add(&drive, options.disk));
                    stream
                };
                let whole = told(&jobs, stream(), usize::MAX);
                prop_assert_eq!(whole.0.len(), jobs.len());
                prop_assert_eq!(&told(&jobs, stream(), part), &whole);
            }
        }
    }
}

#[test]
fn a_request_that_is_done_takes_no_memory() {
    let drive = testing::simple();
    let options = Configuration { scheduler: Scheduler::CScan, ..Configuration::default() };
    let mut stream = Stream::new(&options);
    stream.add(&drive, options.disk);
    let command = Command { block: 5, count: 1, write: false, synchronous: true };
    for row in 0..10_000u64 {
        let io = Io { queued_ns: row * 40 * MS, ..Io::default() };
        stream.take(&[Job { row, disk: 0, io, command }], &mut |_, _| {});
    }
    let Way::Events(events) = &stream.way else { panic!("a host queue needs events") };
    assert!(events.remembered() <= 2, "{}", events.remembered());
}
