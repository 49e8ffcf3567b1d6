//! `ioscape trace merge`: combines parts of a trace that were analyzed one by one.

use super::analyze::{STATE, write_state};
use crate::failure::{Failure, both};
use crate::output;
use crate::outputs;
use ioscape_arguments::MergeArgs;
use ioscape_machine::input::read_marked;
use ioscape_machine::interrupt;
use ioscape_trace::analyze::state::{Header, MAGIC, Merge, Part, StateError};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Runs the command.
///
/// # Errors
/// The states cannot be read or do not belong together, or the output cannot be written.
pub fn main(args: &MergeArgs) -> Result<(), Failure> {
    let names = outputs::names_of(&args.out).writes(STATE, args.state.as_deref());
    let mut outputs = names.reads("the part", &args.parts).open()?;
    let mut document = output::document(0);
    let headers: Vec<(String, Header)> =
        args.parts.iter().map(|path| header(path)).collect::<Result<_, _>>()?;
    if headers.iter().all(|(_, header)| header.ios == 0) {
        return Err(Failure::Misuse("the parts hold no requests".to_owned()));
    }
    let mut merge = Merge::new(&headers).map_err(Failure::Misuse)?;
    drop(headers);
    let stop = interrupt::flag();
    for at in merge.order().to_vec() {
        if stop.load(Ordering::Relaxed) {
            let text = "interrupted: some parts were not merged, so nothing was written";
            return Err(Failure::Interrupted(text.to_owned()));
        }
        let path: &PathBuf = &args.parts[at];
        merge.add(Part::read(&bytes(path)?).map_err(|e| refused(path, &e))?);
    }
    let mut summary = merge.finish();
    summary.by = args.by;
    let written = match args.state {
        Some(_) => write_state(&mut outputs, &merge.into_part()),
        None => Ok(()),
    };
    document.warnings.clone_from(&summary.warnings);
    document.outcome = Some(summary.into());
    both(outputs::finish(&mut outputs, &document, args.out.json), written)
}

fn header(path: &Path) -> Result<(String, Header), Failure> {
    let header = Header::read(&bytes(path)?).map_err(|e| refused(path, &e))?;
    Ok((path.display().to_string(), header))
}

fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    read_marked(path, MAGIC)
        .map_err(|e| Failure::of_input(format!("cannot read part {}: {e}", path.display()), &e))
}

fn refused(path: &Path, error: &StateError) -> Failure {
    Failure::Misuse(format!("{} {error}", path.display()))
}
