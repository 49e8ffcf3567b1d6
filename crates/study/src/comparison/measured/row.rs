//! A row of a document: what was measured, what exactly was done, and the figure.

use super::figures::Figure;
use ioscape_schema::{CellPlan, Document, Metric, VxJob, Workload};
use std::collections::HashMap;

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
        let is_same_work = || match (&self.work, &other.work) {
            (Some(one), Some(other)) => one.is_like(other),
            (one, other) => one.is_none() && other.is_none(),
        };
        self.is_called_like(other) && self.workload == other.workload && is_same_work()
    }

    /// Whether it has the same name and the same metric, whatever work was done.
    fn is_called_like(&self, other: &Self) -> bool {
        self.metric == other.metric && self.name == other.name
    }
}

/// Rows in order, and where those of each name are: there may be too many to compare each with all
/// others.
#[derive(Debug, Default)]
pub(super) struct RowsByName {
    all: Vec<Row>,
    at: HashMap<Option<String>, Vec<usize>>,
}

impl RowsByName {
    /// Adds a row.
    pub(super) fn push(&mut self, row: Row) {
        self.at.entry(row.name.clone()).or_default().push(self.all.len());
        self.all.push(row);
    }

    /// All rows.
    pub(super) fn all(&self) -> &[Row] {
        &self.all
    }

    /// The rows with the name and the metric of this one, whatever work was done.
    pub(super) fn called_like(&self, row: &Row) -> impl Iterator<Item = &Row> {
        let of_name = self.at.get(&row.name).into_iter().flatten().map(|&at| &self.all[at]);
        of_name.filter(|one| one.is_called_like(row))
    }

    /// The first row of the same work as this one.
    pub(super) fn like(&self, row: &Row) -> Option<&Row> {
        self.called_like(row).find(|one| one.is_like(row))
    }

    /// The first row of the same work as this one, to be changed, but not in name.
    pub(super) fn like_mut(&mut self, row: &Row) -> Option<&mut Row> {
        let at = self.at.get(&row.name)?.iter().find(|&&at| self.all[at].is_like(row))?;
        self.all.get_mut(*at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: Option<&str>, metric: Metric, value: f64, size_mean: u64) -> Row {
        let figure = Figure {
            value,
            samples: vec![value],
            within: [0.0; 2],
            between: 0.0,
            least_error: 0.0,
            is_exact: false,
        };
        let workload = Some(Workload { size_mean, ..Workload::default() });
        Row { name: name.map(str::to_owned), workload, work: None, metric, figure }
    }

    #[test]
    fn a_row_finds_the_first_of_its_name_metric_and_work() {
        let mut rows = RowsByName::default();
        let all = [
            row(Some("log"), Metric::Time, 0.0, 1),
            row(Some("log"), Metric::Rate, 1.0, 1),
            row(None, Metric::Rate, 2.0, 1),
            row(Some("log"), Metric::Rate, 3.0, 2),
            row(Some("log"), Metric::Rate, 4.0, 2),
        ];
        all.iter().for_each(|one| rows.push(one.clone()));
        assert_eq!(rows.all(), all);
        let values = |row: &Row| rows.called_like(row).map(|one| one.figure.value).collect();
        let known = row(Some("log"), Metric::Rate, 0.0, 2);
        let other = row(None, Metric::Time, 0.0, 1);
        assert_eq!((values(&known), values(&other)), (vec![1.0, 3.0, 4.0], vec![]));
        assert_eq!(rows.like(&known).map(|one| one.figure.value), Some(3.0));
        assert_eq!(rows.like(&other), None);
        rows.like_mut(&known).unwrap().figure.value = 5.0;
        assert_eq!(rows.all()[3].figure.value, 5.0);
    }
}
