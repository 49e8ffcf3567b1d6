//! Continuing earlier work: only on the same machine and target, and with the same options.

use crate::args::Typed;
use crate::failure::Failure;
use ioscape_machine::environment::identity::{Identity, of_machine, of_place};
use ioscape_schema::Environment;
use std::path::Path;

/// What must be the same when the work is continued: this machine, `places` by their labels, and `more`.
pub fn identity<'a>(
    places: impl IntoIterator<Item = (String, &'a Path)>,
    more: Identity,
) -> Identity {
    let mut all = of_machine();
    all.extend(places.into_iter().flat_map(|(label, path)| of_place(&label, path)));
    all.extend(more);
    all
}

/// Refuses to continue what `earlier` began elsewhere or otherwise; stores what the next continuation is held against.
///
/// # Errors
/// The differences by name.
pub fn held_against(
    earlier: Option<(&Path, &Environment)>,
    here: Identity,
    options: &Typed,
    now: &mut Environment,
) -> Result<(), Failure> {
    let Some((file, earlier)) = earlier else {
        now.identity = here;
        now.identity.extend(options.all.clone());
        return Ok(());
    };
    // Results of older versions know nothing of it.
    if !earlier.identity.is_empty() {
        let mut asked = here;
        asked.extend(options.typed.clone());
        let differences = earlier.identity_differences(&asked);
        if !differences.is_empty() {
            return Err(Failure::Misuse(format!(
                "--resume {}: this is not what was begun there: {}",
                file.display(),
                differences.join("; ")
            )));
        }
    }
    now.identity.clone_from(&earlier.identity);
    Ok(())
}
