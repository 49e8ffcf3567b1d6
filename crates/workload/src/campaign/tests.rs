//! Tests of campaign files.

use super::*;
use ioscape_schema::{FileSet, NameOperation};
use proptest::prelude::*;

const SAMPLE: &str = r#"
title = "Reads by block size"
rounds = 3
[base]
workload = "read"
file_size = "64M"
cold = true
[[vary]]
name = "files"
values = [1, 2]
[[vary]]
name = "iosize"
values = ["64k", "1M"]
[[method]]
name = "buffered"
[[method]]
name = "direct"
with = { cache = "direct", file_size = "32M" }
"#;

#[test]
fn rows_are_the_product_and_methods_replace_the_base() {
    let campaign = Campaign::parse(SAMPLE).unwrap();
    assert_eq!(campaign.x(), "iosize");
    let rows = campaign.rows(u64::MAX).unwrap();
    let texts: Vec<Vec<&str>> =
        rows.iter().map(|row| row.settings.iter().map(|s| s.text.as_str()).collect()).collect();
    assert_eq!(texts, [["1", "64k"], ["1", "1M"], ["2", "64k"], ["2", "1M"]]);
    let [buffered, direct] = &rows[3].cells[..] else { panic!("two methods") };
    assert!(!buffered.job.direct && direct.job.direct && direct.job.cold);
    assert_eq!((buffered.file_bytes, direct.file_bytes), (64 << 20, 32 << 20));
    assert_eq!((buffered.job.iosize, buffered.job.iocount), (1 << 20, Some(64)));
    assert_eq!((buffered.moved_bytes(), buffered.space_bytes()), (128 << 20, 128 << 20));
}

#[test]
fn sizes_are_capped() {
    let campaign = Campaign::parse(SAMPLE).unwrap();
    let rows = campaign.rows(1 << 20).unwrap();
    assert!(rows.iter().flat_map(|row| &row.cells).all(|cell| cell.file_bytes == 1 << 20));
    let swept = SAMPLE.replace(", file_size = \"32M\"", "").replace(
        "name = \"files\"\nvalues = [1, 2]",
        "name = \"file_size\"\nvalues = [\"1k\", \"2M\"]",
    );
    let campaign = Campaign::parse(&swept).unwrap();
    let rows = campaign.rows(1 << 20).unwrap();
    assert_eq!(rows.len(), 2, "the larger files are left out");
    assert_eq!(rows[0].cells[0].job.iosize, 1024, "no request is larger than its file");
}

/// Guards against a defect: random reads of 1 GiB on a device of 8 GiB went to blocks that nobody
/// had written, and were faster than any disk.
#[test]
fn random_requests_on_a_device_stay_within_what_is_laid_out_of_it() {
    let text = SAMPLE.replace("\"read\"", "\"rand_read\"");
    let text = text.replace("name = \"direct\"", "name = \"direct\"\nraw = true");
    let reach = |text: &str, most| {
        let rows = Campaign::parse(text).unwrap().rows(most).unwrap();
        rows[0].cells.iter().map(|cell| cell.job.max_file_size).collect::<Vec<_>>()
    };
    assert_eq!(reach(&text, u64::MAX), [None, Some(32 << 20)]);
    assert_eq!(reach(&text, 1 << 20), [None, Some(1 << 20)]);
    let own = text.replace("cold = true", "cold = true\noptions = \"maxfilesize=2M\"");
    assert_eq!(reach(&own, u64::MAX), [Some(2 << 20); 2]);
}

#[test]
fn wrong_files_are_told_where() {
    for (from, to, words) in [
        ("rounds = 3", "rounds = 0", "rounds"),
        ("rounds = 3", "runds = 3", "line 3: unknown field `runds`"),
        ("\"read\"", "\"raed\"", "did you mean \"read\"?"),
        ("name = \"iosize\"", "name = \"colour\"", "choose from file_size"),
        ("\"1M\"]", "\"1Mk\"]", "vary \"iosize\""),
        ("\"64k\", \"1M\"", "", "0 rows"),
        ("cold = true", "cold = true\nprepare = \"burnt\"", "burnt"),
        ("title = \"Reads by block size\"", "", "title"),
        ("name = \"direct\"", "name = \"buffered\"", "two [[method]] of one name"),
        ("name = \"files\"", "name = \"iosize\"", "two [[vary]] of one name"),
        ("rounds = 3", "x = \"iosiz\"", "x: does not vary"),
        ("name = \"files\"", "name = \"entries\"", "vary \"entries\": makes no difference"),
        ("\"32M\"", "\"32M\", iosize = \"2M\"", "method \"direct\" sets iosize, which varies"),
        ("\"32M\"", "\"32M\", files = 4", "method \"direct\" sets files, which varies"),
        (
            "cold = true\n[[vary]]\nname = \"files\"",
            "files = 4\n[[vary]]\nname = \"files_written\"",
            "files: is more than files_written in every row",
        ),
    ] {
        let text = Campaign::parse(&SAMPLE.replace(from, to)).unwrap_err().to_string();
        assert!(text.contains(words), "{to}: {text}");
    }
    assert!(Campaign::parse("title = \"x\"").unwrap_err().to_string().contains("[[method]]"));
}

#[test]
fn references_hold_their_source_and_numbers() {
    let text = "# A paper, p. 3\nthreads,KB/s\n1,1748\n4,2858.5\n";
    let reference = parse_reference(text).unwrap();
    assert_eq!(reference.source, "A paper, p. 3");
    assert_eq!(reference.rows, [[1.0, 1748.0], [4.0, 2858.5]]);
    assert!(parse_reference("a,b\n1\n").unwrap_err().to_string().contains("line 2"));
    assert!(parse_reference("a\nNaN\n").is_err());
}

proptest! {
    #[test]
    fn no_text_panics(cut in 0usize..400, insert in "[ -~\n]{0,8}") {
        let mut text = SAMPLE.to_owned();
        let at = cut.min(text.len());
        text.insert_str(at, &insert);
        let _ = Campaign::parse(&text);
        let _ = parse_reference(&text);
    }
}

#[test]
fn operations_on_names_have_plans_of_their_own() {
    let rows = Shipped::find("metadata").unwrap().campaign().unwrap().rows(u64::MAX).unwrap();
    assert_eq!((rows.len(), rows[0].cells.len()), (6, 5));
    let names = |row: usize, cell: usize| rows[row].cells[cell].names.unwrap();
    assert_eq!((names(0, 0).tree_files, names(5, 0).tree_files), (0, 20_000));
    assert_eq!((names(0, 3).operation, names(2, 3).threads), (NameOperation::List, 16));
    assert_eq!(rows[5].space_bytes(), 20_000 * 8192);
    assert_ne!(FileSet::of(&rows[0].cells[0]), FileSet::of(&rows[3].cells[0]), "another tree");
    assert_eq!(FileSet::of(&rows[3].cells[0]), FileSet::of(&rows[3].cells[4]), "one for all");
    let text = "title = \"t\"\n[base]\nworkload = \"stat\"\nentries = \"100G\"\n[[method]]\nname = \"a\"\n";
    let error = Campaign::parse(text).and_then(|campaign| campaign.rows(u64::MAX)).unwrap_err();
    assert!(error.to_string().contains("files are possible"), "{error}");
}

/// Guards against silently reducing 500 recreations to 100.
#[test]
fn files_that_are_made_again_too_often_are_refused() {
    for (base, name) in [
        ("workload = \"stat\"\ntree_files = \"10\"", "tree_churn"),
        ("workload = \"write\"\nfill_percent = 50", "fill_turnover"),
    ] {
        let rows = |times: u32| {
            let text = format!(
                "title = \"t\"\n[base]\n{base}\n{name} = {times}\n[[method]]\nname = \"a\"\n"
            );
            Campaign::parse(&text).and_then(|campaign| campaign.rows(u64::MAX))
        };
        assert!(rows(100).is_ok(), "{name}");
        let refused = rows(500).unwrap_err().to_string();
        assert!(refused.contains(&format!("{name} is 500: from 0 to 100")), "{refused}");
    }
}

/// Guards against filling a file system with 64 MiB of free space with a tree of 146 MiB.
#[test]
fn rows_with_trees_are_left_out_where_their_files_have_no_room() {
    let campaign = Shipped::find("metadata").unwrap().campaign().unwrap();
    let rows = campaign.rows_left(1677).unwrap();
    assert_eq!(rows.len(), 3);
    let mut cells = rows.iter().flat_map(|row| &row.cells);
    assert!(cells.all(|cell| cell.names.unwrap().tree_files == 0));
    assert_eq!(campaign.rows_left(8 << 10).unwrap().len(), 6);
}

#[test]
fn a_small_tree_that_has_room_stays_where_a_large_one_has_none() {
    let text = "title = \"t\"\n[base]\nworkload = \"create\"\n[[vary]]\nname = \"tree_files\"\nvalues = [0, 100, 20000]\n[[method]]\nname = \"a\"\n";
    let campaign = Campaign::parse(text).unwrap();
    let trees = |most| -> Vec<u64> {
        let rows = campaign.rows(most).unwrap();
        rows.iter().map(|row| row.cells[0].names.unwrap().tree_files).collect()
    };
    // Half of 64 MiB, divided by the largest number of files in a row.
    assert_eq!(trees((32 << 20) / 20_000), [0, 100]);
    assert_eq!(trees(8 << 10), [0, 100, 20_000]);
    assert_eq!(trees(10), [0]);
}
