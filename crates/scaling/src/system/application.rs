//! A traced application to predict: its five parameters, and its requests in detail.

use super::{ChangedSystem, NotPredicted};
use ioscape_schema::units::Count;
use ioscape_schema::{
    Access, AccessPattern, Characterization, Engine, Prediction, TraceCharacterization,
    TraceTraits, Warning, WarningKind, Workload,
};

/// How to observe the application where its trace says too little.
const HELP: &str = "run the application under `ioscape characterize -o FILE -- COMMAND` and give --characterization FILE";

/// How many times as slow or as fast waits for `fsync` may make an application before its prediction
/// counts as extrapolated.
const SYNC_MOST: f64 = 1.1;
/// How long a hard disk may take to flush its cache, in seconds: a seek and a turn.
const DISK_SYNC_S: f64 = 0.01;

/// The share of a trace's requests from which on a disk counts.
const DISK_SHARE_LEAST: f64 = 0.1;

/// An application to predict.
#[derive(Clone, Debug, PartialEq)]
pub struct TracedApplication {
    name: String,
    /// Its five parameters.
    workload: Workload,
    /// The application's own access; a trace has none unless most requests wait for the medium, and
    /// takes the evaluation's.
    access: Option<Access>,
    /// Whether its requests were recorded at a device, below any file cache.
    is_below_cache: bool,
    /// Whether a part of its requests was not seen, or not told apart by file.
    is_partial: bool,
    /// How often it called `fsync` and the like, or its requests waited for the medium.
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
        let (workload, syncs) = (overall.workload, overall.syncs);
        let access = Some(workload.access).filter(|access| *access == Access::Dsync);
        // In the sum over all processes. With dsync flushes are no part of the think time.
        let sync_s = overall.flush_s * f64::from(workload.process_num);
        let flushed_ns =
            if access.is_none() { 1e9 * sync_s / overall.requests as f64 } else { 0.0 };
        let pattern = AccessPattern {
            process_num: workload.process_num,
            think_time_ns: (workload.think_time_ns as f64 - flushed_ns).max(0.0),
            sync_s,
            ..classes
        };
        let (is_below_cache, is_partial) = (true, false);
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

    /// The doubt about a trace of several disks, which is predicted as if it had one.
    pub fn doubt_of_disks(found: &TraceCharacterization) -> Option<Warning> {
        let is_used = |disk: &&TraceTraits| {
            disk.requests as f64 >= DISK_SHARE_LEAST * found.overall.requests as f64
        };
        let used: Vec<&str> =
            found.disks.iter().filter(is_used).map(|disk| disk.name.as_str()).collect();
        let message = format!(
            "the requests to {} disks ({}) are predicted as if all went to one; --disk chooses one",
            used.len(),
            used.join(", ")
        );
        (used.len() > 1).then(|| Warning::new(WarningKind::Other, message).at(&*found.name))
    }

    /// The access whose evaluation should predict it: its own, or what meets the device as its
    /// trace did; `None` if any will do.
    pub fn access(&self) -> Option<Access> {
        self.access.or(self.is_below_cache.then_some(Access::Direct))
    }

    /// Predicts it on a system, with the doubts beyond those about [every prediction
    /// there](ChangedSystem::doubts).
    ///
    /// # Errors
    /// An access that was never measured there, or not with one request at a time; an exchange that
    /// no evaluation covers; no model of levels.
    pub fn on<'a>(
        &self,
        system: &'a ChangedSystem<'_>,
    ) -> Result<(Prediction, Vec<Warning>), NotPredicted<'a>> {
        let workload = workload_of_application(system.base(), &self.workload, self.access);
        // The pattern contains its pauses.
        let workload = Workload { think_time_ns: system.base().think_time_ns, ..workload };
        let found = system.predict_application(&self.name, &workload, &self.pattern)?;
        let [low, high] = found.interval90;
        let wait_s = system.synchronous_s();
        let by_syncs = system.by_syncs(&self.pattern, self.syncs, wait_s.unwrap_or(0.0));
        let memory = system.lack_of_memory(&self.name, &self.pattern);
        let is_met = self.access != Some(Access::Dsync) || self.workload.read_frac > 0.0;
        let is_cached_again = self.is_below_cache && is_met && system.has_file_cache();
        let cached = is_cached_again.then(|| system.second_cache(&self.name));
        let sizes = system.doubt_of_sizes((&self.name, &self.workload), &self.pattern);
        let syncs = match wait_s {
            Some(_) => self.doubt_of_syncs(by_syncs, system.name()),
            None => self.doubt_of_unmeasured_syncs(system),
        };
        let pages = system.doubt_of_pages(&self.name, &self.pattern);
        let extrapolated =
            found.extrapolated || self.is_partial || pages.is_some() || syncs.is_some();
        let interval90 = [low / by_syncs[0], high * by_syncs[1]];
        let doubts = [memory, cached, sizes, syncs, pages].into_iter().flatten().collect();
        Ok((Prediction { interval90, extrapolated, ..found }, doubts))
    }

    /// The doubt about an application that its waits for `fsync` may make so many times as slow, and
    /// as fast, on a `system`.
    fn doubt_of_syncs(&self, by: [f64; 2], system: &str) -> Option<Warning> {
        let far = by.into_iter().zip(["slow", "fast"]).filter(|(by, _)| *by > SYNC_MOST);
        let far: Vec<String> = far.map(|(by, way)| format!("{by:.1} times as {way}")).collect();
        let message = format!(
            "{} waited for {} on the storage where it was observed, which is not recorded: if that was other storage, it may be up to {} here, as its interval says",
            self.name,
            self.waits(),
            far.join(" or ")
        );
        let doubt = || Warning::new(WarningKind::Extrapolated, message).at(system);
        (!far.is_empty()).then(doubt)
    }

    /// The doubt about an application that calls `fsync` so often that it matters how long each call
    /// waits on a `system` where that was not measured.
    fn doubt_of_unmeasured_syncs(&self, system: &ChangedSystem<'_>) -> Option<Warning> {
        let [slower, faster] = system.by_syncs(&self.pattern, self.syncs, DISK_SYNC_S);
        let message = format!(
            "how long a wait for {} takes here was not measured; the prediction assumes that it takes as long as where {} was observed: `{}` tells",
            self.waits(),
            self.name,
            system.measuring_syncs()
        );
        let doubt = || Warning::new(WarningKind::Extrapolated, message).at(system.name());
        (slower.max(faster) > SYNC_MOST).then(doubt)
    }

    /// What its syncs are called.
    fn waits(&self) -> &'static str {
        if self.is_below_cache { "flushes" } else { "fsync" }
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

    /// Once, flushes of a drive's cache counted as computing, and writes past it as any others.
    #[test]
    fn what_waits_for_the_medium_in_a_trace_is_no_pause() {
        let of = |access| {
            let workload = Workload { access, think_time_ns: 5_000_000, ..Workload::default() };
            let (requests, syncs, flush_s) = (100, 40, 0.2);
            let response_time_ns = Some(1.0);
            let overall = TraceTraits {
                workload,
                requests,
                syncs,
                flush_s,
                response_time_ns,
                ..Default::default()
            };
            TracedApplication::of_rows("t".into(), overall, AccessPattern::default()).unwrap()
        };
        let one = of(Access::Direct);
        assert_eq!((one.access(), one.syncs, one.pattern.sync_s), (Some(Access::Direct), 40, 0.2));
        assert_eq!(one.pattern.think_time_ns, 3_000_000.0);
        let one = of(Access::Dsync);
        assert_eq!((one.access(), one.pattern.think_time_ns), (Some(Access::Dsync), 5_000_000.0));
    }

    /// Once, a data disk and a log disk were predicted to be half as fast on one like each.
    #[test]
    fn several_disks_predicted_as_one_are_told() {
        let told = |requests: [u64; 3]| {
            let one = |(name, requests): (&str, u64)| TraceTraits {
                name: name.to_owned(),
                requests,
                ..TraceTraits::default()
            };
            let disks = ["vda", "vdb", "vdc"].into_iter().zip(requests).map(one).collect();
            let overall = one(("all", requests.iter().sum()));
            let found = TraceCharacterization { overall, disks, ..Default::default() };
            TracedApplication::doubt_of_disks(&found).map(|doubt| doubt.message)
        };
        assert_eq!(told([95, 5, 0]), None);
        assert!(told([50, 45, 5]).is_some_and(|said| said.contains("2 disks (vda, vdb)")));
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
