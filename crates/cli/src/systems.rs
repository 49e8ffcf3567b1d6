//! The systems of several results. Their models take seconds each, so all processors make them.

use crate::failure::Failure;
use ioscape_machine::parallel::processors;
use ioscape_machine::pipeline::pipeline;
use ioscape_machine::terminal::Progress;
use ioscape_scaling::System;
use ioscape_scaling::model::ModelKind;
use ioscape_schema::Document;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Returns the systems of `documents`, read from `paths`, each with its own name.
///
/// # Errors
/// Of the first result without an evaluation, or with one that yields no model.
pub fn systems(
    paths: &[PathBuf],
    documents: Vec<Document>,
    kind: ModelKind,
) -> Result<Vec<System>, Failure> {
    let (progress, made) = (Progress::of_steps(paths.len()), AtomicUsize::new(0));
    let step = |done| progress.step(done, paths.len(), "making the models of the evaluations");
    step(0);
    let mut results: Vec<_> =
        paths.iter().zip(documents).map(|(path, one)| (path, Some(one), None)).collect();
    let mut once = Some(());
    let next = |()| Ok::<_, Failure>(once.take());
    pipeline(processors().min(paths.len()), results.iter_mut().collect(), next, |result, ()| {
        let (path, document, system) = &mut **result;
        *system = document.take().map(|document| System::of(path, document, kind));
        step(made.fetch_add(1, Ordering::Relaxed) + 1);
    })?;
    progress.done();
    let systems = results.into_iter().filter_map(|(_, _, system)| system);
    let mut systems = systems.collect::<Result<Vec<_>, _>>().map_err(Failure::misuse)?;
    System::name_apart(&mut systems);
    Ok(systems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_result_that_cannot_be_used_is_named_whichever_is_looked_at_first() {
        let paths = ["first.json", "second.json", "third.json"].map(PathBuf::from);
        let none = vec![Document::default(); paths.len()];
        let refused = systems(&paths, none, ModelKind::Default).unwrap_err();
        assert!(matches!(&refused, Failure::Misuse(why) if why.starts_with("first.json")));
    }
}
