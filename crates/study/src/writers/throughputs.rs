//! The three arms of the experiment, and the throughputs measured in each.

/// Who writes where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arm {
    /// One writer on the common file.
    Alone,
    /// All writers on the common file.
    OneFile,
    /// Each writer on a file of its own.
    OwnFiles,
}

/// Throughputs of the three arms in bytes per second, round by round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Throughputs {
    /// One writer.
    pub alone: Vec<f64>,
    /// All writers on one file.
    pub one_file: Vec<f64>,
    /// All writers on a file each.
    pub own_files: Vec<f64>,
}

impl Throughputs {
    /// The runs of one arm.
    pub fn of(&mut self, arm: Arm) -> &mut Vec<f64> {
        match arm {
            Arm::Alone => &mut self.alone,
            Arm::OneFile => &mut self.one_file,
            Arm::OwnFiles => &mut self.own_files,
        }
    }

    /// The number of runs of all arms together.
    pub fn runs(&self) -> usize {
        self.alone.len() + self.one_file.len() + self.own_files.len()
    }

    /// The number of rounds in which every arm was measured.
    pub fn rounds(&self) -> usize {
        self.alone.len().min(self.one_file.len()).min(self.own_files.len())
    }
}
