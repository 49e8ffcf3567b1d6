//! The workloads to predict: given by parameters, by the name of a set, or in a file.

use crate::failure::Failure;
use crate::output;
use ioscape_arguments::{AskedArgs, VDBENCH, WaysArgs, WorkloadArgs};
use ioscape_scaling::{System, workload_sets};
use ioscape_schema::workload::SIZE_MEAN_MAX;
use ioscape_schema::{Access, ByOperation, Characterization, Outcome, Parameter, Workload};
use ioscape_workload::fio::parse_fio_jobs;
use ioscape_workload::jobs::{Job, parse_jobs};
use ioscape_workload::vdbench::parse_vdbench;
use std::path::Path;

/// A workload to predict.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// Its name; absent for one given by its parameters.
    name: Option<String>,
    workload: Workload,
    /// Whether engine, access and the like are its own; otherwise they are those of the evaluation that is asked, but for `ways`.
    whole: bool,
    /// What is asked for in another way than the evaluation's.
    ways: WaysArgs,
}

impl Asked {
    /// Its name; absent for one given by its parameters.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The part of `system` that was evaluated with the access that is asked for, and the workload as it is asked of that part.
    pub fn of<'a>(&self, system: &'a System) -> (&'a System, Workload) {
        let part = system.with_access(self.on(system.model.base()).access);
        (part, self.on(part.model.base()))
    }

    /// The workload as it is asked of an evaluation whose workloads are like `base`.
    fn on(&self, base: &Workload) -> Workload {
        if self.whole {
            return self.workload.clone();
        }
        let five = |workload: Workload, p: Parameter| workload.with(p, self.workload.get(p));
        self.ways.on(Parameter::ALL.into_iter().fold(base.clone(), five))
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
        None => of_flags(&args.one),
    }
}

/// The five workloads of the self-scaling paper's figure 16.
pub fn paper() -> Vec<Asked> {
    of_set(workload_sets::paper())
}

fn of_set(set: Vec<workload_sets::NamedWorkload>) -> Vec<Asked> {
    set.into_iter()
        .map(|one| Asked {
            name: Some(one.name.to_owned()),
            workload: one.workload,
            whole: false,
            ways: WaysArgs::default(),
        })
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
    let text = ioscape_machine::input::read_text(path)
        .map_err(|e| Failure::of_input(format!("cannot read job file {name}: {e}"), &e))?;
    let wrong = |error: &dyn std::fmt::Display| Failure::Misuse(format!("{name}: {error}"));
    let (jobs, left_out) = match path.extension() {
        Some(ending) if ending == "fio" => {
            let found = parse_fio_jobs(&text).map_err(|all| Failure::refused(&name, &all))?;
            (found.jobs, found.left_out)
        }
        Some(ending) if VDBENCH.iter().any(|one| ending == *one) => {
            let found = parse_vdbench(&text).map_err(|all| Failure::refused(&name, &all))?;
            (found.jobs, found.left_out)
        }
        _ => return parse_jobs(&text).map_err(|e| wrong(&e)),
    };
    left_out.iter().for_each(|what| output::tell(&format!("Note: {name}: left out {what}")));
    Ok(jobs)
}

/// The workload that an application was found to be, under the name of its program.
fn job_of_result(path: &Path) -> Result<Job, Failure> {
    let document = output::read_result(path)?;
    let Some(Outcome::Characterization(found)) = document.outcome else {
        return Err(Failure::Misuse(format!(
            "{} characterizes no application, so it holds no workload: give a result of `ioscape characterize` or a job file",
            path.display()
        )));
    };
    let program = found.command.first().map(Path::new).and_then(Path::file_name);
    let name = program.map_or("application".into(), |name| name.to_string_lossy().into_owned());
    let mut workload = found.overall.workload();
    workload.by_operation = by_operation(&found, workload.unique_bytes);
    Ok(Job::named(&name, workload))
}

/// How the application's reads and writes differ, as far as a set of so many bytes can have it; older results do not tell.
fn by_operation(found: &Characterization, unique_bytes: u64) -> Option<ByOperation> {
    let own = found.pattern.as_ref()?.by_operation(found.overall.change_frac?)?;
    own.validate(unique_bytes.min(SIZE_MEAN_MAX)).is_ok().then_some(own)
}

fn of_file(path: &Path) -> Result<Vec<Asked>, Failure> {
    if path.extension().is_none() && !path.exists() {
        let name = path.display();
        return Err(Failure::Misuse(format!(
            "--workloads {name}: no set or job file has that name: give paper, today or a file"
        )));
    }
    let jobs = jobs_of(path)?.into_iter();
    let is_job_file = path.extension().is_none_or(|ending| ending != "json");
    Ok(jobs
        .map(|job| {
            // An application's sizes and pauses are its own, but a model speaks of the five parameters alone.
            let whole = is_job_file || job.workload.access != Access::Buffered;
            let workload = Workload { by_operation: None, ..job.workload };
            let (name, ways) = (Some(job.name), WaysArgs::default());
            Asked { name, workload, whole, ways }
        })
        .collect())
}

fn of_flags(args: &WorkloadArgs) -> Result<Vec<Asked>, Failure> {
    if *args == WorkloadArgs::default() {
        return Ok(Vec::new());
    }
    let workload = args.five.on(Workload::default());
    workload.validate().map_err(|e| Failure::Misuse(e.to_string()))?;
    Ok(vec![Asked { name: None, workload, whole: false, ways: args.ways.clone() }])
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::Workers;

    #[test]
    fn parameters_and_sets_take_their_kind_from_the_evaluation() {
        let mut args = AskedArgs::default();
        args.one.five.read_frac = Some(0.9);
        let direct = Workload { access: Access::Direct, seq_frac: 0.1, ..Workload::default() };
        let one = asked(&args).unwrap()[0].on(&direct);
        assert_eq!((one.access, one.read_frac, one.seq_frac), (Access::Direct, 0.9, 0.5));
        let database = paper()[4].on(&direct);
        assert_eq!((database.access, database.process_num), (Access::Direct, 2));
        assert!(asked(&AskedArgs::default()).unwrap().is_empty());
    }

    #[test]
    fn ways_that_are_given_are_kept() {
        let mut args = AskedArgs::default();
        args.one.ways.dsync = true;
        let threads = Workload { workers: Workers::Threads, ..Workload::default() };
        let one = asked(&args).unwrap()[0].on(&threads);
        assert_eq!((one.access, one.workers), (Access::Dsync, Workers::Threads));
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let mut args = AskedArgs::default();
        args.one.five.unique_bytes = Some(4096);
        assert!(asked(&args).unwrap_err().to_string().contains("size_mean"));
        let args = AskedArgs { workloads: Some("tomorrow".into()), ..AskedArgs::default() };
        assert!(asked(&args).unwrap_err().to_string().contains("today"));
    }
}
