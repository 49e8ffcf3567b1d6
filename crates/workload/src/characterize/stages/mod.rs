//! The phases of an application: its calls are divided into windows of equal bytes, and similar
//! neighbours are merged.
//!
//! Similarity is judged by what matters to a file system: the share of reads, the number of
//! sequential runs continued in turn, the number of requests that begin elsewhere, and the request
//! sizes. Windows are merged as in Ward's clustering: behaviour that alternates from window to
//! window becomes one phase, and lasting changes stay apart.

mod place;
mod runs;
mod window;

use super::phases::{Activity, PAUSE_NS};
use super::touched::Touched;
use ioscape_schema::workload::SIZE_MEAN_MAX;
use ioscape_schema::{FileCall, Op, Phase, Request};
use place::Places;
use runs::OpenRuns;
use std::collections::BTreeMap;
use window::Window;

/// The most windows; when there are this many, they are merged in pairs.
const WINDOWS: usize = 64;

/// The initial size of a window in bytes.
const WINDOW_BYTES: u64 = 64 << 10;

/// The most phases.
const PHASES: usize = 8;

/// Neighbours are merged while that loses less than this; two halves of an application that differ
/// in everything lose about 1/4.
const LOSS: f64 = 0.02;

/// Neighbours are also merged while that loses less than this, divided by the number of requests:
/// as much as random ones differ by chance.
const LOSS_BY_CHANCE: f64 = 4.0;

/// But never while it loses as much as this: few requests hardly ever differ so much by chance.
const LOSS_MOST: f64 = 0.2;

/// The largest request of a phase, in bytes.
const LARGEST: u32 = SIZE_MEAN_MAX as u32;

/// The most processes whose runs are followed at the same time.
const PROCESSES_MOST: usize = 4096;

/// Learns the phases from calls in the order of completion.
#[derive(Clone, Debug, Default)]
pub(super) struct Stages {
    windows: Vec<Window>,
    /// How often windows were merged in pairs.
    doublings: u32,
    /// By process and kind.
    open: BTreeMap<(u32, bool), OpenRuns>,
    /// The kind of each process's previous request, and when the last of its calls ended.
    before: BTreeMap<u32, (Op, u64)>,
    /// What was written, by file.
    written: BTreeMap<u32, Touched>,
}

impl Stages {
    /// Adds the next call that moved bytes; `used` is what was read or written of its file before.
    /// A call larger than the requests of a phase counts as several.
    pub(super) fn record(&mut self, call: &FileCall, used: &Touched) {
        let most = WINDOW_BYTES << self.doublings;
        let is_full = self.windows.last().is_none_or(|last| last.bytes() >= most);
        if is_full {
            if self.windows.len() == WINDOWS {
                self.windows = halved(std::mem::take(&mut self.windows));
                self.doublings += 1;
            }
            self.windows.push(Window::new(call.issued_ns));
        }
        pieces(call).for_each(|piece| self.add(&piece, used));
    }

    /// Adds a call, or a part of one, to the last window.
    fn add(&mut self, call: &FileCall, used: &Touched) {
        let is_new = self.is_new(call, used);
        let op = call.request.op;
        let before = self.before.get(&call.process).copied();
        if before.is_none() && self.before.len() >= PROCESSES_MOST {
            self.forget_oldest();
        }
        // A call may have ended before others that it was in flight with.
        let ended_ns = before.map_or(0, |(_, ended_ns)| ended_ns).max(call.completed_ns);
        self.before.insert(call.process, (op, ended_ns));
        let before = before.map(|(last, ended_ns)| (last != op, pause_ns(call, ended_ns)));
        let reads = call.is_read();
        let step = self.open.entry((call.process, reads)).or_default().follow(call);
        if let Some(window) = self.windows.last_mut() {
            window.add(call, step, before, is_new);
        }
    }

    /// Forgets the half of the processes that have been idle longest: of this many, most have
    /// ended.
    fn forget_oldest(&mut self) {
        let mut ends: Vec<u64> = self.before.values().map(|(_, ended_ns)| *ended_ns).collect();
        let middle = ends.len() / 2;
        let (_, median, _) = ends.select_nth_unstable(middle);
        self.before.retain(|_, (_, ended_ns)| *ended_ns > *median);
        let known = &self.before;
        self.open.retain(|(process, _), _| known.contains_key(process));
    }

    /// Adds a call that waited for dirty pages, which is no pause.
    pub(super) fn sync(&mut self, call: &FileCall) {
        if let Some((_, ended_ns)) = self.before.get_mut(&call.process) {
            *ended_ns += call.completed_ns.saturating_sub(call.issued_ns);
        }
    }

    /// Whether the page at which a call begins is new: never used, for a read; never written, for a
    /// write, because reads before a write are no reuse.
    fn is_new(&mut self, call: &FileCall, used: &Touched) -> bool {
        let offset = call.request.offset;
        if call.is_read() {
            return !used.holds(offset);
        }
        let written = self.written.entry(call.file);
        let written = written.or_insert_with(|| Touched::new(used.granule_bytes));
        let is_new = !written.holds(offset);
        written.touch(offset, u64::from(call.request.len));
        is_new
    }

    /// Returns the phases, for as many processes as are active, on a set that contains the files
    /// one after the other. `files` gives each file's number, its bytes in the set, and its end.
    pub(super) fn finish(
        self,
        files: impl Iterator<Item = (u32, u64, u64)>,
        activity: Activity,
    ) -> Vec<Phase> {
        let end_ns = self.windows.iter().map(|window| window.end_ns).max().unwrap_or(0);
        let places = Places::new(files);
        let windows = put_together(self.windows, &places);
        let begins: Vec<u64> = windows.iter().map(|window| window.begin_ns).collect();
        let ends = begins.iter().skip(1).copied().chain([end_ns]);
        windows
            .iter()
            .zip(ends)
            .filter_map(|(window, end_ns)| window.phase(end_ns, &places, activity))
            .collect()
    }
}

/// Splits a call into the fewest consecutive requests of about equal size that are small enough.
fn pieces(call: &FileCall) -> impl Iterator<Item = FileCall> {
    let Request { op, offset, len } = call.request;
    let each = len.div_ceil(len.div_ceil(LARGEST).max(1)).max(1);
    (0..len).step_by(each as usize).map(move |begin| {
        let offset = offset.saturating_add(u64::from(begin));
        FileCall { request: Request { op, offset, len: each.min(len - begin) }, ..*call }
    })
}

/// Returns the pause between a process's last call and this one, without delays by others; 0 if it
/// starts anew after a long pause.
fn pause_ns(call: &FileCall, ended_ns: u64) -> u64 {
    let apart_ns = call.issued_ns.saturating_sub(ended_ns);
    if apart_ns > PAUSE_NS { 0 } else { apart_ns.saturating_sub(call.held_before_ns) }
}

/// Merges windows in pairs.
fn halved(windows: Vec<Window>) -> Vec<Window> {
    let mut half = Vec::with_capacity(WINDOWS);
    let mut all = windows.into_iter();
    while let Some(mut one) = all.next() {
        if let Some(next) = all.next() {
            one.merge(next);
        }
        half.push(one);
    }
    half
}

/// Merges neighbours, in the order of the smallest loss.
fn put_together(mut windows: Vec<Window>, places: &Places) -> Vec<Window> {
    let all: u64 = windows.iter().map(Window::bytes).sum();
    let requests: u64 = windows.iter().map(Window::requests).sum();
    let least_loss = LOSS.max((LOSS_BY_CHANCE / requests.max(1) as f64).min(LOSS_MOST));
    loop {
        let losses = windows.windows(2).map(|pair| pair[0].loss(&pair[1], all as f64, places));
        let least = losses.enumerate().min_by(|one, other| one.1.total_cmp(&other.1));
        match least {
            Some((at, loss)) if loss < least_loss || windows.len() > PHASES => {
                let next = windows.remove(at + 1);
                windows[at].merge(next);
            }
            _ => return windows,
        }
    }
}

#[cfg(test)]
mod tests;
