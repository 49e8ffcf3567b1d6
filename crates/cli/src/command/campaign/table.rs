//! The table of a campaign as it fills: its columns, its ratios, and how it is taken up again.

use super::catalogue;
use super::places::Place;
use crate::args::CampaignRunArgs;
use crate::failure::Failure;
use crate::output;
use ioscape_schema::{
    CampaignCell, CampaignColumn, CampaignResult, CampaignRow, Warning, WarningKind,
};
use ioscape_study::ratio::{median, paired_ratio};
use ioscape_workload::campaign::{Campaign, RowPlan};
use std::path::Path;

/// An empty table: a column for every place and every method that can run there.
///
/// # Errors
/// No method can run at any of the places.
pub fn new(
    args: &CampaignRunArgs,
    campaign: &Campaign,
    places: &[Place],
    rows: &[RowPlan],
) -> Result<CampaignResult, Failure> {
    let several = campaign.method.len() > 1;
    let mut columns = Vec::new();
    for place in places {
        for method in campaign.method.iter().filter(|m| m.raw == place.folder.is_none()) {
            columns.push(CampaignColumn {
                place: place.label.clone(),
                method: if several { method.name.clone() } else { String::new() },
                path: place.path.display().to_string(),
                file_system: place.file_system.name.clone(),
            });
        }
    }
    if columns.is_empty() {
        return Err(Failure::Misuse(format!(
            "{} has no method for these places: its methods are for {}",
            args.name,
            if places.iter().any(|p| p.folder.is_none()) { "directories" } else { "devices" }
        )));
    }
    let cells = vec![CampaignCell::default(); columns.len()];
    let rows = rows
        .iter()
        .map(|row| CampaignRow { settings: row.settings.clone(), cells: cells.clone() })
        .collect();
    Ok(CampaignResult {
        name: args.name.clone(),
        title: campaign.title.clone(),
        source: campaign.source.clone(),
        x: campaign.x(),
        rounds: campaign.rounds,
        columns,
        rows,
        sentences: Vec::new(),
        reference: catalogue::reference(&args.name),
    })
}

/// What is to be said of the places among `labels` that have no column.
pub fn left_out<'a>(table: &CampaignResult, labels: impl Iterator<Item = &'a str>) -> Vec<Warning> {
    let has_column = |label: &str| table.columns.iter().any(|column| column.place == label);
    let without = labels.filter(|label| !has_column(label));
    let say = |label| {
        let text = format!("{label} is left out: none of the methods of {} is for it", table.name);
        Warning::new(WarningKind::Unsupported, text)
    };
    without.map(say).collect()
}

/// The order in which a row's columns are measured in a round: another one each time, so that no column always follows the same
/// other one, whose pages or dirty blocks it would inherit.
pub fn order(columns: usize, round: usize, row: usize) -> Vec<usize> {
    let draw = |column: usize| {
        // The finalizer of splitmix64, on numbers that are all different.
        let z = (((round as u64) << 40) | ((row as u64) << 20) | column as u64) + 1;
        let z = z.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let mut order: Vec<usize> = (0..columns).collect();
    order.sort_by_key(|column| draw(*column));
    order
}

/// The place and the number of the method of column `column`.
pub fn arms<'a>(places: &'a mut [Place], row: &RowPlan, column: usize) -> (&'a mut Place, usize) {
    let mut left = column;
    for place in places {
        let raw = place.folder.is_none();
        let mut methods = row.cells.iter().enumerate().filter(|(_, cell)| cell.raw == raw);
        match methods.nth(left) {
            Some((method, _)) => return (place, method),
            None => left -= row.cells.iter().filter(|cell| cell.raw == raw).count(),
        }
    }
    unreachable!("a column stands for a place and one of its methods")
}

/// Medians, and ratios to the first column.
pub fn summarize(row: &mut CampaignRow) {
    let samples = |cell: &CampaignCell, pick: fn(&ioscape_schema::CampaignSample) -> f64| {
        cell.samples.iter().map(pick).collect::<Vec<f64>>()
    };
    let base = row.cells.first().cloned().unwrap_or_default();
    let (rates, costs) =
        (samples(&base, |s| s.throughput_bytes_per_s), samples(&base, |s| s.cpu_s));
    for (index, cell) in row.cells.iter_mut().enumerate() {
        let own = samples(cell, |s| s.throughput_bytes_per_s);
        let cost = samples(cell, |s| s.cpu_s);
        cell.throughput_bytes_per_s = median(&own);
        cell.cpu_s = median(&cost);
        if index > 0 {
            let (rate, cpu) = (paired_ratio(&own, &rates), paired_ratio(&cost, &costs));
            (cell.ratio, cell.ratio_ci95) = (rate.map(|r| r.mean), rate.map(|r| r.ci95));
            (cell.cpu_ratio, cell.cpu_ratio_ci95) = (cpu.map(|r| r.mean), cpu.map(|r| r.ci95));
        }
    }
}

/// The table that the file at `path` holds, to go on with `fresh`.
///
/// # Errors
/// The file holds no campaign, or one with other columns or rows.
pub fn resumed(path: &Path, fresh: CampaignResult) -> Result<CampaignResult, Failure> {
    let found = output::read_result(path)?.campaign;
    let misuse = |text: &str| Failure::Misuse(format!("{}: {text}", path.display()));
    let found = found.ok_or_else(|| misuse("holds no campaign to continue"))?;
    let key = |table: &CampaignResult| {
        let columns: Vec<String> = table.columns.iter().map(CampaignColumn::name).collect();
        let rows: Vec<_> = table.rows.iter().map(|row| row.settings.clone()).collect();
        (table.title.clone(), columns, rows)
    };
    let whole = |table: &CampaignResult| {
        table.rows.iter().all(|row| row.cells.len() == table.columns.len())
    };
    if key(&found) != key(&fresh) || !whole(&found) {
        return Err(misuse(
            "holds a campaign with other rows or columns: give the same name, places and limits",
        ));
    }
    Ok(CampaignResult { rounds: fresh.rounds, columns: fresh.columns, ..found })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_without_a_column_is_named() {
        let column = CampaignColumn { place: "xfs".into(), ..CampaignColumn::default() };
        let table =
            CampaignResult { name: "t".into(), columns: vec![column], ..CampaignResult::default() };
        let said = left_out(&table, ["xfs", "raw"].into_iter());
        assert_eq!(said.len(), 1);
        assert_eq!(said[0].message, "raw is left out: none of the methods of t is for it");
    }

    #[test]
    fn every_column_has_its_turn_and_follows_every_other() {
        let orders: Vec<Vec<usize>> =
            (0..20).flat_map(|round| (0..20).map(move |row| order(4, round, row))).collect();
        let mut follows = [[0; 4]; 4];
        for order in &orders {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3]);
            order.windows(2).for_each(|pair| follows[pair[0]][pair[1]] += 1);
        }
        // Of 400 orders, each pair is expected in 100.
        for (before, after) in (0..4).flat_map(|a| (0..4).map(move |b| (a, b))) {
            let seen = follows[before][after];
            assert!(before == after || (60..140).contains(&seen), "{before} {after}: {seen}");
        }
        assert_eq!(orders[7], order(4, 0, 7), "the same in every attempt");
    }
}
