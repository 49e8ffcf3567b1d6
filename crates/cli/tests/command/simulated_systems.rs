//! Simulated systems and drives, evaluated like real ones: known borders and policies are found.

use super::common::program;
use ioscape_scaling::judge::testing_agreement::{Finding, agreement, findings};
use ioscape_schema::{Access, Document, Findings};
use std::ops::Range;
use std::path::Path;

/// The rows of simulation.md and papers.md that state what is found of a shipped system: once they
/// stated what an earlier version had found.
fn rows(name: &str) -> Vec<&'static str> {
    let pages = [
        include_str!("../../../../docs/simulation.md"),
        include_str!("../../../../docs/papers.md"),
    ];
    let marks = [format!("| `{name}` |"), format!("`ioscape evaluate sim:{name}`")];
    let is_row = |line: &&str| marks.iter().any(|mark| line.contains(mark));
    pages.iter().flat_map(|page| page.lines()).filter(is_row).collect()
}

/// Asserts that some row on the system states this.
fn is_stated(name: &str, words: &str) {
    assert!(rows(name).iter().any(|row| row.contains(words)), "{name}: {words}");
}

/// Evaluates a shipped system; compares its policy, regions and cache sizes (MiB) with the truth,
/// and the ends of its regions with every row on it.
fn evaluated(name: &str, policy: &str, regions: usize, caches: [Option<f64>; 2]) -> Findings {
    let document = evaluation_of(name);
    let evaluation = document.evaluation().expect("an evaluation");
    let found = serde_json::to_value(evaluation.findings.write_policy).expect("a policy");
    assert_eq!(found, policy, "{name}");
    assert_eq!(evaluation.regions.len(), regions, "{name}");
    let findings = &evaluation.findings;
    for (found, known) in
        [&findings.read_cache_bytes, &findings.write_cache_bytes].iter().zip(caches)
    {
        let Some(known) = known else { continue };
        let found = found.as_ref().map_or(0.0, |size| size.value / 1024.0 / 1024.0);
        assert!((found / known - 1.0).abs() < 0.06, "{name}: {found} MiB for {known}");
    }
    let rows = rows(name);
    assert!(!rows.is_empty(), "{name} is in no row");
    for region in &evaluation.regions[1..] {
        let border = format!("{:.1}", region.unique_bytes[0] / MIB);
        assert!(rows.iter().all(|row| row.contains(&border)), "{name}: {border}");
    }
    evaluation.findings.clone()
}

fn evaluation_of(name: &str) -> Document {
    evaluated_with(name, &[])
}

pub fn evaluated_with(name: &str, options: &[&str]) -> Document {
    let target = format!("sim:{name}");
    let run = program().args(["evaluate", &target, "--json"]).args(options).assert().success();
    serde_json::from_slice(&run.get_output().stdout).expect("a document")
}

#[test]
fn the_caches_and_policies_of_the_papers_systems_are_found() {
    let sun = evaluated("sparcstation-1", "write-cancelling", 2, [Some(21.0), None]);
    is_stated("sparcstation-1", &format!("{:.2} times on the disk", sun.sequential_gain[1].value));
    let sprite =
        evaluated("decstation-5000-sprite", "write-cancelling", 3, [Some(20.0), Some(5.0)]);
    let ratios = sprite.write_to_read_ratio.iter().map(|ratio| format!("{:.2}", ratio.value));
    is_stated("decstation-5000-sprite", &ratios.collect::<Vec<_>>().join(", "));
    evaluated("decstation-5000-ultrix", "write-through", 2, [Some(3.0), None]);
}

#[test]
fn the_caches_of_the_hp_730_are_found_whether_flushed_or_not() {
    evaluated("hp-730", "write-cancelling", 2, [Some(3.0), Some(3.0)]);
    evaluated("hp-730-no-flush", "write-cancelling", 2, [Some(50.0), Some(50.0)]);
}

#[test]
fn the_caches_of_the_papers_clients_and_of_a_server_are_found() {
    evaluated("hp-dux", "write-cancelling", 2, [Some(3.0), Some(3.0)]);
    evaluated("sparc-nfs", "write-through", 3, [Some(16.0), None]);
}

/// Its cache of 50 MB is flushed every 30 s: writes slow down gradually, long before the cache
/// ends. The evaluation must not report a size other than the cache's; at present it reports none.
#[test]
fn no_wrong_size_is_told_of_the_large_cache_that_is_flushed() {
    let document = evaluation_of("hp-730-hpux9");
    let evaluation = document.evaluation().expect("an evaluation");
    assert_eq!(evaluation.regions.len(), 2);
    let findings = &evaluation.findings;
    let told = [&findings.read_cache_bytes, &findings.write_cache_bytes];
    for size in told.into_iter().flatten() {
        let found = size.value / 1024.0 / 1024.0;
        assert!((found / 50.0 - 1.0).abs() < 0.06, "{found} MiB for 50");
        is_stated("hp-730-hpux9", &format!("{found:.1} MiB"));
    }
    let slower = findings.flush_slowdown.filter(|by| by.low > 1.5).expect("figure 5 of the paper");
    is_stated("hp-730-hpux9", &format!("{:.1} times slower", slower.value));
    assert!(
        evaluation.borders.iter().any(|b| (b.unique_bytes / 1048576.0 / 50.0 - 1.0).abs() < 0.06)
    );
}

#[test]
fn a_drive_alone_is_evaluated_with_direct_access() {
    let document = evaluation_of("hp-c2204a");
    let evaluation = document.evaluation().expect("an evaluation");
    let probes = || evaluation.probes.iter();
    assert!(probes().next().is_some());
    assert!(probes().all(|probe| probe.measurement.workload.access == Access::Direct));
    let drive = include_str!("../../../simulate/drives/hp-c2204a.toml");
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("mine.toml"), drive).expect("a file");
    let of_file = program()
        .current_dir(folder.path())
        .args(["evaluate", "sim:mine.toml", "--dry-run"])
        .assert()
        .success();
    assert!(String::from_utf8_lossy(&of_file.get_output().stdout).contains("alone"));
    let refused =
        program().args(["evaluate", "sim:hp-c2204a", "--access", "buffered"]).assert().code(2);
    assert!(String::from_utf8_lossy(&refused.get_output().stderr).contains("a drive alone"));
}

pub const MIB: f64 = 1_048_576.0;

/// Numbers that follow from a seed (SplitMix64: Steele, Lea & Flood 2014).
struct Dice(u64);

impl Dice {
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Draws a number uniform in its logarithm.
    fn scaled(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.share())
    }

    fn one_of<T: Copy>(&mut self, some: &[T]) -> T {
        some[((self.share() * some.len() as f64) as usize).min(some.len() - 1)]
    }
}

/// A file cache of 4.3 MiB that is written through, over a drive with a non-volatile write buffer
/// of 1 MiB, so that synchronous writes benefit just as much. Once, sets of 1.1 MiB were reported
/// as the writes that the file cache holds.
#[test]
fn the_buffer_of_a_drive_is_not_called_the_file_cache() {
    let folder = tempfile::tempdir().expect("a folder");
    let drive = folder.path().join("drive.toml");
    let system = folder.path().join("system.toml");
    std::fs::write(
        &drive,
        "name = \"drive\"\ntitle = \"drive\"\nstatus = \"generic\"\ncapacity_bytes = 66985439232\nfilled = \"full\"\n\n[flash]\nchannels = 1\n\
         dies_per_channel = 1\nplanes_per_die = 2\nblocks_per_die = 71550\npages_per_block = 256\npage_bytes = 4096\ncell_page_bytes = 16384\n\
         read_ms = 0.11\nprogram_ms = 0.43\nerase_ms = 3.9\nsuspend_ms = 0.02\nchannel_bytes_per_s = 185042177.0\n\n[controller]\n\
         command_ms = 0.065\nlink_bytes_per_s = 4723297296.0\nwrite_buffer_bytes = 1048576\npower_loss_protection = true\n\n\
         [sources]\nflash = \"made up\"\n",
    )
    .expect("written");
    std::fs::write(
        &system,
        format!(
            "name = \"system\"\ntitle = \"system\"\ndrive = \"{}\"\nunique_bytes = [262144, 16457728]\n\n[processor]\ncall_ms = 0.01\n\
             copy_bytes_per_s = 2000000000.0\n\n[cache]\nbytes = 4534272\nwrites = \"through\"\n\n[sources]\ndrive = \"made up\"\n",
            drive.display()
        ),
    )
    .expect("written");
    let options = ["--budget", "20s", "--seed", "4"];
    let document = evaluated_with(&system.display().to_string(), &options);
    let findings = &document.evaluation().expect("an evaluation").findings;
    assert!(findings.read_cache_bytes.is_some() && findings.write_cache_bytes.is_none());
    let said = findings.sentences.join(" ");
    assert!(said.contains("perhaps one behind the file cache such as the drive's own"), "{said}");
}

/// From this seed on, random systems have made-up drives and limits of dirty pages.
const MADE_UP: u64 = 1000;
/// From this seed on, they have a server with a file cache of its own behind a network link, and
/// shipped drives.
const SERVED: u64 = 2000;
/// The shipped drives of random systems; one in three is a solid-state drive.
const SHIPPED: [&str; 6] =
    ["hp-97560", "hp-c2247a", "quantum-pd425s", "generic-hdd", "generic-ssd", "generic-ssd"];

/// A made-up solid-state drive with enough blocks for all sets.
fn random_ssd(dice: &mut Dice) -> String {
    let channels = dice.one_of(&[1, 2, 4, 8]);
    let blocks = 120_000 / channels;
    format!(
        "capacity_bytes = 107374182400\nfilled = \"full\"\n\n[flash]\nchannels = {channels}\ndies_per_channel = 1\nplanes_per_die = 2\nblocks_per_die = {blocks}\n\
         pages_per_block = 256\npage_bytes = 4096\ncell_page_bytes = 16384\nread_ms = {:.4}\nprogram_ms = {:.3}\nerase_ms = 3.5\nsuspend_ms = 0.02\n\
         channel_bytes_per_s = {:.1}\n\n[controller]\ncommand_ms = {:.4}\nlink_bytes_per_s = {:.1}\nwrite_buffer_bytes = {}\npower_loss_protection = false\n",
        dice.scaled(0.02, 0.15),
        dice.scaled(0.2, 2.0),
        dice.scaled(5e7, 1e9),
        dice.scaled(0.004, 0.1),
        dice.scaled(1e8, 6e9),
        dice.one_of(&[262_144, 1_048_576, 4_194_304]),
    )
}

/// A made-up disk without a write buffer of its own.
fn random_disk(dice: &mut Dice) -> String {
    let sectors = dice.scaled(200.0, 2500.0).round();
    let (single, mean) = (dice.scaled(0.4, 4.0), dice.scaled(4.0, 14.0));
    let rotation_ms = dice.one_of(&[4.0, 6.0, 8.333, 11.11, 16.67]);
    let [to_host, to_drive] = [(); 2].map(|()| dice.scaled(3e6, 6e8));
    format!(
        "sector_bytes = 512\nheads = 4\ncylinders = 40000\nrotation_ms = {rotation_ms}\n\n[[zones]]\nfirst_cylinder = 0\nlast_cylinder = 39999\n\
         sectors_per_track = {sectors}\ntrack_skew = 20\ncylinder_skew = 30\n\n[seek]\nform = \"three-points\"\nsingle = {single:.2}\n\
         average = {:.2}\nfull = {:.2}\n\n[mechanism]\nhead_switch_ms = 0.9\nwrite_settle_ms = 0.5\n\n[controller]\nread_before_ms = 0.2\n\
         read_after_ms = 0.02\nwrite_before_ms = 0.2\nwrite_after_ms = 0.02\n\n[bus]\nname = \"made up\"\nto_host_bytes_per_s = {to_host:.1}\n\
         to_drive_bytes_per_s = {to_drive:.1}\ntransfer = \"overlapped\"\n",
        single + mean,
        2.0 * (single + mean),
    )
}

/// How a random file cache treats writes and reads ahead, in the syntax of a system's file.
fn random_cache(dice: &mut Dice, bytes: f64, is_through: bool) -> String {
    let mut text =
        format!("bytes = {bytes}\nwrites = \"{}\"\n", if is_through { "through" } else { "back" });
    if !is_through {
        text.push_str(dice.one_of(&["", "flush_interval_s = 5.0\n", "flush_interval_s = 30.0\n"]));
        if dice.share() < 0.3 {
            let dirty = (bytes / 4096.0 * dice.scaled(0.08, 0.6)).round() * 4096.0;
            text.push_str(&format!("dirty_bytes = {dirty}\n"));
        }
        text.push_str(dice.one_of(&["", "", "lock_while_flushing = true\n"]));
    }
    text + dice.one_of(&["", "read_ahead_bytes = 8192\n", "read_ahead_bytes = 131072\n"])
}

/// A random client of a server with a larger cache: its file, the client's file cache in bytes, and
/// whether writes go through that cache.
fn random_client(seed: u64) -> (String, f64, bool) {
    let mut dice = Dice(seed << 32 | 4711);
    let drive = dice.one_of(&SHIPPED);
    let own = (dice.scaled(4.0, 30.0) * 256.0).round() * 4096.0;
    let served = (own * dice.scaled(1.5, 6.0) / 4096.0).round() * 4096.0;
    let is_through = dice.share() < 2.0 / 3.0;
    let client = random_cache(&mut dice, own, is_through);
    let is_served_through = dice.share() < 0.5;
    let server = random_cache(&mut dice, served, is_served_through);
    let (call_ms, copied) = (dice.scaled(0.002, 0.3), dice.scaled(1e8, 1e10));
    let processor = |times: f64, by: f64| {
        format!("call_ms = {:.5}\ncopy_bytes_per_s = {:.1}\n", call_ms * times, copied * by)
    };
    let of_server = processor(dice.scaled(0.5, 2.0), dice.scaled(0.5, 2.0));
    let (wire, latency_ms) = (dice.scaled(1e6, 1e9), dice.scaled(0.02, 3.0));
    let message = dice.one_of(&[8192, 32768, 131_072]);
    let [least, most] = [(own / 32.0).max(262_144.0), (own + served) * dice.scaled(1.5, 3.0)]
        .map(|at| at as u64 / 4096 * 4096);
    let text = format!(
        "name = \"random\"\ntitle = \"random\"\ndrive = \"{drive}\"\nunique_bytes = [{least}, {most}]\n\n[processor]\n{}\n[cache]\n{client}\n\
         [wire]\nbytes_per_s = {wire:.1}\nlatency_ms = {latency_ms:.4}\nmessage_bytes = {message}\n\n[server_processor]\n{of_server}\n\
         [server_cache]\n{server}\n[sources]\ndrive = \"made up\"\n",
        processor(1.0, 1.0)
    );
    (text, own, is_through)
}

/// A random system: its file, its file cache in bytes, and whether that writes through; writes a
/// made-up drive's file into `folder`.
pub fn random_system(seed: u64, folder: &Path) -> (String, f64, bool) {
    if seed >= SERVED {
        return random_client(seed);
    }
    let mut dice = Dice(seed << 32 | 4711);
    let shipped = dice.one_of(&SHIPPED);
    let is_fast = shipped == "generic-ssd" || (seed >= MADE_UP && dice.share() < 0.5);
    let drive = if seed < MADE_UP {
        shipped.to_owned()
    } else {
        let own = if is_fast { random_ssd(&mut dice) } else { random_disk(&mut dice) };
        let head = "name = \"made-up\"\ntitle = \"made up\"\nstatus = \"generic\"\n";
        let file = folder.join(format!("{seed}-drive.toml"));
        let text = format!("{head}{own}\n[sources]\nall = \"made up\"\n");
        std::fs::write(&file, text).expect("written");
        file.display().to_string()
    };
    let cache = (dice.scaled(4.0, 60.0) * 256.0).round() * 4096.0;
    let is_through = dice.share() < 0.3;
    let call_ms = if is_fast { dice.scaled(0.001, 0.01) } else { dice.scaled(0.002, 0.3) };
    let copied = if is_fast { dice.scaled(2e9, 2e10) } else { dice.scaled(3e7, 8e9) };
    let mut more = format!("writes = \"{}\"\n", if is_through { "through" } else { "back" });
    if !is_through {
        let flush = dice.one_of(&["", "flush_interval_s = 5.0\n", "flush_interval_s = 30.0\n"]);
        more.push_str(flush);
        if seed >= MADE_UP && dice.share() < 0.5 {
            let dirty = (cache / 4096.0 * dice.scaled(0.08, 0.6)).round() * 4096.0;
            more.push_str(&format!("dirty_bytes = {dirty}\n"));
        }
    }
    more.push_str(dice.one_of(&["", "read_ahead_bytes = 16384\n", "read_ahead_bytes = 131072\n"]));
    let [least, most] =
        [cache / 64.0, cache * dice.scaled(3.0, 5.0)].map(|at| at as u64 / 4096 * 4096);
    let text = format!(
        "name = \"random\"\ntitle = \"random\"\ndrive = \"{drive}\"\nunique_bytes = [{least}, {most}]\n\n[processor]\ncall_ms = {call_ms:.4}\n\
         copy_bytes_per_s = {copied:.1}\n\n[cache]\nbytes = {cache}\n{more}\n[sources]\ndrive = \"made up\"\n"
    );
    (text, cache, is_through)
}

/// The relative distance by which the reported bounds of a random system's read cache miss it;
/// `None` if none are reported. Asserts that no border of writes is reported if they go through the
/// cache.
fn missed_by(seed: u64, folder: &Path) -> Option<f64> {
    let (text, cache, is_through) = random_system(seed, folder);
    let file = folder.join(format!("{seed}.toml"));
    std::fs::write(&file, text).expect("written");
    let seed_text = seed.to_string();
    let options = ["--budget", "20s", "--seed", &seed_text];
    let document = evaluated_with(&file.display().to_string(), &options);
    let findings = &document.evaluation().expect("an evaluation").findings;
    assert!(!is_through || findings.write_cache_bytes.is_none(), "{seed}: a cache for writes");
    let told = findings.read_cache_bytes.as_ref()?;
    eprintln!("{seed}: {:.3} to {:.3} MiB of {:.3}", told.low / MIB, told.high / MIB, cache / MIB);
    Some((told.low / cache - 1.0).max(1.0 - told.high / cache).max(0.0))
}

/// The seeds asked for in `IOSCAPE_SYSTEMS`, or the usual ones.
pub fn seeds(usual: &str) -> Range<u64> {
    let seeds = std::env::var("IOSCAPE_SYSTEMS").unwrap_or(usual.to_owned());
    let (from, to) = seeds.split_once("..").expect("two seeds: 1..31");
    from.parse().expect("a seed")..to.parse().expect("a seed")
}

/// Nothing was tuned on these systems. Bounds of 95 % should hold in 90 to 98 of 100, even on
/// drives where a miss takes longer the more widely the set is spread. `IOSCAPE_SYSTEMS=31..61`
/// chooses other seeds; from 1000 on drives are made up, from 2000 on there is a server.
#[test]
#[ignore = "some minutes; the full run has it"]
fn the_file_caches_of_random_systems_lie_within_their_bounds() {
    let folder = tempfile::tempdir().expect("a folder");
    let seeds = seeds("1..31");
    let tried = seeds.clone().count();
    let told: Vec<f64> = seeds.filter_map(|seed| missed_by(seed, folder.path())).collect();
    let held = told.iter().filter(|by| **by == 0.0).count();
    let most = told.iter().copied().fold(0.0, f64::max);
    assert!(told.len() * 10 >= tried * 9, "{} told of {tried}", told.len());
    assert!(
        held * 100 >= told.len() * 85 && most < 0.02,
        "{held} of {} held, {most:.4}",
        told.len()
    );
}

/// Evaluations of one random system that differ only in their seeds: no two of them may contradict
/// each other. `IOSCAPE_SYSTEMS=97..105` chooses other seeds of systems; from 1000 on drives are
/// made up, from 2000 on there is a server.
#[test]
#[ignore = "some minutes; the full run has it"]
fn evaluations_of_one_random_system_agree() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut agreeing, mut told, mut contradicting, mut pairs) = (0, 0, 0, 0);
    for seed in seeds("77..80") {
        let file = folder.path().join(format!("{seed}.toml"));
        std::fs::write(&file, random_system(seed, folder.path()).0).expect("written");
        let found: Vec<Vec<Finding>> = ["1", "2", "3"]
            .iter()
            .map(|run| {
                let options = ["--budget", "60s", "--seed", run];
                let document = evaluated_with(&file.display().to_string(), &options);
                findings(document.evaluation().expect("an evaluation"))
            })
            .collect();
        for one in agreement(&found) {
            if one.contradicting > 0 {
                eprintln!("{seed}: {}: {}", one.name, one.shown.join(" | "));
            }
            (agreeing, told) = (agreeing + one.agreeing, told + one.told());
            (contradicting, pairs) = (contradicting + one.contradicting, pairs + one.pairs);
        }
    }
    eprintln!("{agreeing} of {pairs} agree, {told} in what both tell; {contradicting} contradict");
    assert!(agreeing * 10 >= pairs * 9 && contradicting * 200 <= pairs);
}
