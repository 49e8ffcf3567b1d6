//! What a campaign runs in each cell of its table, before anything is measured.

use crate::VxJob;
use serde::{Deserialize, Serialize};

/// One parameter of a row and its value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CampaignSetting {
    /// Name, such as `iosize`.
    pub name: String,
    /// Value as it was written, such as `64k`.
    pub text: String,
    /// The same as a number: bytes for sizes.
    #[serde(deserialize_with = "crate::range::not_negative")]
    pub value: f64,
}

/// How the files of a run are created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Prepare {
    /// They are written whole, one after another, before the run.
    #[default]
    Written,
    /// They do not exist: the run makes them.
    Fresh,
    /// They are written alternately, in pieces of `age_piece`, so that their extents interleave.
    Aged,
}

/// What a run does to names instead of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NameOperation {
    /// Files are made, empty.
    Create,
    /// Their attributes are asked for.
    Stat,
    /// They get another name in the same directory.
    Rename,
    /// Directories are read; every entry counts.
    List,
    /// Files are removed.
    Unlink,
}

impl NameOperation {
    /// All of them, with their words.
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
    /// What is done.
    pub operation: NameOperation,
    /// Threads at the same time.
    pub threads: u32,
    /// Files of each thread.
    pub entries: u64,
    /// Whether all threads work in one directory.
    pub shared: bool,
    /// Files that lie in those directories beforehand, in all.
    pub tree_files: u64,
    /// Times that half of those, drawn at random, were removed and made again.
    pub tree_churn: u32,
}

impl NameJob {
    /// Operations on names of a run, with those that make and remove what it works on.
    pub fn operations(&self) -> u64 {
        let each = match self.operation {
            NameOperation::Create | NameOperation::Unlink | NameOperation::List => 2,
            NameOperation::Stat | NameOperation::Rename => 3,
        };
        self.entries.saturating_mul(u64::from(self.threads)).saturating_mul(each)
    }

    /// Operations on names that lay out the files which lie there beforehand, and remove them in the end.
    pub fn layout_operations(&self) -> u64 {
        self.tree_files.saturating_mul(2 + u64::from(self.tree_churn))
    }
}

/// What a file system holds before the files of a cell are laid out in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fill {
    /// Share of its space that is used, in percent: from 0 to [`Fill::PERCENT_MAX`].
    pub percent: u8,
    /// Times that half of the files that use it, drawn at random, were removed and others made until it was as full again.
    pub turnover: u32,
}

impl Fill {
    /// Fullest that a file system is made, in percent.
    pub const PERCENT_MAX: u8 = 95;

    /// Bytes that are written to fill a file system of so many bytes.
    pub fn written_bytes(self, of_bytes: u64) -> u64 {
        let used = of_bytes / 100 * u64::from(self.percent);
        used + used / 2 * u64::from(self.turnover)
    }
}

/// A row before it is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct RowPlan {
    /// The parameters that vary.
    pub settings: Vec<CampaignSetting>,
    /// One plan per method.
    pub cells: Vec<CellPlan>,
}

impl RowPlan {
    /// Space that the row takes at a place, in bytes: that of its largest cell.
    pub fn space_bytes(&self) -> u64 {
        self.cells.iter().map(CellPlan::space_bytes).max().unwrap_or(0)
    }
}

/// What one cell runs, wherever its place is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellPlan {
    /// The run.
    pub job: VxJob,
    /// Users, one file each.
    pub files: u32,
    /// Files that exist.
    pub files_written: u32,
    /// Size of each, in bytes.
    pub file_bytes: u64,
    /// How they are created.
    pub prepare: Prepare,
    /// Pieces of aged files, in bytes.
    pub age_piece: u64,
    /// Whether it runs on a device.
    pub raw: bool,
    /// What it does to names, instead of the run's I/O.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<NameJob>,
    /// What its file system holds beforehand, if it was made for the campaign.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<Fill>,
}

impl CellPlan {
    /// Plan of a run on one file of `file_bytes` that is written before.
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

    /// Whether both do one kind of work: read, write at random, make names and so on, however it is done.
    pub fn is_work_of(&self, other: &Self) -> bool {
        let names = |plan: &Self| plan.names.as_ref().map(|job| job.operation);
        names(self) == names(other)
            && (self.names.is_some() || self.job.workload == other.job.workload)
    }

    /// Space that its files take, in bytes.
    pub fn space_bytes(&self) -> u64 {
        self.file_bytes.saturating_mul(u64::from(self.files_written))
    }

    /// Bytes that one run moves; none where it works on names.
    pub fn moved_bytes(&self) -> u64 {
        if self.names.is_some() {
            return 0;
        }
        self.job.span_bytes().unwrap_or(self.file_bytes).saturating_mul(u64::from(self.files))
    }
}

/// The files that must lie at a directory or device before a cell can run there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSet {
    prepare: Prepare,
    file_bytes: u64,
    files: u32,
    age_piece: u64,
    fill: Option<Fill>,
    /// Directories, whether they are shared, files in them and how often half of these were made again.
    tree: Option<(u32, bool, u64, u32)>,
}

impl FileSet {
    /// What `plan` needs.
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
