//! A trace as a workload of five parameters: overall, by disk, by process and by time window, with
//! how good the fit is.

mod group;
mod position;

use crate::analyze::blocks::BlockSize;
use crate::analyze::disk_name;
use crate::analyze::unpaired::ONE_IN;
use group::Group;
use ioscape_schema::units::counted;
use ioscape_schema::{
    Io, IoFlags, Op, TraceCharacterization, TraceInfo, TraceTraits, Warning, WarningKind,
};
pub use position::Fit;
use position::RequestPosition;
use rustc_hash::FxHashMap;

/// The most groups of one kind; requests of further groups count only in the other kinds.
const MOST: usize = 4096;
/// The most processes listed.
const LISTED: usize = 64;

/// Learns the five parameters of a trace in one pass.
///
/// A request is sequential if it begins where the same process's previous request to the same
/// device ended, as in section 5 of the self-scaling paper; a trace that records no processes has
/// one stream per device.
///
/// The number of processes is the mean number of requests in flight while there are any: in a
/// closed workload, this number keeps the device equally busy. `workload::Application` counts
/// differently for calls: processes in their I/O phase, and what each has in flight if that is
/// more. A device trace cannot do so: it records who submitted a request, which for writes is the
/// kernel's flusher, not who computes before the next one.
///
/// Both derive the think time from Little's law: here over the whole trace, where pauses cannot be
/// told from thinking; there over the I/O phases.
#[derive(Debug)]
pub struct Characterizer {
    size: BlockSize,
    window_ns: Option<u64>,
    streams: FxHashMap<(u32, u16), Stream>,
    overall: Group,
    disks: FxHashMap<u16, Group>,
    processes: FxHashMap<u32, Group>,
    commands: FxHashMap<u32, u32>,
    windows: Vec<(u64, Group)>,
    beyond: Beyond,
}

/// Requests in no group of a kind, because there were too many groups.
#[derive(Debug, Default)]
struct Beyond {
    /// Requests to other disks.
    disks: u64,
    /// Requests of other processes.
    processes: u64,
    /// The number of the first window left out.
    window: Option<u64>,
}

/// The requests of one process to one device.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    end: u64,
    run: u64,
    before: Option<Op>,
}

impl Characterizer {
    /// Counts distinct bytes in blocks of `block_bytes`; adds windows of `window_ns` if given.
    pub fn new(block_bytes: u64, window_ns: Option<u64>) -> Self {
        Self {
            size: BlockSize::of(block_bytes),
            window_ns: window_ns.filter(|&ns| ns > 0),
            streams: FxHashMap::default(),
            overall: Group::exact(),
            disks: FxHashMap::default(),
            processes: FxHashMap::default(),
            commands: FxHashMap::default(),
            windows: Vec::new(),
            beyond: Beyond::default(),
        }
    }

    /// Takes in the next rows, in order of arrival; of those that move no data only flushes count.
    pub fn update(&mut self, rows: &[Io]) {
        for io in rows {
            if !io.moves_data() {
                if io.flags.contains(IoFlags::FLUSH) {
                    self.flush(io);
                }
                continue;
            }
            let place = self.place(io);
            let block = self.size;
            self.overall.update(io, place, block);
            match limited(&mut self.disks, io.device) {
                Some(group) => group.update(io, place, block),
                None => self.beyond.disks += 1,
            }
            if let Some(group) = limited(&mut self.processes, io.process) {
                group.update(io, place, block);
                self.commands.insert(io.process, io.command);
            } else {
                self.beyond.processes += 1;
            }
            if let Some(width) = self.window_ns {
                let number = io.queued_ns / width;
                match window(&mut self.windows, number) {
                    Some(group) => group.update(io, place, block),
                    None => self.beyond.window = self.beyond.window.or(Some(number)),
                }
            }
        }
    }

    /// Takes in a flush that moves no data. It makes no group of its own.
    fn flush(&mut self, io: &Io) {
        self.overall.flush(io);
        let width = self.window_ns.unwrap_or(1);
        let window = self.windows.last_mut().filter(|last| last.0 == io.queued_ns / width);
        let groups = [
            self.disks.get_mut(&io.device),
            self.processes.get_mut(&io.process),
            window.map(|last| &mut last.1),
        ];
        groups.into_iter().flatten().for_each(|group| group.flush(io));
    }

    fn place(&mut self, io: &Io) -> RequestPosition {
        let key = (io.process, io.device);
        // Beyond any realistic number of streams, memory matters more than their sequences.
        if self.streams.len() >= 1 << 20 && !self.streams.contains_key(&key) {
            return RequestPosition { follows: false, before: None, ended_run: 0 };
        }
        let stream = self.streams.entry(key).or_default();
        let before = stream.before.replace(io.request.op);
        let follows = before.is_some() && stream.end == io.request.offset;
        let ended_run = if follows { 0 } else { stream.run };
        stream.run = if follows { stream.run + 1 } else { 1 };
        stream.end = io.end();
        RequestPosition { follows, before, ended_run }
    }

    /// Returns the workloads. `name` is what the user calls the trace; `fit` says how close each
    /// workload is to the model. The caller passes the `fit` of the `workload` crate, the only such
    /// measure for all requests.
    pub fn finish(&self, name: &str, info: &TraceInfo, fit: Fit) -> TraceCharacterization {
        let runs = |of: &dyn Fn(&(u32, u16)) -> bool| -> Vec<u64> {
            let streams = self.streams.iter().filter(|(key, _)| of(key));
            streams.map(|(_, stream)| stream.run).collect()
        };
        let mut disks: Vec<_> = self.disks.iter().collect();
        disks.sort_by_key(|one| *one.0);
        let disks: Vec<TraceTraits> = disks
            .into_iter()
            .map(|(&id, group)| {
                let runs = runs(&|key| key.1 == id).into_iter();
                group.finish(disk_name(info, id), fit, runs, None)
            })
            .collect();
        let mut processes: Vec<_> = self.processes.iter().collect();
        processes.sort_by_key(|(id, group)| (std::cmp::Reverse(group.requests()), **id));
        let told = processes.len() > 1;
        let processes = processes.into_iter().filter(|_| told).take(LISTED);
        let width = self.window_ns.unwrap_or(1);
        let [first_ns, last_ns] = self.overall.span_ns();
        let windows = self.windows.iter().map(|(number, group)| {
            let begin_ns = number * width;
            let name = format!("from {} s", begin_ns as f64 / 1e9);
            let end_ns = begin_ns.saturating_add(width);
            // Rows out of order may lie before the first.
            let lasting_ns =
                (end_ns <= last_ns).then(|| end_ns.saturating_sub(begin_ns.max(first_ns)));
            group.finish(name, fit, std::iter::empty(), lasting_ns)
        });
        TraceCharacterization {
            name: name.to_owned(),
            overall: self.overall.finish(
                "the whole trace".to_owned(),
                fit,
                runs(&|_| true).into_iter(),
                None,
            ),
            disks: if disks.len() > 1 { disks } else { Vec::new() },
            processes: processes
                .map(|(&id, group)| {
                    let runs = runs(&|key| key.0 == id).into_iter();
                    group.finish(self.process(id, info), fit, runs, None)
                })
                .collect(),
            windows: windows.collect(),
        }
    }

    /// The doubt about the workload of the whole trace if requests lack their completion.
    pub fn doubt_of_completions(&self) -> Option<Warning> {
        let [requests, timed] = [self.overall.requests(), self.overall.timed()];
        let text = match timed {
            _ if !self.overall.lacks_completions() => return None,
            0 => "requests have no response times: process_num is taken as 1, and the think time is the mean time between arrivals".to_owned(),
            _ => format!(
                "no response time is recorded of {} of {requests} requests: they are taken to last as long as the others, and process_num is the fewest processes that keep the recorded rate",
                requests - timed
            ),
        };
        let place = "process_num, think_time_ns, response_time_ns";
        Some(Warning::new(WarningKind::TimesUnknown, text).at(place))
    }

    /// The doubt about the workloads of parts that lack completions where the whole does not.
    fn doubt_of_parts(&self) -> Option<Warning> {
        let lacking = self.parts().filter(|part| part.lacks_completions()).count() as u64;
        let text = format!(
            "in {} of disks, processes or windows more than 1 request in {ONE_IN} has no response time: process_num there is the fewest processes that keep the recorded rate, or 1 where none has",
            counted(lacking, "workload")
        );
        let is_told = self.overall.lacks_completions() || lacking == 0;
        (!is_told).then(|| Warning::new(WarningKind::TimesUnknown, text).at("process_num"))
    }

    /// The doubt about workloads whose reads may come from the file cache where those of the trace
    /// came from the device.
    fn doubt_of_cached_reads(&self) -> Option<Warning> {
        let parts = self.parts().filter(|part| part.cached_reads().is_some()).count() as u64;
        let of = match self.overall.cached_reads() {
            Some(share) => format!("{:.0} % of the requests are reads", 100.0 * share),
            None if parts > 0 => {
                format!(
                    "dsync has reads in {} of disks, processes or windows",
                    counted(parts, "workload")
                )
            }
            None => return None,
        };
        let text = format!(
            "{of}: in the trace they reached the device, but with dsync they go through the file cache, which may hold them; with direct they reach the device, but no write waits for the medium"
        );
        Some(Warning::new(WarningKind::PoorFit, text).at("access"))
    }

    /// The disks, processes and windows.
    fn parts(&self) -> impl Iterator<Item = &Group> {
        let windows = self.windows.iter().map(|window| &window.1);
        self.disks.values().chain(self.processes.values()).chain(windows)
    }

    /// The doubts about the workloads: requests without a completion, reads that may miss the
    /// device, and what those of disks, processes and windows lack because there are too many.
    pub fn doubts(&self) -> Vec<Warning> {
        let Beyond { disks, processes, window } = self.beyond;
        let disks = (disks > 0).then(|| {
            let text = format!(
                "{disks} requests are to disks beyond the first {MOST} and in the workload of no disk: --disk chooses disks"
            );
            ("disks", text)
        });
        let processes = (processes > 0).then(|| {
            let text = format!(
                "{processes} requests are of processes beyond the first {MOST} and in the workload of no process: --from and --to choose a time with fewer"
            );
            ("processes", text)
        });
        let windows = window.map(|number| {
            let from = number as f64 * self.window_ns.unwrap_or(1) as f64 / 1e9;
            let text = format!(
                "the trace has more than {MOST} windows: those from {from} s on are left out; give a longer --window"
            );
            ("windows", text)
        });
        let beyond = [disks, processes, windows].into_iter().flatten();
        let beyond =
            beyond.map(|(place, text)| Warning::new(WarningKind::SetLimited, text).at(place));
        let own =
            [self.doubt_of_completions(), self.doubt_of_parts(), self.doubt_of_cached_reads()];
        own.into_iter().flatten().chain(beyond).collect()
    }

    fn process(&self, id: u32, info: &TraceInfo) -> String {
        let command = self.commands.get(&id).and_then(|&index| info.commands.get(index as usize));
        match command.filter(|command| !command.is_empty()) {
            Some(command) => format!("{command} ({id})"),
            None => format!("process {id}"),
        }
    }
}

/// The window with this number, unless there are too many.
fn window(windows: &mut Vec<(u64, Group)>, number: u64) -> Option<&mut Group> {
    if windows.last().is_none_or(|last| last.0 != number) && windows.len() < MOST {
        windows.push((number, Group::default()));
    }
    windows.last_mut().filter(|last| last.0 == number).map(|last| &mut last.1)
}

/// The group of a key, unless there are too many.
fn limited<K: std::hash::Hash + Eq>(
    groups: &mut FxHashMap<K, Group>,
    key: K,
) -> Option<&mut Group> {
    if groups.len() >= MOST && !groups.contains_key(&key) {
        return None;
    }
    Some(groups.entry(key).or_default())
}

#[cfg(test)]
mod tests;
