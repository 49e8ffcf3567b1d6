//! An evaluation by four clients of one server: served evenly, except that one straggles beyond the
//! server's cache.

use super::{document_of, evaluation};
use ioscape_schema::{Client, Clients, Document, Evaluation, Parameter, Point, Region};

/// One client per entry of `shares`, with that share of `throughput` and an interval 4 % wide.
fn clients(shares: &[f64], throughput: f64) -> Clients {
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    let one = |(rank, share): (u32, &f64)| {
        let rate = share * throughput;
        Client {
            rank,
            host: format!("node{rank}"),
            throughput_bytes_per_s: rate,
            throughput_ci95: [rate * 0.98, rate * 1.02],
            response_time_mean_ns: 1e6 / share,
            straggles: *share < 0.75 * mean,
        }
    };
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    let sum: f64 = shares.iter().sum();
    let ends = shares.iter().fold([f64::INFINITY, 0.0], |[a, b], v| [a.min(*v), b.max(*v)]);
    Clients {
        each: (0u32..).zip(shares).map(one).collect(),
        fairness: sum * sum / (shares.len() as f64 * squares),
        spread: ends.map(|end| end / mean),
        start_skew_ns: 310_000,
        clock_error_ns: 24_000,
        coordination_s: 0.15,
        windows: 1,
    }
}

fn by_four(point: &mut Point) {
    let whole = point.measurement.throughput_bytes_per_s;
    point.measurement.clients = Some(clients(&[0.25; 4], whole));
}

/// The curve over 1, 2 and 4 clients; `last` holds the shares of the four.
fn client_num(region: &Region, last: &[f64; 4]) -> Vec<Point> {
    let focal = &region.curves.process_num[0];
    let alone = focal.measurement.throughput_bytes_per_s / 3.2;
    let shares: [(&[f64], f64); 3] = [(&[1.0], 1.0), (&[0.5; 2], 1.9), (last, 3.2)];
    let point = |(shares, gain): (&[f64], f64)| {
        let throughput = alone * gain;
        let mut measurement = super::measurement(region.focal.clone(), throughput);
        measurement.clients = Some(clients(shares, throughput));
        Point { value: shares.len() as f64, measurement, rounds: vec![throughput], spread: None }
    };
    shares.into_iter().map(point).collect()
}

/// The evaluation of the other samples, as if made by four clients.
pub fn evaluation_by_clients() -> Evaluation {
    let mut found = evaluation();
    let sets = [&mut found.unique_bytes_curve, &mut found.unique_bytes_read_curve];
    sets.into_iter().flatten().for_each(by_four);
    found.unique_bytes_write_curve.iter_mut().for_each(by_four);
    // Each client holds 26 MiB, and the server behind them 123 MiB for each client.
    for random in [&mut found.unique_bytes_read_curve, &mut found.unique_bytes_write_curve] {
        for point in random {
            point.measurement.resident_frac = Some((26.0 * super::MIB / point.value).min(1.0));
        }
    }
    let last: [[f64; 4]; 3] = [[0.25; 4], [0.26, 0.25, 0.25, 0.24], [0.29, 0.28, 0.28, 0.15]];
    for (region, last) in found.regions.iter_mut().zip(&last) {
        for parameter in Parameter::WITH_DEPTH {
            region.curves.get_mut(parameter).into_iter().flatten().for_each(by_four);
        }
        region.curves.client_num = client_num(region, last);
    }
    found
}

/// The document of this evaluation.
pub fn evaluated_by_clients() -> Document {
    document_of(evaluation_by_clients())
}
