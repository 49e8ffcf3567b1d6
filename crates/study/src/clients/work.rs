//! A fixed amount of work done by several clients at the same time, each on its own files: vxbench
//! beyond one machine.

use super::{STRAGGLES, apart_ns, evenness, own_doubts, rates, skewed, times};
use ioscape_schema::statistics::median;
use ioscape_schema::{Client, Clients, VxFigures, VxJob, VxRun, Warning, WarningKind};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What one client is to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientTask {
    /// The job, with the client's own random seed.
    pub job: VxJob,
    /// Its files, each with its own user.
    pub files: Vec<PathBuf>,
    /// Whether data of existing files may be overwritten.
    pub destroy_data: bool,
}

/// Deals the files in `shared` out to the clients in order, the same number to each.
///
/// # Errors
/// The sentence for the user: a file lies elsewhere, its name is not UTF-8, or the files cannot be
/// dealt out evenly.
pub fn dealt(
    job: &VxJob,
    shared: &Path,
    files: &[PathBuf],
    clients: u32,
    destroy_data: bool,
) -> Result<Vec<ClientTask>, String> {
    let files: Vec<PathBuf> = files.iter().map(|file| shared.join(file)).collect();
    for file in &files {
        if file.parent() != Some(shared) {
            let (file, shared) = (file.display(), shared.display());
            return Err(format!(
                "{file} is not in {shared}: clients work on files in the directory that they share"
            ));
        }
        if file.to_str().is_none() {
            return Err(format!(
                "{}: names of files must be UTF-8 when several clients measure",
                file.display()
            ));
        }
    }
    let number = files.len();
    if number == 0 || !number.is_multiple_of(clients as usize) {
        return Err(format!(
            "{number} files cannot be dealt out evenly to {clients} clients: name as many for each, in the order of the clients"
        ));
    }
    let tasks =
        (0..).zip(files.chunks(number / clients as usize)).map(|(rank, files)| ClientTask {
            job: VxJob { rand_seed: job.rand_seed.wrapping_add(rank), ..job.clone() },
            files: files.to_vec(),
            destroy_data,
        });
    Ok(tasks.collect())
}

/// What one client did of the work.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ClientWork {
    /// Number of the client.
    pub rank: u32,
    /// The machine that it ran on.
    pub host: String,
    /// What it did.
    pub run: VxRun,
    /// When it began, in nanoseconds since 1970 on the first client's clock.
    #[serde(default)]
    pub began_unix_ns: i64,
}

/// What all clients did after a common start.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct WorkTogether {
    /// The clients.
    #[serde(rename = "clients")]
    pub works: Vec<ClientWork>,
    /// Seconds spent on agreeing.
    #[serde(default)]
    pub coordination_s: f64,
    /// How far the clock offsets may be off, in nanoseconds.
    #[serde(default)]
    pub clock_error_ns: u64,
}

impl WorkTogether {
    /// Combines all clients into one run of `job`: files in the order of the clients, the total
    /// from the first start to the last end.
    pub fn run(self, job: &VxJob) -> VxRun {
        let clients = self.clients();
        let mut warnings = Vec::from_iter(skewed(&clients));
        warnings.extend(slow(&clients));
        for work in &self.works {
            own_doubts(&mut warnings, work.rank, &work.host, work.run.warnings.iter());
        }
        let total = self.total();
        let files = self.works.into_iter().flat_map(|work| work.run.files).collect();
        let (job, clients) = (job.clone(), Some(clients));
        VxRun { job, files, total, verify: None, clients, warnings }
    }

    fn total(&self) -> VxFigures {
        let each = || self.works.iter().map(|work| &work.run.total);
        let first = self.works.iter().map(|work| work.began_unix_ns).min().unwrap_or(0);
        let ended_s = |work: &ClientWork| {
            work.began_unix_ns.abs_diff(first) as f64 / 1e9 + work.run.total.elapsed_s
        };
        let elapsed_s = self.works.iter().map(ended_s).fold(0.0, f64::max);
        let bytes: u64 = each().map(|one| one.bytes).sum();
        let answered = each().filter_map(|one| Some((one.ios, one.response_time_ns?)));
        let synced: Vec<_> = each().filter_map(|one| Some((1, one.fsync_ns?))).collect();
        let ios = each().map(|one| one.ios).sum();
        VxFigures {
            ios,
            bytes,
            elapsed_s,
            throughput_bytes_per_s: if elapsed_s > 0.0 { bytes as f64 / elapsed_s } else { 0.0 },
            cpu_user_s: each().map(|one| one.cpu_user_s).sum(),
            cpu_system_s: each().map(|one| one.cpu_system_s).sum(),
            cpu_split_told: each().filter_map(|one| one.cpu_split_told).reduce(|a, b| a && b),
            response_time_ns: (ios > 0).then(|| times(answered)),
            fsync_ns: (!synced.is_empty()).then(|| times(synced.into_iter())),
        }
    }

    fn clients(&self) -> Clients {
        let each = self.works.iter().map(|work| {
            let total = &work.run.total;
            Client {
                rank: work.rank,
                host: work.host.clone(),
                throughput_bytes_per_s: total.throughput_bytes_per_s,
                // A single run of a client does not show how much the next would differ.
                throughput_ci95: [0.0, 2.0 * total.throughput_bytes_per_s],
                response_time_mean_ns: total.response_time_ns.map_or(0.0, |times| times.mean),
                straggles: false,
            }
        });
        Clients {
            start_skew_ns: apart_ns(self.works.iter().map(|work| work.began_unix_ns)),
            clock_error_ns: self.clock_error_ns,
            coordination_s: self.coordination_s,
            windows: 1,
            ..evenness(each.collect())
        }
    }
}

/// One warning for each client that the others waited for.
pub(super) fn slow(clients: &Clients) -> Vec<Warning> {
    let median = median(&rates(&clients.each));
    let slow = clients.each.iter().filter(|one| one.throughput_bytes_per_s < STRAGGLES * median);
    let sentence = |one: &Client| {
        let message = format!(
            "client {} on {} had {:.0} % of the median client's throughput in this run: more runs would tell whether it straggles",
            one.rank,
            one.host,
            100.0 * one.throughput_bytes_per_s / median
        );
        Warning::new(WarningKind::NotSteady, message)
    };
    slow.map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::VxFile;

    fn work(rank: u32, elapsed_s: f64, began_unix_ns: i64) -> ClientWork {
        let bytes = 8_000_000;
        let throughput_bytes_per_s = bytes as f64 / elapsed_s;
        let total =
            VxFigures { ios: 10, bytes, elapsed_s, throughput_bytes_per_s, ..VxFigures::default() };
        let files = vec![VxFile { path: format!("/s/{rank}"), ..VxFile::default() }];
        let run = VxRun { files, total, ..VxRun::default() };
        ClientWork { rank, host: format!("h{rank}"), run, began_unix_ns }
    }

    #[test]
    fn the_sum_lasts_from_the_first_beginning_to_the_last_end() {
        let works = vec![
            work(0, 1.0, 5_000_000_000),
            work(1, 1.0, 5_000_500_000),
            work(2, 2.0, 5_002_000_000),
        ];
        let run =
            WorkTogether { works, coordination_s: 0.1, clock_error_ns: 7 }.run(&VxJob::default());
        assert_eq!((run.total.ios, run.total.bytes), (30, 24_000_000));
        assert!((run.total.elapsed_s - 2.002).abs() < 1e-9, "{}", run.total.elapsed_s);
        assert_eq!(
            run.files.iter().map(|file| &*file.path).collect::<Vec<_>>(),
            ["/s/0", "/s/1", "/s/2"]
        );
        let clients = run.clients.expect("there were clients");
        assert_eq!((clients.start_skew_ns, clients.clock_error_ns), (2_000_000, 7));
        assert!(
            (clients.spread[0] - 0.6).abs() < 1e-9 && clients.each.iter().all(|one| !one.straggles)
        );
        let told: Vec<&str> = run.warnings.iter().map(|one| &*one.message).collect();
        assert!(told[0].contains("began 2.0 ms apart"), "{told:?}");
        let wrong = Clients { clock_error_ns: 42_000_000, ..Clients::default() };
        let doubt = skewed(&wrong).expect("clocks so wrong tell nothing");
        assert!(doubt.message.contains("0.0 ms apart, by clocks that may be 42.0 ms wrong"));
        assert!(told[1].contains("client 2 on h2 had 50 %") && told.len() == 2, "{told:?}");
    }

    #[test]
    fn files_are_dealt_out_evenly_or_not_at_all() {
        let deal = |files: &[&str], clients| {
            let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
            dealt(
                &VxJob { rand_seed: 5, ..VxJob::default() },
                Path::new("/s"),
                &files,
                clients,
                false,
            )
        };
        let tasks = deal(&["a", "b", "/s/c", "d"], 2).expect("two each");
        assert_eq!(tasks[1].files, [PathBuf::from("/s/c"), "/s/d".into()]);
        assert_eq!((tasks[0].job.rand_seed, tasks[1].job.rand_seed), (5, 6));
        assert!(
            deal(&["a", "b", "c"], 2)
                .unwrap_err()
                .contains("3 files cannot be dealt out evenly to 2")
        );
        for elsewhere in ["/t/a", "sub/a", "../a"] {
            assert!(deal(&[elsewhere], 1).unwrap_err().contains("is not in /s"), "{elsewhere}");
        }
    }
}
