//! Results of a campaign: one table of `vxbench` runs, as the white paper's (VERITAS 1996), with its columns side by side.

use crate::range::not_negative;
use crate::{CampaignSetting, CellPlan, ResponseTime};
use serde::{Deserialize, Serialize};

/// What is measured side by side with the other columns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CampaignColumn {
    /// Name of the place, such as `xfs`.
    pub place: String,
    /// Name of the way of doing I/O, such as `direct`.
    pub method: String,
    /// Directory or device.
    pub path: String,
    /// File system of the place; `block` for a device.
    pub file_system: String,
    /// How its file system was made for the campaign; absent where it was there before.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub made_by: String,
    /// The options that it is mounted with, as the kernel tells them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub mount_options: String,
}

impl CampaignColumn {
    /// Heading of the column.
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
    /// Seconds it took.
    #[serde(deserialize_with = "not_negative")]
    pub elapsed_s: f64,
    /// Bytes per second.
    #[serde(deserialize_with = "not_negative")]
    pub throughput_bytes_per_s: f64,
    /// System and user seconds.
    pub cpu_s: f64,
    /// Operations on names; absent where data was moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations: Option<u64>,
    /// Fragments of all files read or written (`FIEMAP`); absent where not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragments: Option<u64>,
    /// Response times of its requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_time_ns: Option<ResponseTime>,
    /// Times of the `fsync` behind each stream's last write, which are not among the requests'.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fsync_ns: Option<ResponseTime>,
    /// Jain's index of the clients' rates, from 1 over their number to 1; absent of one client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fairness: Option<f64>,
}

impl CampaignSample {
    /// What is compared: operations per second, or bytes per second where data was moved.
    pub fn rate(&self) -> f64 {
        match self.operations {
            Some(count) if self.elapsed_s > 0.0 => count as f64 / self.elapsed_s,
            Some(_) => 0.0,
            None => self.throughput_bytes_per_s,
        }
    }
}

/// One cell: its runs and what follows from them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CampaignCell {
    /// What a run of it does, whole: cells of two campaigns are the same work where this is the same. Absent in results of
    /// versions up to 0.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<CellPlan>,
    /// The runs, in order of the rounds.
    pub samples: Vec<CampaignSample>,
    /// Median of the runs' throughput.
    #[serde(deserialize_with = "not_negative")]
    pub throughput_bytes_per_s: f64,
    /// Median of the runs' operations per second; absent where data was moved.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "not_negative")]
    pub operations_per_s: Option<f64>,
    /// 95 % interval of the throughput, or of the operations per second: Student's t on the runs' logarithms, and the median in it.
    /// Absent of fewer than two runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_ci95: Option<[f64; 2]>,
    /// Median of the runs' processor seconds.
    pub cpu_s: f64,
    /// Its 95 % interval, by the same rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ci95: Option<[f64; 2]>,
    /// Of each percentile of the runs' response times, the median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_time_ns: Option<ResponseTime>,
    /// The same of `fsync`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fsync_ns: Option<ResponseTime>,
    /// Throughput over that of the row's first column that does the same kind of work, from runs of the same round.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "not_negative")]
    pub ratio: Option<f64>,
    /// Its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio_ci95: Option<[f64; 2]>,
    /// Processor seconds over those of the row's first column that does the same kind of work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ratio: Option<f64>,
    /// Its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ratio_ci95: Option<[f64; 2]>,
    /// Why this cell cannot be measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impossible: Option<String>,
}

/// One row: its parameters, and a cell per column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CampaignRow {
    /// The parameters that vary, outermost first.
    pub settings: Vec<CampaignSetting>,
    /// The cells, in order of the columns.
    pub cells: Vec<CampaignCell>,
}

impl CampaignRow {
    /// The parameter `name` of the row, if it varies.
    pub fn setting(&self, name: &str) -> Option<&CampaignSetting> {
        self.settings.iter().find(|setting| setting.name == name)
    }

    /// The column that ratios of `column` are to: the first that does the same kind of work, and of results that do not hold what
    /// each cell did, the first of all.
    pub fn base_of(&self, column: usize) -> usize {
        let Some(own) = self.cells.get(column).and_then(|cell| cell.plan.as_ref()) else {
            return 0;
        };
        let is_base = |cell: &CampaignCell| cell.plan.as_ref().is_some_and(|it| it.is_work_of(own));
        self.cells.iter().position(is_base).unwrap_or(0)
    }
}

/// Numbers of another source, to compare with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CampaignReference {
    /// Where they come from.
    pub source: String,
    /// Headings of the columns, those of the parameters included.
    pub columns: Vec<String>,
    /// The rows as they stand there.
    pub rows: Vec<Vec<f64>>,
}

/// A table measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CampaignResult {
    /// Name of the campaign.
    pub name: String,
    /// Title of the table.
    pub title: String,
    /// What it follows.
    pub source: String,
    /// Parameter on the horizontal axis of its graphs.
    pub x: String,
    /// Rounds asked for.
    pub rounds: u32,
    /// Clients that did every run together, each on files of its own; absent of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<u32>,
    /// The columns.
    pub columns: Vec<CampaignColumn>,
    /// The rows.
    pub rows: Vec<CampaignRow>,
    /// What the table shows, in words, each with its evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sentences: Vec<String>,
    /// The paper's own numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<CampaignReference>,
}

impl CampaignResult {
    /// Rows that differ in the parameter `name` alone, with the words for what they share, in order of their first row.
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
