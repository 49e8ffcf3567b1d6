//! Many disks take bounded memory, and what remains of those given up is exact.

use super::*;
use ioscape_schema::chance::mix;
use ioscape_schema::{Op, Request};

/// Requests to `disks` disks, the last of which is the busiest.
fn rows(disks: u16, each: u64) -> Vec<Io> {
    let row = |at: u64| {
        let x = mix(at);
        let device = if at.is_multiple_of(4) { disks - 1 } else { (x % u64::from(disks)) as u16 };
        let op = if x >> 40 & 1 == 0 { Op::Read } else { Op::Write };
        let queued_ns = at * 1_000_000;
        let request = Request { op, offset: (x >> 20) % 64 * 4096, len: 4096 };
        Io { request, device, queued_ns, completed_ns: queued_ns + 500_000, ..Io::default() }
    };
    (0..u64::from(disks) * each).map(row).collect()
}

fn of(most_bytes: usize, head_most: usize, rows: &[Io]) -> Disks {
    let mut disks = Disks::new(head_most, most_bytes);
    rows.iter().for_each(|io| disks.update(io));
    disks
}

/// Number and load of each disk, and the distances of all.
fn counted(disks: &Disks) -> (Vec<(u16, u64)>, String) {
    let ios = disks.iter().map(|(number, disk)| (number, disk.ios())).collect();
    (ios, format!("{:?}", disks.distance().finish()))
}

const LITTLE: usize = 1 << 20;

#[test]
fn many_disks_stay_within_the_memory_and_their_loads_exact() {
    let rows = rows(500, 60);
    let (all, few) = (of(usize::MAX, 0, &rows), of(LITTLE, 0, &rows));
    let bytes = |disks: &Disks| disks.iter().map(|(_, disk)| disk.bytes()).sum::<usize>();
    assert!(bytes(&all) > 4 * LITTLE && bytes(&few) <= LITTLE + LITTLE / 4, "{}", bytes(&few));
    assert_eq!((all.given_up(), counted(&all)), (0, counted(&few)));
    assert!(few.given_up() > 0 && few.given_up() < 500);
    // The busiest disk was never given up: it is known as fully as without a bound.
    let busiest = |disks: &Disks| format!("{:?}", disks.busiest(1)[0].1);
    assert_eq!(busiest(&few), busiest(&all));
    let given_up = few.iter().find(|(_, disk)| disk.is_given_up()).expect("there is one").1;
    let told = given_up.full().finish(0, &Default::default(), None, 0);
    assert!(told.load.ios > 0 && told.queue_length.is_empty() && told.sequential.is_none());
}

#[test]
fn parts_of_many_disks_add_up_whatever_was_given_up() {
    let rows = rows(300, 60);
    let whole = of(usize::MAX, 0, &rows);
    for (cut, bounds) in
        [(9000, [LITTLE, usize::MAX]), (4000, [usize::MAX, LITTLE]), (12_000, [LITTLE; 2])]
    {
        let mut merged = of(bounds[0], 8, &rows[..cut]);
        merged.merge(of(bounds[1], 8, &rows[cut..]));
        assert_eq!(counted(&merged), counted(&whole), "cut at {cut}");
        assert!(merged.given_up() > 0);
    }
}

#[test]
fn a_disk_with_too_many_requests_under_way_is_only_counted() {
    let row = |at: u64| Io {
        queued_ns: at,
        completed_ns: u64::MAX,
        device: u16::from(at.is_multiple_of(100)),
        ..Io::default()
    };
    let rows: Vec<Io> = (1..200_000).map(row).collect();
    let found = of(LITTLE, 0, &rows);
    let given_up: Vec<bool> = found.iter().map(|(_, disk)| disk.is_given_up()).collect();
    assert_eq!(given_up, [true, false], "the other one is followed still");
}

#[test]
fn requests_taken_in_together_count_as_one_by_one() {
    for (disks, each, bytes) in [(10, 2500, usize::MAX), (10, 2500, 200_000), (70, 400, LITTLE)] {
        let rows = rows(disks, each);
        for together in [1, 700, 4096, 30_000] {
            let mut found = Disks::new(8, bytes);
            rows.chunks(together).for_each(|rows| found.update_all(rows));
            found.sorted = Vec::new();
            let expected = of(bytes, 8, &rows);
            assert_eq!(
                format!("{found:?}"),
                format!("{expected:?}"),
                "{disks}, {bytes}, {together}"
            );
        }
    }
}
