//! The measurements that several clients made together, and the number of clients.

use ioscape_schema::{Clients, Evaluation, Measurement, Parameter, Point, Region};

/// The number of clients of an evaluation; `None` for a single machine.
pub fn number(evaluation: &Evaluation) -> Option<usize> {
    let sizes = measurements(evaluation).into_iter().map(|(_, clients)| clients.each.len());
    sizes.max().filter(|number| *number > 1)
}

/// Every measurement that clients made together, with those clients.
///
/// If an evaluation has no log, its points are used instead.
pub fn measurements(evaluation: &Evaluation) -> Vec<(&Measurement, &Clients)> {
    let regions = || evaluation.regions.iter();
    let of_number = regions().flat_map(|region| &region.curves.client_num);
    let points: Vec<&Point> = if evaluation.probes.is_empty() {
        let sets = [
            &evaluation.unique_bytes_curve,
            &evaluation.unique_bytes_read_curve,
            &evaluation.unique_bytes_write_curve,
        ];
        let own = regions().flat_map(curves_of).flatten();
        sets.into_iter().flatten().chain(own).chain(of_number).collect()
    } else {
        of_number.collect()
    };
    let probes = evaluation.probes.iter().map(|probe| &probe.measurement);
    let all = probes.chain(points.into_iter().map(|point| &point.measurement));
    all.filter_map(|one| Some((one, one.clients.as_ref()?))).collect()
}

fn curves_of(region: &Region) -> impl Iterator<Item = &Vec<Point>> {
    Parameter::WITH_DEPTH.into_iter().filter_map(|parameter| region.curves.get(parameter))
}
