//! A row of a document: what was measured, what exactly was done, and the figure.

use super::figures::Figure;
use ioscape_schema::{CellPlan, Document, Metric, VxJob, Workload};

/// A document and the name of its system.
#[derive(Clone, Copy, Debug)]
pub struct NamedDocument<'a> {
    /// The name.
    pub name: &'a str,
    /// The document.
    pub document: &'a Document,
}

/// What a row's name does not say about its work.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Work {
    /// A run of `vxbench`: its options, and the sizes of its files in bytes, in order, if they are
    /// known.
    Vxbench(Box<VxJob>, Vec<Option<u64>>),
    /// A cell of a campaign; older documents have no plan.
    Campaign(Option<Box<CellPlan>>),
    /// A run of a workload.
    Run(RunWork),
}

/// How a workload was run, beyond what the workload itself says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RunWork {
    /// Whether the file cache was emptied on every pass.
    pub(super) emptied: bool,
    /// Whether its data was verified.
    pub(super) verified: bool,
    /// Clients that ran it together.
    pub(super) clients: u64,
}

impl Work {
    /// Whether both are the same work. Campaigns without plans are compared as a whole beforehand.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Campaign(one), Self::Campaign(other)) => {
                one.is_none() || other.is_none() || one == other
            }
            _ => self == other,
        }
    }
}

/// A row: what was measured, and its figure.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) name: Option<String>,
    pub(super) workload: Option<Workload>,
    /// What neither the name nor the workload says about the work.
    pub(super) work: Option<Work>,
    pub(super) metric: Metric,
    pub(super) figure: Figure,
}

impl Row {
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let is_same_work = match (&self.work, &other.work) {
            (Some(one), Some(other)) => one.is_like(other),
            (one, other) => one.is_none() && other.is_none(),
        };
        self.is_called_like(other) && self.workload == other.workload && is_same_work
    }

    /// Whether it has the same name and the same metric, whatever work was done.
    pub(super) fn is_called_like(&self, other: &Self) -> bool {
        self.metric == other.metric && self.name == other.name
    }
}
