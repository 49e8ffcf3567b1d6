//! Applications that are traced once, and predicted from their trace for other memory sizes.

use super::Checks;
use super::tpc_b::TpcB;
use crate::check::{between, equal};
use crate::disk::Parameters;
use crate::lab::storage::{Disk, FileSystem};
use crate::lab::{Lab, Up};
use std::path::{Path, PathBuf};

/// Where the applications work.
const HERE: &str = "mnt/tr";
/// Memory of the evaluation, in MiB.
const EVALUATED_MIB: u32 = 96;
/// Tables of 100 MB.
const TPC_B: TpcB = TpcB { branches: 10, accounts: 80_000, transactions: 20_000 };
/// Runs of each application with each memory size; their median counts.
const RUNS: usize = 3;
/// A run that takes longer than this, in seconds, does not fit its memory and says nothing about
/// the file cache.
const DEADLINE_S: u32 = 120;
/// Factor within which a prediction must lie.
const FACTOR: f64 = 1.25;
/// Runs whose throughput differs by less than this are not ranked.
const ALIKE: f64 = 0.1;

struct Application {
    name: &'static str,
    /// Creates its files below [`HERE`].
    prepare: &'static str,
    command: &'static str,
    /// How many of its processes must at least move bytes, as a check that it does its work.
    processes: usize,
    /// Restores the files to their initial state.
    again: &'static str,
    /// Memory sizes to run it with, in MiB, ascending.
    memory_mib: [u32; 3],
}

/// Four applications on one disk, evaluated once.
pub fn applications(lab: &Lab) -> Checks {
    let mut up = lab.up();
    let parameters = Parameters {
        size_mib: 2100.0,
        bandwidth_mb_s: 100.0,
        overhead_us: 100.0,
        ..Parameters::default()
    };
    let (disk, device) = up.disk_with("tr", FileSystem::Ext4, &parameters)?;
    let asked = format!(
        "evaluate {HERE} --json -o results/traced.ioscape.json --memory {EVALUATED_MIB}M --budget 3m --max-unique-bytes 400M"
    );
    lab.command(&asked)?;
    TPC_B.write(lab, "tr")?;
    lab.shell(&format!("cat > w/tr-serve.fio <<'EOF'\n{SERVE}\nEOF"))?;
    let chosen = std::env::var("IOSCAPE_APPLICATIONS").unwrap_or_default();
    if !ALL.iter().any(|one| one.name.contains(&*chosen)) {
        let names: Vec<&str> = ALL.iter().map(|one| one.name).collect();
        let names = names.join(", ");
        return Err(format!("IOSCAPE_APPLICATIONS={chosen} is none of {names}"));
    }
    let mut checks = Vec::new();
    for application in ALL.iter().filter(|one| one.name.contains(&*chosen)) {
        checks.extend(application.traced_once(&mut up, lab, (&disk, &device))?);
    }
    Ok(checks)
}

impl Application {
    fn traced_once(&self, up: &mut Up<'_>, lab: &Lab, (disk, device): (&Disk, &PathBuf)) -> Checks {
        disk.order("untimed")?;
        lab.shell(&format!("rm -rf {HERE}/*; {}; sync -f {HERE}", self.prepare))?;
        disk.order("timed")?;
        lab.mount_anew(HERE, device)?;
        let trace = format!("results/traced-{}.ioscape.json", self.name);
        let found = lab.command(&format!(
            "characterize --json --memory {}M --below {HERE} -o {trace} -- {}",
            self.memory_mib[1], self.command
        ))?;
        let found = found.characterization().ok_or("no characterization")?;
        let (mut measured, mut predicted, mut checks) = (Vec::new(), Vec::new(), Vec::new());
        let working = found.processes.iter().filter(|one| one.traits.bytes > 0).count() as f64;
        let wanted = self.processes as f64;
        let what = format!("{}: processes that move bytes", self.name);
        checks.push(between(&what, wanted, f64::INFINITY, Some(working)));
        for memory in self.memory_mib {
            let seconds = self.seconds(up, lab, device, memory)?;
            measured.push(found.overall.bytes as f64 / seconds);
            let all = lab.command(&format!(
                "predict results/traced.ioscape.json --characterization {trace} --what-if memory={memory}M --json"
            ))?;
            let one = all.predictions().and_then(|all| all.first()).ok_or("no prediction")?;
            predicted.push(one.throughput_bytes_per_s);
            let (m, p) = (measured[measured.len() - 1] / 1e6, one.throughput_bytes_per_s / 1e6);
            let what =
                format!("{} in {memory} MiB, MB/s: predicted {p:.2}, measured {m:.2}", self.name);
            crate::say(&what);
            checks.push(between(&what, 1.0 / FACTOR, FACTOR, Some(p / m)));
        }
        checks.push(equal(
            &format!("{}: rank of the limits", self.name),
            "right",
            rank(&measured, &predicted),
        ));
        Ok(checks)
    }

    /// Median time of the application with this much memory.
    fn seconds(&self, up: &mut Up<'_>, lab: &Lab, device: &Path, mib: u32) -> Result<f64, String> {
        let group = up.memory_group(&format!("{}{mib}", self.name), mib)?;
        let mut all = Vec::new();
        for _ in 0..RUNS {
            lab.shell(self.again)?;
            lab.mount_anew(HERE, device)?;
            let (join, command) = (group.join(), self.command);
            let ns = lab.shell(&format!(
                "a=$(date +%s%N); ({join}; exec timeout {DEADLINE_S} {command}) >&2 && echo $(( $(date +%s%N) - a ))"
            ))?;
            all.push(ns.parse::<f64>().map_err(|e| format!("{ns}: {e}"))? / 1e9);
        }
        all.sort_by(f64::total_cmp);
        Ok(all[RUNS / 2])
    }
}

/// Whether clearly faster runs are predicted to be faster.
fn rank(measured: &[f64], predicted: &[f64]) -> &'static str {
    let pairs = (0..measured.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    let differ = pairs.filter(|(i, j)| (measured[*i] / measured[*j]).ln().abs() > ALIKE);
    let right =
        |(i, j): (usize, usize)| (measured[i] > measured[j]) == (predicted[i] > predicted[j]);
    if differ.into_iter().all(right) { "right" } else { "wrong" }
}

const ALL: &[Application] = &[
    Application {
        name: "sort",
        prepare: "awk 'BEGIN { srand(1); for (i = 0; i < 1600000; i++) printf \"%099.0f\\n\", rand() * 1e15 }' > mnt/tr/in",
        command: "env LC_ALL=C sort -S 24M -T mnt/tr -o mnt/tr/out mnt/tr/in",
        processes: 1,
        again: "rm -f mnt/tr/out",
        memory_mib: [48, 96, 288],
    },
    Application {
        name: "tpc-b",
        prepare: "sqlite3 mnt/tr/db < w/tr-make.sql && cp mnt/tr/db w/tr.db",
        command: "sqlite3 mnt/tr/db '.read w/tr-run.sql'",
        processes: 1,
        again: "cp w/tr.db mnt/tr/db; sync -f mnt/tr",
        memory_mib: [32, 64, 192],
    },
    Application {
        name: "compile",
        prepare: SOURCES,
        command: "make -s -C mnt/tr/tree all",
        processes: 24,
        again: "rm -f mnt/tr/tree/*.o mnt/tr/tree/all",
        memory_mib: [64, 96, 192],
    },
    Application {
        name: "file-server",
        prepare: "mkdir mnt/tr/fs && fio --name=prepare --directory=mnt/tr/fs --nrfiles=150 --filesize=2M --size=300M --rw=write --bs=1M --filename_format='f.$filenum' >&2",
        command: "fio --minimal --output=/dev/null w/tr-serve.fio",
        processes: 4,
        again: "true",
        memory_mib: [48, 96, 288],
    },
];

/// Four servers of the same files, some of which are requested far more often than others. Each has
/// a section: copies made by `numjobs` find no files and do nothing (fio 3.33).
const SERVE: &str = "[global]
directory=mnt/tr/fs
nrfiles=150
filesize=2M
size=300M
io_size=100M
filename_format=f.$filenum
file_service_type=zipf:1.2
rw=randrw
rwmixread=80
bs=32k
ioengine=psync
invalidate=0
allow_file_create=0
fallocate=none
norandommap
thinktime=1ms
thinktime_blocks=4
[a]
[b]
[c]
[d]";

/// A tree of 24 source files that share headers, 10 MB of text in all; the compiler itself needs a
/// third of the smallest memory.
const SOURCES: &str = r##"mkdir -p mnt/tr/tree && cd mnt/tr/tree && for h in $(seq 12); do
  awk -v h=$h 'BEGIN { for (i = 0; i < 2500; i++) printf "int declared_%d_%d(int first, int second);\n", h, i }' > h$h.h
done && for s in $(seq 24); do
  { for h in 1 2 3 $((s % 12 + 1)); do echo "#include \"h$h.h\""; done
    awk -v s=$s 'BEGIN { for (i = 0; i < 900; i++) printf "int f_%d_%d(int a) { return a * %d + 1; } /* %0120d */\n", s, i, i, i }'; } > s$s.c
done && { printf 'all: %s\n\tld -r -o $@ $^\n' "$(echo s{1..24}.o)"; printf '%%.o: %%.c\n\tgcc -pipe -c -o $@ $<\n'; } > Makefile && cd ../../.."##;
