//! Drives and systems by name: those shipped with the program, and those described by parameter
//! files.

use crate::drive::{Drive, Parameters, Power, Status};
use crate::error::Error;
use crate::extent::Extent;
use crate::system::{self, Storage, SystemParameters};
use crate::{disksim, drives, ssd};
use std::path::Path;

/// Access to the files that describe drives; the caller implements it.
pub trait Files {
    /// Whether this path exists.
    fn exists(&self, path: &Path) -> bool;

    /// Returns the text of a file.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn text(&self, path: &Path) -> Result<String, String>;

    /// Returns the names in a folder.
    ///
    /// # Errors
    /// Why it cannot be listed.
    fn names(&self, folder: &Path) -> Result<Vec<String>, String>;

    /// Receives what a description states but the simulation leaves out.
    fn left_out(&self, what: &[String]);
}

/// What a trace can be simulated on.
pub enum Target {
    /// A disk.
    Disk(Box<Drive>),
    /// A solid-state drive.
    Flash(Box<ssd::Model>),
}

impl Target {
    /// Returns the disk or solid-state drive of this name or file; `filled` overrides what a
    /// solid-state drive holds at first.
    ///
    /// # Errors
    /// Those of [`parameters`] and [`build`]; `filled` given for a disk.
    pub fn named(
        name: &str,
        filled: Option<ssd::Filled>,
        files: &dyn Files,
    ) -> Result<Self, Error> {
        let flash = |mut parameters: ssd::Parameters| {
            parameters.filled = filled.unwrap_or(parameters.filled);
            Ok(Self::Flash(Box::new(parameters.build().map_err(|e| at(name, e))?)))
        };
        if let Some(parameters) = ssd::find(name) {
            return flash(parameters);
        }
        let text = own(name, files)?;
        if let Some(text) = text.as_deref().filter(|text| ssd::Parameters::describes(text)) {
            return flash(ssd::Parameters::parse(text, name)?);
        }
        if filled.is_some() {
            return Err(Error::Configuration(format!(
                "--precondition is for solid-state drives: {name} is a disk"
            )));
        }
        let parameters = match text {
            Some(text) => Parameters::parse(&text, name)?,
            None => parameters(name, files)?,
        };
        Ok(Self::Disk(Box::new(build(name, &parameters)?)))
    }

    /// The size and features that a trace must fit.
    pub fn extent(&self) -> Extent<'_> {
        self.storage().extent()
    }

    /// How far to trust the model.
    pub fn status(&self) -> Status {
        match self {
            Self::Disk(drive) => drive.status,
            Self::Flash(model) => model.status,
        }
    }

    /// The power that the drive draws, if known.
    pub fn power(&self) -> Option<Power> {
        match self {
            Self::Disk(drive) => drive.power,
            Self::Flash(model) => model.power,
        }
    }

    /// The solid-state drive, if it is one.
    pub fn flash(&self) -> Option<&ssd::Model> {
        match self {
            Self::Disk(_) => None,
            Self::Flash(model) => Some(model),
        }
    }

    /// The drive as the storage of a system.
    pub fn storage(&self) -> Storage<'_> {
        match self {
            Self::Disk(drive) => (&**drive).into(),
            Self::Flash(model) => (&**model).into(),
        }
    }
}

/// Returns the simulated system of this name or file; a drive's name gives the drive alone, without
/// a file cache
/// ([`SystemParameters::bare`]).
///
/// # Errors
/// No system and no drive has that name, or its file cannot be read or is wrong.
pub fn system(name: &str, files: &dyn Files) -> Result<SystemParameters, Error> {
    if let Some(system) = system::find(name) {
        return Ok(system);
    }
    let is_shipped = drives::find(name).is_some() || ssd::find(name).is_some();
    if is_shipped || disksim::is_description(name) {
        return bare(name, files);
    }
    let text = files.text(Path::new(name)).map_err(|why| unknown_system(name, &why))?;
    match SystemParameters::describes(&text) {
        true => SystemParameters::parse(&text, name),
        false => bare(name, files),
    }
}

fn bare(name: &str, files: &dyn Files) -> Result<SystemParameters, Error> {
    let target = Target::named(name, None, files)?;
    let extent = target.extent();
    Ok(SystemParameters::bare(name, extent.name, extent.bytes()))
}

fn unknown_system(name: &str, why: &str) -> Error {
    let systems = system::SHIPPED.iter().map(|(name, _)| *name);
    let systems: Vec<&str> = systems.collect();
    let drives = drives::SHIPPED.iter().map(|(name, _)| *name);
    let drives: Vec<&str> = drives.chain(ssd::SHIPPED.iter().map(|(name, _)| *name)).collect();
    Error::Configuration(format!(
        "sim:{name}: cannot be read ({why}); known are the systems {} and the drives {}",
        systems.join(", "),
        drives.join(", ")
    ))
}

/// Returns the parameters of a shipped disk, of a parameter file, or of a DiskSim file and the
/// others in its folder.
///
/// # Errors
/// No drive has that name, it is a solid-state drive, or its file cannot be read or is wrong.
pub fn parameters(name: &str, files: &dyn Files) -> Result<Parameters, Error> {
    if let Some(parameters) = drives::find(name) {
        return Ok(parameters);
    }
    let flash = || {
        Error::Configuration(format!("{name} is a solid-state drive, and a disk is needed here"))
    };
    if ssd::find(name).is_some() {
        return Err(flash());
    }
    if !files.exists(Path::new(name)) {
        let shipped = drives::SHIPPED.iter().chain(ssd::SHIPPED);
        let known: Vec<&str> = shipped.map(|(name, _)| *name).collect();
        return Err(Error::Configuration(format!(
            "drive {name}: no such file, and no drive of that name; known are {}",
            known.join(", ")
        )));
    }
    if disksim::is_description(name) {
        return described(Path::new(name), files);
    }
    let text = read(name, files)?;
    if ssd::Parameters::describes(&text) {
        return Err(flash());
    }
    Parameters::parse(&text, name)
}

/// Builds the disk from parameters that were found under a name or in a file.
///
/// # Errors
/// The parameters contradict one another; the error names the drive or file.
pub fn build(name: &str, parameters: &Parameters) -> Result<Drive, Error> {
    parameters.build().map_err(|e| at(name, e))
}

/// The text of an ioscape parameter file; `None` if `name` is a shipped drive, a DiskSim file or no
/// file at all.
fn own(name: &str, files: &dyn Files) -> Result<Option<String>, Error> {
    let is_known = drives::find(name).is_some() || disksim::is_description(name);
    if is_known || !files.exists(Path::new(name)) {
        return Ok(None);
    }
    read(name, files).map(Some)
}

fn read(name: &str, files: &dyn Files) -> Result<String, Error> {
    let unreadable = |why| Error::Configuration(format!("cannot read {name}: {why}"));
    files.text(Path::new(name)).map_err(unreadable)
}

/// The drive that a DiskSim parameter file describes together with the others in its folder.
fn described(path: &Path, files: &dyn Files) -> Result<Parameters, Error> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let unreadable = |why| {
        Error::Configuration(format!(
            "cannot read the files in the folder of {}: {why}",
            path.display()
        ))
    };
    let names = files.names(folder).map_err(unreadable)?;
    let open =
        |name: &str| files.text(&folder.join(name)).map_err(|why| format!("cannot be read: {why}"));
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let specs = disksim::read(&name, &disksim::Folder { names, open: &open })?;
    if !specs.left_out.is_empty() {
        files.left_out(&specs.left_out);
    }
    Ok(specs.parameters)
}

/// Replaces the name in a parameter error by the name or file that the user gave.
fn at(name: &str, error: Error) -> Error {
    match error {
        Error::Parameter { message, .. } => Error::parameter(name, message),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::One;

    #[test]
    fn a_file_holds_the_kind_of_drive_that_it_describes_whatever_it_is_called() {
        for name in ["mine.toml", "mine.TOML", "mine"] {
            let flash = One(name, ssd::SHIPPED[0].1);
            let found = Target::named(name, Some(ssd::Filled::Empty), &flash);
            assert!(matches!(found, Ok(Target::Flash(_))), "{name}");
            assert!(system(name, &flash).is_ok_and(|system| system.is_bare()), "{name}");
            let disk = One(name, drives::SHIPPED[0].1);
            assert!(matches!(Target::named(name, None, &disk), Ok(Target::Disk(_))), "{name}");
            let refused = Target::named(name, Some(ssd::Filled::Empty), &disk).err();
            assert!(refused.is_some_and(|e| e.to_string().contains("is a disk")), "{name}");
            let refused = parameters(name, &flash).err();
            assert!(refused.is_some_and(|e| e.to_string().contains("a disk is needed")), "{name}");
        }
        let nothing = Target::named("other", None, &One("mine", "")).err();
        assert!(nothing.is_some_and(|e| e.to_string().contains("no such file")));
    }
}
