//! Evaluated systems: result file, name and model, and what is doubtful about their predictions.

use crate::asked::Asked;
use crate::failure::Failure;
use crate::{output, remedy};
use ioscape_scaling::model::{Model, ModelKind, OtherKind, bounds_of, extrapolations, predict};
use ioscape_schema::{Document, Evaluation, Outcome, Prediction, Warning, WarningKind, Workload};
use ioscape_study::comparison::EvaluatedSystem;
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
    let read = paths.iter().map(|path| output::read_result(path));
    of(paths, &read.collect::<Result<Vec<_>, _>>()?, kind)
}

/// The same of results that were read.
///
/// # Errors
/// A result that holds no evaluation, or one that yields no model.
pub fn of(
    paths: &[PathBuf],
    documents: &[Document],
    kind: ModelKind,
) -> Result<Vec<System>, Failure> {
    let each = paths.iter().zip(documents);
    let mut systems: Vec<System> = each
        .map(|(path, document)| System::of(path, document.clone(), kind))
        .collect::<Result<_, _>>()?;
    if let [only] = &mut systems[..] {
        only.name = only.evaluation.target.clone();
        return Ok(systems);
    }
    for (system, name) in systems.iter_mut().zip(names(paths)) {
        system.name = name;
    }
    Ok(systems)
}

/// A name for every result: that of its file, or its whole path where files of one name are given.
pub fn names(paths: &[PathBuf]) -> Vec<String> {
    let stems: Vec<String> = paths.iter().map(|path| stem(path)).collect();
    let name = |(path, own): (&PathBuf, &String)| {
        let is_alone = stems.iter().filter(|other| *other == own).count() == 1;
        if is_alone { own.clone() } else { path.display().to_string() }
    };
    paths.iter().zip(&stems).map(name).collect()
}

impl System {
    /// Reads one result; the system is called as its file.
    ///
    /// # Errors
    /// As of [`read`].
    pub fn read(path: &Path, kind: ModelKind) -> Result<Self, Failure> {
        Self::of(path, output::read_result(path)?, kind)
    }

    /// The system of a result that was read.
    ///
    /// # Errors
    /// The result holds no evaluation, or one that yields no model.
    pub fn of(path: &Path, mut document: Document, kind: ModelKind) -> Result<Self, Failure> {
        let file = path.display();
        let Some(Outcome::Evaluation(evaluation)) = document.outcome.take() else {
            return Err(Failure::Misuse(format!(
                "{file} holds no evaluation to predict from: give a result of `ioscape evaluate`"
            )));
        };
        let model = Model::of_kind(kind, &evaluation)
            .map_err(|e| Failure::Misuse(format!("{file}: {e}")))?;
        let evaluation = *evaluation;
        Ok(Self { name: stem(path), path: path.to_path_buf(), document, evaluation, model })
    }

    /// Whether `name` is this system's name, file or target.
    pub fn is_called(&self, name: &str) -> bool {
        let file = self.path.display().to_string();
        [&self.name, &stem(&self.path), &file, &self.evaluation.target].contains(&&name.to_owned())
    }

    /// Memory that the evaluated workers could use, when it was limited.
    pub fn memory_limit_bytes(&self) -> Option<u64> {
        let asked = self.evaluation.settings.as_ref().and_then(|s| s.memory_limit_bytes);
        asked.or(self.document.environment.memory_limit_bytes)
    }

    /// Memory that the caches could use: the limit, or else all that the machine had.
    pub fn memory_bytes(&self) -> Option<u64> {
        self.memory_limit_bytes().or(self.document.environment.memory_bytes)
    }

    /// Predicts all workloads, under this system's name.
    ///
    /// # Errors
    /// A workload that cannot be on a system of this kind, or of a kind that was never measured there.
    pub fn predict(&self, asked: &[Asked]) -> Result<Vec<Prediction>, Failure> {
        let one = |one: &Asked| {
            let workload = one.on(self.model.base());
            let label = one.name.as_deref().unwrap_or("the workload");
            workload.validate().map_err(|e| {
                Failure::Misuse(format!("{label} cannot be run as {} was: {e}", self.name))
            })?;
            let (name, system) = (one.name.clone(), self.name.clone());
            let predicted = predict(&self.model, &workload)
                .map_err(|other| self.refused(label, &workload, &other))?;
            Ok(Prediction { name, system, ..predicted })
        };
        asked.iter().map(one).collect()
    }

    /// A workload of a kind that was never asked of this system, and the command that would measure it.
    fn refused(&self, label: &str, workload: &Workload, other: &OtherKind) -> Failure {
        let target = &self.evaluation.target;
        let measure = match remedy::command(target, self.memory_limit_bytes(), workload) {
            Some(command) => format!("measure it with `{command}`"),
            None => "a simulated system has only what its file describes".to_owned(),
        };
        Failure::Misuse(format!("{label} is not predicted: {other}: {measure}"))
    }

    /// What is doubtful about this system's predictions.
    pub fn doubts(&self, kind: ModelKind, predictions: &[Prediction]) -> Vec<Warning> {
        let mut doubts = Vec::new();
        if self.document.interrupted {
            let message = "the evaluation was interrupted: predictions rest on the finished part";
            doubts.push(Warning::new(WarningKind::Interrupted, message));
        }
        if self.model.kind() != kind {
            let message = format!(
                "the {kind} model does not fit this evaluation: the {} model predicts instead",
                self.model.kind()
            );
            doubts.push(Warning::new(WarningKind::Unsupported, message));
        }
        let bounds = bounds_of(&self.evaluation);
        doubts.extend(extrapolations(&self.model, &bounds, predictions));
        doubts.into_iter().map(|doubt| doubt.at(self.name.clone())).collect()
    }

    /// The system as comparisons see it.
    pub fn evaluated(&self) -> EvaluatedSystem<'_> {
        EvaluatedSystem {
            name: &self.name,
            base: self.model.base(),
            memory_limit_bytes: self.memory_limit_bytes(),
        }
    }
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
