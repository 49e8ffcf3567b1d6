//! A traced application to predict: its five parameters, and its requests in detail.

use super::{ChangedSystem, NotPredicted};
use ioscape_schema::{
    Access, AccessPattern, Characterization, Engine, Prediction, TraceTraits, Warning, Workload,
};

/// How to observe the application where its trace says too little.
const HELP: &str = "run the application under `ioscape characterize -o FILE -- COMMAND` and give --characterization FILE";

/// An application to predict.
#[derive(Clone, Debug, PartialEq)]
pub struct TracedApplication {
    name: String,
    /// Its five parameters.
    workload: Workload,
    /// The application's own access, if it has one; otherwise it takes the evaluation's.
    access: Option<Access>,
    pattern: AccessPattern,
}

impl TracedApplication {
    /// The application as its calls in the result `file` show it.
    ///
    /// # Errors
    /// The calls say nothing of its requests; the error tells the user how to run it again.
    pub fn of_calls(file: &str, found: Characterization) -> Result<Self, String> {
        let (name, overall) = (found.program(), found.overall);
        let Some(pattern) = found.pattern.filter(|pattern| pattern.requests() > 0) else {
            let why = match overall.requests {
                0 => "says of no request of files",
                _ => "was written before the locality of requests was kept",
            };
            let again = found.command.join(" ");
            return Err(format!("{file} {why}: run `ioscape characterize -o {file} -- {again}`"));
        };
        let access = (overall.access != Access::Buffered).then_some(overall.access);
        Ok(Self { name, workload: overall.workload(), access, pattern })
    }

    /// The application as its block trace `name` shows it: all requests as a workload, and their
    /// classes.
    ///
    /// # Errors
    /// The trace has no sizes or no completions; the error tells the user what does.
    pub fn of_rows(
        name: String,
        overall: TraceTraits,
        classes: AccessPattern,
    ) -> Result<Self, String> {
        if overall.requests == 0 {
            return Err(format!(
                "{name} tells no sizes of requests, so nothing can be predicted from it: {HELP}"
            ));
        }
        if overall.response_time_ns.is_none() {
            return Err(format!(
                "{name} tells no completions, so how long its application computed between requests is not known: {HELP}"
            ));
        }
        let workload = overall.workload;
        let pattern = AccessPattern {
            process_num: workload.process_num,
            think_time_ns: workload.think_time_ns as f64,
            ..classes
        };
        Ok(Self { name, workload, access: None, pattern })
    }

    /// The application's own access, if it has one; otherwise it takes the evaluation's.
    pub fn access(&self) -> Option<Access> {
        self.access
    }

    /// Predicts it on a system.
    ///
    /// # Errors
    /// An access that was never measured there, or not with one request at a time; an exchange that
    /// no evaluation covers; no model of levels.
    pub fn on<'a>(&self, system: &'a ChangedSystem<'_>) -> Result<Prediction, NotPredicted<'a>> {
        let workload = workload_of_application(system.base(), &self.workload, self.access);
        // The pattern contains its pauses.
        let workload = Workload { think_time_ns: system.base().think_time_ns, ..workload };
        system.predict_application(&self.name, &workload, &self.pattern)
    }

    /// The doubt about its prediction on a system, beyond the doubts about [every prediction
    /// there](ChangedSystem::doubts).
    pub fn doubt(&self, system: &ChangedSystem<'_>) -> Option<Warning> {
        system.lack_of_memory(&self.name, &self.pattern)
    }
}

/// The workload with the five parameters and the pauses of `application` that an evaluation with
/// workloads like `base` is asked for; `access` is the application's own, if it has one.
pub fn workload_of_application(
    base: &Workload,
    application: &Workload,
    access: Option<Access>,
) -> Workload {
    let mut workload = base.clone().with_parameters_of(application);
    workload.think_time_ns = workload.think_time_ns.max(application.think_time_ns);
    workload.access = access.unwrap_or(workload.access);
    // Requests in flight together count as that many processes, each with one request at a time.
    if workload.queue_depth > 1 {
        workload.queue_depth = 1;
        if workload.engine == Engine::IoUring {
            workload.engine = Engine::Psync;
        }
    }
    workload
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{Op, RequestClass, Traits};

    #[test]
    fn what_says_nothing_of_requests_is_refused() {
        let silent = Characterization { command: vec!["/bin/a".into()], ..Default::default() };
        let why = TracedApplication::of_calls("f.json", silent.clone()).unwrap_err();
        assert_eq!(
            why,
            "f.json says of no request of files: run `ioscape characterize -o f.json -- /bin/a`"
        );
        let overall = Traits { requests: 1, access: Access::Direct, ..Traits::default() };
        let older = Characterization { overall, ..silent };
        let why = TracedApplication::of_calls("f.json", older.clone()).unwrap_err();
        assert!(why.contains("before the locality"), "{why}");
        let classes = vec![RequestClass { op: Op::Read, requests: 1, ..Default::default() }];
        let pattern = Some(AccessPattern { classes, ..Default::default() });
        let found =
            TracedApplication::of_calls("f", Characterization { pattern, ..older }).unwrap();
        assert_eq!((&*found.name, found.access()), ("a", Some(Access::Direct)));
    }

    #[test]
    fn a_trace_without_completions_is_refused() {
        let of =
            |overall| TracedApplication::of_rows("t".into(), overall, AccessPattern::default());
        let one = TraceTraits { requests: 1, ..TraceTraits::default() };
        assert!(of(TraceTraits::default()).unwrap_err().contains("no sizes"));
        assert!(of(one.clone()).unwrap_err().contains("no completions"));
        assert!(of(TraceTraits { response_time_ns: Some(1.0), ..one }).is_ok());
    }
}
