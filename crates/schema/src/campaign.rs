//! Results of a campaign: one table of `vxbench` runs, like that of the white paper (VERITAS 1996),
//! with its columns side by side.

use crate::range::not_negative;
use crate::{CampaignSetting, CellPlan, ResponseTime};
use serde::{Deserialize, Serialize};

/// A column of the table, measured side by side with the others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CampaignColumn {
    /// Name of the place, such as `xfs`.
    pub place: String,
    /// Name of the I/O method, such as `direct`.
    pub method: String,
    /// Directory or device.
    pub path: String,
    /// File system of the place; `block` for a device.
    pub file_system: String,
    /// How the campaign made its file system; absent if it existed before.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub made_by: String,
    /// Its mount options, as the kernel reports them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub mount_options: String,
}

impl CampaignColumn {
    /// Returns the heading of the column.
    pub fn name(&self) -> String {
        if self.place == self.method {
            return self.place.clone();
        }
        format!("{} {}", self.place, self.method).trim().to_owned()
    }
}

/// One run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CampaignSample {
    /// Bytes moved.
    pub bytes: u64,
    /// Duration in seconds.
    #[serde(deserialize_with = "not_negative")]
    pub elapsed_s: f64,
    /// Throughput in bytes per second.
    #[serde(deserialize_with = "not_negative")]
    pub throughput_bytes_per_s: f64,
    /// System and user CPU seconds.
    pub cpu_s: f64,
    /// Number of operations on names; absent if data was moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations: Option<u64>,
    /// Number of fragments of all files read or written (`FIEMAP`); absent if not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragments: Option<u64>,
    /// Response times of its requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_time_ns: Option<ResponseTime>,
    /// Times of the `fsync` after each stream's last write, which do not count as requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fsync_ns: Option<ResponseTime>,
    /// Jain's index of the clients' rates, from 1 over their number to 1; absent with one client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fairness: Option<f64>,
}

impl CampaignSample {
    /// Returns the CPU seconds per operation, or per byte if data was moved; infinite or not a
    /// number if there was none.
    pub fn cpu_each_s(&self) -> f64 {
        self.cpu_s / self.operations.unwrap_or(self.bytes) as f64
    }

    /// Returns the compared rate: operations per second, or bytes per second if data was moved.
    pub fn rate(&self) -> f64 {
        match self.operations {
            Some(count) if self.elapsed_s > 0.0 => count as f64 / self.elapsed_s,
            Some(_) => 0.0,
            None => self.throughput_bytes_per_s,
        }
    }
}

/// One cell: its runs and the figures derived from them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CampaignCell {
    /// The complete plan of a run: cells of two campaigns do the same work if their plans are
    /// equal. Absent in results of versions up to 0.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<CellPlan>,
    /// The runs, in order of the rounds.
    pub samples: Vec<CampaignSample>,
    /// Median of the runs' throughput.
    #[serde(deserialize_with = "not_negative")]
    pub throughput_bytes_per_s: f64,
    /// Median of the runs' operations per second; absent if data was moved.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "not_negative")]
    pub operations_per_s: Option<f64>,
    /// 95 % interval of the median throughput, or of the operations per second.
    ///
    /// From six runs on it is taken from their order statistics; with fewer it is Student's t on
    /// their logarithms, widened to include them all. Absent with fewer than two runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_ci95: Option<[f64; 2]>,
    /// Median of the runs' CPU seconds.
    pub cpu_s: f64,
    /// 95 % interval of that median, by the same rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ci95: Option<[f64; 2]>,
    /// Median over the runs, for each percentile of the response times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_time_ns: Option<ResponseTime>,
    /// The same for `fsync`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fsync_ns: Option<ResponseTime>,
    /// Throughput over that of the row's first column with the same kind of work, from runs of the
    /// same round.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "not_negative")]
    pub ratio: Option<f64>,
    /// 95 % interval of that ratio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio_ci95: Option<[f64; 2]>,
    /// CPU seconds per byte, or per operation on names, over those of the row's first column with
    /// the same kind of work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ratio: Option<f64>,
    /// 95 % interval of that ratio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ratio_ci95: Option<[f64; 2]>,
    /// Why this cell cannot be measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impossible: Option<String>,
}

/// One row: its parameters and one cell per column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CampaignRow {
    /// The parameters that vary, outermost first.
    pub settings: Vec<CampaignSetting>,
    /// The cells, in order of the columns.
    pub cells: Vec<CampaignCell>,
}

impl CampaignRow {
    /// Returns the parameter `name` of the row, if it varies.
    pub fn setting(&self, name: &str) -> Option<&CampaignSetting> {
        self.settings.iter().find(|setting| setting.name == name)
    }

    /// Returns the column that ratios of `column` refer to: the first with the same kind of work.
    /// In results that do not record the work of each cell, it is the first of all.
    pub fn base_of(&self, column: usize) -> usize {
        let Some(own) = self.cells.get(column).and_then(|cell| cell.plan.as_ref()) else {
            return 0;
        };
        let is_base = |cell: &CampaignCell| cell.plan.as_ref().is_some_and(|it| it.is_work_of(own));
        self.cells.iter().position(is_base).unwrap_or(0)
    }
}

/// Published numbers to compare with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CampaignReference {
    /// The source of the numbers.
    pub source: String,
    /// Headings of the columns, including those of the parameters.
    pub columns: Vec<String>,
    /// The rows as published.
    pub rows: Vec<Vec<f64>>,
}

/// One measured table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CampaignResult {
    /// Name of the campaign.
    pub name: String,
    /// Title of the table.
    pub title: String,
    /// The publication that it follows.
    pub source: String,
    /// Parameter on the horizontal axis of its graphs.
    pub x: String,
    /// Number of rounds requested.
    pub rounds: u32,
    /// Number of clients that did every run together, each on its own files; absent with one
    /// client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<u32>,
    /// The columns.
    pub columns: Vec<CampaignColumn>,
    /// The rows.
    pub rows: Vec<CampaignRow>,
    /// The findings in words, each with its evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sentences: Vec<String>,
    /// The published numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<CampaignReference>,
}

impl CampaignResult {
    /// Returns groups of rows that differ only in the parameter `name`, each with a description of
    /// what the rows share, in order of their first rows.
    pub fn rows_alike_but_for(&self, name: &str) -> Vec<(String, Vec<&CampaignRow>)> {
        let mut groups: Vec<(String, Vec<&CampaignRow>)> = Vec::new();
        for row in &self.rows {
            let shared = row.settings.iter().filter(|setting| setting.name != name);
            let words: Vec<String> = shared.map(|s| format!("{} {}", s.name, s.text)).collect();
            let words = words.join(", ");
            match groups.iter_mut().find(|(known, _)| *known == words) {
                Some((_, rows)) => rows.push(row),
                None => groups.push((words, vec![row])),
            }
        }
        groups
    }
}
