//! The directories that the user named: checked, each with a workspace.

use super::workspace::Workspace;
use ioscape_machine::FileSystemInfo;
use ioscape_machine::device::memory_below;
use ioscape_machine::environment;
use ioscape_machine::error::Error;
use ioscape_machine::mounts::system_of;
use ioscape_machine::output::tell_leftovers;
use ioscape_machine::target::{self, Target, TargetOptions};
use ioscape_machine::terminal;
use ioscape_machine::witness::Sources;
use ioscape_schema::{Environment, Locality, OtherPlace};
use std::fs::File;
use std::path::{Path, PathBuf};

/// A directory that the user named, with its workspace.
pub(crate) struct Home {
    pub(crate) workspace: Workspace,
    pub(crate) place: Locality,
    /// What keeps its data in memory instead of on storage, if anything.
    pub(crate) in_memory: Option<String>,
    /// The counters of the devices below it.
    pub(crate) devices: Sources,
    /// How many copies of the same data the file system may write.
    pub(crate) copies: u64,
}

/// The most copies that a file system keeps of anything (btrfs: RAID1C4).
const COPIES_MOST: usize = 4;

/// Returns how many copies a file system on this many devices may write: one per device.
fn copies(devices: usize) -> u64 {
    devices.clamp(1, COPIES_MOST) as u64
}

/// Refuses anything but a directory, with messages that speak of directories only.
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

/// Returns whether a file system is local or remote; refuses it if `known` already has that kind.
fn place_of(
    directory: &Path,
    system: &FileSystemInfo,
    known: &[Locality],
) -> Result<Locality, Error> {
    let place = if system.is_remote() { Locality::Remote } else { Locality::Local };
    if !known.contains(&place) {
        return Ok(place);
    }
    Err(Error::target(
        directory,
        format!(
            "is on a {} file system ({}) like the other one: give one local directory and one on a network file system",
            place.word(),
            system.name
        ),
    ))
}

/// Records what is below a directory; the first directory also provides the machine and the clock.
fn note(environment: &mut Environment, is_first: bool, directory: &Path, here: Environment) {
    if is_first {
        *environment = here;
        environment.clock = ioscape_machine::Clock::new().measure();
    } else {
        let name = directory.display().to_string();
        environment.other_places.push(OtherPlace::of(&name, here));
    }
}

/// Checks the directories and creates a workspace in each.
pub(crate) fn open(directories: &[PathBuf]) -> Result<(Vec<Home>, Environment), Error> {
    let mut homes: Vec<Home> = Vec::new();
    let mut environment = Environment::default();
    for directory in directories {
        is_directory(directory)?;
        let target = Target::open(directory, &TargetOptions::default())?;
        tell_leftovers(target.leftovers(), terminal::tell);
        let known: Vec<Locality> = homes.iter().map(|home| home.place).collect();
        let place = place_of(directory, target.file_system(), &known)?;
        let here = environment::capture(&target, None);
        note(&mut environment, homes.is_empty(), directory, here);
        let in_memory = memory_below(target.file_system());
        let devices = Sources::of(&target, None);
        let copies = copies(target.file_system().devices().len());
        drop(target);
        let workspace = Workspace::new(directory)?;
        homes.push(Home { workspace, place, in_memory, devices, copies });
    }
    Ok((homes, environment))
}

/// Checks the directories of a run that creates no files, which need not be writable; removes what
/// killed runs left there.
pub(crate) fn look(directories: &[PathBuf]) -> Result<Environment, Error> {
    let mut places = Vec::new();
    let mut environment = Environment::default();
    for directory in directories {
        is_directory(directory)?;
        tell_leftovers(&target::sweep_at(directory), terminal::tell);
        let folder = File::open(directory).ok();
        let system = folder.map(|folder| system_of(&folder, directory)).unwrap_or_default();
        let place = place_of(directory, &system, &places)?;
        let here = environment::capture_on(&system);
        note(&mut environment, places.is_empty(), directory, here);
        places.push(place);
    }
    Ok(environment)
}
