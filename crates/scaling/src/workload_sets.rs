//! Named sets of workloads on which systems are compared: the paper's five, and today's.

use ioscape_schema::{SizeDistribution, Workload};

/// A workload with a name and where its parameters come from.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedWorkload {
    /// Name, as it appears in results.
    pub name: &'static str,
    /// The purpose that it stands for, and the source of its parameters.
    pub source: &'static str,
    /// The workload.
    pub workload: Workload,
}

const KB: u64 = 1 << 10;
const MB: u64 = 1 << 20;
const GB: u64 = 1 << 30;

/// The five parameters in the order of the paper's figure 16: uniqueBytes, seqFrac, readFrac, sizeMean, processNum.
fn named(
    name: &'static str,
    parameters: (u64, f64, f64, u64, u32),
    source: &'static str,
) -> NamedWorkload {
    let (unique_bytes, seq_frac, read_frac, size_mean, process_num) = parameters;
    let workload = Workload {
        unique_bytes,
        size_mean,
        size_distribution: SizeDistribution::Normal,
        read_frac,
        seq_frac,
        process_num,
        ..Workload::default()
    };
    NamedWorkload { name, source, workload }
}

/// The five workloads of the self-scaling paper's figure 16.
pub fn paper() -> Vec<NamedWorkload> {
    vec![
        named("workstation", (MB, 0.8, 0.8, 4 * KB, 1), "compile, grep; figure 16"),
        named("large_utility", (10 * MB, 0.9, 0.6, 8 * KB, 1), "sort; figure 16"),
        named("scientific_write", (250 * MB, 0.5, 0.2, 100 * KB, 1), "satellite data; figure 16"),
        named("scientific_read", (250 * MB, 0.5, 0.8, 100 * KB, 1), "image processing; figure 16"),
        named("database", (500 * MB, 0.1, 0.2, 4 * KB, 2), "TPC; figure 16"),
    ]
}

/// Workloads of today. Mixes and sizes are those of the published workload definition that each
/// source names. The sets are chosen to exceed the caches of a small server. Where a source gives
/// no sequentiality or concurrency, the choice is ours and marked as such.
pub fn today() -> Vec<NamedWorkload> {
    vec![
        named(
            "oltp",
            (8 * GB, 0.0, 0.7, 8 * KB, 16),
            "transaction database: random 8 KiB requests, 70 % reads (Dell VxRail performance analysis, VDBench \"OLTP 8 KB\": \
             70/30, 8 KB, 100 percent random; 8 KiB is also the page of PostgreSQL); set and concurrency ours",
        ),
        named(
            "log_append",
            (256 * MB, 1.0, 0.0, 16 * KB, 1),
            "write-ahead or message log: sequential writes of one process (Apache Kafka documentation, design: linear \
             writes; 16 KiB is its producer's default batch.size); set ours",
        ),
        named(
            "analytics_scan",
            (16 * GB, 0.9, 1.0, MB, 4),
            "scan of columns in files: large, mostly sequential reads (Melnik et al., \"Dremel\", VLDB 2010: scans; Apache \
             Parquet: column chunks are read in order, parquet.page.size is 1 MiB by default); sequentiality and concurrency ours",
        ),
        named(
            "mail",
            (GB, 0.2, 0.5, 16 * KB, 16),
            "mail server: create-append-sync, read-append-sync, read and delete of small files by 16 threads, so about as many \
             reads as writes, of 16 KiB (Filebench, pre-defined personality varmail); set and sequentiality ours, its syncs \
             left out",
        ),
        named(
            "vm_image",
            (32 * GB, 0.25, 0.6, 24 * KB, 8),
            "virtual machines' disk images: mostly random, small requests (Gulati, Kumar and Ahmad, \"Storage Workload \
             Characterization and Consolidation in Virtualized Environments\", VPACT 2009: highly random access); 60 % reads of \
             22 to 24 KiB (Dell VxRail performance analysis, VDBench \"RDBMS 22 K\"); the rest ours",
        ),
        named(
            "training_loader",
            (32 * GB, 0.0, 1.0, 108 * KB, 8),
            "loading a training set: whole image files in random order by 8 workers (ImageNet: 1.3 million images of 108 KB on \
             average, NetApp solutions documentation, ResNet test configuration); set and workers ours",
        ),
    ]
}

/// The set of that name, `paper` or `today`; `None` for any other name.
pub fn by_name(name: &str) -> Option<Vec<NamedWorkload>> {
    match name {
        "paper" => Some(paper()),
        "today" => Some(today()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::units::Bytes;

    #[test]
    fn every_named_workload_can_be_run() {
        for set in ["paper", "today"] {
            let set = by_name(set).unwrap();
            for (i, named) in set.iter().enumerate() {
                assert_eq!(named.workload.validate(), Ok(()), "{}", named.name);
                assert!(set[..i].iter().all(|other| other.name != named.name));
            }
        }
        assert_eq!(by_name("tomorrow"), None);
    }

    #[test]
    fn the_documentation_has_every_workload() {
        let text = include_str!("../workloads.md");
        for NamedWorkload { name, workload: w, .. } in [paper(), today()].concat() {
            let row = text.lines().find(|line| line.starts_with(&format!("| `{name}` |"))).unwrap();
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let percent = |share: f64| format!("{:.0} %", share * 100.0);
            let [set, size] = [w.unique_bytes, w.size_mean].map(|b| Bytes(b as f64).to_string());
            let processes = w.process_num.to_string();
            let (reads, sequential) = (percent(w.read_frac), percent(w.seq_frac));
            assert_eq!(cells[2..7], [set, size, reads, sequential, processes], "{name}");
        }
    }

    #[test]
    fn the_paper_s_database_is_figure_16_s() {
        let database = paper().pop().unwrap();
        let w = &database.workload;
        assert_eq!((w.unique_bytes, w.size_mean, w.process_num), (500 << 20, 4096, 2));
        assert_eq!((w.read_frac, w.seq_frac), (0.2, 0.1));
    }
}
