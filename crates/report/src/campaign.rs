//! The wording of a campaign's cells and columns, for all renderers.

use crate::text::{bounded, fine_seconds, told_time};
use ioscape_schema::units::{Count, Rate};
use ioscape_schema::{CampaignCell, CampaignColumn, CampaignResult, ResponseTime, is_wide};

/// Operations per second, or bytes per second if data was moved.
pub(crate) fn rate(cell: &CampaignCell) -> String {
    match cell.operations_per_s {
        Some(rate) => format!("{}/s", Count(rate)),
        None => Rate(cell.throughput_bytes_per_s).to_string(),
    }
}

/// The median of a cell's rate and its interval; `None` if nothing was measured.
pub(crate) fn rate_and_interval(cell: &CampaignCell) -> Option<String> {
    let shown = |value: f64| match cell.operations_per_s {
        Some(_) => format!("{}/s", Count(value)),
        None => Rate(value).to_string(),
    };
    (!cell.samples.is_empty()).then(|| with_ends(rate(cell), cell.rate_ci95, shown))
}

/// The median of a cell's processor seconds and its interval; `None` if nothing was measured.
pub(crate) fn cpu_and_interval(cell: &CampaignCell) -> Option<String> {
    (!cell.samples.is_empty())
        .then(|| with_ends(fine_seconds(cell.cpu_s), cell.cpu_ci95, fine_seconds))
}

fn with_ends(value: String, ends: Option<[f64; 2]>, shown: impl Fn(f64) -> String) -> String {
    match ends {
        Some(ends) if is_wide(ends) => format!("{value} (uncertain)"),
        Some(ends) => {
            let [low, high] = ends.map(shown);
            bounded(&value, &low, &high)
        }
        None => value,
    }
}

/// Median and 99th percentile of a cell's response times; after a semicolon, those of `fsync`.
pub(crate) fn times(cell: &CampaignCell) -> Option<String> {
    let both = |t: ResponseTime| {
        format!("{}, {}", told_time(Some(t.p50)), told_time(t.p99_below_longest()))
    };
    let fsync = cell.fsync_ns.map(|times| format!("; {}", both(times))).unwrap_or_default();
    Some(both(cell.response_time_ns?) + &fsync)
}

/// The base of the ratios; `None` without columns.
///
/// It is the first column, or in every row the first column that does the same work.
pub(crate) fn base(campaign: &CampaignResult) -> Option<String> {
    let first = campaign.columns.first()?;
    let mut columns = 0..campaign.columns.len();
    let is_first = |column| campaign.rows.iter().all(|row| row.base_of(column) == 0);
    Some(match columns.all(is_first) {
        true => first.name(),
        false => "the first column that does the same".to_owned(),
    })
}

/// How each file system was made and mounted, once for all columns that use it.
pub(crate) fn made(columns: &[CampaignColumn]) -> Vec<String> {
    let made = columns.iter().filter(|one| !one.made_by.is_empty());
    let mut all: Vec<String> = made
        .map(|one| format!("{}: {}; mounted with {}", one.place, one.made_by, one.mount_options))
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slow_fsync_is_told_as_well_as_the_usual_one() {
        let of =
            |p50, p99| Some(ResponseTime { p50, p99, max: p99 + 1, ..ResponseTime::default() });
        let cell = CampaignCell {
            response_time_ns: of(1_000, 2_000),
            fsync_ns: of(3_000, 4_000_000),
            ..CampaignCell::default()
        };
        let told = times(&cell).unwrap();
        assert!(told.ends_with("ms") && told.split("; ").count() == 2, "{told}");
        assert_eq!(told.matches(", ").count(), 2, "{told}");
    }
}
