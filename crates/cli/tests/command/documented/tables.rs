//! What is smaller in the test than in the documentation, what is not run there, and why.

/// Why a test does not run a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It makes a file system or a loop device, reads a certain device, or needs the remains of a
    /// killed recorder. Commands that need root only briefly (a control group, the kernel's events)
    /// are run, and skipped if refused.
    Root,
    /// It overwrites a device.
    Destroys,
    /// It needs a container runtime and an image.
    Container,
    /// It needs programs from the network, a network file system, or several machines.
    Network,
    /// It compares figures that exist only on an otherwise idle machine.
    Quiet,
    /// It builds programs or the project's own tests, which takes minutes.
    Builds,
}

/// Commands that are not run: the page, how they begin, how many on the page do, and why.
pub const NOT_RUN: [(&str, &str, usize, Why); 32] = [
    ("README.md", "cargo install --locked --path crates/cli", 1, Why::Builds),
    ("campaigns.md", "ioscape campaign run disk-limited-reads /mnt/a /dev/sdX", 1, Why::Root),
    ("campaigns.md", "ioscape campaign run one-file-writes /big --fs", 1, Why::Root),
    ("campaigns.md", "cargo bench -p ioscape --bench vxbench", 1, Why::Builds),
    ("campaign-results.md", "ioscape campaign run filling DIR --fs", 1, Why::Root),
    ("campaign-results.md", "ioscape report filling.ioscape.json", 1, Why::Root),
    ("coming-from.md", "cargo install --locked --git", 1, Why::Network),
    ("evaluation.md", "IOSCAPE_WORLDS=", 2, Why::Builds),
    ("evaluation.md", "IOSCAPE_SYSTEMS=", 2, Why::Builds),
    ("faults.md", "cargo build && ", 1, Why::Builds),
    ("faults.md", "target/debug/ioscape-real faults-table signal", 1, Why::Builds),
    ("how-to.md", "ioscape trace import trace.parquet.recording-*/*", 1, Why::Root),
    ("how-to.md", "ioscape compare before-os.ioscape.json", 1, Why::Quiet),
    ("install.md", "docker run", 1, Why::Container),
    ("os.md", "ioscape os --dir . --dir /mnt/nfs", 1, Why::Network),
    ("performance.md", "cargo build --release", 1, Why::Builds),
    ("performance.md", "PYTHON=python3 cargo bench", 2, Why::Builds),
    ("prediction.md", "IOSCAPE_SYSTEMS=", 2, Why::Builds),
    ("prediction.md", "cargo test -p ioscape-scaling --test known", 1, Why::Builds),
    (
        "prediction.md",
        "cargo run --release -p ioscape-scaling --example prediction_table",
        4,
        Why::Builds,
    ),
    (
        "prediction.md",
        "cargo run --release -p ioscape-scaling --example validate_again",
        1,
        Why::Builds,
    ),
    ("prediction.md", "cargo run --release -p ioscape-real", 4, Why::Builds),
    ("scale.md", "pip install", 2, Why::Network),
    ("scale.md", "python -m ioscape.spark", 3, Why::Network),
    ("scale.md", "import subprocess", 1, Why::Network),
    ("scale.md", "import ray", 1, Why::Network),
    ("scale.md", "mpiexec", 3, Why::Network),
    ("scale.md", "srun", 2, Why::Network),
    (
        "trace-replay.md",
        "ioscape trace replay db.parquet /dev/sdb --destroy-data",
        1,
        Why::Destroys,
    ),
    ("trace-schema.md", "select is_write", 1, Why::Network),
    ("trace-top.md", "ioscape trace top vda", 1, Why::Root),
    ("trace-top.md", "ioscape trace top --serve", 1, Why::Root),
];

/// Replacements in commands: how the command begins, the words in it, and the words used instead.
pub const SMALLER: [(&str, &str, &str); 36] = [
    // Paths are in the test's directory.
    ("", "/mnt/", "mnt/"),
    ("", "/data", "data"),
    ("", "/var/lib/db", "var/lib/db"),
    ("", "/var/lib/node_exporter", "var/lib/node_exporter"),
    ("", "/var/log/io", "var/log/io"),
    // Made file systems need root, so their figures here are those of one directory.
    ("ioscape campaign run", "DIR --fs ext4,xfs,btrfs --as-root-make", "mnt/a"),
    ("ioscape campaign run", "DIR --fs ext4,xfs,btrfs,raw --as-root-make", "mnt/a"),
    ("ioscape campaign run", "DIR --fs ext4,xfs,btrfs,tmpfs --as-root-make", "mnt/a"),
    ("ioscape campaign run", "--rounds 6", "--rounds 1"),
    ("ioscape campaign run", "--max-file-size 128M", "--max-file-size 64k"),
    ("ioscape campaign run", "--max-file-size 64M", "--max-file-size 64k"),
    ("ioscape campaign run", "--max-file-size 32M", "--max-file-size 64k"),
    ("ioscape campaign run", "--budget 10m", "--budget 500ms"),
    ("ioscape campaign run aged-reads", "FILE", "aged.ioscape.json"),
    ("ioscape campaign run", "--html aged.html", "--html aged.html -o aged.ioscape.json"),
    ("awk", "400000;", "4000;"),
    // The smaller evaluation found no cache of the size of its memory. Its requests are smaller
    // than any that were evaluated.
    (" --what-if memory=", "--workloads db.ioscape.json", "--workloads mail.toml"),
    (" --what-if memory=", "here.ioscape.json", "landscape.ioscape.json"),
    (" --what-if memory=", "there.ioscape.json", "landscape.ioscape.json"),
    ("ioscape run", "--unique-bytes 1G", "--unique-bytes 1M"),
    (
        "ioscape evaluate .",
        "--budget 3m --max-unique-bytes 1G",
        "--budget 3s --max-unique-bytes 4M",
    ),
    ("ioscape run", "--unique-bytes 8G", "--unique-bytes 1M"),
    (
        "ioscape evaluate data --memory",
        "--max-unique-bytes 2G --budget 3m",
        "--max-unique-bytes 4M --budget 3s",
    ),
    ("ioscape trace record", "--rotate 1h", "--rotate 1s"),
    ("ioscape trace record", "--seconds 60", "--seconds 1"),
    ("ioscape trace record", "--seconds 600", "--seconds 1"),
    ("ioscape run", "--seconds 2", "--seconds 200ms"),
    ("ioscape twin", "--sustain=10m", "--sustain=10m --dry-run"),
    (
        "ioscape twin . -o mine.toml",
        "--unique-bytes 64M --seconds 100ms --workloads 10",
        "--unique-bytes 16M --seconds 20ms --workloads 2",
    ),
    ("ioscape ab", "--unique-bytes 1G", "--unique-bytes 1M"),
    ("ioscape vxbench", "iosize=64k,iocount=16k", "iosize=64k,iocount=16"),
    ("ioscape validate", "--workloads 100", "--workloads 2"),
    // The evaluated machine has 64 MiB of memory, and sets are at most four times as large.
    (
        "ioscape predict here.ioscape.json --workloads today --what-if storage",
        "--workloads today",
        "--workloads mail.toml",
    ),
    ("ioscape os", "--budget 2m", "--budget 20s"),
    // The trace lasts 200 ms.
    ("ioscape trace", "1h", "1ms"),
    ("ioscape trace", "2h", "1h"),
];

/// What is appended to a command that lacks it, so that it ends soon: how the command begins, and
/// option with value.
pub const BOUNDS: [(&str, &str); 18] = [
    ("ioscape evaluate", "--budget 3s"),
    ("ioscape evaluate", "--max-unique-bytes 4M"),
    // A share of the time would depend on how fast the disk lays out the sets.
    ("ioscape validate", "--workloads 2"),
    ("ioscape validate", "--rounds 1"),
    ("ioscape run", "--seconds 200ms"),
    ("ioscape run", "--unique-bytes 1M"),
    ("ioscape ab", "--budget 3s"),
    ("ioscape ab", "--seconds 200ms"),
    ("ioscape campaign run", "--rounds 1"),
    // Its rows have fixed sizes.
    ("ioscape campaign run gigabyte-per-second", "--max-file-size 512M"),
    ("ioscape campaign run", "--max-file-size 64k"),
    ("ioscape campaign run", "--budget 2s"),
    ("ioscape os", "--budget 20s"),
    ("ioscape os", "--only getpid"),
    ("ioscape trace record", "--seconds 1"),
    ("ioscape trace top", "--once"),
    ("ioscape trace analyze ajw.1week.srt", "--to 12h"),
    ("ioscape trace analyze hourly.03126.srt.bz2", "--to 5m"),
];

/// Job and campaign files that pages show, by page: the name that their commands use.
pub const INPUTS: [(&str, &str); 2] = [("jobs.md", "jobs.toml"), ("campaigns.md", "database.toml")];

/// Replacements in those files that make them smaller.
pub const SMALLER_INPUTS: [(&str, &str); 4] = [
    ("\"256M\"", "\"1M\""),
    ("seconds = 5", "seconds = 0.1"),
    ("\"1G\"", "\"64k\""),
    ("\"20k\"", "\"20\""),
];
