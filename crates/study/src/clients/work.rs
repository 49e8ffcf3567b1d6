//! A fixed amount of work done by several clients at the same time, each on its own files: vxbench
//! beyond one machine.

use super::joint::Joint;
use super::times;
use ioscape_schema::{Client, VxFigures, VxJob, VxRun};
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
pub struct Worked {
    /// What it did.
    pub run: VxRun,
}

impl Joint<Worked> {
    /// Combines all clients into one run of `job`: files in the order of the clients, the total
    /// from the first start to the last end.
    pub fn run(self, job: &VxJob) -> VxRun {
        let clients = self.clients(|work| client(&work.run.total));
        let warnings = self.doubts(&clients, |work| &work.run.warnings);
        let total = self.total();
        let files = self.each.into_iter().flat_map(|one| one.did.run.files).collect();
        let (job, clients) = (job.clone(), Some(clients));
        VxRun { job, files, total, verify: None, clients, warnings }
    }

    fn total(&self) -> VxFigures {
        let each = || self.each.iter().map(|one| &one.did.run.total);
        let elapsed_s = self.elapsed_s(|work| work.run.total.elapsed_s);
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
}

fn client(total: &VxFigures) -> Client {
    Client {
        throughput_bytes_per_s: total.throughput_bytes_per_s,
        // A single run of a client does not show how much the next would differ.
        throughput_ci95: [0.0, 2.0 * total.throughput_bytes_per_s],
        response_time_mean_ns: total.response_time_ns.map_or(0.0, |times| times.mean),
        ..Client::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::joint::{ByClient, skewed};
    use super::*;
    use ioscape_schema::{Clients, VxFile};

    fn work(rank: u32, elapsed_s: f64, began_unix_ns: i64) -> ByClient<Worked> {
        let bytes = 8_000_000;
        let throughput_bytes_per_s = bytes as f64 / elapsed_s;
        let total =
            VxFigures { ios: 10, bytes, elapsed_s, throughput_bytes_per_s, ..VxFigures::default() };
        let files = vec![VxFile { path: format!("/s/{rank}"), ..VxFile::default() }];
        let run = VxRun { files, total, ..VxRun::default() };
        ByClient { rank, host: format!("h{rank}"), did: Worked { run }, began_unix_ns }
    }

    #[test]
    fn the_sum_lasts_from_the_first_beginning_to_the_last_end() {
        let each = vec![
            work(0, 1.0, 5_000_000_000),
            work(1, 1.0, 5_000_500_000),
            work(2, 2.0, 5_002_000_000),
        ];
        let run = Joint { each, coordination_s: 0.1, clock_error_ns: 7 }.run(&VxJob::default());
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
