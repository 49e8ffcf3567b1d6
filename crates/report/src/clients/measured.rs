//! The measurements that several clients made together, and the number of clients.

use ioscape_schema::{Clients, Evaluation, Measurement, Parameter, Point};

/// The number of clients of an evaluation; `None` for a single machine.
pub fn number(evaluation: &Evaluation) -> Option<usize> {
    let sizes = measurements(evaluation).into_iter().map(|(_, clients)| clients.each.len());
    sizes.max().filter(|number| *number > 1)
}

/// Every measurement that clients made together, with those clients.
///
/// If an evaluation has no log, its points are used instead.
pub fn measurements(evaluation: &Evaluation) -> Vec<(&Measurement, &Clients)> {
    let of_number = evaluation.regions.iter().flat_map(|region| &region.curves.client_num);
    let points: Vec<&Point> = if evaluation.probes.is_empty() {
        evaluation.curves(&Parameter::WITH_DEPTH).flatten().chain(of_number).collect()
    } else {
        of_number.collect()
    };
    let probes = evaluation.probes.iter().map(|probe| &probe.measurement);
    let all = probes.chain(points.into_iter().map(|point| &point.measurement));
    all.filter_map(|one| Some((one, one.clients.as_ref()?))).collect()
}
