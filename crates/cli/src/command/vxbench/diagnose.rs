//! `ioscape vxbench --diagnose`: do concurrent writers to one file of this file system wait for one another?
//!
//! One writer, several on one preallocated file, and several on a file each are measured in turns. What several gain on a
//! file each is what the machine can give; what they lack on one file is the file system's single-writer lock, the effect
//! that the white paper's Quick I/O avoids (VERITAS 1996, pp. 32-35).

use super::{run, watch};
use crate::args::VxbenchArgs;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::{interrupt, output};
use ioscape_measure::vxbench::Watch;
use ioscape_schema::{Document, VxJob, VxUsers, VxWorkload, Vxbench, WarningKind, WriterScaling};
use ioscape_workload::campaign::{PairedRatio, median, paired_ratio};
use std::path::{Path, PathBuf};

/// Rounds of the three in turns.
const ROUNDS: usize = 7;
/// Part of the file that each writer has, in bytes.
const SHARE: u64 = 16 << 20;
/// A run of one writer lasts at least so long, in seconds.
const LEAST_S: f64 = 0.2;
/// Gain of several writers on a file each below which nothing can be told.
const GAIN_LEAST: f64 = 1.25;

/// Runs the diagnosis in `folder` and pours it out.
///
/// # Errors
/// The folder cannot be written, or a run failed or was interrupted.
pub fn main(args: &VxbenchArgs, folder: &Path) -> Result<(), Failure> {
    let refused = |e| Failure::Misuse(format!("{}: takes no files ({e})", folder.display()));
    let scratch = tempfile::Builder::new().prefix(".ioscape-vxbench-").tempdir_in(folder);
    let scratch = scratch.map_err(refused)?;
    let mut document = output::document(1);
    let interrupt = interrupt::flag();
    let progress = Progress::of_jobs(0, 1, "single writer");
    let watch = watch(&interrupt, &progress);
    let mut found = Vec::new();
    for (direct, iosize) in [(false, 64 << 10), (true, 16 << 10)] {
        let trial = Trial { direct, iosize, folder: scratch.path(), watch: &watch };
        match trial.diagnose(&mut document) {
            Ok(one) => found.push(one),
            // A file system without direct I/O has half a diagnosis.
            Err(Failure::Misuse(why)) if direct => {
                document.warn(ioscape_schema::Warning::new(WarningKind::Unsupported, why))
            }
            Err(failure) => return Err(failure),
        }
    }
    progress.done();
    document.vxbench =
        Some(Vxbench { show: args.show(), single_writer: found, ..Vxbench::default() });
    output::pour(&document, &args.out)
}

/// One way of writing.
struct Trial<'a> {
    direct: bool,
    iosize: u64,
    folder: &'a Path,
    watch: &'a Watch,
}

/// Throughputs of one writer, of several on one file, and of several on a file each, round by round.
#[derive(Default)]
struct Rounds {
    alone: Vec<f64>,
    one_file: Vec<f64>,
    own_files: Vec<f64>,
}

impl Trial<'_> {
    fn diagnose(&self, document: &mut Document) -> Result<WriterScaling, Failure> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from) as u32;
        // Direct writers wait for the device, so that more of them than processors have a use.
        let writers = if self.direct { processors.clamp(4, 16) } else { processors.clamp(2, 16) };
        let common = self.lay_out("common", u64::from(writers) * SHARE, document)?;
        let own: Vec<PathBuf> = (0..writers)
            .map(|writer| self.lay_out(&format!("own-{writer}"), SHARE, document))
            .collect::<Result<_, _>>()?;
        let count = self.enough(&common)?;
        let mut rounds = Rounds::default();
        for round in 0..ROUNDS {
            let mut arms = [0, 1, 2];
            arms.rotate_left(round % 3);
            for arm in arms {
                match arm {
                    0 => rounds.alone.push(self.rate(&[&common], 1, count)?),
                    1 => rounds.one_file.push(self.rate(&[&common], writers, count)?),
                    _ => {
                        let all: Vec<&PathBuf> = own.iter().collect();
                        rounds.own_files.push(self.rate(&all, 1, count)?);
                    }
                }
            }
        }
        for path in own.iter().chain([&common]) {
            std::fs::remove_file(path)
                .map_err(|e| Failure::of_write(&path.display().to_string(), &e))?;
        }
        Ok(self.judge(writers, &rounds, document.environment.file_system.as_deref()))
    }

    /// Writes a file whose blocks all have their place.
    fn lay_out(&self, name: &str, bytes: u64, doc: &mut Document) -> Result<PathBuf, Failure> {
        let path = self.folder.join(format!("{name}-{}", self.direct));
        let job = VxJob {
            workload: VxWorkload::Write,
            iosize: 1 << 20,
            iocount: Some(bytes >> 20),
            fsync: true,
            ..VxJob::default()
        };
        run(&job, std::slice::from_ref(&path), false, self.watch, Some(doc))?;
        Ok(path)
    }

    /// Writes of one writer that last long enough.
    fn enough(&self, path: &PathBuf) -> Result<u64, Failure> {
        let mut count = 64;
        while count < 1 << 20 {
            let rate = self.rate(&[path], 1, count)?;
            let elapsed_s = (count * self.iosize) as f64 / rate.max(1.0);
            if elapsed_s >= LEAST_S {
                break;
            }
            let needed = (LEAST_S / elapsed_s.max(1e-6) * 1.2).clamp(1.2, 16.0);
            count = (count as f64 * needed).ceil() as u64;
        }
        Ok(count)
    }

    /// Throughput of `threads` writers on each of `paths`, each with `count` random overwrites.
    fn rate(&self, paths: &[&PathBuf], threads: u32, count: u64) -> Result<f64, Failure> {
        let job = VxJob {
            workload: VxWorkload::RandWrite,
            users: VxUsers::Processes,
            iosize: self.iosize,
            iocount: Some(count),
            nthreads: threads,
            direct: self.direct,
            ..VxJob::default()
        };
        let paths: Vec<PathBuf> = paths.iter().map(|path| path.to_path_buf()).collect();
        Ok(run(&job, &paths, true, self.watch, None)?.total.throughput_bytes_per_s)
    }

    fn judge(&self, writers: u32, rounds: &Rounds, system: Option<&str>) -> WriterScaling {
        let [alone, one, own] =
            [&rounds.alone, &rounds.one_file, &rounds.own_files].map(|all| median(all));
        let ratio = paired_ratio(&rounds.one_file, &rounds.own_files)
            .unwrap_or(PairedRatio { mean: one / own.max(1.0), ci95: [0.0, f64::MAX] });
        // Half-way, by ratio, between no gain at all and the whole gain.
        let middle = (alone / own.max(1.0)).sqrt();
        let serialised = match own / alone.max(1.0) {
            gain if gain < GAIN_LEAST => None,
            _ if ratio.ci95[1] < middle => Some(true),
            _ if ratio.ci95[0] > middle => Some(false),
            _ => None,
        };
        let verdict = match serialised {
            Some(true) => "they wait for one another (single-writer lock)",
            Some(false) => "they do not wait for one another",
            None => {
                "whether they wait for one another cannot be told here, since several writers gain too little or vary too much"
            }
        };
        let sentence = format!(
            "{} overwrites of {} KiB on {}: {writers} writers reach {:.2} times one writer's throughput on one file, {:.2} times on a file each; {verdict}.",
            if self.direct { "Direct" } else { "Buffered" },
            self.iosize >> 10,
            system.unwrap_or("this file system"),
            one / alone.max(1.0),
            own / alone.max(1.0),
        );
        WriterScaling {
            direct: self.direct,
            iosize: self.iosize,
            writers,
            alone_bytes_per_s: alone,
            one_file_bytes_per_s: one,
            own_files_bytes_per_s: own,
            ratio: ratio.mean,
            ratio_ci95: ratio.ci95,
            serialised,
            sentence,
        }
    }
}
