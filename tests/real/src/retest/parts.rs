//! The systems that are evaluated repeatedly, and what runs beside them.

use crate::lab::Up;
use crate::lab::storage::FileSystem;
use crate::systems::slow_disk;

/// One system under one condition.
pub struct Part {
    /// Name, by which it is chosen.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Debian packages that it needs.
    pub packages: &'static [&'static str],
    /// Brings it up; returns the target, relative to the laboratory's directory.
    pub begin: fn(&mut Up<'_>) -> Result<&'static str, String>,
    /// Options of the evaluation besides its budget.
    pub options: &'static str,
    /// Default number of evaluations.
    pub runs: usize,
    /// Default budget of each evaluation.
    pub budget: &'static str,
    /// Share of the pairs that must agree.
    pub aim: f64,
}

/// All parts. They need a quiet machine, because all but one must be undisturbed.
pub const ALL: &[Part] = &[
    Part {
        name: "root",
        about: "the machine's own file system, nothing beside it",
        packages: &[],
        begin: own_directory,
        options: "",
        runs: 5,
        budget: "10m",
        aim: 0.95,
    },
    Part {
        name: "root-loaded",
        about: "the machine's own file system, a compiler beside it on every processor",
        packages: &["gcc"],
        begin: beside_compilers,
        options: "",
        runs: 3,
        budget: "10m",
        aim: 0.9,
    },
    Part {
        name: "fast",
        about: "ext4 on a loop device in memory, 512 MiB for the file cache",
        packages: &["e2fsprogs"],
        begin: fast,
        options: "--memory 512M --max-unique-bytes 1536M",
        runs: 5,
        budget: "1m",
        aim: 0.95,
    },
    Part {
        name: "slow",
        about: "ext4 on a simulated disk of 40 MB/s, 128 MiB for the file cache",
        packages: &["e2fsprogs"],
        begin: slow,
        options: "--memory 128M --max-unique-bytes 512M",
        runs: 5,
        budget: "1m",
        aim: 0.95,
    },
];

fn own_directory(_: &mut Up<'_>) -> Result<&'static str, String> {
    Ok("w")
}

/// On each processor, a compiler that never rests.
const COMPILERS: &str = r#"
for i in $(seq 1500); do echo "int f$i(int a,int b){int s=a;for(int k=0;k<b;k++){s=s*31+(k^a);if(s%7==$((i % 7)))s-=b;}return s;}"; done > w/compiled.c
for _ in $(seq $(nproc)); do while :; do gcc -O2 -c -o /dev/null w/compiled.c; done & done
wait"#;

fn beside_compilers(up: &mut Up<'_>) -> Result<&'static str, String> {
    up.beside("compilers", &["bash", "-c", COMPILERS])?;
    Ok("w")
}

fn fast(up: &mut Up<'_>) -> Result<&'static str, String> {
    let device = up.fast_device("retest-fast", 4096)?;
    up.file_system("retest-fast", FileSystem::Ext4, &device)?;
    Ok("mnt/retest-fast")
}

fn slow(up: &mut Up<'_>) -> Result<&'static str, String> {
    up.disk_with("retest-slow", FileSystem::Ext4, &slow_disk(2048.0))?;
    Ok("mnt/retest-slow")
}
