//! Evaluated systems: name, evaluation and model of a result file, and the doubts about predictions
//! from it.

mod application;
mod changed;
mod outgrown;
mod pauses;

pub use application::{TracedApplication, workload_of_application};
pub use changed::{ChangedSystem, Exchange, NotExchanged};

use crate::judge::steadiness;
use crate::model::{Model, ModelError, ModelKind, WhatIf, extrapolations, predict, synchronous_s};
use ioscape_schema::{
    Access, Document, Engine, Evaluation, Outcome, Parameter, Prediction, Warning, WarningKind,
    Workload,
};
use outgrown::Unfilled;
use pauses::with_pauses;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// The label of a workload without a name.
const UNNAMED: &str = "the workload";

/// A result with an evaluation, and the model made from it.
#[derive(Clone, Debug)]
pub struct System {
    /// Its name among other systems.
    pub name: String,
    /// The result file.
    path: PathBuf,
    /// What the file holds besides the evaluation.
    pub document: Document,
    /// The evaluation.
    pub evaluation: Evaluation,
    /// The model.
    pub model: Model,
    /// The same target evaluated with further accesses.
    others: Vec<Self>,
    /// Its memory, where no evaluated set filled it.
    unfilled: Option<Unfilled>,
    /// How long a synchronous write waits for storage, in seconds, as measured with this access or
    /// another.
    synchronous_s: Option<f64>,
}

/// Why a result cannot be used for predictions.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SystemError {
    /// It holds no evaluation.
    #[error("{0} holds no evaluation to predict from: give a result of `ioscape evaluate`")]
    NoEvaluation(String),
    /// Its evaluation yields no model.
    #[error("{file}: {source}")]
    NoModel {
        /// The result file.
        file: String,
        /// Why there is no model.
        source: ModelError,
    },
}

/// A workload that cannot be predicted.
#[derive(Debug)]
pub struct NotPredicted<'a> {
    /// The reason.
    pub why: String,
    /// What would have to be measured first; absent where no measurement helps.
    pub missing: Option<Box<Missing<'a>>>,
}

/// What must be measured before a workload can be predicted.
#[derive(Debug)]
pub struct Missing<'a> {
    /// The system to measure.
    pub system: &'a System,
    /// The workload, or one like it.
    pub workload: Workload,
    /// The least size that its largest set needs, in bytes.
    pub max_unique_bytes: Option<u64>,
    /// The mean size of requests, in bytes, of which an evaluation in less memory, and so with
    /// smaller sets, tells it too; absent where none does.
    pub in_less_memory: Option<u64>,
    /// The parameter that exceeds the range an evaluation in the same memory varies, and its value
    /// there.
    pub beyond: Option<(Parameter, f64)>,
}

impl System {
    /// Tells several systems apart by name: a single one is called as its target; others as their
    /// files, or by their whole paths where the names are the same.
    pub fn name_apart(systems: &mut [Self]) {
        if let [only] = systems {
            return only.call(&only.evaluation.target.clone());
        }
        let paths: Vec<PathBuf> = systems.iter().map(|system| system.path.clone()).collect();
        for (system, name) in systems.iter_mut().zip(names(&paths)) {
            system.call(&name);
        }
    }

    /// The system of one result, named after its file.
    ///
    /// # Errors
    /// The result has no evaluation, or one that yields no model.
    pub fn of(path: &Path, mut document: Document, kind: ModelKind) -> Result<Self, SystemError> {
        let Some(Outcome::Evaluation(mut evaluation)) = document.outcome.take() else {
            return Err(SystemError::NoEvaluation(path.display().to_string()));
        };
        let others = std::mem::take(&mut evaluation.other_accesses);
        // Measurements in a smaller memory predict this memory only where nothing else can.
        let (others, confined): (Vec<_>, Vec<_>) = others
            .into_iter()
            .partition(|one| one.memory_limit_bytes() == evaluation.memory_limit_bytes());
        let mut system = Self::of_one(path, document.clone(), (*evaluation, confined), kind)?;
        // An access that was interrupted before it could be modelled counts as one that was never
        // asked for.
        let others =
            others.into_iter().filter(|one| !one.regions.is_empty() || !document.interrupted);
        let others =
            others.map(|one| Self::of_one(path, document.clone(), (one, Vec::new()), kind));
        system.others = others.collect::<Result<_, _>>()?;
        let waits_s = system.parts().find_map(|one| one.synchronous_s);
        for one in std::iter::once(&mut system.synchronous_s)
            .chain(system.others.iter_mut().map(|one| &mut one.synchronous_s))
        {
            *one = one.or(waits_s);
        }
        Ok(system)
    }

    /// The system of one evaluation, and of the evaluations of the same target in smaller memory.
    fn of_one(
        path: &Path,
        document: Document,
        (evaluation, confined): (Evaluation, Vec<Evaluation>),
        kind: ModelKind,
    ) -> Result<Self, SystemError> {
        let model = Model::of_kind(kind, &evaluation)
            .map_err(|source| SystemError::NoModel { file: path.display().to_string(), source })?;
        let (name, path, others) = (stem(path), path.to_path_buf(), Vec::new());
        let (unfilled, waits_s) = (None, synchronous_s(&model));
        let mut system = Self {
            name,
            path,
            document,
            evaluation,
            model,
            others,
            unfilled,
            synchronous_s: waits_s,
        };
        let unfilled =
            |memory| Unfilled::new(&system.evaluation, &system.model, memory, (confined, kind));
        system.unfilled = system.memory_bytes().and_then(unfilled);
        let group = system.unfilled.as_ref().and_then(Unfilled::group_model);
        system.synchronous_s = system.synchronous_s.or_else(|| group.and_then(synchronous_s));
        Ok(system)
    }

    /// It as evaluated with each access, the main one first.
    fn parts(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.others)
    }

    fn call(&mut self, name: &str) {
        for one in
            std::iter::once(&mut self.name).chain(self.others.iter_mut().map(|o| &mut o.name))
        {
            name.clone_into(one);
        }
    }

    /// This system as evaluated with `access`, or with its first access if that was not measured.
    pub fn with_access(&self, access: Access) -> &Self {
        self.parts().find(|one| one.model.base().access == access).unwrap_or(self)
    }

    /// Whether `name` is this system's name, file or target.
    pub fn is_called(&self, name: &str) -> bool {
        let file = self.path.display().to_string();
        [&self.name, &stem(&self.path), &file, &self.evaluation.target].contains(&&name.to_owned())
    }

    /// Memory that the evaluated workers could use, in bytes, when it was limited.
    pub fn memory_limit_bytes(&self) -> Option<u64> {
        let asked = self.evaluation.settings.as_ref().and_then(|s| s.memory_limit_bytes);
        // Older versions recorded the requested limit even when a lower one was in force.
        asked.into_iter().chain(self.document.environment.memory_limit_bytes).min()
    }

    /// Memory that the caches could use, in bytes: the limit, or all memory of the machine where
    /// that is less.
    pub fn memory_bytes(&self) -> Option<u64> {
        self.memory_limit_bytes().into_iter().chain(self.document.environment.memory_bytes).min()
    }

    /// Whether an evaluation in the same memory, however long, varies request sizes or processes up
    /// to this value.
    fn varies_to(&self, (parameter, value): (Parameter, f64)) -> bool {
        let Some(settings) = &self.evaluation.settings else { return true };
        let range = match parameter {
            Parameter::SizeMean => settings.size_mean.map(|bytes| bytes as f64),
            Parameter::ProcessNum => settings.process_num.map(f64::from),
            _ => return true,
        };
        (range[0]..=range[1]).contains(&value)
    }

    /// The accesses it was evaluated with, the main one first.
    pub fn accesses(&self) -> Vec<Access> {
        self.parts().map(|one| one.model.base().access).collect()
    }

    /// Predicts a workload under this system's name.
    ///
    /// # Errors
    /// A workload that is impossible on a system of this kind, or of a kind that was never measured
    /// there.
    pub fn predict(
        &self,
        name: Option<&str>,
        workload: &Workload,
    ) -> Result<Prediction, NotPredicted<'_>> {
        let evaluated_ns = self.model.base().think_time_ns;
        with_pauses(workload, evaluated_ns, |one| self.predict_as_evaluated(name, one))
    }

    fn predict_as_evaluated(
        &self,
        name: Option<&str>,
        workload: &Workload,
    ) -> Result<Prediction, NotPredicted<'_>> {
        self.check(name, workload)?;
        let label = name.unwrap_or(UNNAMED);
        let predicted = predict(&self.model, workload).map_err(|other| NotPredicted {
            why: format!("{label} is not predicted: {}", other.among(&self.accesses())),
            missing: Some(Box::new(Missing {
                system: self,
                workload: workload.clone(),
                max_unique_bytes: None,
                in_less_memory: None,
                beyond: None,
            })),
        })?;
        let predicted = match self.outgrown(workload, 0) {
            Some(unfilled) => unfilled
                .predict(&WhatIf::default(), workload)
                .and_then(Result::ok)
                .ok_or_else(|| self.never_outgrown(unfilled, label, (workload, 0)))?,
            None => predicted,
        };
        let (name, system) = (name.map(str::to_owned), self.name.clone());
        Ok(Prediction { name, system, ..predicted })
    }

    /// The model of the evaluation whose reads left memory; `None` where no evaluated set filled it.
    fn of_storage(&self) -> Option<&Model> {
        self.unfilled.as_ref().map_or(Some(&self.model), Unfilled::group_model)
    }

    /// The memory that `workload` outgrows, together with the `own_bytes` it has for itself, if no
    /// evaluated set did.
    fn outgrown(&self, workload: &Workload, own_bytes: u64) -> Option<&Unfilled> {
        self.unfilled.as_ref().filter(|unfilled| unfilled.is_outgrown_by(workload, own_bytes))
    }

    /// Why such a workload has no prediction, and what would allow one.
    fn never_outgrown(
        &self,
        unfilled: &Unfilled,
        label: &str,
        (workload, own_bytes): (&Workload, u64),
    ) -> NotPredicted<'_> {
        let missing = Missing {
            system: self,
            workload: self.model.base().clone(),
            max_unique_bytes: Some(workload.unique_bytes.saturating_add(own_bytes)),
            in_less_memory: None,
            beyond: None,
        };
        let why = unfilled.why(label, workload, own_bytes);
        NotPredicted { why, missing: Some(Box::new(missing)) }
    }

    /// Checks that a workload can be run as this system was evaluated.
    fn check(&self, name: Option<&str>, workload: &Workload) -> Result<(), NotPredicted<'_>> {
        workload.validate().map_err(|e| NotPredicted {
            why: format!("{} cannot be run as {} was: {e}", name.unwrap_or(UNNAMED), self.name),
            missing: self.queued(workload).map(Box::new),
        })
    }

    /// The evaluation that is needed for a deeper queue than the engine of this one can keep.
    fn queued(&self, workload: &Workload) -> Option<Missing<'_>> {
        let workload = Workload { engine: Engine::IoUring, ..workload.clone() };
        let is_that_all = workload.queue_depth > 1 && workload.validate().is_ok();
        is_that_all.then_some(Missing {
            system: self,
            workload,
            max_unique_bytes: None,
            in_less_memory: None,
            beyond: None,
        })
    }

    /// The doubt about an evaluation that was interrupted.
    fn interruption(&self) -> Option<Warning> {
        let message = "the evaluation was interrupted: predictions rest on the finished part";
        let doubt = || Warning::new(WarningKind::Interrupted, message).at(self.name.clone());
        self.document.interrupted.then(doubt)
    }

    /// The doubts of its own measurements about what they describe, each once.
    fn traps(&self) -> Vec<Warning> {
        let access = self.model.base().access;
        let own = self.evaluation.probes.iter().map(|probe| &probe.measurement);
        let all = own.filter(|one| one.workload.access == access).flat_map(|one| &one.warnings);
        let mut traps: Vec<Warning> = Vec::new();
        for doubt in all {
            let is_trap =
                matches!(doubt.kind, WarningKind::Trap | WarningKind::DirectWithoutDevice);
            if is_trap && !traps.contains(doubt) {
                traps.push(doubt.clone());
            }
        }
        traps
    }

    /// What its result says of its storage as a whole, such as of a simulated drive.
    fn told_of_storage(&self) -> impl Iterator<Item = Warning> {
        self.told(|kind| matches!(kind, WarningKind::Extrapolated | WarningKind::NotSteady))
    }

    /// What its result says of memory that it could not tell; a known limit is part of the system.
    fn told_of_memory(&self) -> impl Iterator<Item = Warning> {
        let is_unknown = self.memory_limit_bytes().is_none();
        self.told(move |kind| is_unknown && kind == WarningKind::MemoryLimited)
    }

    /// The warnings about its whole result of such kinds.
    fn told(&self, of: impl Fn(WarningKind) -> bool) -> impl Iterator<Item = Warning> {
        let all = self.document.warnings.iter();
        all.filter(move |doubt| doubt.place.is_empty() && of(doubt.kind)).cloned()
    }

    /// The doubts about predictions of this system's model, where one of `kind` was asked for;
    /// those about its storage only if the predictions are for that, and not for lent storage.
    pub fn doubts(
        &self,
        kind: ModelKind,
        predictions: &[Prediction],
        has_own_storage: bool,
    ) -> Vec<Warning> {
        let mut doubts: Vec<Warning> = self.interruption().into_iter().collect();
        if !predictions.is_empty() {
            doubts.extend(self.told_of_memory());
            doubts.extend(self.told_of_storage().filter(|_| has_own_storage));
        }
        for part in self.parts() {
            let of_part =
                |one: &&Prediction| std::ptr::eq(self.with_access(one.workload.access), part);
            let own: Vec<&Prediction> = predictions.iter().filter(of_part).collect();
            doubts.extend(part.doubts_of_model(kind, &own));
            if has_own_storage && !own.is_empty() {
                doubts.extend(part.traps());
            }
        }
        doubts.into_iter().map(|doubt| doubt.at(self.name.clone())).collect()
    }

    /// The doubts about these predictions, all made by this one model.
    fn doubts_of_model(&self, kind: ModelKind, own: &[&Prediction]) -> Vec<Warning> {
        let mut doubts = Vec::new();
        if self.model.kind() != kind && !own.is_empty() {
            let message = format!(
                "the {kind} model does not fit this evaluation: the {} model predicts instead",
                self.model.kind()
            );
            doubts.push(Warning::new(WarningKind::Unsupported, message));
        }
        // Where memory is exchanged, the levels cover sets that outgrow the evaluation's own
        // memory.
        let (in_group, by_model): (Vec<&Prediction>, Vec<&Prediction>) =
            own.iter().partition(|one| Unfilled::is_as_in_group(one));
        let names: Vec<_> =
            in_group.iter().map(|one| one.name.as_deref().unwrap_or(UNNAMED)).collect();
        doubts.extend(self.unfilled.as_ref().and_then(|unfilled| unfilled.doubt(&names)));
        doubts.extend(extrapolations(&self.model, &by_model));
        if !own.is_empty() {
            let changed = steadiness::doubts(&self.evaluation).into_iter();
            doubts.extend(changed.map(|told| Warning::new(WarningKind::Drift, told)));
        }
        doubts
    }
}

/// A name for every result: that of its file, or its whole path where several files have the same
/// name.
pub fn names(paths: &[PathBuf]) -> Vec<String> {
    let stems: Vec<String> = paths.iter().map(|path| stem(path)).collect();
    let mut files = HashMap::<&String, HashSet<&PathBuf>>::new();
    paths.iter().zip(&stems).for_each(|(path, own)| {
        files.entry(own).or_default().insert(path);
    });
    let name = |(path, own): (&PathBuf, &String)| {
        if files[own].len() == 1 { own.clone() } else { path.display().to_string() }
    };
    paths.iter().zip(&stems).map(name).collect()
}

/// The name of a result file without folder and extensions: `here` of `out/here.ioscape.json`.
pub fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let plain = name.strip_suffix(".json").unwrap_or(&name);
    plain.strip_suffix(".ioscape").unwrap_or(plain).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_are_called_by_their_files() {
        for (path, name) in
            [("out/a.ioscape.json", "a"), ("b.json", "b"), ("c", "c"), ("x.y.ioscape.json", "x.y")]
        {
            assert_eq!(stem(Path::new(path)), name);
        }
        assert_eq!(names(&["a/x.json".into(), "b.json".into()]), ["x", "b"]);
        assert_eq!(names(&["a/x.json".into(), "x.json".into()]), ["a/x.json", "x.json"]);
    }

    #[test]
    fn a_result_of_another_kind_is_refused() {
        let error = System::of(Path::new("a.json"), Document::default(), ModelKind::Default);
        assert!(matches!(error, Err(SystemError::NoEvaluation(file)) if file == "a.json"));
    }
}
