//! The directories that the user named: checked, and each with a workspace in it.

use super::workspace::Workspace;
use ioscape_machine::device::memory_below;
use ioscape_machine::environment;
use ioscape_machine::error::Error;
use ioscape_machine::output::tell_leftovers;
use ioscape_machine::target::{Target, TargetOptions};
use ioscape_machine::terminal;
use ioscape_machine::witness::Sources;
use ioscape_schema::{Environment, Locality, OtherPlace};
use std::path::{Path, PathBuf};

/// A directory that the user named, with a workspace in it.
pub(crate) struct Home {
    pub(crate) workspace: Workspace,
    pub(crate) place: Locality,
    /// What keeps its data in memory and on no storage, if something does.
    pub(crate) in_memory: Option<String>,
    /// The counters of the devices below.
    pub(crate) devices: Sources,
}

/// Refuses anything but a directory, in words that speak of directories only.
fn is_directory(path: &Path) -> Result<(), Error> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(Error::target(path, "is not a directory: name a directory")),
        Err(why) => {
            let text = format!("cannot be examined ({why}): name an existing directory");
            Err(Error::target(path, text))
        }
    }
}

/// Checks the directories and makes a workspace in each.
pub(crate) fn open(directories: &[PathBuf]) -> Result<(Vec<Home>, Environment), Error> {
    let mut homes: Vec<Home> = Vec::new();
    let mut environment = Environment::default();
    for directory in directories {
        is_directory(directory)?;
        let target = Target::open(directory, &TargetOptions::default())?;
        tell_leftovers(target.leftovers(), terminal::tell);
        let place = if target.file_system().is_network_or_fuse {
            Locality::Remote
        } else {
            Locality::Local
        };
        if homes.iter().any(|home| home.place == place) {
            let kind = target.file_system().name.clone();
            return Err(Error::target(
                directory,
                format!(
                    "is on a {} file system ({kind}) like the other one: give one local directory and one on a network file system",
                    place.word()
                ),
            ));
        }
        let here = environment::capture(&target, None);
        if homes.is_empty() {
            environment = here;
            environment.clock = ioscape_machine::Clock::new().measure();
        } else {
            let name = directory.display().to_string();
            environment.other_places.push(OtherPlace::of(&name, here));
        }
        let in_memory = memory_below(target.file_system());
        let devices = Sources::of(&target, None);
        drop(target);
        homes.push(Home { workspace: Workspace::new(directory)?, place, in_memory, devices });
    }
    Ok((homes, environment))
}
