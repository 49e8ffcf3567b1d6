//! The workloads to predict: given by parameters, by the name of a set, or as jobs, and completed
//! from the evaluation that is asked.

use super::{AskedArgs, WaysArgs, WorkloadArgs};
use ioscape_scaling::System;
use ioscape_scaling::system::workload_of_application;
use ioscape_scaling::workload_sets::{self, NamedWorkload};
use ioscape_schema::{Advice, Engine, Prediction, Warning, WarningKind, Workload};
use ioscape_workload::jobs::Job;

/// A workload to predict.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// Its name; absent if it is given by its parameters.
    name: Option<String>,
    workload: Workload,
    /// Where its remaining properties come from.
    rest: Rest,
    /// Whether it is an application of which only a part was seen.
    is_partial: bool,
    /// The warnings about it.
    doubts: Vec<Warning>,
}

/// Where a workload's engine, access and similar properties come from.
#[derive(Clone, Debug, PartialEq)]
enum Rest {
    /// From the workload itself, except that a simulated system has an engine of its own.
    Own,
    /// From the evaluation, except for the options given.
    Evaluated(WaysArgs),
    /// From the evaluation, except for an application's pauses and access. The application's size
    /// distribution is ignored, since evaluations rarely have it.
    Application,
}

impl Asked {
    /// The five workloads of the self-scaling paper's figure 16.
    pub fn paper() -> Vec<Self> {
        workload_sets::paper().into_iter().map(Self::from).collect()
    }

    /// Returns the workload of a job, with the warnings about it.
    pub fn of_job(job: Job, mut doubts: Vec<Warning>) -> Self {
        let mut workload = Workload { by_operation: None, ..job.workload };
        doubts.extend(without_advice(&mut workload).map(|doubt| doubt.at(job.name.clone())));
        let (name, rest) = (Some(job.name), Rest::Own);
        Self { name, workload, rest, is_partial: job.is_partial, doubts }
    }

    /// Returns the workload that characterizes an application, with the warnings about it.
    pub fn of_application(job: Job, doubts: Vec<Warning>) -> Self {
        Self { rest: Rest::Application, ..Self::of_job(job, doubts) }
    }

    /// Its name; absent if it is given by its parameters.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The warnings about it that hold for any system.
    pub fn doubts(&self) -> &[Warning] {
        &self.doubts
    }

    /// Returns a prediction of it, marked as extrapolated if only a part of it was seen.
    pub fn marked(&self, found: Prediction) -> Prediction {
        Prediction { extrapolated: found.extrapolated || self.is_partial, ..found }
    }

    /// Returns the part of `system` that was evaluated with the requested access, and the workload
    /// completed from that part.
    pub fn of<'a>(&self, system: &'a System) -> (&'a System, Workload) {
        let part = system.with_access(self.on(system.model.base()).access);
        (part, self.on(part.model.base()))
    }

    /// Returns the same for several systems that are compared. If no access is requested, the first
    /// one with which all of them were evaluated is used.
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

    /// Returns the workload completed from an evaluation whose workloads are like `base`.
    fn on(&self, base: &Workload) -> Workload {
        match &self.rest {
            Rest::Own => {
                let engine = match (self.workload.engine, base.engine) {
                    (Engine::Psync, Engine::Sim) => Engine::Sim,
                    (own, _) => own,
                };
                Workload { engine, ..self.workload.clone() }
            }
            Rest::Evaluated(ways) => {
                let asked = ways.on(base.clone().with_parameters_of(&self.workload));
                // The evaluation chose its alignment for its own access.
                let align_bytes =
                    if asked.access == base.access { asked.align_bytes } else { ways.align };
                Workload { align_bytes, ..asked }
            }
            Rest::Application => {
                workload_of_application(base, &self.workload, Some(self.workload.access))
            }
        }
    }
}

/// Leaves out advice that only names the order of the requests, as fio gives it by default, with a
/// warning: evaluations give none. Other advice changes what the kernel reads ahead too much.
fn without_advice(workload: &mut Workload) -> Option<Warning> {
    let in_order = match workload.advice {
        Advice::Normal => return None,
        Advice::Random => 0.0,
        Advice::Sequential => 1.0,
    };
    if workload.seq_frac != in_order {
        return None;
    }
    let message = format!(
        "left out advice {}: evaluations give the kernel none, so reads that miss the file cache may be faster or slower than predicted; `ioscape run` with the job tells",
        workload.advice
    );
    workload.advice = Advice::Normal;
    (workload.read_frac > 0.0).then(|| Warning::new(WarningKind::Unsupported, message))
}

impl From<NamedWorkload> for Asked {
    fn from(one: NamedWorkload) -> Self {
        let (name, rest) = (Some(one.name.to_owned()), Rest::Evaluated(WaysArgs::default()));
        Self { name, workload: one.workload, rest, is_partial: false, doubts: Vec::new() }
    }
}

impl AskedArgs {
    /// Returns the workloads of the named set, or the one that options describe; empty if there is
    /// neither, `None` if a file is named.
    ///
    /// # Errors
    /// Parameters that do not go together, or a name without an extension that is neither a set
    /// nor, by `is_file`, a file.
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

    /// The workload that options describe, if any.
    fn described(&self) -> Result<Vec<Asked>, String> {
        if self.one == WorkloadArgs::default() {
            return Ok(Vec::new());
        }
        let workload = self.one.five.on(Workload::default());
        workload.validate().map_err(|e| e.to_string())?;
        let rest = Rest::Evaluated(self.one.ways.clone());
        Ok(vec![Asked { name: None, workload, rest, is_partial: false, doubts: Vec::new() }])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{Access, Characterization, SizeDistribution, Workers};

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

    /// Guards against a defect: the command for synchronous writes, named by an evaluation of direct
    /// access, wrote parts of pages, which the file cache has to read first.
    #[test]
    fn an_alignment_that_the_evaluation_chose_is_of_its_access_alone() {
        let base =
            Workload { access: Access::Direct, align_bytes: Some(512), ..Workload::default() };
        let aligned = |dsync, align| {
            let mut args = AskedArgs::default();
            (args.one.five.read_frac, args.one.ways.dsync) = (Some(0.5), dsync);
            args.one.ways.align = align;
            asked(&args).unwrap()[0].on(&base).align_bytes
        };
        assert_eq!([aligned(false, None), aligned(true, None)], [Some(512), None]);
        assert_eq!([false, true].map(|dsync| aligned(dsync, Some(1024))), [Some(1024); 2]);
    }

    /// Guards against refusing fio's jobs on every evaluation: it announces their order by default.
    #[test]
    fn advice_that_names_the_order_is_left_out_with_a_warning() {
        let of = |read_frac, seq_frac, advice| {
            let workload = Workload { read_frac, seq_frac, advice, ..Workload::default() };
            let one = Asked::of_job(Job::named("a", workload), Vec::new());
            (one.on(&Workload::default()).advice, one.doubts().len())
        };
        let asked = |seq_frac, advice| of(0.5, seq_frac, advice);
        assert_eq!(of(0.0, 0.0, Advice::Random), (Advice::Normal, 0), "writes take none");
        assert_eq!(asked(0.0, Advice::Random), (Advice::Normal, 1));
        assert_eq!(asked(1.0, Advice::Sequential), (Advice::Normal, 1));
        assert_eq!(asked(0.5, Advice::Random), (Advice::Random, 0));
        assert_eq!(asked(0.0, Advice::Normal), (Advice::Normal, 0));
    }

    #[test]
    fn a_job_runs_on_a_simulated_system_with_its_engine() {
        let engine = |own, base| {
            let [own, base] = [own, base].map(|engine| Workload { engine, ..Workload::default() });
            Asked::of_job(Job::named("a", own), Vec::new()).on(&base).engine
        };
        assert_eq!(engine(Engine::Psync, Engine::Sim), Engine::Sim);
        assert_eq!(engine(Engine::Psync, Engine::IoUring), Engine::Psync);
        assert_eq!(engine(Engine::Mmap, Engine::Sim), Engine::Mmap);
    }

    /// Few evaluations use another size distribution. Without its pauses, the application was once
    /// predicted to be 150 times as fast.
    #[test]
    fn of_an_application_access_and_pauses_are_kept_beside_its_five_parameters() {
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
        let expected = Workload { read_frac: 0.25, think_time_ns: 150_000, ..dsync.clone() };
        assert_eq!(one.on(&dsync), expected);
        assert_eq!(one.on(&Workload::default()).access, Access::Dsync);
        let deep = Workload { engine: Engine::IoUring, queue_depth: 8, ..dsync.clone() };
        assert_eq!(one.on(&deep), one.on(&dsync), "one request at a time");
        let buffered = Asked::of_application(Job::named("db", Workload::default()), Vec::new());
        assert_eq!(buffered.on(&dsync), Workload::default());
        let direct = Workload { access: Access::Direct, align_bytes: Some(512), ..dsync };
        assert_eq!(buffered.on(&direct), Workload::default(), "aligned for direct access");
        let mapped = Workload { engine: Engine::Mmap, ..Workload::default() };
        assert_eq!(buffered.on(&mapped), Workload::default(), "it makes calls");
    }

    #[test]
    fn an_application_seen_in_part_is_predicted_with_a_mark() {
        let marked = |unplaced_faults, mapped_unseen_bytes| {
            let none = Characterization::default();
            let found = Characterization { unplaced_faults, mapped_unseen_bytes, ..none };
            let one = Asked::of_application(Job::of_application(&found), Vec::new());
            let predicted = Prediction {
                name: None,
                system: String::new(),
                workload: Workload::default(),
                throughput_bytes_per_s: 1.0,
                interval90: [1.0; 2],
                iops: 1.0,
                response_time_ns: 1.0,
                region: String::new(),
                extrapolated: false,
                application: None,
            };
            one.marked(predicted).extrapolated
        };
        assert_eq!([marked(0, 0), marked(1, 0), marked(0, 1)], [false, true, true]);
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
