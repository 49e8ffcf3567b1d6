//! Real applications beside the synthetic workload with their parameters (self-scaling paper,
//! figure 3).

use super::Checks;
use super::tpc_b::TpcB;
use crate::check::{Check, between};
use crate::disk::Parameters;
use crate::lab::storage::FileSystem;
use crate::lab::{Lab, Up};
use ioscape_schema::Document;
use std::path::PathBuf;

/// Factor within which the model must be. It would catch a broken characterizer; it is not the aim
/// of 20 %.
const FACTOR: f64 = 2.0;

/// The same for the measured throughput: on a busy machine, workers oversleep short pauses.
const FACTOR_ASLEEP: f64 = 3.0;

/// Where the applications work.
const HERE: &str = "mnt/ap";

/// An application: how its files are created, how it runs, and what to reset for the next run.
struct Application {
    disk: Parameters,
    memory_mb: u32,
    prepare: &'static str,
    command: &'static str,
    again: &'static str,
}

/// What an application or its model achieved.
#[derive(Clone, Copy)]
struct Side {
    throughput: f64,
    /// What its response and think time would allow: processes x size / (response + think).
    by_law: f64,
    response_ns: f64,
}

impl Application {
    /// Creates the files on the disk while that takes no time; also returns the device.
    fn up<'a>(&self, lab: &'a Lab) -> Result<(Up<'a>, PathBuf), String> {
        let mut up = lab.up();
        let (disk, device) = up.disk_with("ap", FileSystem::Ext4, &self.disk)?;
        disk.order("untimed")?;
        lab.shell(self.prepare)?;
        lab.shell(&format!("sync -f {HERE}"))?;
        disk.order("timed")?;
        lab.mount_anew(HERE, &device)?;
        Ok((up, device))
    }

    fn compare(&self, lab: &Lab) -> Checks {
        let (mut up, device) = self.up(lab)?;
        let group = up.memory_group("application", self.memory_mb)?;
        let (memory, command) = (self.memory_mb, self.command);
        let traced = lab.command(&format!(
            "characterize --json --memory {memory}M --below {HERE} -o w/ap.ioscape.json -- {command}"
        ))?;
        lab.shell(self.again)?;
        lab.mount_anew(HERE, &device)?;
        let seconds = lab.shell(&format!(
            "a=$(date +%s%N); ({}; exec {command}) >&2; echo $(( $(date +%s%N) - a ))",
            group.join()
        ))?;
        let untraced_ns: f64 = seconds.parse().map_err(|e| format!("{seconds}: {e}"))?;
        lab.shell(self.again)?;
        lab.mount_anew(HERE, &device)?;
        let synthetic =
            lab.command(&format!("run {HERE} w/ap.ioscape.json --memory {memory}M --json"))?;
        let application = of_application(&traced, untraced_ns)?;
        Ok(side_by_side(application, of_model(&synthetic)?))
    }
}

/// Bytes and response times as traced; the run time from an untraced run.
fn of_application(document: &Document, untraced_ns: f64) -> Result<Side, String> {
    let found = document.characterization().ok_or("no characterization")?;
    let overall = &found.overall;
    let throughput = overall.bytes as f64 / untraced_ns * 1e9;
    Ok(Side { throughput, by_law: throughput, response_ns: overall.response_time_ns })
}

fn of_model(document: &Document) -> Result<Side, String> {
    let measured = document.measurements().and_then(|m| m.first()).ok_or("no measurement")?;
    let throughput = measured.throughput_bytes_per_s;
    let (workload, response_ns) = (&measured.workload, measured.response_time_ns.mean);
    let bytes = workload.size_mean as f64 * f64::from(workload.process_num);
    let by_law = bytes / (response_ns + workload.think_time_ns as f64) * 1e9;
    Ok(Side { throughput, by_law, response_ns })
}

fn side_by_side(application: Side, model: Side) -> Vec<Check> {
    let check = |what: &str, unit: f64, factor: f64, of: fn(&Side) -> f64| {
        let (a, m) = (of(&application), of(&model));
        let what = format!("{what}: model {:.2}, application {:.2}", m / unit, a / unit);
        between(&what, 1.0 / factor, factor, Some(m / a))
    };
    vec![
        check("MB/s by response and think time", 1e6, FACTOR, |side| side.by_law),
        check("MB/s as measured", 1e6, FACTOR_ASLEEP, |side| side.throughput),
        check("response in us", 1e3, FACTOR, |side| side.response_ns),
    ]
}

/// GNU sort on a file more than twice as large as its memory.
pub fn sort(lab: &Lab) -> Checks {
    let application = Application {
        // No seeks: 0.1 ms + bytes / 40 MB/s, wherever the bytes are.
        disk: Parameters {
            size_mib: 2100.0,
            bandwidth_mb_s: 40.0,
            overhead_us: 100.0,
            ..Parameters::default()
        },
        memory_mb: 64,
        prepare: "awk 'BEGIN { srand(1); for (i = 0; i < 1600000; i++) printf \"%099.0f\\n\", rand() * 1e15 }' > mnt/ap/in",
        command: "env LC_ALL=C sort -S 24M -T mnt/ap -o mnt/ap/out mnt/ap/in",
        again: "rm -f mnt/ap/out",
    };
    application.compare(lab)
}

/// TPC-B on SQLite, on tables of 50 MB.
pub fn tpc_b(lab: &Lab) -> Checks {
    TpcB { branches: 40, accounts: 10_000, transactions: 30_000 }.write(lab, "ap")?;
    let application = Application {
        disk: Parameters {
            size_mib: 2100.0,
            seek_min_us: 100.0,
            seek_max_us: 800.0,
            rotation_us: 200.0,
            bandwidth_mb_s: 200.0,
            overhead_us: 20.0,
            ..Parameters::default()
        },
        memory_mb: 24,
        prepare: "sqlite3 mnt/ap/db < w/ap-make.sql && cp mnt/ap/db w/ap.db",
        command: "sqlite3 mnt/ap/db '.read w/ap-run.sql'",
        again: "cp w/ap.db mnt/ap/db; sync -f mnt/ap",
    };
    application.compare(lab)
}

/// A disk with short seeks, for applications that use many files.
fn seeking_disk() -> Parameters {
    Parameters {
        size_mib: 2100.0,
        seek_min_us: 100.0,
        seek_max_us: 800.0,
        rotation_us: 200.0,
        bandwidth_mb_s: 60.0,
        overhead_us: 50.0,
        ..Parameters::default()
    }
}

/// A tree of 1200 files of 1 to 160 KB, 97 MB in all, of numbers as text.
const TREE: &str = "mkdir -p mnt/ap/tree && for d in $(seq 20); do mkdir -p mnt/ap/tree/$d; for f in $(seq 60); do
  seq $((d * 1000000 + f * 10000)) $((d * 1000000 + f * 10000 + 30000)) | head -c $((1000 + (d * 7919 + f * 104729) % 160000)) > mnt/ap/tree/$d/$f.txt
done; done";

/// A copy of a tree of small files.
pub fn copy(lab: &Lab) -> Checks {
    let application = Application {
        disk: seeking_disk(),
        memory_mb: 48,
        prepare: TREE,
        command: "cp -r mnt/ap/tree mnt/ap/copy",
        again: "rm -rf mnt/ap/copy",
    };
    application.compare(lab)
}

/// A search through a tree of small files, some of which are searched again.
pub fn grep(lab: &Lab) -> Checks {
    let application = Application {
        disk: seeking_disk(),
        memory_mb: 48,
        prepare: TREE,
        command: "bash -c 'grep -rc 77 mnt/ap/tree > w/ap.found; grep -rc 88 mnt/ap/tree/1 mnt/ap/tree/2 > w/ap.found'",
        again: "true",
    };
    application.compare(lab)
}

/// Compressing a file: mostly computing.
pub fn gzip(lab: &Lab) -> Checks {
    let application = Application {
        disk: Parameters {
            size_mib: 2100.0,
            bandwidth_mb_s: 40.0,
            overhead_us: 100.0,
            ..Parameters::default()
        },
        memory_mb: 32,
        prepare: "seq 12000000 > mnt/ap/in",
        command: "gzip -1 -k -f mnt/ap/in",
        again: "rm -f mnt/ap/in.gz",
    };
    application.compare(lab)
}

/// An index of random words, built by SQLite and then searched.
pub fn index(lab: &Lab) -> Checks {
    let application = Application {
        disk: seeking_disk(),
        memory_mb: 32,
        prepare: "sqlite3 mnt/ap/db \"PRAGMA journal_mode = OFF; CREATE TABLE t (id INTEGER PRIMARY KEY, k INTEGER, filler TEXT); WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 400000) INSERT INTO t SELECT x, x * 7919 % 400009, printf('%0100d', x) FROM c;\" && cp mnt/ap/db w/ap.db",
        command: "sqlite3 mnt/ap/db \"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; CREATE INDEX i ON t(k); WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 4000) SELECT sum(length(filler)) FROM c JOIN t ON k = x * 99 % 400009;\"",
        again: "cp w/ap.db mnt/ap/db; sync -f mnt/ap",
    };
    application.compare(lab)
}
