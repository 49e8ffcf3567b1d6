//! `ioscape doctor`: shows what this machine allows, what is missing, and what to do about it.

use crate::failure::{Failure, both};
use crate::output;
use crate::outputs;
use ioscape_arguments::DoctorArgs;
use ioscape_machine::{doctor, environment};

/// Runs the command.
///
/// # Errors
/// Nothing can be measured here, or the result cannot be written.
pub fn main(args: &DoctorArgs) -> Result<(), Failure> {
    let mut outputs = outputs::names_of(&args.out).open()?;
    let found = doctor::examine(&args.directory);
    let verdict = match found.can_measure() {
        true => Ok(()),
        false => {
            let message = format!("nothing can be measured in {}", found.directory);
            Err(Failure::Failed(message))
        }
    };
    let mut document = output::document(0);
    document.environment = environment::machine(None);
    document.outcome = Some(found.into());
    both(verdict, outputs::finish(&mut outputs, &document, args.out.json))
}
