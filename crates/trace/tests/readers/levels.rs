//! Requests that a device (LVM, LUKS, md) sends on to another one, where they have rows again.

use crate::whole;
use ioscape_schema::{Io, TraceInfo};
use ioscape_trace::{ReadOptions, SelectedRows, Source, doubts, open};
use std::io::Cursor;

fn read(lines: &[String]) -> (Vec<Io>, TraceInfo) {
    let source = Source::stream("t", Cursor::new(lines.concat().into_bytes()));
    whole::read(vec![source], &ReadOptions::default()).unwrap()
}

/// The events of a read of the volume `name`, which lies on 8,0: those of 8,0 and those of the
/// volume.
fn events(name: &str, at: u32) -> [Vec<String>; 2] {
    let line = |disk, ns, event| format!("{disk} 1 1 {at}.00000000{ns} 7 {event} [a]\n");
    let moved = format!("A R 2056 + 8 <- ({name}) 8");
    let below =
        [(2, moved.as_str()), (3, "Q R 2056 + 8"), (4, "D R 2056 + 8"), (5, "C R 2056 + 8")];
    let above = [(1, "Q R 8 + 8"), (6, "C R 8 + 8")];
    [
        below.map(|(ns, event)| line("8,0", ns, event)).into(),
        above.map(|(ns, event)| line(name, ns, event)).into(),
    ]
}

#[test]
fn requests_with_rows_at_two_levels_are_told() {
    let all = [("253,0", 1), ("253,1", 2), ("253,0", 3)];
    let mut lines = all.map(|(name, at)| events(name, at).concat()).concat();
    lines.sort_by_key(|line| line.split(' ').nth(3).map(str::to_owned));
    let (rows, info) = read(&lines);
    assert_eq!((rows.len(), info.devices.len()), (6, 3));
    let said = doubts(&info)[0].message.clone();
    let begin = "disks of the trace lie on others (253,0 on 8,0; 253,1 on 8,0)";
    assert!(said.starts_with(begin), "{said}");
}

/// Guards against advice that was followed, in an imported trace for ever.
#[test]
fn only_levels_among_the_chosen_disks_are_told() {
    let lines = [("253,0", 1), ("253,1", 2)].map(|(name, at)| {
        let mut lines = events(name, at).concat();
        lines.sort_by_key(|line| line.split(' ').nth(3).map(str::to_owned));
        lines.concat()
    });
    let said = |disks: &[&str]| {
        let source = Source::stream("t", Cursor::new(lines.concat().into_bytes()));
        let reader = open(vec![source], &ReadOptions::default()).unwrap();
        let disks: Vec<String> = disks.iter().map(|&disk| disk.to_owned()).collect();
        let mut rows = SelectedRows::new(reader, None, None, &disks);
        while rows.next(&mut Vec::new()).unwrap() {}
        let info = rows.info();
        (info.notes.get("requests of two levels").cloned(), doubts(info).len())
    };
    assert_eq!(said(&["8,0"]), (None, 0));
    assert_eq!(said(&["253,0", "253,1"]), (None, 0));
    assert_eq!(said(&["8,0", "253,1"]), (Some("253,1 on 8,0".to_owned()), 1));
}

#[test]
fn nothing_is_told_where_one_level_was_recorded() {
    for lines in events("253,0", 1) {
        let (rows, info) = read(&lines);
        assert_eq!((rows.len(), doubts(&info)), (1, Vec::new()));
    }
}
