//! The workloads to predict as they are asked of an evaluated system: given by parameters, by the name of a set, or as jobs.

use super::{AskedArgs, WaysArgs, WorkloadArgs};
use ioscape_scaling::System;
use ioscape_scaling::system::workload_of_application;
use ioscape_scaling::workload_sets::{self, NamedWorkload};
use ioscape_schema::{Access, Warning, Workload};
use ioscape_workload::jobs::Job;

/// A workload to predict.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// Its name; absent for one given by its parameters.
    name: Option<String>,
    workload: Workload,
    /// Where it has the rest.
    rest: Rest,
    /// What is doubtful about it.
    doubts: Vec<Warning>,
}

/// Where a workload has engine, access and the like.
#[derive(Clone, Debug, PartialEq)]
enum Rest {
    /// They are its own.
    Own,
    /// They are those of the evaluation that is asked, but for what is asked for in another way.
    Evaluated(WaysArgs),
    /// They are those of the evaluation, but for an application's access where that is its own: its think time and sizes are in no evaluation.
    Application(Option<Access>),
}

impl Asked {
    /// The five workloads of the self-scaling paper's figure 16.
    pub fn paper() -> Vec<Self> {
        workload_sets::paper().into_iter().map(Self::from).collect()
    }

    /// The workload of a job of a file, and what is doubtful about it.
    pub fn of_job(job: Job, doubts: Vec<Warning>) -> Self {
        let workload = Workload { by_operation: None, ..job.workload };
        Self { name: Some(job.name), workload, rest: Rest::Own, doubts }
    }

    /// The workload that an application was found to be, and what is doubtful about that.
    pub fn of_application(job: Job, doubts: Vec<Warning>) -> Self {
        let access = job.workload.access;
        let rest = Rest::Application((access != Access::Buffered).then_some(access));
        Self { rest, ..Self::of_job(job, doubts) }
    }

    /// Its name; absent for one given by its parameters.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// What is doubtful about it, on whatever system.
    pub fn doubts(&self) -> &[Warning] {
        &self.doubts
    }

    /// The part of `system` that was evaluated with the access that is asked for, and the workload as it is asked of that part.
    pub fn of<'a>(&self, system: &'a System) -> (&'a System, Workload) {
        let part = system.with_access(self.on(system.model.base()).access);
        (part, self.on(part.model.base()))
    }

    /// The same of several systems that are compared: by the first access that all of them were evaluated with, where none is asked for.
    pub fn of_all<'a>(&self, systems: &'a [System]) -> Vec<(&'a System, Workload)> {
        let with = |access| -> Option<Vec<(&'a System, Workload)>> {
            let of = |system: &'a System| {
                let part = system.with_access(access);
                let workload = self.on(part.model.base());
                let is_same = part.model.base().access == access && workload.access == access;
                is_same.then_some((part, workload))
            };
            systems.iter().map(of).collect()
        };
        let accesses = systems.first().map_or(Vec::new(), System::accesses);
        let shared = accesses.into_iter().find_map(with);
        shared.unwrap_or_else(|| systems.iter().map(|system| self.of(system)).collect())
    }

    /// The workload as it is asked of an evaluation whose workloads are like `base`.
    fn on(&self, base: &Workload) -> Workload {
        match &self.rest {
            Rest::Own => self.workload.clone(),
            Rest::Evaluated(ways) => ways.on(base.clone().with_parameters_of(&self.workload)),
            Rest::Application(access) => workload_of_application(base, &self.workload, *access),
        }
    }
}

impl From<NamedWorkload> for Asked {
    fn from(one: NamedWorkload) -> Self {
        let (name, rest) = (Some(one.name.to_owned()), Rest::Evaluated(WaysArgs::default()));
        Self { name, workload: one.workload, rest, doubts: Vec::new() }
    }
}

impl AskedArgs {
    /// The workloads of the set that is named, or the one that options describe; empty where neither is, `None` where a file is named.
    ///
    /// # Errors
    /// Parameters that cannot go together, or a name without an ending that is no set and, by `is_file`, no file.
    pub fn asked(&self, is_file: impl Fn() -> bool) -> Result<Option<Vec<Asked>>, String> {
        let Some(place) = &self.workloads else { return self.described().map(Some) };
        match place.to_str().and_then(workload_sets::by_name) {
            Some(set) => Ok(Some(set.into_iter().map(Asked::from).collect())),
            None if place.extension().is_some() || is_file() => Ok(None),
            None => Err(format!(
                "--workloads {}: no set or job file has that name: give paper, today or a file",
                place.display()
            )),
        }
    }

    /// The workload that options describe, if they do.
    fn described(&self) -> Result<Vec<Asked>, String> {
        if self.one == WorkloadArgs::default() {
            return Ok(Vec::new());
        }
        let workload = self.one.five.on(Workload::default());
        workload.validate().map_err(|e| e.to_string())?;
        let rest = Rest::Evaluated(self.one.ways.clone());
        Ok(vec![Asked { name: None, workload, rest, doubts: Vec::new() }])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{Engine, SizeDistribution, Workers};

    fn asked(args: &AskedArgs) -> Result<Vec<Asked>, String> {
        args.asked(|| false).map(|found| found.expect("no file"))
    }

    #[test]
    fn parameters_and_sets_take_their_kind_from_the_evaluation() {
        let mut args = AskedArgs::default();
        args.one.five.read_frac = Some(0.9);
        let direct = Workload { access: Access::Direct, seq_frac: 0.1, ..Workload::default() };
        let one = asked(&args).unwrap()[0].on(&direct);
        assert_eq!((one.access, one.read_frac, one.seq_frac), (Access::Direct, 0.9, 0.5));
        let database = Asked::paper()[4].on(&direct);
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

    /// No evaluation is made with a think time, and few with another distribution of sizes.
    #[test]
    fn of_an_application_the_access_is_kept_beside_its_five_parameters() {
        let application = Workload {
            read_frac: 0.25,
            access: Access::Dsync,
            think_time_ns: 150_000,
            size_distribution: SizeDistribution::Fixed,
            align_bytes: Some(512),
            ..Workload::default()
        };
        let one = Asked::of_application(Job::named("db", application), Vec::new());
        let dsync = Workload { access: Access::Dsync, ..Workload::default() };
        assert_eq!(one.on(&dsync), Workload { read_frac: 0.25, ..dsync.clone() });
        assert_eq!(one.on(&Workload::default()).access, Access::Dsync);
        let deep = Workload { engine: Engine::IoUring, queue_depth: 8, ..dsync.clone() };
        assert_eq!(one.on(&deep), one.on(&dsync), "one request at a time");
        let buffered = Asked::of_application(Job::named("db", Workload::default()), Vec::new());
        assert_eq!(buffered.on(&dsync), dsync);
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let mut args = AskedArgs::default();
        args.one.five.unique_bytes = Some(4096);
        assert!(asked(&args).unwrap_err().contains("size_mean"));
        let args = AskedArgs { workloads: Some("tomorrow".into()), ..AskedArgs::default() };
        assert!(asked(&args).unwrap_err().contains("today"));
        assert_eq!(args.asked(|| true), Ok(None));
    }
}
