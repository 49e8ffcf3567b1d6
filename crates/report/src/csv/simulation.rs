//! Simulations of disks as comma-separated values: a row per combination.

use super::rows::{line, number};
use ioscape_schema::{SimulatedCell, SimulatedOperations, Simulation};

const HEADER: &str = "drive,array,scheduler,cache,destage,cache_bytes,read_ahead,queue_depth,physical_mean_ns,\
physical_read_mean_ns,physical_write_mean_ns,elapsed_mean_ns,elapsed_read_mean_ns,elapsed_write_mean_ns,elapsed_p50_ns,\
elapsed_p99_ns,written_bytes,absorbed_bytes,write_amplification,utilization,energy_j,demerit";

/// Every combination of drive, array, scheduler and cache.
pub fn cells(simulation: &Simulation) -> String {
    let row = |cell: &SimulatedCell| line(row(simulation, cell));
    format!("{HEADER}\n") + &simulation.cells.iter().map(row).collect::<String>()
}

fn row(simulation: &Simulation, cell: &SimulatedCell) -> Vec<String> {
    let means = |of: &SimulatedOperations| {
        [&of.all, &of.read, &of.write].map(|of| number((of.requests > 0).then_some(of.mean_ns)))
    };
    let begin = [
        cell.drive.clone().unwrap_or_else(|| simulation.drive.clone()),
        cell.array.clone().unwrap_or_default(),
        cell.scheduler.clone(),
        cell.cache.clone(),
        cell.destage.clone().unwrap_or_default(),
        number(cell.cache_bytes),
        cell.read_ahead.to_string(),
        number(cell.queue_depth),
    ];
    let end = [
        cell.elapsed.all.p50_ns.to_string(),
        cell.elapsed.all.p99_ns.to_string(),
        cell.written_bytes.to_string(),
        cell.absorbed_bytes.to_string(),
        number(cell.write_amplification),
        number(cell.utilization),
        number(cell.energy_j),
        number(cell.agreement.as_ref().map(|found| found.demerit)),
    ];
    let times = means(&cell.physical).into_iter().chain(means(&cell.elapsed));
    begin.into_iter().chain(times).chain(end).collect()
}
