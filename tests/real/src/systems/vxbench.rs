//! vxbench beside fio: the same bytes in the same blocks with the same flags, alternately; and the
//! white paper's two effects.

use super::Checks;
use crate::check::{Check, between};
use crate::lab::Lab;
use ioscape_schema::{Document, VxFigures};

/// Number of turns; the median of their ratios counts, because machines drift.
const TURNS: usize = 9;

/// Limits that only a broken engine would miss on a shared machine. The aims are narrower:
/// throughput within 10 % of fio's, no more CPU time than fio, a quarter of the CPU time for direct
/// reads; the actual figures are printed beside them.
const RATES: [f64; 2] = [0.8, 4.0];
const COST_MOST: f64 = 1.25;
const DIRECT_MOST: f64 = 0.8;

/// A workload in both programs' words; if the processor is the limit, fio is spared the clock that
/// would slow it down.
struct Pair {
    name: &'static str,
    vxbench: &'static str,
    fio: &'static str,
}

const PAIRS: [Pair; 5] = [
    Pair {
        name: "read 64k cached",
        vxbench: "-w read -i iosize=64k,nrep=16",
        fio: "--rw=read --bs=64k --loops=16 --invalidate=0 --gtod_reduce=1",
    },
    Pair {
        name: "write 64k buffered",
        vxbench: "-w write -i iosize=64k,nrep=8 --destroy-data",
        fio: "--rw=write --bs=64k --loops=8 --invalidate=0 --overwrite=1 --fallocate=none",
    },
    Pair {
        name: "rand_read 4k cached",
        vxbench: "-w rand_read -i iosize=4k,iocount=512k",
        fio: "--rw=randread --bs=4k --io_size=2g --norandommap --invalidate=0 --gtod_reduce=1",
    },
    Pair {
        name: "read 1M direct",
        vxbench: "-w read -i iosize=1m,nrep=4 -c direct",
        fio: "--rw=read --bs=1m --loops=4 --direct=1",
    },
    Pair {
        name: "rand_write 4k direct, 4 threads",
        vxbench: "-w rand_write -i iosize=4k,iocount=8k,nthreads=4 -t -c direct --destroy-data",
        fio: "--rw=randwrite --bs=4k --io_size=32m --norandommap --direct=1 --numjobs=4 --thread --group_reporting --overwrite=1 --fallocate=none",
    },
];

fn total(document: &Document) -> Result<VxFigures, String> {
    let run = document.vxbench().and_then(|vxbench| vxbench.runs.first());
    run.map(|run| run.total).ok_or_else(|| "no run in the result".to_owned())
}

fn ours(lab: &Lab, options: &str) -> Result<VxFigures, String> {
    total(&lab.command(&format!("vxbench {options} w/vx.dat --json"))?)
}

/// Bytes, bytes per second and CPU seconds of a fio run.
fn theirs(lab: &Lab, options: &str) -> Result<(f64, f64, f64), String> {
    let text = lab.shell(&format!(
        "fio --name=vx --filename=w/vx.dat --size=256m --ioengine=psync --randrepeat=0 {options} --output-format=json"
    ))?;
    let json: serde_json::Value =
        serde_json::from_str(&text).map_err(|e| format!("fio's result: {e}"))?;
    let job = &json["jobs"][0];
    let of = |key: &str| ["read", "write"].iter().filter_map(|d| job[d][key].as_f64()).sum::<f64>();
    let bytes = of("io_bytes");
    let percent = ["usr_cpu", "sys_cpu"].iter().filter_map(|key| job[key].as_f64()).sum::<f64>();
    // With several jobs in a group, the times are sums over the jobs, and the share of CPU time refers to such a sum too.
    let cpu_s = percent / 100.0 * job["job_runtime"].as_f64().unwrap_or(0.0) / 1000.0;
    Ok((bytes, bytes / (of("runtime") / 1000.0), cpu_s))
}

fn middle(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Five workloads against fio, then the effects.
pub fn beside_fio(lab: &Lab) -> Checks {
    lab.shell("rm -f w/vx.dat")?;
    ours(lab, "-w write -i iosize=1m,iocount=256,fsync")?;
    let mut checks = Vec::new();
    for pair in &PAIRS {
        checks.extend(compare(lab, pair)?);
    }
    checks.push(direct_is_cheap(lab)?);
    checks.extend(single_writer(lab)?);
    lab.shell("rm -f w/vx.dat")?;
    Ok(checks)
}

fn compare(lab: &Lab, pair: &Pair) -> Result<[Check; 2], String> {
    let (mut rates, mut costs) = (Vec::new(), Vec::new());
    for turn in 0..TURNS {
        let (mine, fio) = if turn % 2 == 0 {
            let mine = ours(lab, pair.vxbench)?;
            (mine, theirs(lab, pair.fio)?)
        } else {
            let fio = theirs(lab, pair.fio)?;
            (ours(lab, pair.vxbench)?, fio)
        };
        if mine.bytes as f64 != fio.0 {
            return Err(format!("{}: {} bytes against fio's {}", pair.name, mine.bytes, fio.0));
        }
        rates.push(mine.throughput_bytes_per_s / fio.1);
        costs.push(mine.cpu_s() / fio.2);
    }
    let (rate, cost) = (middle(&mut rates), middle(&mut costs));
    let name = |what: &str, all: &[f64]| {
        format!("{what} / fio, {} ({:.2} to {:.2})", pair.name, all[0], all[all.len() - 1])
    };
    Ok([
        between(&name("throughput", &rates), RATES[0], RATES[1], Some(rate)),
        between(&name("CPU", &costs), 0.0, COST_MOST, Some(cost)),
    ])
}

/// The paper, p. 20: 0.5 against 6.3 seconds for 256 MB read from the device in requests of 1 MB.
/// Uses huge pages, because with ordinary ones each request has 256 segments; on a virtual disk
/// these cost more than the copy that direct I/O saves.
fn direct_is_cheap(lab: &Lab) -> Result<Check, String> {
    let mut ratios = Vec::new();
    for _ in 0..TURNS {
        let buffered = ours(lab, "-w read -i iosize=1m --cold --huge-buffers")?;
        let direct = ours(lab, "-w read -i iosize=1m --cold --huge-buffers -c direct")?;
        ratios.push(direct.cpu_s() / buffered.cpu_s());
    }
    let name = "CPU, direct / buffered, cold reads of 1 MB, huge pages";
    Ok(between(name, 0.0, DIRECT_MOST, Some(middle(&mut ratios))))
}

/// Buffered writers to one file wait for one another; direct overwrites do so if the file system
/// has no shared lock.
fn single_writer(lab: &Lab) -> Result<Vec<Check>, String> {
    let document = lab.command("vxbench --diagnose w --json")?;
    let found = document.vxbench().map_or(&[][..], |vxbench| &vxbench.single_writer);
    let buffered = found.iter().find(|one| !one.direct).ok_or("no buffered diagnosis")?;
    let gain = buffered.one_file_bytes_per_s / buffered.alone_bytes_per_s;
    let mut checks =
        vec![between("several buffered writers to one file / one writer", 0.6, 1.3, Some(gain))];
    if let Some(direct) = found.iter().find(|one| one.direct) {
        let gain = direct.one_file_bytes_per_s / direct.alone_bytes_per_s;
        checks.push(between("several direct overwriters of one file / one", 1.3, 64.0, Some(gain)));
    }
    Ok(checks)
}
