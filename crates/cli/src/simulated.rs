//! A simulated system that the command line names, and the workloads that are run on it.

use crate::drives::DriveFiles;
use crate::failure::Failure;
use ioscape_schema::{Measurement, Workload};
use ioscape_simulate::Error;
use ioscape_simulate::catalog::{self, Target};
use ioscape_simulate::system::{self, Host, Storage, SystemParameters};

/// A system, shipped or of a file, and its drive.
pub struct Simulated {
    /// What the system is.
    pub parameters: SystemParameters,
    drive: Target,
}

impl Simulated {
    /// The system `name`, a shipped one or a file.
    ///
    /// # Errors
    /// It, or its drive, cannot be read.
    pub fn open(name: &str) -> Result<Self, Failure> {
        let parameters = catalog::system(name, &DriveFiles)?;
        let drive = Target::named(&parameters.drive, None, &DriveFiles);
        let drive = drive.map_err(|why| Failure::Misuse(format!("{name}: {why}")))?;
        Ok(Self { parameters, drive })
    }

    /// What it stores on.
    pub fn storage(&self) -> Storage<'_> {
        self.drive.storage()
    }

    /// Runs one workload, which may take `cap_s` seconds of a budget, on a new system.
    ///
    /// # Errors
    /// The system has no room for the set.
    pub fn measure(
        &self,
        workload: &Workload,
        seed: u64,
        cap_s: f64,
    ) -> Result<Measurement, Error> {
        let mut host = Host::new(&self.parameters, self.storage(), workload.unique_bytes)?;
        let mut streams = ioscape_workload::streams(workload, seed);
        let next = |process: usize| streams[process].request();
        Ok(system::measure(&self.parameters, &mut host, workload, next, system::cost_s(cap_s)))
    }
}
