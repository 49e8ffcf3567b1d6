//! Systems that were evaluated, as predictions see them: a result file, its name, its model, and doubts about what it is asked.

use crate::asked::Asked;
use crate::failure::Failure;
use crate::output;
use ioscape_scaling::model::{Model, ModelKind, bounds_of, predict};
use ioscape_schema::units::Bytes;
use ioscape_schema::{
    Document, Evaluation, Outcome, Parameter, Prediction, Warning, WarningKind, Workload,
};
use std::path::{Path, PathBuf};

/// Name of a result file without its folder and its endings: `here` of `out/here.ioscape.json`.
fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let plain = name.strip_suffix(".json").unwrap_or(&name);
    plain.strip_suffix(".ioscape").unwrap_or(plain).to_owned()
}

/// A result with an evaluation, and the model made from it.
pub struct System {
    /// What the system is called in this comparison.
    pub name: String,
    /// The result file.
    path: PathBuf,
    /// What the file holds beside the evaluation.
    pub document: Document,
    /// The evaluation.
    pub evaluation: Evaluation,
    /// The model.
    pub model: Model,
}

/// Reads the results and gives every system its own name: the target of a single one, or else the names of the files,
/// or their whole paths where these are the same.
///
/// # Errors
/// A file that cannot be read, holds no evaluation, or one that yields no model.
pub fn read(paths: &[PathBuf], kind: ModelKind) -> Result<Vec<System>, Failure> {
    let mut systems: Vec<System> =
        paths.iter().map(|path| System::read(path, kind)).collect::<Result<_, _>>()?;
    if let [only] = &mut systems[..] {
        only.name = only.evaluation.target.clone();
        return Ok(systems);
    }
    let names: Vec<String> = systems.iter().map(|system| system.name.clone()).collect();
    for system in &mut systems {
        if names.iter().filter(|name| **name == system.name).count() > 1 {
            system.name = system.path.display().to_string();
        }
    }
    Ok(systems)
}

impl System {
    /// Reads one result; the system is called as its file.
    ///
    /// # Errors
    /// As of [`read`].
    pub fn read(path: &Path, kind: ModelKind) -> Result<Self, Failure> {
        let mut document = output::read_result(path)?;
        let file = path.display();
        let Some(Outcome::Evaluation(evaluation)) = document.outcome.take() else {
            return Err(Failure::Misuse(format!(
                "{file} holds no evaluation, so nothing can be predicted from it: give a result of `ioscape evaluate`"
            )));
        };
        let model = Model::of_kind(kind, &evaluation)
            .map_err(|e| Failure::Misuse(format!("{file}: {e}")))?;
        let evaluation = *evaluation;
        Ok(Self { name: stem(path), path: path.to_path_buf(), document, evaluation, model })
    }

    /// Whether the user may mean this system by `name`: its name, file or target.
    pub fn is_called(&self, name: &str) -> bool {
        let file = self.path.display().to_string();
        [&self.name, &stem(&self.path), &file, &self.evaluation.target].contains(&&name.to_owned())
    }

    /// Memory that the evaluated workers could use, when it was limited.
    pub fn memory_limit_bytes(&self) -> Option<u64> {
        let asked = self.evaluation.settings.as_ref().and_then(|s| s.memory_limit_bytes);
        asked.or(self.document.environment.memory_limit_bytes)
    }

    /// Predicts all workloads, under this system's name.
    ///
    /// # Errors
    /// A workload that cannot be on a system of this kind.
    pub fn predict(&self, asked: &[Asked]) -> Result<Vec<Prediction>, Failure> {
        let one = |one: &Asked| {
            let workload = one.on(self.model.base());
            let label = one.name.as_deref().unwrap_or("the workload");
            workload.validate().map_err(|e| {
                Failure::Misuse(format!("{label} cannot be run as {} was: {e}", self.name))
            })?;
            let (name, system) = (one.name.clone(), self.name.clone());
            Ok(Prediction { name, system, ..predict(&self.model, &workload) })
        };
        asked.iter().map(one).collect()
    }

    /// What is doubtful about this system's predictions.
    pub fn doubts(&self, kind: ModelKind, predictions: &[Prediction]) -> Vec<Warning> {
        let mut doubts = Vec::new();
        if self.document.interrupted {
            let message =
                "the evaluation was interrupted: predictions rest on the part that was finished";
            doubts.push(Warning::new(WarningKind::Interrupted, message));
        }
        if self.model.kind() != kind {
            let message = format!(
                "the {kind} model does not fit this evaluation: the {} model predicts instead",
                self.model.kind()
            );
            doubts.push(Warning::new(WarningKind::Unsupported, message));
        }
        doubts.extend(self.extrapolations(predictions));
        doubts.into_iter().map(|doubt| doubt.at(self.name.clone())).collect()
    }

    /// One doubt per parameter that some prediction has outside the measured range, and one for workloads of another kind.
    fn extrapolations(&self, predictions: &[Prediction]) -> Vec<Warning> {
        let inside = self.model.base();
        let mut doubts = Vec::new();
        for parameter in Parameter::ALL {
            let value = |p: &Prediction| p.workload.get(parameter);
            let outside = |p: &&Prediction| {
                p.extrapolated && self.model.extrapolates(&inside.clone().with(parameter, value(p)))
            };
            let named = |p: &Prediction| match &p.name {
                Some(name) => format!("{name} ({})", shown(parameter, value(p))),
                None => shown(parameter, value(p)),
            };
            let names: Vec<String> = predictions.iter().filter(outside).map(named).collect();
            if !names.is_empty() {
                doubts.push(format!(
                    "{parameter} of {} lies outside what was measured{}",
                    names.join(", "),
                    self.covered(parameter)
                ));
            }
        }
        let other = |p: &&Prediction| {
            let five = |w: Workload, q: Parameter| w.with(q, inside.get(q));
            self.model.extrapolates(&Parameter::ALL.into_iter().fold(p.workload.clone(), five))
        };
        let others: Vec<&str> = predictions
            .iter()
            .filter(other)
            .map(|p| p.name.as_deref().unwrap_or("the workload"))
            .collect();
        if !others.is_empty() {
            doubts.push(format!(
                "{} differs in engine, access, workers, queue depth, think time, advice or size distribution from what was measured",
                others.join(", ")
            ));
        }
        let told =
            |what| format!("{what}: what is predicted there is extrapolated, its interval a guess");
        doubts.into_iter().map(|what| Warning::new(WarningKind::Extrapolated, told(what))).collect()
    }

    /// The range that the evaluation was asked to cover, in words; empty for fractions.
    fn covered(&self, parameter: Parameter) -> String {
        let bounds = bounds_of(&self.evaluation);
        let [low, high] = match parameter {
            Parameter::UniqueBytes => bounds.unique_bytes,
            Parameter::SizeMean => bounds.size_mean,
            Parameter::ProcessNum => bounds.process_num.map(u64::from),
            Parameter::ReadFrac | Parameter::SeqFrac => return String::new(),
        };
        let [low, high] = [low, high].map(|value| shown(parameter, value as f64));
        format!(" (the evaluation covers {low} to {high})")
    }
}

fn shown(parameter: Parameter, value: f64) -> String {
    match parameter {
        Parameter::UniqueBytes | Parameter::SizeMean => Bytes(value).to_string(),
        Parameter::ReadFrac | Parameter::SeqFrac | Parameter::ProcessNum => value.to_string(),
    }
}

/// One doubt for every way in which `other` was evaluated differently from `first`.
pub fn differences(first: &System, other: &System) -> Vec<Warning> {
    let (a, b) = (first.model.base(), other.model.base());
    let limit = |system: &System| {
        system
            .memory_limit_bytes()
            .map_or("none".to_owned(), |bytes| Bytes(bytes as f64).to_string())
    };
    let word = |differs: bool, what: &str, ours: String, theirs: String| {
        differs.then(|| format!("{what} {theirs} against {ours}"))
    };
    let found = [
        word(a.access != b.access, "access", a.access.to_string(), b.access.to_string()),
        word(a.engine != b.engine, "engine", a.engine.to_string(), b.engine.to_string()),
        word(a.workers != b.workers, "workers", a.workers.to_string(), b.workers.to_string()),
        word(
            a.size_distribution != b.size_distribution,
            "size distribution",
            a.size_distribution.to_string(),
            b.size_distribution.to_string(),
        ),
        word(limit(first) != limit(other), "memory limit", limit(first), limit(other)),
    ];
    let found: Vec<String> = found.into_iter().flatten().collect();
    if found.is_empty() {
        return Vec::new();
    }
    let message = format!(
        "{} and {} were evaluated in different ways ({}): the ratios are of systems with these ways",
        other.name,
        first.name,
        found.join(", ")
    );
    vec![Warning::new(WarningKind::DifferentKinds, message)]
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
    }
}
