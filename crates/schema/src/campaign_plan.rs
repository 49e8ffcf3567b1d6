//! The plan of a campaign: what runs in each cell of its table.

use crate::VxJob;
use serde::{Deserialize, Serialize};

/// One parameter of a row with its value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CampaignSetting {
    /// Name, such as `iosize`.
    pub name: String,
    /// Value as written, such as `64k`.
    pub text: String,
    /// Value as a number; sizes are in bytes.
    #[serde(deserialize_with = "crate::range::not_negative")]
    pub value: f64,
}

/// How the files of a run are created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Prepare {
    /// They are written completely, one after another, before the run.
    #[default]
    Written,
    /// They do not exist before the run, which creates them.
    Fresh,
    /// They are written alternately in pieces of `age_piece`, so that their extents interleave.
    Aged,
}

/// Operation of a run on names instead of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NameOperation {
    /// Creates empty files.
    Create,
    /// Reads the attributes of files.
    Stat,
    /// Renames files within the same directory.
    Rename,
    /// Reads directories; every entry counts.
    List,
    /// Removes files.
    Unlink,
}

impl NameOperation {
    /// All operations with their words.
    pub const ALL: [(&str, Self); 5] = [
        ("create", Self::Create),
        ("stat", Self::Stat),
        ("rename", Self::Rename),
        ("list", Self::List),
        ("unlink", Self::Unlink),
    ];
}

/// A run of operations on names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NameJob {
    /// The operation.
    pub operation: NameOperation,
    /// Number of concurrent threads.
    pub threads: u32,
    /// Number of files per thread.
    pub entries: u64,
    /// Whether all threads work in one directory.
    pub shared: bool,
    /// Total number of files in those directories beforehand.
    pub tree_files: u64,
    /// How often half of those files, chosen at random, were removed and recreated.
    pub tree_churn: u32,
}

impl NameJob {
    /// Returns the number of name operations in a run, including those that create and remove its
    /// files.
    pub fn operations(&self) -> u64 {
        let each = match self.operation {
            NameOperation::Create | NameOperation::Unlink | NameOperation::List => 2,
            NameOperation::Stat | NameOperation::Rename => 3,
        };
        self.entries.saturating_mul(u64::from(self.threads)).saturating_mul(each)
    }

    /// Returns the number of name operations that create the files present beforehand and finally
    /// remove them.
    pub fn layout_operations(&self) -> u64 {
        self.tree_files.saturating_mul(2 + u64::from(self.tree_churn))
    }
}

/// Contents of a file system before the files of a cell are laid out in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fill {
    /// Used fraction of its space, in percent: from 0 to [`Fill::PERCENT_MAX`].
    pub percent: u8,
    /// How often half of the files that fill it, chosen at random, were removed and replaced until
    /// it was as full again.
    pub turnover: u32,
}

impl Fill {
    /// Maximum fill level of a file system, in percent.
    pub const PERCENT_MAX: u8 = 95;

    /// Returns the bytes written to fill a file system of `of_bytes` bytes.
    pub fn written_bytes(self, of_bytes: u64) -> u64 {
        let used = of_bytes / 100 * u64::from(self.percent);
        used + used / 2 * u64::from(self.turnover)
    }
}

/// Plan of one row.
#[derive(Clone, Debug, PartialEq)]
pub struct RowPlan {
    /// The parameters that vary.
    pub settings: Vec<CampaignSetting>,
    /// One plan per method.
    pub cells: Vec<CellPlan>,
}

impl RowPlan {
    /// Returns the space that the row needs at a place, in bytes: that of its largest cell.
    pub fn space_bytes(&self) -> u64 {
        self.cells.iter().map(CellPlan::space_bytes).max().unwrap_or(0)
    }
}

/// Plan of one cell, independent of its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellPlan {
    /// The run.
    pub job: VxJob,
    /// Users, one file each.
    pub files: u32,
    /// Number of files that exist beforehand.
    pub files_written: u32,
    /// Size of each file, in bytes.
    pub file_bytes: u64,
    /// How they are created.
    pub prepare: Prepare,
    /// Size of the pieces of aged files, in bytes.
    pub age_piece: u64,
    /// Whether the cell runs on a raw device.
    pub raw: bool,
    /// The operations on names, if it does those instead of the run's I/O.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<NameJob>,
    /// What the file system holds beforehand, if the campaign made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<Fill>,
}

impl CellPlan {
    /// Returns the plan of a run on one file of `file_bytes` that is written beforehand.
    pub fn of_file(job: VxJob, file_bytes: u64) -> Self {
        Self {
            job,
            files: 1,
            files_written: 1,
            file_bytes,
            prepare: Prepare::Written,
            age_piece: 0,
            raw: false,
            names: None,
            fill: None,
        }
    }

    /// Returns whether both do the same kind of work (read, write at random, create names and so
    /// on), by whatever method.
    pub fn is_work_of(&self, other: &Self) -> bool {
        let names = |plan: &Self| plan.names.as_ref().map(|job| job.operation);
        names(self) == names(other)
            && (self.names.is_some() || self.job.workload == other.job.workload)
    }

    /// Returns the bytes of the files that exist beforehand.
    pub fn layout_bytes(&self) -> u64 {
        self.file_bytes.saturating_mul(u64::from(self.files_written))
    }

    /// Returns the most space that its files take, in bytes.
    pub fn space_bytes(&self) -> u64 {
        let appended = if self.job.append { self.moved_bytes() } else { 0 };
        match self.prepare {
            Prepare::Fresh => self.layout_bytes().max(appended),
            Prepare::Written | Prepare::Aged => self.layout_bytes().saturating_add(appended),
        }
    }

    /// Returns the bytes that one run moves; 0 for operations on names.
    pub fn moved_bytes(&self) -> u64 {
        if self.names.is_some() {
            return 0;
        }
        let once = self.job.span_bytes().unwrap_or(self.file_bytes);
        once.saturating_mul(self.job.nrep.into()).saturating_mul(self.files.into())
    }
}

/// The files that must exist in a directory or on a device before a cell can run there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSet {
    prepare: Prepare,
    file_bytes: u64,
    files: u32,
    age_piece: u64,
    fill: Option<Fill>,
    /// Number of directories, whether they are shared, files in them, and how often half of these
    /// were recreated.
    tree: Option<(u32, bool, u64, u32)>,
}

impl FileSet {
    /// Returns the files that `plan` needs.
    pub fn of(plan: &CellPlan) -> Self {
        let CellPlan { prepare, file_bytes, files_written: files, age_piece, names, fill, .. } =
            *plan;
        let tree = names.map(|job| (job.threads, job.shared, job.tree_files, job.tree_churn));
        let written =
            Self { prepare: Prepare::Written, file_bytes, files, age_piece: 0, fill, tree };
        match prepare {
            _ if plan.raw => Self { files: 1, ..written },
            Prepare::Fresh => Self { prepare, file_bytes: 0, files: 0, ..written },
            Prepare::Written => written,
            Prepare::Aged => Self { prepare, age_piece, ..written },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against a defect: a dry run said 16 MiB, and the directory took 256.
    #[test]
    fn files_that_are_appended_to_take_what_they_had_and_what_is_added() {
        let space = |prepare, append| {
            let job = VxJob { append, ..VxJob::default() };
            CellPlan { prepare, ..CellPlan::of_file(job, 1 << 20) }.space_bytes()
        };
        assert_eq!(space(Prepare::Written, true), 2 << 20);
        assert_eq!([space(Prepare::Fresh, true), space(Prepare::Written, false)], [1 << 20; 2]);
    }

    /// Guards against a defect: a dry run counted a single pass of ten.
    #[test]
    fn a_run_moves_the_bytes_of_all_its_passes_on_all_its_files() {
        let job = VxJob { nrep: 10, ..VxJob::default() };
        let plan = CellPlan { files: 2, ..CellPlan::of_file(job, 1 << 20) };
        assert_eq!(plan.moved_bytes(), 20 << 20);
    }

    #[test]
    fn cells_share_files_that_are_the_same() {
        let of = |prepare, raw| {
            let one = CellPlan::of_file(VxJob::default(), 1 << 20);
            FileSet::of(&CellPlan { prepare, age_piece: 65536, raw, ..one })
        };
        assert_ne!(of(Prepare::Written, false), of(Prepare::Aged, false));
        assert_ne!(of(Prepare::Written, false), of(Prepare::Fresh, false));
        assert_eq!(of(Prepare::Written, true), of(Prepare::Aged, true), "a device is one file");
    }
}
