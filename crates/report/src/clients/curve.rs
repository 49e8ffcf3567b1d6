//! What an evaluation by several clients shows in addition to the curves of their sum.
//!
//! This is the sum against their number, the throughput of each client, fairness, and stragglers.

use super::measured::measurements;
use crate::curve::{Curve, SEPARATOR};
use crate::figures::{self, chart_of, region_class};
use crate::plot::{Chart, Drawn, Mark, Scale, Series, Shape};
use crate::quantity::Quantity;
use crate::text::{inert, none};
use ioscape_schema::statistics::sort_by_number;
use ioscape_schema::units::{Count, Nanos, Rate};
use ioscape_schema::{Client, Clients, Evaluation, Measurement, Parameter, Region};
use std::collections::BTreeMap;

/// The curve's name in result files.
pub const NAME: &str = "client_num";
/// The label of its horizontal axis.
pub const AXIS: &str = "clients (client_num)";

/// A quantity of all clients together against their number, with one line per region.
///
/// `None` without such a curve.
pub fn together(evaluation: &Evaluation, quantity: Quantity) -> Option<Chart> {
    let lines = evaluation.regions.iter().enumerate().flat_map(|(index, region)| {
        let (name, class) = (&*inert(&region.name), &*region_class(index));
        let (shape, parameter) = (Shape::nth(index), Parameter::ProcessNum);
        let points = &region.curves.client_num[..];
        let lines = Curve { name, class, shape, parameter, points }.lines(quantity);
        lines.into_iter().filter(|line| !line.marks.is_empty())
    });
    let mut lines: Vec<Series> = lines.collect();
    for mark in lines.iter_mut().flat_map(|line| &mut line.marks) {
        let counted = format!(" {}{SEPARATOR}", noun(mark.x));
        mark.title = mark.title.replacen(SEPARATOR, &counted, 1);
    }
    let what = quantity.heading();
    let label = format!("{what} of all clients against their number, one line per region");
    with_axis(chart_of(quantity, label, Parameter::ProcessNum, lines))
}

fn noun(number: f64) -> &'static str {
    if number == 1.0 { "client" } else { "clients" }
}

fn with_axis(mut chart: Chart) -> Option<Chart> {
    AXIS.clone_into(&mut chart.x.label);
    chart.has_points().then(|| chart.with_y_scale(Scale::Log10))
}

/// The throughput of each client against the number of clients, with one colour per region.
///
/// Stragglers are diamonds.
pub fn each(evaluation: &Evaluation) -> Option<Chart> {
    let mut series: Vec<Series> = Vec::new();
    let mut slow = Vec::new();
    for (index, region) in evaluation.regions.iter().enumerate() {
        let all = shown(region).into_iter().flat_map(|(_, _, clients)| {
            let x = clients.each.len() as f64;
            clients.each.iter().map(move |client| (client.straggles, mark(region, client, x)))
        });
        let (straggling, others): (Vec<_>, Vec<_>) = all.partition(|(straggles, _)| *straggles);
        slow.extend(straggling.into_iter().map(|(_, mark)| mark));
        let marks: Vec<Mark> = others.into_iter().map(|(_, mark)| mark).collect();
        let (name, class) = (inert(&region.name), region_class(index));
        // Diamonds, the fourth shape, are reserved for stragglers.
        series.push(Series::new(name, class, Shape::nth(index % 3), Drawn::Points, marks));
    }
    sort_by_number(&mut slow, |one| one.x);
    series.push(Series::new("straggles", "write", Shape::Diamond, Drawn::Points, slow));
    series.retain(|one| !one.marks.is_empty());
    let label = "Throughput of each client against their number".to_owned();
    with_axis(chart_of(Quantity::Throughput, label, Parameter::ProcessNum, series))
}

fn mark(region: &Region, client: &Client, x: f64) -> Mark {
    let [low, high] = client.throughput_ci95;
    let title = [
        format!("client {} on {}", client.rank, inert(&client.host)),
        inert(&region.name).into_owned(),
        Rate(client.throughput_bytes_per_s).to_string(),
        format!("{} to {} (95 % confidence)", Rate(low), Rate(high)),
    ];
    let (y, title) = (client.throughput_bytes_per_s, title.join(SEPARATOR));
    Mark { x, y, range: [low, high], doubtful: false, title }
}

/// The measurements of a region that tell how evenly clients were served.
///
/// They come from the curve over the number of clients or, without one, from the focal point.
fn shown(region: &Region) -> Vec<(&Region, &Measurement, &Clients)> {
    let curve = region.curves.client_num.iter();
    let focal = figures::focal_point(region).filter(|_| region.curves.client_num.is_empty());
    let all = curve.chain(focal).map(|point| &point.measurement);
    all.filter_map(|one| Some((region, one, one.clients.as_ref()?))).collect()
}

/// The clients of a region's point with the most clients.
pub fn all_together(region: &Region) -> Option<&Clients> {
    let clients = shown(region).into_iter().map(|(_, _, clients)| clients);
    clients.max_by_key(|clients| clients.each.len())
}

/// The column heads of the table of how evenly clients were served.
pub const EVENNESS: [&str; 7] =
    ["Region", "Clients", "Together", "Least", "Greatest", "Fairness", "Began apart"];

/// How evenly clients were served at each region's focal vector, by their number.
pub fn evenness(evaluation: &Evaluation) -> Vec<Vec<String>> {
    let all = evaluation.regions.iter().flat_map(shown);
    let row = |(region, one, clients): (&Region, &Measurement, &Clients)| {
        let [least, greatest] = clients.spread.map(|share| format!("{share:.2}"));
        vec![
            region.name.clone(),
            Count(clients.each.len() as f64).to_string(),
            Rate(one.throughput_bytes_per_s).to_string(),
            least,
            greatest,
            format!("{:.2}", clients.fairness),
            apart(clients),
        ]
    };
    all.map(row).collect()
}

/// How far apart the clients started, as precisely as their clocks tell.
fn apart(clients: &Clients) -> String {
    if clients.each.len() < 2 {
        return none();
    }
    let [skew, error] = [clients.start_skew_ns, clients.clock_error_ns];
    format!("{} (within {})", Nanos(skew as f64), Nanos(error as f64))
}

/// The note below every table of evenness.
pub const EVENNESS_NOTE: &str = "Least and greatest: a client's throughput over the mean client's. Fairness: Jain's index, 1 when all are \
                                 equal. Began apart: first to last beginning, and by how much the clocks may be wrong.";

/// Which clients straggled and how often, in sentences; only the number of measurements if none
/// did.
pub fn stragglers(evaluation: &Evaluation) -> Vec<String> {
    let all = measurements(evaluation);
    let together = all.iter().filter(|(_, clients)| clients.each.len() > 1);
    let mut counts: BTreeMap<(u32, &str), usize> = BTreeMap::new();
    let mut measured = 0;
    for (_, clients) in together {
        measured += 1;
        for one in clients.each.iter().filter(|one| one.straggles) {
            *counts.entry((one.rank, &one.host)).or_default() += 1;
        }
    }
    let rule = "its whole interval was below 80 % of the median client";
    let sentence = |((rank, host), count): (&(u32, &str), &usize)| {
        format!("Client {rank} on {host} straggled in {count} of {measured} measurements: {rule}.")
    };
    match counts.is_empty() {
        true => vec![format!(
            "In none of {measured} measurements was a client's whole interval below 80 % of the median client."
        )],
        false => counts.iter().map(sentence).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::measured::number;
    use crate::sample;

    #[test]
    fn every_client_of_every_number_is_drawn_and_who_straggles_apart() {
        let evaluation = sample::evaluation_by_clients();
        assert_eq!(number(&evaluation), Some(4));
        let sum = together(&evaluation, Quantity::Throughput).unwrap();
        assert_eq!(sum.series.len(), 3);
        let xs: Vec<f64> = sum.series[0].marks.iter().map(|mark| mark.x).collect();
        assert_eq!(xs, [1.0, 2.0, 4.0]);
        assert!(sum.series[0].marks[0].title.starts_with("1 client \u{b7} "));
        assert!(sum.series[0].marks[2].title.starts_with("4 clients \u{b7} "));
        let single = each(&evaluation).unwrap();
        let marks = |name: &str| single.series.iter().find(|one| one.name == name).unwrap();
        assert_eq!(marks("region 1").marks.len(), 7);
        assert_eq!(marks("region 3").marks.len(), 6);
        assert!(marks("straggles").marks[0].title.starts_with("client 3 on node3 \u{b7} region 3"));
        let rows = evenness(&evaluation);
        assert_eq!(rows.len(), 9);
        assert_eq!(rows[0][3..], ["1.00", "1.00", "1.00", "\u{2013}"]);
        assert_eq!(rows[8][1..2], ["4"]);
    }

    #[test]
    fn stragglers_are_counted_over_what_was_measured_together() {
        let mut evaluation = sample::evaluation_by_clients();
        let told = stragglers(&evaluation);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].starts_with("Client 3 on node3 straggled in 1 of "), "{told:?}");
        evaluation.regions.truncate(2);
        assert!(stragglers(&evaluation)[0].starts_with("In none of "));
    }

    #[test]
    fn one_machine_has_no_clients() {
        let evaluation = sample::evaluation();
        assert_eq!(number(&evaluation), None);
        assert!(together(&evaluation, Quantity::Iops).is_none() && each(&evaluation).is_none());
        assert!(evenness(&evaluation).is_empty());
    }
}
