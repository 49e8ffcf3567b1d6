//! vxbench beside fio: the same bytes in the same requests with the same flags, by the two programs in pairs, one right after the other.
//!
//! `cargo bench -p ioscape --bench vxbench` in a directory on the disk in question; it needs fio on the path and half a gigabyte. Who
//! begins changes from pair to pair. What is printed is the median of the ratios within pairs, with its interval.
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use ioscape_schema::Document;
use std::error::Error;
use std::path::Path;
use std::process::Command;

const PAIRS: usize = 15;

/// One workload in both languages; where the processor is the limit, fio is spared the clock that would slow it.
struct Workload {
    name: &'static str,
    vxbench: &'static str,
    fio: &'static str,
}

const WORKLOADS: [Workload; 6] = [
    Workload {
        name: "read 64k, cached",
        vxbench: "-w read -i iosize=64k,nrep=16",
        fio: "--rw=read --bs=64k --loops=16 --invalidate=0 --gtod_reduce=1",
    },
    Workload {
        name: "write 64k, buffered",
        vxbench: "-w write -i iosize=64k,nrep=8 --destroy-data",
        fio: "--rw=write --bs=64k --loops=8 --invalidate=0 --overwrite=1 --fallocate=none",
    },
    Workload {
        name: "random read 4k, cached",
        vxbench: "-w rand_read -i iosize=4k,iocount=512k",
        fio: "--rw=randread --bs=4k --io_size=2g --norandommap --invalidate=0 --gtod_reduce=1",
    },
    Workload {
        name: "read 64k, direct",
        vxbench: "-w read -i iosize=64k,nrep=2 -c direct",
        fio: "--rw=read --bs=64k --loops=2 --direct=1",
    },
    Workload {
        name: "read 1M, direct",
        vxbench: "-w read -i iosize=1m,nrep=4 -c direct",
        fio: "--rw=read --bs=1m --loops=4 --direct=1",
    },
    Workload {
        name: "random write 4k, direct, 4 threads",
        vxbench: "-w rand_write -i iosize=4k,iocount=8k,nthreads=4 -t -c direct --destroy-data",
        fio: "--rw=randwrite --bs=4k --io_size=32m --norandommap --direct=1 --numjobs=4 --thread --group_reporting --overwrite=1 --fallocate=none",
    },
];

/// What one program reached with one workload.
#[derive(Clone, Copy)]
struct Turn {
    bytes: u64,
    bytes_per_s: f64,
    cpu_s: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let dir = tempfile::tempdir_in(".")?;
    let file = dir.path().join("data");
    ours(&file, "-w write -i iosize=1m,iocount=256,fsync")?;
    println!("{:36}{:>24}{:>26}", "over fio's, 96 % interval", "throughput", "processor time");
    for workload in &WORKLOADS {
        let mut pairs = Vec::new();
        for pair in 0..PAIRS {
            pairs.push(in_turns(&file, workload, pair % 2 == 0)?);
        }
        let rate = ratio(&pairs, |turn| turn.bytes_per_s);
        println!("{:36}{rate:>24}{:>26}", workload.name, ratio(&pairs, |turn| turn.cpu_s));
    }
    Ok(())
}

/// Both programs, ours first in the pair.
fn in_turns(file: &Path, workload: &Workload, begins: bool) -> Result<[Turn; 2], Box<dyn Error>> {
    let pair = if begins {
        let first = ours(file, workload.vxbench)?;
        [first, fio(file, workload.fio)?]
    } else {
        let first = fio(file, workload.fio)?;
        [ours(file, workload.vxbench)?, first]
    };
    if pair[0].bytes != pair[1].bytes {
        let [ours, fio] = pair.map(|turn| turn.bytes);
        return Err(format!("{}: {ours} bytes against fio's {fio}", workload.name).into());
    }
    Ok(pair)
}

/// The median of the ratios within pairs, with its interval.
fn ratio(pairs: &[[Turn; 2]], figure: impl Fn(&Turn) -> f64) -> String {
    let mut all: Vec<f64> = pairs.iter().map(|[ours, fio]| figure(ours) / figure(fio)).collect();
    all.sort_by(f64::total_cmp);
    // Of 15 values the 4th and the 12th bound the median with 96 % confidence, whatever the distribution.
    format!("{:.2} ({:.2} to {:.2})", all[PAIRS / 2], all[3], all[PAIRS - 4])
}

fn ours(file: &Path, options: &str) -> Result<Turn, Box<dyn Error>> {
    let output = Command::new(env!("CARGO_BIN_EXE_ioscape"))
        .args(["vxbench", "--json"])
        .args(options.split(' '))
        .arg(file)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let document: Document = serde_json::from_slice(&output.stdout)?;
    let run = document.vxbench().and_then(|vxbench| vxbench.runs.first()).ok_or("no run")?;
    let total = run.total;
    Ok(Turn { bytes: total.bytes, bytes_per_s: total.throughput_bytes_per_s, cpu_s: total.cpu_s() })
}

fn fio(file: &Path, options: &str) -> Result<Turn, Box<dyn Error>> {
    let output = Command::new("fio")
        .args(["--name=vx", "--size=256m", "--ioengine=psync", "--randrepeat=0"])
        .args(options.split(' '))
        .arg(format!("--filename={}", file.display()))
        .arg("--output-format=json")
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let json: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let job = &json["jobs"][0];
    let of = |key: &str| ["read", "write"].iter().filter_map(|d| job[d][key].as_f64()).sum::<f64>();
    let percent = ["usr_cpu", "sys_cpu"].iter().filter_map(|key| job[key].as_f64()).sum::<f64>();
    // With several jobs in a group the times are sums over them, and so is what the share of processor time refers to.
    let cpu_s = percent / 100.0 * job["job_runtime"].as_f64().unwrap_or(0.0) / 1000.0;
    let bytes_per_s = of("io_bytes") / (of("runtime") / 1000.0);
    Ok(Turn { bytes: of("io_bytes") as u64, bytes_per_s, cpu_s })
}
