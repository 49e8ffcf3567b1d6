//! Requests that a device (LVM, LUKS, md) sends on to another one, where they have rows again.

use crate::whole;
use ioscape_schema::{Io, TraceInfo};
use ioscape_trace::analyze::state::{Asked, Header, Merge, Part, TraceClock};
use ioscape_trace::analyze::{Analysis, AnalysisOptions};
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

/// The events of reads of two volumes that lie on 8,0, those of each in order of time.
fn two_volumes() -> [String; 2] {
    [("253,0", 1), ("253,1", 2)].map(|(name, at)| {
        let mut lines = events(name, at).concat();
        lines.sort_by_key(|line| line.split(' ').nth(3).map(str::to_owned));
        lines.concat()
    })
}

/// The requests to `disks` of these.
fn of_two_volumes(disks: &[&str]) -> SelectedRows {
    let source = Source::stream("t", Cursor::new(two_volumes().concat().into_bytes()));
    let reader = open(vec![source], &ReadOptions::default()).unwrap();
    let disks: Vec<String> = disks.iter().map(|&disk| disk.to_owned()).collect();
    SelectedRows::new(reader, None, None, &disks)
}

/// Guards against advice that was followed, in an imported trace for ever.
#[test]
fn only_levels_among_the_chosen_disks_are_told() {
    let said = |disks: &[&str]| {
        let mut rows = of_two_volumes(disks);
        while rows.next(&mut Vec::new()).unwrap() {}
        let info = rows.info();
        (info.notes.get("requests of two levels").cloned(), doubts(info).len())
    };
    assert_eq!(said(&["8,0"]), (None, 0));
    assert_eq!(said(&["253,0", "253,1"]), (None, 0));
    assert_eq!(said(&["8,0", "253,1"]), (Some("253,1 on 8,0".to_owned()), 1));
}

#[test]
fn levels_of_all_files_that_are_merged_are_told() {
    let files = two_volumes().map(|lines| Source::stream("t", Cursor::new(lines.into_bytes())));
    let (_, info) = whole::read(files.into(), &ReadOptions::default()).unwrap();
    assert_eq!(info.notes["requests of two levels"], "253,0 on 8,0; 253,1 on 8,0");
}

#[test]
fn parts_of_some_disks_give_the_levels_of_the_whole() {
    let part = |disks: &&[&str]| {
        let (mut rows, mut batch) = (of_two_volumes(disks), Vec::new());
        let mut analysis = Analysis::part(&AnalysisOptions::default());
        while rows.next(&mut batch).unwrap() {
            analysis.name_devices(&rows.info().devices);
            analysis.update(&batch);
        }
        let (info, asked) = (rows.info_of_all_disks(), Asked::default());
        let header = Header::of(&analysis, "t", &info, TraceClock::Trace, &asked);
        Part { header, analysis }
    };
    let said = |disks: &[&[&str]]| {
        let parts: Vec<Part> = disks.iter().map(part).collect();
        let is_alike = |part: &Part| part.header.info == parts[0].header.info;
        assert!(parts.iter().all(is_alike), "otherwise losses count for each part");
        let headers = parts.iter().map(|part| ("t".to_owned(), part.header.clone()));
        let mut merge = Merge::new(&headers.collect::<Vec<_>>()).unwrap();
        parts.into_iter().for_each(|part| merge.add(part));
        let told = merge.finish().warnings.into_iter().map(|doubt| doubt.message);
        told.filter(|said| said.contains(" lie on others ")).collect::<String>()
    };
    let both = said(&[&["253,0"], &["8,0", "253,1"]]);
    assert!(both.contains("(253,0 on 8,0; 253,1 on 8,0)"), "{both}");
    let one = said(&[&["8,0"], &["253,1"]]);
    assert!(one.contains("(253,1 on 8,0)"), "{one}");
    assert_eq!(said(&[&["253,0"], &["253,1"]]), "");
}

#[test]
fn nothing_is_told_where_one_level_was_recorded() {
    for lines in events("253,0", 1) {
        let (rows, info) = read(&lines);
        assert_eq!((rows.len(), doubts(&info)), (1, Vec::new()));
    }
}
