//! The directories that the user named: checked, each with a workspace.

use super::background::Below;
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
    pub(crate) below: Below,
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
        let option =
            target.file_system().syncs_names().map(|option| format!("mounted with {option}"));
        let heeds_attribute = target.file_system().heeds_synchronous_directories();
        drop(target);
        let workspace = Workspace::new(directory)?;
        let attribute = workspace.synchronous().filter(|_| heeds_attribute);
        let synchronous = option.or_else(|| attribute.map(str::to_owned));
        let below = Below { devices, copies, synchronous };
        homes.push(Home { workspace, place, in_memory, below });
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::background::Observer;
    use crate::case::{Case, Scene, not_here};
    use ioscape_machine::testing::{build_directory, skipped};
    use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};

    /// Guards against "other programs use it" in a mail spool with `chattr +S`.
    #[test]
    fn a_synchronous_directory_is_known_to_those_who_judge_its_cases() {
        let directory = tempfile::tempdir_in(build_directory()).unwrap();
        let inner = directory.path().join("inner");
        let set = ioctl_setflags(File::open(directory.path()).unwrap(), IFlags::SYNC);
        std::fs::create_dir(&inner).unwrap();
        let flags = ioctl_getflags(File::open(inner).unwrap()).unwrap_or(IFlags::empty());
        if set.is_err() || !flags.contains(IFlags::SYNC) {
            return skipped("the file system does not hand down the attribute");
        }
        let (mut homes, _) = open(&[directory.path().to_owned()]).unwrap();
        let home = homes.remove(0);
        assert_eq!(home.below.synchronous.as_deref(), Some("chattr +S"));
        let case = Case::new("rename", "foo to bar", "", |_| Err(not_here("no")));
        let observer = Observer::new(&Scene::default(), vec![home.below.clone()]);
        let (_, background) = observer.beside(&case.at((0, home.place)), || ());
        assert!(background.is_synchronous);
    }
}
