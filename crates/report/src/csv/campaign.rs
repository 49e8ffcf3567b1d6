//! A campaign as comma-separated values: a row per run.

use super::rows::{line, number, of_times};
use ioscape_schema::{CampaignCell, CampaignColumn, CampaignResult, CampaignRow, CampaignSample};

const HEADER: &str = "place,method,file_system,round,bytes,elapsed_s,throughput_bytes_per_s,operations,cpu_s,fragments,\
response_p50_ns,response_p99_ns,response_max_ns,fsync_p50_ns,fsync_p99_ns,fsync_max_ns,impossible";

/// Every run of every cell, after the parameters that vary.
///
/// A cell that cannot be measured has one row, which says why.
pub fn runs(campaign: &CampaignResult) -> String {
    let settings = campaign.rows.first().map_or(&[][..], |row| &row.settings);
    let names = settings.iter().map(|setting| setting.name.as_str());
    let mut out = line(names.chain(HEADER.split(',')));
    for row in &campaign.rows {
        for (column, cell) in campaign.columns.iter().zip(&row.cells) {
            of_cell(&mut out, row, column, cell);
        }
    }
    out
}

fn of_cell(out: &mut String, row: &CampaignRow, column: &CampaignColumn, cell: &CampaignCell) {
    let mut one = |round: String, sample: Option<&CampaignSample>, why: &str| {
        let settings = row.settings.iter().map(|setting| setting.value.to_string());
        let names = [&column.place, &column.method, &column.file_system].map(String::clone);
        let fields = settings.chain(names).chain([round]).chain(of_sample(sample));
        out.push_str(&line(fields.chain([why.to_owned()])));
    };
    for (round, sample) in (1..).zip(&cell.samples) {
        one(round.to_string(), Some(sample), "");
    }
    if let Some(why) = &cell.impossible {
        one(String::new(), None, why);
    }
}

fn of_sample(sample: Option<&CampaignSample>) -> Vec<String> {
    let figures = [
        number(sample.map(|one| one.bytes)),
        number(sample.map(|one| one.elapsed_s)),
        number(sample.map(|one| one.throughput_bytes_per_s)),
        number(sample.and_then(|one| one.operations)),
        number(sample.map(|one| one.cpu_s)),
        number(sample.and_then(|one| one.fragments)),
    ];
    let times = [sample.and_then(|one| one.response_time_ns), sample.and_then(|one| one.fsync_ns)];
    figures.into_iter().chain(times.into_iter().flat_map(of_times)).collect()
}
