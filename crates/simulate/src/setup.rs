//! Which drive stands for each device of a trace: a command names drives for single devices or for
//! all others.

use crate::catalog::{Files, Target};
use crate::combinations::{Choices, combinations, of_flash};
use crate::error::Error;
use crate::fit::device_name;
use crate::job::Configuration;
use crate::ssd::Filled;
use ioscape_schema::Device;
use std::cell::RefCell;
use std::path::Path;

/// The drives that stand for the devices of a trace.
#[derive(Default)]
pub struct Setup {
    /// Drives of single devices, by device name.
    pub named: Vec<(String, Target)>,
    /// The drive of every other device.
    pub others: Option<Target>,
    /// The drive as given in the command, or the trace beside which it lies, if this distinguishes
    /// it from another with the same name.
    pub given: Option<String>,
    /// What the drives' descriptions state but the simulation leaves out, each with the drive's
    /// name or file.
    pub left_out: Vec<String>,
}

impl Setup {
    /// Returns the setups of a command's drives: one for every drive for all devices, each with the
    /// drives of single devices, `DEVICE=DRIVE`.
    ///
    /// # Errors
    /// Those of [`Target::named`]; a device with two drives.
    pub fn all(
        drives: &[String],
        filled: Option<Filled>,
        files: &dyn Files,
    ) -> Result<Vec<Self>, Error> {
        // A file may have an equals sign in its name.
        let of_device = |text: &&String| text.contains('=') && !files.exists(Path::new(text));
        let (named, others): (Vec<&String>, Vec<&String>) = drives.iter().partition(of_device);
        one_each(&named)?;
        let begin = |others: Option<&String>| {
            let named = named.iter().filter_map(|text| text.split_once('='));
            let mut left_out = Vec::new();
            let mut target = |name: &str| {
                let heard = Heard { files, left_out: RefCell::default() };
                let target = Target::named(name, filled, &heard)?;
                let what = heard.left_out.into_inner().into_iter();
                left_out.extend(what.map(|what| format!("{name}: {what}")));
                Ok::<_, Error>(target)
            };
            let named = named
                .map(|(device, name)| Ok((device.to_owned(), target(name)?)))
                .collect::<Result<_, Error>>()?;
            let others = others.map(|name| target(name)).transpose()?;
            Ok(Self { named, others, given: None, left_out })
        };
        let mut all = match others.as_slice() {
            [] => vec![begin(None)?],
            some => some.iter().map(|name| begin(Some(name))).collect::<Result<_, Error>>()?,
        };
        tell_apart(&mut all, &others);
        Ok(all)
    }

    /// Returns the combinations of options for these drives: those of the first disk. If all are
    /// solid-state drives, neither the host's scheduler nor a disk cache can be chosen.
    pub fn combinations(&self, choices: &Choices) -> Result<Vec<Configuration>, String> {
        let disks = self.targets().filter_map(|target| match target {
            Target::Disk(drive) => Some(drive),
            Target::Flash(_) => None,
        });
        let of_each: Vec<Vec<Configuration>> =
            disks.map(|drive| combinations(choices, drive)).collect::<Result<_, _>>()?;
        of_each.into_iter().next().map_or_else(|| of_flash(choices), Ok)
    }

    /// Whether all are solid-state drives.
    pub fn is_flash(&self) -> bool {
        self.targets().all(|target| matches!(target, Target::Flash(_)))
    }

    /// How far to trust the drives.
    pub fn status(&self) -> String {
        let mut words: Vec<&str> = self.targets().map(|t| t.status().word()).collect();
        words.dedup();
        words.join(", ")
    }

    /// The names of the drives.
    pub fn name(&self) -> String {
        let named = self.named.iter().map(|(device, t)| format!("{device}={}", t.extent().name));
        let given = self.given.as_ref().map_or(String::new(), |given| format!(" ({given})"));
        let others = self.others.iter().map(|target| format!("{}{given}", target.extent().name));
        named.chain(others).collect::<Vec<_>>().join(", ")
    }

    /// All drives.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        self.named.iter().map(|(_, target)| target).chain(&self.others)
    }

    /// The names of devices that have a drive of their own but are not among the devices `seen` in
    /// the trace.
    pub fn unmet(&self, devices: &[Device], seen: &[u16]) -> Vec<&str> {
        let met: Vec<&str> = seen
            .iter()
            .filter_map(|&device| self.own(devices, device))
            .map(|(of, _)| of.as_str())
            .collect();
        self.named.iter().map(|(of, _)| of.as_str()).filter(|of| !met.contains(of)).collect()
    }

    /// The drive given to a device by its name, or by its number if that is not the name of any
    /// device.
    fn own(&self, devices: &[Device], device: u16) -> Option<&(String, Target)> {
        let name = devices.get(usize::from(device)).map_or("", |d| d.name.as_str());
        let number = device.to_string();
        let given = |word: &str| self.named.iter().find(|(of, _)| of == word);
        let is_a_name = devices.iter().any(|device| device.name == number);
        given(name).or_else(|| given(&number).filter(|_| !is_a_name))
    }

    /// Returns the drive of a device.
    ///
    /// # Errors
    /// The device has no drive.
    pub fn target(&self, devices: &[Device], device: u16) -> Result<&Target, Error> {
        let own = self.own(devices, device).map(|(_, target)| target);
        own.or(self.others.as_ref()).ok_or_else(|| {
            let name = device_name(devices, device);
            Error::Configuration(format!(
                "no drive for device {name} of the trace: add --drive {name}=DRIVE, or a --drive for all others"
            ))
        })
    }
}

/// Makes setups whose drives have the same name, like those of a file and its copy, show how they
/// were given.
fn tell_apart(setups: &mut [Setup], given: &[&String]) {
    let names: Vec<String> = setups.iter().map(Setup::name).collect();
    for ((setup, name), given) in setups.iter_mut().zip(&names).zip(given) {
        let called = setup.others.as_ref().map_or("", |target| target.extent().name);
        if names.iter().filter(|other| *other == name).count() > 1 && called != given.as_str() {
            setup.given = Some((*given).clone());
        }
    }
}

/// Refuses a second drive for a device.
fn one_each(named: &[&String]) -> Result<(), Error> {
    let devices: Vec<&str> =
        named.iter().filter_map(|text| Some(text.split_once('=')?.0)).collect();
    let twice = (1..devices.len()).find(|&at| devices[..at].contains(&devices[at]));
    twice.map_or(Ok(()), |at| {
        Err(Error::Configuration(format!("--drive: device {} is given two drives", devices[at])))
    })
}

/// Forwards to the files of drives, and records what was left out of one.
struct Heard<'a> {
    files: &'a dyn Files,
    left_out: RefCell<Vec<String>>,
}

impl Files for Heard<'_> {
    fn exists(&self, path: &Path) -> bool {
        self.files.exists(path)
    }

    fn text(&self, path: &Path) -> Result<String, String> {
        self.files.text(path)
    }

    fn names(&self, folder: &Path) -> Result<Vec<String>, String> {
        self.files.names(folder)
    }

    fn left_out(&self, what: &[String]) {
        self.left_out.borrow_mut().extend_from_slice(what);
        self.files.left_out(what);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{drives, ssd};

    fn disk() -> Target {
        Target::Disk(Box::new(drives::find("hp-97560").unwrap().build().unwrap()))
    }

    fn flash() -> Target {
        Target::Flash(Box::new(ssd::find("generic-ssd").unwrap().build().unwrap()))
    }

    fn called(names: [&str; 2]) -> [Device; 2] {
        names.map(|name| Device { name: name.to_owned(), ..Device::default() })
    }

    #[test]
    fn a_device_whose_name_is_the_number_of_another_has_the_drive_of_its_name() {
        let devices = called(["1", "0"]);
        for reversed in [false, true] {
            let mut named = vec![("1".to_owned(), flash()), ("0".to_owned(), disk())];
            if reversed {
                named.reverse();
            }
            let setup = Setup { named, ..Setup::default() };
            assert!(matches!(setup.target(&devices, 0), Ok(Target::Flash(_))));
            assert!(matches!(setup.target(&devices, 1), Ok(Target::Disk(_))));
            assert!(setup.unmet(&devices, &[0, 1]).is_empty());
            assert_eq!(setup.unmet(&devices, &[0]), ["0"]);
        }
    }

    #[test]
    fn a_device_can_be_given_a_drive_by_its_number_where_none_is_called_by_it() {
        let named = vec![("0".to_owned(), disk())];
        let setup = Setup { named, others: Some(flash()), ..Setup::default() };
        let devices = called(["vda", "vdb"]);
        assert!(matches!(setup.target(&devices, 0), Ok(Target::Disk(_))));
        assert!(matches!(setup.target(&devices, 1), Ok(Target::Flash(_))));
        assert!(setup.unmet(&devices, &[0]).is_empty());
        let devices = called(["vda", "0"]);
        assert!(matches!(setup.target(&devices, 0), Ok(Target::Flash(_))));
        assert!(matches!(setup.target(&devices, 1), Ok(Target::Disk(_))));
    }

    #[test]
    fn drives_that_are_called_the_same_are_told_apart_by_how_they_were_given() {
        let copy = crate::testing::One("sas6.toml", drives::SHIPPED[0].1);
        let shipped = drives::SHIPPED[0].0;
        let names = |given: &[&str]| {
            let given: Vec<String> = given.iter().map(|&name| name.to_owned()).collect();
            let setups = Setup::all(&given, None, &copy).unwrap();
            setups.iter().map(Setup::name).collect::<Vec<_>>()
        };
        let copied = format!("{shipped} (sas6.toml)");
        assert_eq!(names(&[shipped, "sas6.toml"]), [shipped.to_owned(), copied]);
        assert_eq!(names(&["sas6.toml"]), [shipped]);
    }
}
