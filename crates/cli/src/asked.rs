//! The workloads that a prediction is asked for: by parameters, by the name of a set, or from a file.

use crate::args::AskedArgs;
use crate::failure::Failure;
use crate::output;
use ioscape_scaling::workload_sets;
use ioscape_schema::{Access, Parameter, Workload};
use ioscape_workload::jobs::{Job, parse_jobs};
use std::path::Path;

/// A workload to predict.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// Its name; absent for one given by its parameters.
    pub name: Option<String>,
    workload: Workload,
    /// Whether engine, access and the like are its own; otherwise they are those of the evaluation that is asked.
    whole: bool,
}

impl Asked {
    /// The workload as it is asked of an evaluation whose workloads are like `base`.
    pub fn on(&self, base: &Workload) -> Workload {
        if self.whole {
            return self.workload.clone();
        }
        let five = |workload: Workload, p: Parameter| workload.with(p, self.workload.get(p));
        Parameter::ALL.into_iter().fold(base.clone(), five)
    }
}

/// Reads which workloads are asked for; empty when the arguments name none.
///
/// # Errors
/// A set or file that does not exist, a file that is wrong, and parameters that cannot go together.
pub fn asked(args: &AskedArgs) -> Result<Vec<Asked>, Failure> {
    match &args.workloads {
        Some(place) => match place.to_str().and_then(workload_sets::by_name) {
            Some(set) => Ok(of_set(set)),
            None => of_file(place),
        },
        None => of_flags(args),
    }
}

/// The five workloads of the self-scaling paper's figure 16.
pub fn paper() -> Vec<Asked> {
    of_set(workload_sets::paper())
}

fn of_set(set: Vec<workload_sets::NamedWorkload>) -> Vec<Asked> {
    set.into_iter()
        .map(|one| Asked { name: Some(one.name.to_owned()), workload: one.workload, whole: false })
        .collect()
}

/// The jobs of a file, each with a valid workload: of a job file, or the one of a result that characterizes an application.
///
/// # Errors
/// The file cannot be read, or is no such file.
pub fn jobs_of(path: &Path) -> Result<Vec<Job>, Failure> {
    let name = path.display();
    if path.extension().is_some_and(|ending| ending == "json") {
        return job_of_result(path).map(|job| vec![job]);
    }
    let text = std::fs::read_to_string(path)
        .map_err(|e| Failure::Misuse(format!("cannot read job file {name}: {e}")))?;
    parse_jobs(&text).map_err(|e| Failure::Misuse(format!("{name}: {e}")))
}

/// The workload that an application was found to be, under the name of its program.
fn job_of_result(path: &Path) -> Result<Job, Failure> {
    let document = output::read_result(path)?;
    let found = document.characterization.ok_or_else(|| {
        Failure::Misuse(format!(
            "{} characterizes no application, so it holds no workload: give a result of `ioscape characterize` or a job file",
            path.display()
        ))
    })?;
    let program = found.command.first().map(Path::new).and_then(Path::file_name);
    let name = program.map_or("application".into(), |name| name.to_string_lossy().into_owned());
    Ok(Job { name, workload: found.overall.workload(), seconds: None, seed: None })
}

fn of_file(path: &Path) -> Result<Vec<Asked>, Failure> {
    if path.extension().is_none() && !path.exists() {
        let name = path.display();
        return Err(Failure::Misuse(format!(
            "--workloads {name}: there is neither a set nor a job file of that name: give paper, today or a file"
        )));
    }
    let jobs = jobs_of(path)?.into_iter();
    let is_job_file = path.extension().is_none_or(|ending| ending != "json");
    Ok(jobs
        .map(|job| {
            // An application's sizes and pauses are its own, but a model speaks of the five parameters alone.
            let whole = is_job_file || job.workload.access != Access::Buffered;
            Asked { name: Some(job.name), workload: job.workload, whole }
        })
        .collect())
}

fn of_flags(args: &AskedArgs) -> Result<Vec<Asked>, Failure> {
    let AskedArgs { workloads: _, unique_bytes, size_mean, read_frac, seq_frac, processes } = *args;
    let sizes = unique_bytes.is_some() || size_mean.is_some();
    if !sizes && read_frac.is_none() && seq_frac.is_none() && processes.is_none() {
        return Ok(Vec::new());
    }
    let usual = Workload::default();
    let workload = Workload {
        unique_bytes: unique_bytes.unwrap_or(usual.unique_bytes),
        size_mean: size_mean.unwrap_or(usual.size_mean),
        read_frac: read_frac.unwrap_or(usual.read_frac),
        seq_frac: seq_frac.unwrap_or(usual.seq_frac),
        process_num: processes.unwrap_or(usual.process_num),
        ..usual
    };
    workload.validate().map_err(|e| Failure::Misuse(e.to_string()))?;
    Ok(vec![Asked { name: None, workload, whole: false }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_and_sets_take_their_kind_from_the_evaluation() {
        let args = AskedArgs { read_frac: Some(0.9), ..AskedArgs::default() };
        let direct = Workload { access: Access::Direct, seq_frac: 0.1, ..Workload::default() };
        let one = asked(&args).unwrap()[0].on(&direct);
        assert_eq!((one.access, one.read_frac, one.seq_frac), (Access::Direct, 0.9, 0.5));
        let database = paper()[4].on(&direct);
        assert_eq!((database.access, database.process_num), (Access::Direct, 2));
        assert!(asked(&AskedArgs::default()).unwrap().is_empty());
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let args = AskedArgs { unique_bytes: Some(4096), ..AskedArgs::default() };
        assert!(asked(&args).unwrap_err().to_string().contains("size_mean"));
        let args = AskedArgs { workloads: Some("tomorrow".into()), ..AskedArgs::default() };
        assert!(asked(&args).unwrap_err().to_string().contains("today"));
    }
}
