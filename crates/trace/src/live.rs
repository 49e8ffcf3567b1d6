//! What disks are doing right now: the requests that completed in one short interval, by disk,
//! process and type.

use crate::analyze::counted::Counted;
use crate::analyze::log_histogram::LogHistogram;
use ioscape_schema::statistics::{least_for, sort_by_number};
use ioscape_schema::{Io, IoFlags, IoType, Op, TopLatency, TopRow, TopSecond, TraceInfo};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The most processes that get a row of their own.
const MOST_PROCESSES: usize = 100;

/// The load of one disk, process or type.
#[derive(Clone, Debug, Default)]
struct Load {
    counted: Counted,
    /// Requests that write data.
    writes: u64,
    /// Times from arrival to completion.
    elapsed: LogHistogram,
}

impl Load {
    fn add(&mut self, io: &Io) {
        self.counted.count(io);
        self.writes += u64::from(io.moves_data() && io.request.op == Op::Write);
        self.elapsed.add(io.elapsed_ns());
    }

    fn merge(&mut self, other: &Self) {
        self.counted.add(&other.counted);
        self.writes += other.writes;
        self.elapsed.merge(&other.elapsed);
    }

    fn row(&self, name: String, process: Option<u32>, elapsed_s: f64) -> TopRow {
        let latency = (self.elapsed.count() > 0).then(|| TopLatency {
            p50_ns: self.elapsed.quantile(0.5),
            p99_ns: (self.elapsed.count() >= least_for(990)).then(|| self.elapsed.quantile(0.99)),
            max_ns: self.elapsed.most(),
        });
        let under_way_s = self.elapsed.sum() as f64 / 1e9;
        TopRow {
            name,
            process,
            ios: self.counted.ios,
            reads: self.counted.reads,
            writes: self.writes,
            read_bytes: self.counted.read_bytes,
            written_bytes: self.counted.write_bytes,
            latency,
            queue_length: if elapsed_s > 0.0 { under_way_s / elapsed_s } else { 0.0 },
            in_flight: None,
        }
    }
}

/// Counts the requests of one interval.
#[derive(Clone, Debug, Default)]
pub struct Live {
    all: Load,
    devices: Vec<Load>,
    /// By process and command.
    processes: FxHashMap<(u32, u32), Load>,
    /// By operation and by what the blocks hold.
    types: BTreeMap<(&'static str, IoType), Load>,
}

impl Live {
    /// Counts the next rows, in any order.
    pub fn update(&mut self, rows: &[Io]) {
        for io in rows {
            self.all.add(io);
            let device = usize::from(io.device);
            if device >= self.devices.len() {
                self.devices.resize_with(device + 1, Load::default);
            }
            self.devices[device].add(io);
            self.processes.entry((io.process, io.command)).or_default().add(io);
            self.types.entry(kind(io)).or_default().add(io);
        }
    }

    /// Returns what was counted in an interval of `elapsed_s` that ended at `ended_unix_ns`; `info`
    /// names the disks and commands.
    pub fn finish(&self, info: &TraceInfo, elapsed_s: f64, ended_unix_ns: u64) -> TopSecond {
        let mut latency_counts = vec![0; TopSecond::LATENCY_STEPS];
        for (ns, count) in self.all.elapsed.bins() {
            latency_counts[TopSecond::latency_step(ns)] += count;
        }
        let idle = Load::default();
        let devices = info.devices.iter().enumerate().map(|(at, device)| {
            self.devices.get(at).unwrap_or(&idle).row(device.name.clone(), None, elapsed_s)
        });
        let types = self.types.iter();
        let types = types.map(|(kind, load)| load.row(kind_name(*kind), None, elapsed_s));
        TopSecond {
            ended_unix_ns,
            elapsed_s,
            lost_events: info.lost_by_cpu.iter().sum(),
            all: self.all.row("all".to_owned(), None, elapsed_s),
            devices: busiest(devices.collect()),
            processes: self.processes(info, elapsed_s),
            types: busiest(types.collect()),
            latency_counts,
        }
    }

    fn processes(&self, info: &TraceInfo, elapsed_s: f64) -> Vec<TopRow> {
        let mut all: Vec<_> = self.processes.iter().collect();
        all.sort_by_key(|(key, load)| (std::cmp::Reverse(load.elapsed.sum()), **key));
        let command = |index: u32| info.commands.get(index as usize).cloned().unwrap_or_default();
        let (named, others) = all.split_at(all.len().min(MOST_PROCESSES));
        let mut rows: Vec<TopRow> = named
            .iter()
            .map(|((process, index), load)| load.row(command(*index), Some(*process), elapsed_s))
            .collect();
        if !others.is_empty() {
            let mut rest = Load::default();
            others.iter().for_each(|(_, load)| rest.merge(load));
            rows.push(rest.row(format!("{} others", others.len()), None, elapsed_s));
        }
        rows
    }
}

/// Sorts rows by their mean queue length, the longest first.
fn busiest(mut rows: Vec<TopRow>) -> Vec<TopRow> {
    sort_by_number(&mut rows, |one| -one.queue_length);
    rows
}

/// Returns what a request did and what its blocks hold; a flush has no blocks.
fn kind(io: &Io) -> (&'static str, IoType) {
    let does = match () {
        () if io.flags.contains(IoFlags::DISCARD) => "discard",
        () if io.flags.contains(IoFlags::ZEROES) => "zero",
        () if io.request.len == 0 => return ("flush", IoType::Unknown),
        () if io.request.op == Op::Read => "read",
        () => "write",
    };
    (does, io.io_type)
}

/// Returns a name such as `write journal` or `flush`.
fn kind_name((does, holds): (&'static str, IoType)) -> String {
    if does == "flush" {
        return does.to_owned();
    }
    let holds = serde_json::to_value(holds).unwrap_or_default();
    format!("{does} {}", holds.as_str().unwrap_or_default().replace('_', " "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{Device, IoType, Request};

    fn io(op: Op, process: u32, device: u16, len: u32, elapsed_ns: u64) -> Io {
        let request = Request { op, offset: 0, len };
        Io { request, process, device, completed_ns: elapsed_ns, ..Io::default() }
    }

    fn info() -> TraceInfo {
        let device = |name: &str| Device { name: name.to_owned(), ..Device::default() };
        TraceInfo {
            devices: ["vda", "vdb"].map(device).to_vec(),
            commands: vec![String::new(), "cp".to_owned()],
            lost_by_cpu: vec![2, 3],
            ..TraceInfo::default()
        }
    }

    #[test]
    fn a_second_is_counted_by_disk_process_and_type() {
        let mut live = Live::default();
        live.update(&[
            io(Op::Read, 7, 0, 4096, 1_000_000),
            Io { command: 1, io_type: IoType::UserData, ..io(Op::Write, 8, 1, 8192, 499_000_000) },
        ]);
        live.update(&[Io { flags: IoFlags::FLUSH, ..io(Op::Write, 8, 1, 0, 500_000_000) }]);
        let second = live.finish(&info(), 0.5, 9);
        assert_eq!((second.all.ios, second.all.reads, second.lost_events), (3, 1, 5));
        assert_eq!(second.all.writes, 1, "a flush is none");
        assert_eq!((second.all.read_bytes, second.all.written_bytes), (4096, 8192));
        assert!((second.all.queue_length - 2.0).abs() < 1e-9, "a second under way in half a one");
        assert_eq!(second.all.latency.unwrap().max_ns, 500_000_000);
        let names = |rows: &[TopRow]| rows.iter().map(|row| row.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&second.devices), ["vdb", "vda"]);
        assert_eq!(names(&second.types), ["flush", "write user data", "read unknown"]);
        let first = &second.processes[0];
        assert_eq!((first.process, second.processes[1].name.as_str()), (Some(8), "cp"));
        assert_eq!(second.latency_counts.iter().sum::<u64>(), 3);
        assert_eq!(second.latency_counts[10], 1, "a millisecond");
    }

    /// Once, the longest of three was told as their 99th percentile.
    #[test]
    fn a_99th_percentile_needs_a_hundred_requests() {
        let of = |ios: usize| {
            let mut live = Live::default();
            live.update(&vec![io(Op::Read, 7, 0, 4096, 1_000_000); ios]);
            live.finish(&info(), 1.0, 9).all.latency.unwrap().p99_ns.is_some()
        };
        assert_eq!([3, 99, 100].map(of), [false, false, true]);
    }

    #[test]
    fn processes_beyond_the_hundred_busiest_share_a_row() {
        let mut live = Live::default();
        let rows: Vec<Io> =
            (0..150).map(|at| io(Op::Read, at, 0, 512, 1000 + u64::from(at))).collect();
        live.update(&rows);
        let second = live.finish(&info(), 1.0, 0);
        assert_eq!(second.processes.len(), MOST_PROCESSES + 1);
        assert_eq!(second.processes[0].process, Some(149));
        let rest = &second.processes[MOST_PROCESSES];
        assert_eq!((rest.ios, rest.process, rest.name.as_str()), (50, None, "50 others"));
        assert_eq!(second.processes.iter().map(|row| row.ios).sum::<u64>(), second.all.ios);
    }

    #[test]
    fn a_second_without_requests_names_its_disks() {
        let second = Live::default().finish(&info(), 1.0, 0);
        assert_eq!((second.devices.len(), second.all.latency), (2, None));
        assert!(second.processes.is_empty() && second.types.is_empty());
    }
}
