//! One cell of a campaign, run by several clients at the same time, each on its own files.

use super::joint::Joint;
use super::times;
use ioscape_schema::{CampaignResult, CampaignSample, CellPlan, Client, ResponseTime, Warning};
use serde::Deserialize;

/// Returns the cell for each client, with the client's own random seed.
pub fn cells(plan: &CellPlan, clients: u32) -> Vec<CellPlan> {
    let cell = |rank| {
        let mut cell = plan.clone();
        cell.job.rand_seed = plan.job.rand_seed.wrapping_add(u64::from(rank));
        cell
    };
    (0..clients).map(cell).collect()
}

/// What one client did of a cell.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Celled {
    /// What it did.
    pub sample: CampaignSample,
    /// Warnings about the sample.
    #[serde(default)]
    pub warnings: Vec<Warning>,
}

impl Joint<Celled> {
    /// Combines all clients into one run, from the first start to the last end, with the warnings
    /// about it.
    pub fn sample(&self) -> (CampaignSample, Vec<Warning>) {
        // The rate that a campaign compares counts operations if no data is moved.
        let rate = |cell: &Celled| cell.sample.rate();
        let clients =
            self.clients(|cell| Client { throughput_bytes_per_s: rate(cell), ..Client::default() });
        let doubts = self.doubts(&clients, |cell| &cell.warnings);
        (CampaignSample { fairness: Some(clients.fairness), ..self.total() }, doubts)
    }

    fn total(&self) -> CampaignSample {
        let each = || self.each.iter().map(|one| &one.did.sample);
        let elapsed_s = self.elapsed_s(|cell| cell.sample.elapsed_s);
        let bytes: u64 = each().map(|one| one.bytes).sum();
        // All clients have the same number of requests.
        let of = |times: fn(&CampaignSample) -> Option<ResponseTime>| -> Option<ResponseTime> {
            let told: Vec<_> = each().filter_map(|one| Some((1, times(one)?))).collect();
            (!told.is_empty()).then(|| self::times(told.into_iter()))
        };
        CampaignSample {
            bytes,
            elapsed_s,
            throughput_bytes_per_s: if elapsed_s > 0.0 { bytes as f64 / elapsed_s } else { 0.0 },
            cpu_s: each().map(|one| one.cpu_s).sum(),
            operations: each().map(|one| one.operations).sum(),
            fragments: each().map(|one| one.fragments).sum(),
            response_time_ns: of(|one| one.response_time_ns),
            fsync_ns: of(|one| one.fsync_ns),
            fairness: None,
        }
    }
}

/// Says what the cells of a table are the sum of, and how evenly the clients were served in them;
/// `None` for a single client.
pub(crate) fn sentence(table: &CampaignResult) -> Option<String> {
    let clients = table.clients?;
    let cells = table.rows.iter().flat_map(|row| &row.cells);
    let shares = cells.flat_map(|cell| &cell.samples).filter_map(|sample| sample.fairness);
    let (least, most) = shares
        .fold((f64::INFINITY, 0.0f64), |(least, most), share| (least.min(share), most.max(share)));
    let fairness = match least <= most {
        true => format!("; Jain's index of fairness was {least:.2} to {most:.2}"),
        false => String::new(),
    };
    Some(format!(
        "Every run is the sum of {clients} clients that began together, each on files of its own{fairness}."
    ))
}

#[cfg(test)]
mod tests {
    use super::super::ByClient;
    use super::*;
    use ioscape_schema::{CampaignCell, CampaignRow};

    fn cell(rank: u32, elapsed_s: f64, began_unix_ns: i64) -> ByClient<Celled> {
        let bytes = 8_000_000;
        let throughput_bytes_per_s = bytes as f64 / elapsed_s;
        let sample = CampaignSample {
            bytes,
            elapsed_s,
            throughput_bytes_per_s,
            cpu_s: 0.5,
            fragments: Some(2),
            response_time_ns: Some(ResponseTime { mean: elapsed_s, ..ResponseTime::default() }),
            ..CampaignSample::default()
        };
        let did = Celled { sample, warnings: Vec::new() };
        ByClient { rank, host: format!("h{rank}"), did, began_unix_ns }
    }

    fn joint(each: Vec<ByClient<Celled>>) -> Joint<Celled> {
        Joint { each, coordination_s: 0.0, clock_error_ns: 0 }
    }

    #[test]
    fn a_run_lasts_from_the_first_beginning_to_the_last_end() {
        let cells = vec![cell(0, 1.0, 0), cell(1, 1.0, 2_000_000), cell(2, 2.0, 1_000_000)];
        let (sample, doubts) = joint(cells).sample();
        assert_eq!(
            (sample.bytes, sample.fragments, sample.operations),
            (24_000_000, Some(6), None)
        );
        assert!((sample.elapsed_s - 2.001).abs() < 1e-9 && (sample.cpu_s - 1.5).abs() < 1e-9);
        assert!(sample.response_time_ns.is_some_and(|times| (times.mean - 4.0 / 3.0).abs() < 1e-9));
        assert!(sample.fairness.is_some_and(|fairness| (fairness - 25.0 / 27.0).abs() < 1e-9));
        let told: Vec<&str> = doubts.iter().map(|one| &*one.message).collect();
        assert!(told.len() == 2 && told[0].contains("2.0 ms apart"), "{told:?}");
        assert!(told[1].contains("client 2 on h2 had 50 %"), "{told:?}");
        let row = CampaignRow {
            cells: vec![CampaignCell { samples: vec![sample], ..CampaignCell::default() }],
            ..CampaignRow::default()
        };
        let table = CampaignResult { rows: vec![row], ..CampaignResult::default() };
        assert_eq!(sentence(&table), None);
        let table = CampaignResult { clients: Some(3), ..table };
        assert!(
            sentence(&table).unwrap().contains("3 clients")
                && sentence(&table).unwrap().ends_with("0.93 to 0.93.")
        );
    }

    #[test]
    fn operations_on_names_are_summed_and_compared_as_such() {
        let on_names = |rank, count| {
            let mut one = cell(rank, 1.0, 0);
            one.did.sample = CampaignSample {
                operations: Some(count),
                bytes: 0,
                throughput_bytes_per_s: 0.0,
                ..one.did.sample
            };
            one
        };
        let cells = vec![on_names(0, 100), on_names(1, 100)];
        let (sample, doubts) = joint(cells).sample();
        assert_eq!((sample.operations, sample.rate(), doubts.len()), (Some(200), 200.0, 0));
        assert!(sample.fairness.is_some_and(|fairness| (fairness - 1.0).abs() < 1e-9));
    }
}
