//! A traced application to predict: its five parameters, and its requests in detail.

use super::{ChangedSystem, NotPredicted};
use ioscape_schema::units::Count;
use ioscape_schema::{
    Access, AccessPattern, Characterization, Engine, Prediction, TraceTraits, Warning, WarningKind,
    Workload,
};

/// How to observe the application where its trace says too little.
const HELP: &str = "run the application under `ioscape characterize -o FILE -- COMMAND` and give --characterization FILE";

/// How many times as slow or as fast waits for `fsync` may make an application before its prediction
/// counts as extrapolated.
const SYNC_MOST: f64 = 1.1;

/// An application to predict.
#[derive(Clone, Debug, PartialEq)]
pub struct TracedApplication {
    name: String,
    /// Its five parameters.
    workload: Workload,
    /// The application's own access; a trace has none, and takes the evaluation's.
    access: Option<Access>,
    /// Whether its requests were recorded at a device, below any file cache.
    is_below_cache: bool,
    /// Whether a part of its requests was not seen, or not told apart by file.
    is_partial: bool,
    /// How often it called `fsync` and the like.
    syncs: u64,
    pattern: AccessPattern,
}

impl TracedApplication {
    /// The application as its calls in the result `file` show it.
    ///
    /// # Errors
    /// The calls say nothing of its requests; the error tells the user how to run it again.
    pub fn of_calls(file: &str, found: Characterization) -> Result<Self, String> {
        let (name, is_partial) = (found.program(), found.is_partial());
        let overall = found.overall;
        let Some(pattern) = found.pattern.filter(|pattern| pattern.requests() > 0) else {
            let why = match overall.requests {
                0 => "says of no request of files",
                _ => "was written before the locality of requests was kept",
            };
            let again = found.command.join(" ");
            return Err(format!("{file} {why}: run `ioscape characterize -o {file} -- {again}`"));
        };
        let (workload, access, syncs) = (overall.workload(), Some(overall.access), overall.syncs);
        Ok(Self { name, workload, access, is_below_cache: false, is_partial, syncs, pattern })
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
        let (access, is_below_cache, is_partial, syncs) = (None, true, false, 0);
        Ok(Self { name, workload, access, is_below_cache, is_partial, syncs, pattern })
    }

    /// The doubt about a block trace of requests that were in flight together: whether one waits for
    /// another is not recorded.
    pub fn doubt_of_order(name: &str, overall: &TraceTraits) -> Option<Warning> {
        let processes = overall.workload.process_num;
        (processes > 1).then(|| {
            let message = format!(
                "the trace does not tell which requests wait for others: the prediction is for {processes} processes that each wait for their own. \
                 If none waits, storage that keeps up completes {} requests a second, as recorded. To find out, {HELP}",
                Count(overall.requests as f64 / overall.elapsed_s)
            );
            Warning::new(WarningKind::Other, message).at(name)
        })
    }

    /// The access whose evaluation should predict it: its own, or what meets the device as its
    /// trace did; `None` if any will do.
    pub fn access(&self) -> Option<Access> {
        self.access.or(self.is_below_cache.then_some(Access::Direct))
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
        let found = system.predict_application(&self.name, &workload, &self.pattern)?;
        let ([low, high], [slower, faster]) = (found.interval90, self.by_syncs(system));
        let has_other_pages = system.doubt_of_pages(&self.name, &self.pattern).is_some();
        let is_doubted = self.is_partial || has_other_pages || slower.max(faster) > SYNC_MOST;
        let extrapolated = found.extrapolated || is_doubted;
        Ok(Prediction { interval90: [low / slower, high * faster], extrapolated, ..found })
    }

    /// The doubts about its prediction on a system, beyond those about [every prediction
    /// there](ChangedSystem::doubts).
    pub fn doubts(&self, system: &ChangedSystem<'_>) -> Vec<Warning> {
        let memory = system.lack_of_memory(&self.name, &self.pattern);
        let is_cached_again = self.is_below_cache && system.has_file_cache();
        let cached = is_cached_again.then(|| system.second_cache(&self.name));
        let sizes = system.doubt_of_sizes((&self.name, &self.workload), &self.pattern);
        let syncs = self.doubt_of_syncs(system);
        let pages = system.doubt_of_pages(&self.name, &self.pattern);
        memory.into_iter().chain(cached).chain(sizes).chain(syncs).chain(pages).collect()
    }

    /// How many times as slow, and as fast, its waits for `fsync` may make it on a system.
    fn by_syncs(&self, system: &ChangedSystem<'_>) -> [f64; 2] {
        system.by_syncs(&self.pattern, self.syncs)
    }

    fn doubt_of_syncs(&self, system: &ChangedSystem<'_>) -> Option<Warning> {
        let ways = self.by_syncs(system).into_iter().zip(["slow", "fast"]);
        let far = ways.filter(|(by, _)| *by > SYNC_MOST);
        let far: Vec<String> = far.map(|(by, way)| format!("{by:.1} times as {way}")).collect();
        let message = format!(
            "{} waited for fsync on the storage where it was observed, which is not recorded: if that was other storage, it may be up to {} here, as its interval says",
            self.name,
            far.join(" or ")
        );
        let doubt = || Warning::new(WarningKind::Extrapolated, message).at(system.name());
        (!far.is_empty()).then(doubt)
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
    workload.access = access.unwrap_or(base.access);
    if workload.access != base.access {
        // The evaluation chose it for its own access.
        workload.align_bytes = None;
    }
    // Requests in flight together count as that many processes, each with one request at a time;
    // neither mappings nor calls that leave nothing in the file cache cost what its calls do.
    workload.engine = match (base.engine, base.queue_depth) {
        (Engine::Psync | Engine::Sim, _) | (Engine::IoUring, 1) => base.engine,
        _ => Engine::Psync,
    };
    workload.queue_depth = 1;
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

    /// Guards against predicting random arrivals at 1.4 times their rate in silence.
    #[test]
    fn a_trace_does_not_tell_which_requests_wait() {
        let doubt = |process_num| {
            let workload = Workload { process_num, ..Workload::default() };
            let overall =
                TraceTraits { workload, requests: 650, elapsed_s: 1.0, ..TraceTraits::default() };
            TracedApplication::doubt_of_order("t", &overall).map(|doubt| doubt.message)
        };
        assert_eq!(doubt(1), None);
        assert!(doubt(2).is_some_and(|said| said.contains("completes 650 requests a second")));
    }

    #[test]
    fn a_trace_without_completions_is_refused() {
        let of =
            |overall| TracedApplication::of_rows("t".into(), overall, AccessPattern::default());
        let one = TraceTraits { requests: 1, ..TraceTraits::default() };
        assert!(of(TraceTraits::default()).unwrap_err().contains("no sizes"));
        assert!(of(one.clone()).unwrap_err().contains("no completions"));
        let whole = of(TraceTraits { response_time_ns: Some(1.0), ..one }).unwrap();
        assert_eq!(whole.access(), Some(Access::Direct), "a file cache has served the rest");
    }
}
