//! A traced application to predict: from a trace, or from what `ioscape characterize` found.

use crate::failure::Failure;
use crate::output;
use crate::traces::{self, Rows};
use ioscape_arguments::{PredictArgs, RowsArgs};
use ioscape_scaling::system::{ChangedSystem, NotPredicted};
use ioscape_schema::{Access, AccessPattern, Outcome, Parameter, Prediction, Workload};
use ioscape_trace::characterize::Characterizer;
use ioscape_trace::{Format, PatternBuilder};
use ioscape_workload::characterize::fit;
use std::path::{Path, PathBuf};

/// Pages of the file cache, in which distinct bytes are counted.
const PAGE_BYTES: u64 = 4096;

/// An application to predict.
pub struct TracedApplication {
    name: String,
    /// Its five parameters.
    workload: Workload,
    /// Whether it asks for an access of its own, rather than that of the evaluation.
    access: Option<Access>,
    pattern: AccessPattern,
}

impl TracedApplication {
    /// The application that the arguments name, if they do.
    ///
    /// # Errors
    /// A file that cannot be read, is of another kind, or does not tell what a prediction needs.
    pub fn asked(args: &PredictArgs) -> Result<Option<Self>, Failure> {
        match &args.characterization {
            Some(path) => of_result(path).map(Some),
            None if args.trace.is_empty() => Ok(None),
            None => of_trace(&args.trace, args.format).map(Some),
        }
    }

    /// The access it asks for, where that is its own rather than that of the evaluation.
    pub fn access(&self) -> Option<Access> {
        self.access
    }

    /// Predicts it on a system.
    ///
    /// # Errors
    /// An access that was never measured there, an exchange that no evaluation knows enough of, or no model of levels.
    pub fn on<'a>(&self, system: &'a ChangedSystem<'_>) -> Result<Prediction, NotPredicted<'a>> {
        let base = system.base();
        let five = |workload: Workload, p: Parameter| workload.with(p, self.workload.get(p));
        let mut workload = Parameter::ALL.into_iter().fold(base.clone(), five);
        workload.access = self.access.unwrap_or(workload.access);
        system.predict_application(&self.name, &workload, &self.pattern)
    }
}

/// An application from what `ioscape characterize` wrote.
fn of_result(path: &Path) -> Result<TracedApplication, Failure> {
    let file = path.display();
    let Some(Outcome::Characterization(found)) = output::read_result(path)?.outcome else {
        return Err(Failure::Misuse(format!(
            "{file} characterizes no application: give a result of `ioscape characterize`"
        )));
    };
    let again = found.command.join(" ");
    let Some(pattern) = found.pattern.filter(|pattern| pattern.requests() > 0) else {
        let why = match found.overall.requests {
            0 => "says of no request of files",
            _ => "was written before the locality of requests was kept",
        };
        return Err(Failure::Misuse(format!(
            "{file} {why}: run `ioscape characterize -o {file} -- {again}`"
        )));
    };
    let program = found.command.first().map(Path::new).and_then(Path::file_name);
    let access = found.overall.access;
    Ok(TracedApplication {
        name: program.map_or("application".into(), |name| name.to_string_lossy().into_owned()),
        workload: found.overall.workload(),
        access: (access != Access::Buffered).then_some(access),
        pattern,
    })
}

/// An application from the rows of a trace.
fn of_trace(paths: &[PathBuf], format: Option<Format>) -> Result<TracedApplication, Failure> {
    let mut rows = Rows::open(paths, &RowsArgs { format, ..RowsArgs::default() })?;
    let (mut seen, mut patterns) =
        (Characterizer::new(PAGE_BYTES, None), PatternBuilder::default());
    rows.each(|batch, _| {
        seen.update(batch);
        batch.iter().for_each(|io| patterns.update(io, u64::from(io.device)));
    })?;
    rows.whole("interrupted while the trace was read")?;
    let name = traces::name(paths);
    let overall = seen.finish(&name, rows.info(), fit).overall;
    let help = "run the application under `ioscape characterize -o FILE -- COMMAND` and give --characterization FILE";
    if overall.requests == 0 {
        return Err(Failure::Misuse(format!(
            "{name} tells no sizes of requests, so nothing can be predicted from it: {help}"
        )));
    }
    if overall.response_time_ns.is_none() {
        return Err(Failure::Misuse(format!(
            "{name} tells no completions, so how long its application computed between requests is not known: {help}"
        )));
    }
    let [unique_bytes, unique_write_bytes] = patterns.unique_bytes();
    Ok(TracedApplication {
        name,
        access: None,
        pattern: AccessPattern {
            classes: patterns.finish(),
            unique_bytes,
            unique_write_bytes,
            process_num: overall.workload.process_num,
            think_time_ns: overall.workload.think_time_ns as f64,
            ..AccessPattern::default()
        },
        workload: overall.workload,
    })
}
