//! Do concurrent writers to one file of a file system wait for one another?
//!
//! One writer, several on one preallocated file, and several on a file each are measured in turns. What several gain on a
//! file each is what the machine can give; what they lack on one file is the file system's single-writer lock, the effect
//! that the white paper's Quick I/O avoids (VERITAS 1996, pp. 32-35).

use super::vxbench::run;
use crate::failure::Failure;
use ioscape_measure::vxbench::Watch;
use ioscape_schema::{Document, VxJob, VxUsers, VxWorkload, WriterScaling};
use ioscape_workload::campaign::{PairedRatio, median, paired_ratio};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Gain of several writers on a file each below which nothing can be told.
const GAIN_LEAST: f64 = 1.25;
/// Size of the writes through the cache, and past it, in bytes.
const IOSIZES: [u64; 2] = [64 << 10, 16 << 10];

/// How much work a diagnosis may be.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Rounds of the three in turns.
    rounds: usize,
    /// Part of the file that each writer has, in bytes.
    share: u64,
    /// A run of one writer lasts at least so long, in seconds.
    least_s: f64,
    /// No round but the first two begins after so long, in seconds.
    most_s: f64,
}

impl Effort {
    /// About ten seconds.
    pub const WHOLE: Self = Self { rounds: 7, share: 16 << 20, least_s: 0.2, most_s: 60.0 };
    /// About six seconds, on the way of something else.
    pub const SHORT: Self = Self { rounds: 9, share: 4 << 20, least_s: 0.06, most_s: 3.0 };

    /// Bytes that are written before anything is measured.
    pub fn layout_bytes(self) -> u64 {
        [false, true].map(|direct| 2 * u64::from(writers(direct)) * self.share).iter().sum()
    }
}

/// Writers at the same time.
fn writers(direct: bool) -> u32 {
    let processors = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    // Direct writers wait for the device, so that more of them than processors have a use.
    processors.clamp(if direct { 4 } else { 2 }, 16)
}

/// What was found out, and why the rest was not.
#[derive(Debug, Default)]
pub struct Diagnosis {
    /// Through the cache, and past it.
    pub found: Vec<WriterScaling>,
    /// Why there is nothing about direct writers: a file system without direct I/O.
    pub no_direct: Option<String>,
}

/// Diagnoses the file system of `folder` in a directory of ours; tells the machine to `document`, if there is one.
///
/// # Errors
/// The folder cannot be written, or a run failed or was interrupted.
pub fn diagnose(
    folder: &Path,
    effort: Effort,
    watch: &Watch,
    mut document: Option<&mut Document>,
) -> Result<Diagnosis, Failure> {
    let refused = |e| Failure::Misuse(format!("{}: takes no files ({e})", folder.display()));
    let scratch = tempfile::Builder::new().prefix(".ioscape-vxbench-").tempdir_in(folder);
    let scratch = scratch.map_err(refused)?;
    let system = ioscape_measure::vxbench::place(scratch.path())?.0.name;
    let mut diagnosis = Diagnosis::default();
    for (direct, iosize) in [false, true].into_iter().zip(IOSIZES) {
        let trial =
            Trial { direct, iosize, folder: scratch.path(), system: &system, effort, watch };
        match trial.diagnose(document.as_deref_mut()) {
            Ok(one) => diagnosis.found.push(one),
            // A file system without direct I/O has half a diagnosis.
            Err(Failure::Misuse(why)) if direct => diagnosis.no_direct = Some(why),
            Err(failure) => return Err(failure),
        }
    }
    Ok(diagnosis)
}

/// One way of writing.
struct Trial<'a> {
    direct: bool,
    iosize: u64,
    folder: &'a Path,
    system: &'a str,
    effort: Effort,
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
    fn diagnose(&self, mut document: Option<&mut Document>) -> Result<WriterScaling, Failure> {
        let (writers, share) = (writers(self.direct), self.effort.share);
        let mut lay_out = |name: &str, bytes| self.lay_out(name, bytes, document.as_deref_mut());
        let common = lay_out("common", u64::from(writers) * share)?;
        let own: Vec<PathBuf> = (0..writers)
            .map(|writer| lay_out(&format!("own-{writer}"), share))
            .collect::<Result<_, _>>()?;
        let count = self.enough(&common)?;
        let rounds = self.rounds(&common, &own, count)?;
        for path in own.iter().chain([&common]) {
            std::fs::remove_file(path)
                .map_err(|e| Failure::of_write(&path.display().to_string(), &e))?;
        }
        Ok(self.judge(writers, &rounds))
    }

    /// Measures the three in turns, beginning with another one each time.
    fn rounds(&self, common: &PathBuf, own: &[PathBuf], count: u64) -> Result<Rounds, Failure> {
        let begun = Instant::now();
        let mut rounds = Rounds::default();
        for round in 0..self.effort.rounds {
            if round >= 2 && begun.elapsed().as_secs_f64() > self.effort.most_s {
                break;
            }
            let mut arms = [0, 1, 2];
            arms.rotate_left(round % 3);
            for arm in arms {
                match arm {
                    0 => rounds.alone.push(self.rate(&[common], 1, count)?),
                    1 => rounds.one_file.push(self.rate(&[common], own.len() as u32, count)?),
                    _ => {
                        let all: Vec<&PathBuf> = own.iter().collect();
                        rounds.own_files.push(self.rate(&all, 1, count)?);
                    }
                }
            }
        }
        Ok(rounds)
    }

    /// Writes a file whose blocks all have their place.
    fn lay_out(
        &self,
        name: &str,
        bytes: u64,
        document: Option<&mut Document>,
    ) -> Result<PathBuf, Failure> {
        let path = self.folder.join(format!("{name}-{}", self.direct));
        let job = VxJob {
            workload: VxWorkload::Write,
            iosize: 1 << 20,
            iocount: Some(bytes >> 20),
            fsync: true,
            ..VxJob::default()
        };
        run(&job, std::slice::from_ref(&path), false, self.watch, document)?;
        Ok(path)
    }

    /// Writes of one writer that last long enough.
    fn enough(&self, path: &PathBuf) -> Result<u64, Failure> {
        let mut count = 16;
        while count < 1 << 20 {
            let rate = self.rate(&[path], 1, count)?;
            let elapsed_s = (count * self.iosize) as f64 / rate.max(1.0);
            if elapsed_s >= self.effort.least_s {
                break;
            }
            let needed = (self.effort.least_s / elapsed_s.max(1e-6) * 1.2).clamp(1.2, 16.0);
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

    fn judge(&self, writers: u32, rounds: &Rounds) -> WriterScaling {
        let [alone, one, own] =
            [&rounds.alone, &rounds.one_file, &rounds.own_files].map(|all| median(all));
        let ratio = paired_ratio(&rounds.one_file, &rounds.own_files)
            .unwrap_or(PairedRatio { mean: one / own.max(1.0), ci95: [0.0, f64::MAX] });
        let serialised = verdict(alone, own, ratio);
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
            if self.system.is_empty() { "this file system" } else { self.system },
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

/// Whether writers wait for one another, given what one reaches alone, what several reach on a file each, and the ratio of what
/// several reach on one file to the latter.
fn verdict(alone: f64, own: f64, ratio: PairedRatio) -> Option<bool> {
    // Half-way, by ratio, between no gain at all and the whole gain.
    let middle = (alone / own.max(1.0)).sqrt();
    match own / alone.max(1.0) {
        gain if gain < GAIN_LEAST => None,
        _ if ratio.ci95[1] < middle => Some(true),
        _ if ratio.ci95[0] > middle => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_needs_a_gain_and_a_narrow_interval() {
        let ratio =
            |low: f64, high: f64| PairedRatio { mean: (low * high).sqrt(), ci95: [low, high] };
        assert_eq!(verdict(100.0, 400.0, ratio(0.22, 0.30)), Some(true));
        assert_eq!(verdict(100.0, 400.0, ratio(0.80, 1.10)), Some(false));
        assert_eq!(verdict(100.0, 400.0, ratio(0.30, 0.90)), None);
        assert_eq!(verdict(100.0, 110.0, ratio(0.22, 0.30)), None);
    }
}
