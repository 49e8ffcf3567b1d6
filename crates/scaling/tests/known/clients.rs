//! Predictions from measurements of several clients together.

use crate::made_up::evaluation::evaluate;
use crate::made_up::system;
use ioscape_scaling::model::{Model, predict};
use ioscape_schema::{Client, Clients, Workload};

/// Guards against a wait for each of four clients that is a fourth of the time its requests take.
#[test]
fn the_requests_of_all_clients_are_in_flight() {
    let mut evaluation = evaluate(&system("one cache"), 0.05, 6, 0);
    let clients = Clients { each: vec![Client::default(); 4], ..Clients::default() };
    evaluation.unique_bytes_curve[0].measurement.clients = Some(clients);
    let workload = Workload { unique_bytes: 16 << 20, process_num: 3, ..Workload::default() };
    let found = predict(&Model::product(&evaluation).unwrap(), &workload).unwrap();
    assert!((found.response_time_ns * found.iops / 1e9 - 12.0).abs() < 1e-6, "{found:?}");
}
