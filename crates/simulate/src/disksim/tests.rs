//! Tests of DiskSim's files: broken ones, defects, the files of one description, and keys that
//! neither take effect nor are named.

use super::parse::{Value, parse};
use super::*;
use crate::command::{DiskOptions, WriteCache};
use crate::disk::Disk;
use crate::job::{Arrivals, Configuration, Job};
use crate::seek::SeekCurve;
use crate::simulate::simulate;
use crate::{Command, Error};
use ioscape_schema::Io;

/// A drive whose keys all have the simulated values.
pub(super) const WHOLE: &str = include_str!("whole.diskspecs");
pub(super) const MODEL: &str = include_str!("whole.model");
pub(super) const BED: &str = include_str!("whole.parv");

fn read_all(name: &str, files: &[(&str, &str)]) -> Result<Specs, Error> {
    let open = |name: &str| {
        let found = files.iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| "not there".to_owned())
    };
    let names = files.iter().map(|(name, _)| (*name).to_owned()).collect();
    read(name, &Folder { names, open: &open })
}

pub(super) fn whole(disk: &str, model: &str, bed: &str) -> Result<Specs, Error> {
    read_all("a.diskspecs", &[("a.diskspecs", disk), ("a.model", model), ("a.parv", bed)])
}

#[test]
fn broken_files_are_refused() {
    for (text, word) in [
        ("x y { }", "disksim_disk"),
        ("disksim_disk d { }", "Model"),
        ("disksim_disk d { Model = source gone.model }", "gone.model"),
    ] {
        let error = read_all("f.diskspecs", &[("f.diskspecs", text)]).unwrap_err().to_string();
        assert!(error.contains(word), "{text}: {error}");
    }
}

#[test]
fn the_bus_is_found_in_the_test_bed_and_its_lack_is_told() {
    let found = whole(WHOLE, MODEL, BED).unwrap();
    assert_eq!(found.parameters.bus.to_host_bytes_per_s, 512.0 / 0.2 * 1e3);
    assert_eq!(found.parameters.bus.to_drive_bytes_per_s, 512.0 / 0.25 * 1e3);
    assert_eq!(found.left_out, Vec::<String>::new());
    let alone = [("a.diskspecs", WHOLE), ("a.model", MODEL)];
    let alone = read_all("a.diskspecs", &alone).unwrap();
    assert!(alone.left_out[0].contains(".parv"), "{:?}", alone.left_out);
    let two = [("a.diskspecs", WHOLE), ("a.model", MODEL), ("b.parv", BED), ("c.parv", BED)];
    let error = read_all("a.model", &two).unwrap_err();
    assert!(error.to_string().contains("b.parv and c.parv"), "{error}");
}

/// Requests of all kinds: near and far, after reads and writes, close together and far apart in
/// time; then reads that return to three, four, five and six places.
fn jobs(blocks: u64) -> Vec<Job> {
    let mut jobs = Vec::new();
    let mut at = 0;
    for n in 0..900u64 {
        at += [300_000, 40_000_000, 2_000_000][(n % 3) as usize];
        let (block, write) = if n >= 600 {
            (n % (3 + (n - 600) / 75) * 17_000 + n % 2 * 140, false)
        } else if n >= 480 {
            // Reads what was written, and then what lies before something that was read.
            let place = n / 4 * 7919 % (blocks / 3) + 40;
            (place + [0, 0, 40_000, 39_994][(n % 4) as usize] % (blocks / 2), n % 4 == 0)
        } else if n % 4 == 0 {
            (n * 104_729 % (blocks - 64), n / 6 % 2 == 1)
        } else {
            ((n / 4 * 7919 + n % 4 * 8) % (blocks - 64), n / 6 % 2 == 1)
        };
        let count = [8, 4, 60][(n % 7 / 3) as usize];
        let command = Command { block, count, write, synchronous: n % 5 == 0 };
        let row = n as u32;
        let io = Io { queued_ns: at, issued_ns: at, completed_ns: at, ..Io::default() };
        jobs.push(Job { row: row.into(), disk: 0, io, command });
    }
    jobs
}

fn digits(specs: &Specs) -> String {
    let drive = specs.parameters.build().unwrap();
    let jobs = jobs(drive.mechanism.layout.blocks());
    let run = |cache, arrivals| {
        let disk = DiskOptions { cache, ..drive.buffer.usual() };
        let options = Configuration { disk, arrivals, ..Configuration::default() };
        format!("{:?}", simulate(&drive, &jobs, &options))
    };
    let both = |cache| run(cache, Arrivals::Queued) + &run(cache, Arrivals::Closed);
    // A buffer with fast writes takes all of them, but some keys take effect only if writes go to
    // the medium.
    both(drive.buffer.usual().cache) + &both(WriteCache::None)
}

/// Keys that control how DiskSim calculates and reports, names, and keys that another key of the
/// same block replaces. (A 0 for "Read-ahead over requested" takes effect only without "Maximum
/// read-ahead", and has a test of its own.)
const NO_PART_OF_A_DRIVE: [&str; 10] = [
    "Read-ahead over requested",
    "Print stats",
    "Avg sectors per cylinder",
    "Cylinder mapping strategy",
    "Maximum concat size",
    "Single cylinder seek time",
    "Average seek time",
    "Full strobe seek time",
    "type",
    "Arbitration type",
];

#[test]
fn every_key_that_is_changed_changes_the_times_or_is_named() {
    let mut silent = Vec::new();
    let usual = digits(&whole(WHOLE, MODEL, BED).unwrap());
    for (index, text) in [WHOLE, MODEL, BED].into_iter().enumerate() {
        for (number, line) in text.lines().enumerate() {
            let Some((key, value)) = line.split_once(" = ") else { continue };
            let Ok(value) = value.trim().trim_end_matches(',').parse::<f64>() else { continue };
            let key = key.trim();
            if NO_PART_OF_A_DRIVE.contains(&key) {
                continue;
            }
            let changed = |to: f64| {
                let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
                lines[number] = format!("{key} = {to},");
                let mut texts = [WHOLE, MODEL, BED].map(str::to_owned);
                texts[index] = lines.join("\n");
                whole(&texts[0], &texts[1], &texts[2])
            };
            let to = if value == 0.0 {
                1.0
            } else if value == 1.0 {
                0.0
            } else {
                2.0 * value + 1.0
            };
            match changed(to) {
                Err(error) => assert!(error.to_string().len() > 20, "{key}: {error}"),
                Ok(specs) => {
                    let named = specs.left_out.iter().any(|one| one.contains(key));
                    if !named && digits(&specs) == usual {
                        silent.push(format!("{key} = {to}"));
                    }
                }
            }
        }
    }
    assert!(silent.is_empty(), "neither digits nor words: {silent:?}");
}

#[test]
fn keys_of_hits_are_named_where_they_matter_and_are_not_simulated() {
    let named = |disk: &str| whole(disk, MODEL, BED).unwrap().left_out;
    for (key, other, value) in [
        ("Allow sneaky full read hits", "Fast write level", 2),
        ("Allow almost read hits", "Buffer continuous read", 3),
    ] {
        let less = WHOLE.replace(&format!("{key} = 1"), &format!("{key} = 0"));
        let words = named(&less);
        assert!(words.len() == 1 && words[0].starts_with(&format!("{key} (line ")), "{words:?}");
        let without = less.replace(&format!("{other} = {value}"), &format!("{other} = 0"));
        assert_ne!(without, less, "{other}");
        assert_eq!(named(&without), Vec::<String>::new(), "{key}");
    }
}

#[test]
fn a_fast_write_is_reported_as_early_where_somebody_waits_for_it() {
    let specs = whole(WHOLE, MODEL, BED).unwrap();
    let drive = specs.parameters.build().unwrap();
    let [nobody, somebody] = [false, true].map(|synchronous| {
        let command = Command { block: 5000, count: 8, write: true, synchronous };
        Disk::new(&drive, drive.buffer.usual()).serve(0, command)
    });
    assert!(nobody.parts.cached, "{nobody:?}");
    assert_eq!(nobody, somebody);
}

#[test]
fn the_time_scale_is_one_of_overheads() {
    let scattered = |scale: u32| {
        let disk = WHOLE.replace("for overheads = 2", &format!("for overheads = {scale}"));
        let controller = whole(&disk, MODEL, BED).unwrap().parameters.controller;
        let times = controller.scattered_write.expect("it disconnects once more at any scale");
        [times.seek_after_ms, times.data_after_ms, times.reconnect_ms]
    };
    assert_eq!(scattered(0), [0.0, 0.42885, 0.0], "the delay between two disconnections is none");
    let [_, once, _] = scattered(1);
    assert!((once - (0.1 + 0.52 + 0.55 + 0.42885 + 0.46)).abs() < 1e-9, "{once}");
}

#[test]
fn a_word_in_the_place_of_a_number_is_named() {
    for text in ["abc", "nan", "0.5ms", "inf"] {
        let key = "Read hit over. after read";
        let is_it = |line: &&str| line.trim_start().starts_with(key);
        let line = WHOLE.lines().find(is_it).expect("the fixture has it");
        let specs = whole(&WHOLE.replace(line, &format!("{key} = {text},")), MODEL, BED).unwrap();
        let named = |one: &String| one.starts_with(&format!("{key} {text} (line "));
        assert!(specs.left_out.iter().any(named), "{text}: {:?}", specs.left_out);
    }
}

#[test]
fn what_queues_before_the_drive_add_is_named() {
    let named = |delay: &str| {
        let queue = format!("Scheduler = disksim_ioqueue {{ Read initiation delay = {delay} }},");
        let bed = BED.replace("Scale for delays", &format!("{queue}\n   Scale for delays"));
        let found = whole(WHOLE, MODEL, &bed).unwrap().left_out;
        found.into_iter().find(|one| one.starts_with("Read initiation delay"))
    };
    assert!(named("0.56").is_some_and(|one| one.ends_with("of CTLR0")), "{:?}", named("0.56"));
    assert_eq!(named("0.0"), None);
}

#[test]
fn defects_and_slips_are_simulated_in_any_order() {
    let model = MODEL.replacen("slips = []", "slips = [ 900, 20, 400 ]", 1);
    let sorted = MODEL.replacen("slips = []", "slips = [ 20, 400, 900 ]", 1);
    let slipped = whole(WHOLE, &model, BED).unwrap();
    assert_eq!(slipped.parameters, whole(WHOLE, &sorted, BED).unwrap().parameters);
    // Sectors 70 and 71 of the zone are replaced by the last two of its first two cylinders, which are spares.
    let model = MODEL.replacen("defects = []", "defects = [ 71, 798, 70, 799 ]", 1);
    let moved = whole(WHOLE, &model, BED).unwrap().parameters;
    let places: Vec<_> =
        moved.remaps.iter().map(|r| (r.block, r.cylinder, r.head, r.sector)).collect();
    assert_eq!(places, [(70, 1, 3, 99), (71, 1, 3, 98)]);
    let layout = moved.build().unwrap().mechanism.layout;
    assert_eq!((layout.locate(70).slot, layout.locate(72).slot), (99, 72));
}

/// The fixture with another layout.
fn with_layout(layout: &str) -> Result<Specs, Error> {
    let (head, rest) = MODEL.split_once("Layout Model = ").unwrap();
    let (_, tail) = rest.split_once("   Mechanical Model").unwrap();
    whole(WHOLE, &format!("{head}Layout Model = {layout},\n   Mechanical Model{tail}"), BED)
}

#[test]
fn every_layout_of_disksim_is_read_or_refused_in_a_sentence() {
    // Four surfaces, one after the other, inwards and back in turns.
    let runs: Vec<String> = (0..4)
        .map(|head| {
            let (from, step) = if head % 2 == 0 { (0, 300) } else { (299, -300) };
            let at = head * 30_000;
            format!("{at}, {from}, 0.{head}, 100, 1, 0.12, 30000, {step}, TRACK, 0, {head}")
        })
        .collect();
    let g4 = |slips: &str| {
        let runs = runs.join(", ");
        format!(
            "dm_layout_g4 {{ TP = [ 0, 99, 100 ], IDX = [ [ {runs} ] ], Slips = [{slips}], Remaps = [] }}"
        )
    };
    let found = with_layout(&g4("")).unwrap();
    assert_eq!(found.left_out, Vec::<String>::new());
    assert_eq!(found.parameters.build().unwrap().mechanism.layout.blocks(), 110_100);
    let text = found.parameters.text().unwrap();
    assert_eq!(crate::drive::Parameters::parse(&text, "again").unwrap(), found.parameters);
    let slipped = with_layout(&g4(" 5000, 3 ")).unwrap();
    assert_ne!(digits(&found), digits(&slipped));
    for (layout, words) in [
        ("dm_layout_g2 { Layout Map File = a.map, Zones = [] }", "a.map: not there"),
        ("dm_layout_g2 { Zones = [] }", "Layout Map File is missing"),
        ("dm_layout_g3 { Zones = [] }", "dm_layout_g3 is no layout"),
    ] {
        let error = with_layout(layout).unwrap_err().to_string();
        assert!(error.contains("Layout Model: ") && error.contains(words), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    let other = MODEL.replacen("Sparing scheme used = 8", "Sparing scheme used = 11", 1);
    let error = whole(WHOLE, &other, BED).unwrap_err().to_string();
    assert!(error.contains("Sparing scheme used = 11 is not one of DiskSim's"), "{error}");
}

#[test]
fn an_extracted_seek_curve_is_simulated_with_its_first_line_or_without() {
    let curve = "Seek type = extracted,\n      Full seek curve = a.seek";
    let model = MODEL.replacen("Seek type = hplplus10", curve, 1);
    for heading in ["Seek distances measured: 2\n", "", "\n"] {
        let seek = format!("{heading}1,\t1.25000\n299,\t15.00000\n");
        let (model, seek) = (("a.model", model.as_str()), ("a.seek", seek.as_str()));
        let files = [("a.diskspecs", WHOLE), model, ("a.parv", BED), seek];
        let found = read_all("a.diskspecs", &files).unwrap();
        let points = vec![(1, 1.25), (299, 15.0)];
        assert_eq!(found.parameters.seek, SeekCurve::Table { points }, "{heading:?}");
        assert_eq!(found.left_out, Vec::<String>::new());
    }
}

#[test]
fn a_constant_seek_time_acts_and_is_not_named() {
    let seek = "Seek type = constant,\n      Constant seek time = 5.0";
    let found = whole(WHOLE, &MODEL.replacen("Seek type = hplplus10", seek, 1), BED).unwrap();
    assert_eq!(found.left_out, Vec::<String>::new());
    assert_eq!(found.parameters.build().unwrap().mechanism.seek_ns[50], 5_000_000);
}

#[test]
fn skews_in_revolutions_that_are_no_whole_sectors_are_named() {
    let named = |skew: &str| {
        let offset = "Skew units = revolutions, Offset of first block = 0.05";
        let model = MODEL
            .replacen("Offset of first block = 5", offset, 1)
            .replacen("Skew for track switch = 12", &format!("Skew for track switch = {skew}"), 1)
            .replacen("Skew for cylinder switch = 20", "Skew for cylinder switch = 0.2", 1);
        whole(WHOLE, &model, BED).unwrap().left_out
    };
    assert_eq!(named("0.12"), Vec::<String>::new());
    let words =
        "the fraction of a sector in Skew for track switch 0.123 (line 17), taken for 12 sectors";
    assert_eq!(named("0.123"), [words]);
}

#[test]
fn the_fixture_is_whole() {
    let found = parse(WHOLE, "whole").unwrap();
    assert!(found.blocks[0].fields.len() > 60);
    assert!(matches!(found.blocks[0].get("Model"), Some(Value::Source(_))));
}
