//! A simulated system that the command line names, and the workloads that run on it.

use crate::drives::DriveFiles;
use crate::failure::Failure;
use ioscape_schema::{Filled, Measurement, Warning, WarningKind, Workload};
use ioscape_simulate::Error;
use ioscape_simulate::catalog::{self, Target};
use ioscape_simulate::ssd::Limit;
use ioscape_simulate::system::{self, Host, Storage, SystemParameters};

/// A system, shipped or from a file, and its drive.
pub struct Simulated {
    /// The parameters of the system.
    pub parameters: SystemParameters,
    drive: Target,
}

impl Simulated {
    /// Opens the system `name`, a shipped one or a file; `filled` overrides what its solid-state
    /// drive holds at first.
    ///
    /// # Errors
    /// The system or its drive cannot be read, the drive's sectors do not make up a block, or
    /// `filled` is given for a disk.
    pub fn open(name: &str, filled: Option<Filled>) -> Result<Self, Failure> {
        let parameters = catalog::system(name, &DriveFiles)?;
        let drive = Target::named(&parameters.drive, filled, &DriveFiles);
        let drive = drive.map_err(|why| Failure::Misuse(format!("{name}: {why}")))?;
        system::block_sectors(drive.extent())?;
        Ok(Self { parameters, drive })
    }

    /// The storage of the system.
    pub fn storage(&self) -> Storage<'_> {
        self.drive.storage()
    }

    /// The warnings about everything that is measured on it: every workload runs on a new system,
    /// and its drive may not stand for any real one.
    pub fn warnings(&self) -> Vec<Warning> {
        let status = self.drive.status().doubt().map(str::to_owned);
        let mut doubts: Vec<String> = status.into_iter().collect();
        let mut rested = Vec::new();
        if let Storage::Flash(model) = self.storage() {
            doubts.extend(model.doubts.iter().map(|doubt| doubt.message.clone()));
            rested.extend(model.credits.iter().filter_map(Limit::doubt_of_rest));
            rested.extend(model.doubt_of_garbage());
        }
        let of = |kind, said: Vec<String>| {
            said.into_iter().map(move |message| Warning::new(kind, message))
        };
        of(WarningKind::Extrapolated, doubts).chain(of(WarningKind::NotSteady, rested)).collect()
    }

    /// Runs one workload on a new system, for up to `cap_s` seconds of a budget and at most
    /// `blocks_most` blocks.
    ///
    /// # Errors
    /// The system has no room for the set.
    pub fn measure(
        &self,
        workload: &Workload,
        seed: u64,
        cap_s: f64,
        blocks_most: u64,
    ) -> Result<Measurement, Error> {
        let mut host = Host::new(&self.parameters, self.storage(), workload.unique_bytes)?;
        let mut streams = ioscape_workload::streams(workload, seed);
        let next = |process: usize| streams[process].request();
        let most = (blocks_most, system::cost_s(cap_s));
        Ok(system::measure(&self.parameters, &mut host, workload, next, most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_simulate::ssd::{self, Parameters};
    use ioscape_simulate::{Status, drives};

    #[test]
    fn the_credit_with_which_every_point_begins_is_said_with_the_rate_that_holds() {
        let limit =
            Limit { operations_per_s: None, bytes_per_s: Some(2e7), only: None, credit: 1e9 };
        let limits = vec![limit, Limit { credit: 0.0, ..limit }];
        let filled = Filled::SteadyState;
        let drive = Parameters { limits, filled, ..ssd::find("generic-ssd").unwrap() };
        let parameters = SystemParameters::bare("d", "a drive", drive.capacity_bytes);
        let drive = Target::Flash(Box::new(drive.build().unwrap()));
        let said = Simulated { parameters, drive }.warnings();
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].message.contains("rates of storage beyond 20 MB/s"), "{said:?}");
        assert!(Simulated::open("hp-97560", None).unwrap().warnings().is_empty());
    }

    /// Such a drive was refused only at the first point, as an interruption with files of no point.
    #[test]
    fn a_drive_whose_sectors_make_up_no_block_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("drive.toml");
        let shipped = drives::find("generic-hdd").unwrap();
        let odd = ioscape_simulate::Parameters { sector_bytes: 520, ..shipped };
        std::fs::write(&file, odd.text().unwrap()).unwrap();
        let refused = Simulated::open(&file.display().to_string(), None).err();
        let words = "no whole sectors of 520 bytes";
        let is_misuse = matches!(&refused, Some(Failure::Misuse(why)) if why.contains(words));
        assert!(is_misuse, "{refused:?}");
    }

    #[test]
    fn a_drive_that_has_no_garbage_to_collect_is_told() {
        let said = |filled| Simulated::open("generic-nvme", filled).unwrap().warnings();
        let is_told = |one: &Warning| one.message.contains("68 GiB of erased flash");
        assert!(said(None).iter().any(|one| one.kind == WarningKind::NotSteady && is_told(one)));
        assert!(said(Some(Filled::SteadyState)).is_empty());
        let disk = Simulated::open("hp-730", Some(Filled::SteadyState)).err();
        let words = "hp-730: --precondition is for solid-state drives";
        assert!(matches!(disk, Some(Failure::Misuse(why)) if why.starts_with(words)));
    }

    #[test]
    fn what_its_file_says_against_a_drive_is_said_of_all_that_is_simulated_with_it() {
        let mut drive = ssd::find("generic-ssd").unwrap();
        drive.status = Status::NotCalibrated;
        let verdict = "judged on a set of 1 GiB of 4 TiB; what requests over more of it take";
        drive.sources.insert("verdict".to_owned(), verdict.to_owned());
        let parameters = SystemParameters::bare("d", "a drive", drive.capacity_bytes);
        let drive = Target::Flash(Box::new(drive.build().unwrap()));
        let said = Simulated { parameters, drive }.warnings();
        assert!(said[..2].iter().all(|one| one.kind == WarningKind::Extrapolated), "{said:?}");
        assert!(said[0].message.contains("not calibrated"), "{said:?}");
        assert!(said[1].message.contains("a set of 1 GiB of 4 TiB"), "{said:?}");
    }
}
