//! The phases of an application: its calls in windows of equal bytes, of which neighbours that are alike are put together.
//!
//! What is alike is told by what matters to a file system: the share of reads, how many sequential runs are continued in turn, how many
//! requests begin elsewhere, and how large they are. Windows are put together as in Ward's clustering, so that what alternates from
//! window to window becomes one phase, and what lasts stays apart.

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

/// Most windows; when there are so many, two each become one.
const WINDOWS: usize = 64;

/// Bytes of a window at first.
const WINDOW_BYTES: u64 = 64 << 10;

/// Most phases.
const PHASES: usize = 8;

/// Neighbours are put together as long as that loses less than this: two halves of an application that differ in everything lose about 1/4.
const LOSS: f64 = 0.02;

/// Bytes of the largest request of a phase.
const LARGEST: u32 = SIZE_MEAN_MAX as u32;

/// What is used again is told apart in pages of so many bytes.
const PAGE_BYTES: u64 = 4096;

/// Processes whose runs are followed at the same time.
const PROCESSES_MOST: usize = 4096;

/// Learns the phases from calls in the order of their completions.
#[derive(Clone, Debug, Default)]
pub(super) struct Stages {
    windows: Vec<Window>,
    /// How often two windows each became one.
    doublings: u32,
    /// By process and kind.
    open: BTreeMap<(u32, bool), OpenRuns>,
    /// The kind of each process's request before, and when the last of its calls ended.
    before: BTreeMap<u32, (Op, u64)>,
    /// What was written of each file.
    written: BTreeMap<u32, Touched>,
}

impl Stages {
    /// Adds the next call that moved bytes; `used` is what was read or written of its file before. A call that is larger than the requests of a
    /// phase counts as several.
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
        // One that was in flight with others may have ended before them.
        let ended_ns = before.map_or(0, |(_, ended_ns)| ended_ns).max(call.completed_ns);
        self.before.insert(call.process, (op, ended_ns));
        let before = before.map(|(last, ended_ns)| (last != op, pause_ns(call, ended_ns)));
        let reads = call.is_read();
        let step = self.open.entry((call.process, reads)).or_default().follow(call);
        if let Some(window) = self.windows.last_mut() {
            window.add(call, step, before, is_new);
        }
    }

    /// Forgets the half of the processes that have done nothing for longest: of so many most have ended.
    fn forget_oldest(&mut self) {
        let mut ends: Vec<u64> = self.before.values().map(|(_, ended_ns)| *ended_ns).collect();
        let middle = ends.len() / 2;
        let (_, median, _) = ends.select_nth_unstable(middle);
        self.before.retain(|_, (_, ended_ns)| *ended_ns > *median);
        let known = &self.before;
        self.open.retain(|(process, _), _| known.contains_key(process));
    }

    /// Adds a call that waited for dirty pages: no pause.
    pub(super) fn sync(&mut self, call: &FileCall) {
        if let Some((_, ended_ns)) = self.before.get_mut(&call.process) {
            *ended_ns += call.completed_ns.saturating_sub(call.issued_ns);
        }
    }

    /// Whether the page that a call begins in was not used before: by a read at all, by a write to write, for it finds no use in what was read.
    fn is_new(&mut self, call: &FileCall, used: &Touched) -> bool {
        let offset = call.request.offset;
        if call.is_read() {
            return !used.holds(offset);
        }
        let written = self.written.entry(call.file);
        let written = written.or_insert_with(|| Touched::new(PAGE_BYTES));
        let is_new = !written.holds(offset);
        written.touch(offset, u64::from(call.request.len));
        is_new
    }

    /// The phases, for as many processes as are active, on a set in which the files lie one behind the other: `files` has what each has of
    /// the set, and where it ends.
    pub(super) fn finish(
        self,
        files: impl Iterator<Item = (u32, u64, u64)>,
        activity: Activity,
    ) -> Vec<Phase> {
        let end_ns = self.windows.iter().map(|window| window.end_ns).max().unwrap_or(0);
        let places = Places::new(files);
        let windows = put_together(self.windows);
        let begins: Vec<u64> = windows.iter().map(|window| window.begin_ns).collect();
        let ends = begins.iter().skip(1).copied().chain([end_ns]);
        windows
            .iter()
            .zip(ends)
            .filter_map(|(window, end_ns)| window.phase(end_ns, &places, activity))
            .collect()
    }
}

/// A call as requests of about one size, one behind the other, as few as are small enough.
fn pieces(call: &FileCall) -> impl Iterator<Item = FileCall> {
    let Request { op, offset, len } = call.request;
    let each = len.div_ceil(len.div_ceil(LARGEST).max(1)).max(1);
    (0..len).step_by(each as usize).map(move |begin| {
        let offset = offset.saturating_add(u64::from(begin));
        FileCall { request: Request { op, offset, len: each.min(len - begin) }, ..*call }
    })
}

/// The time before a call since its process's last one that nobody held it up, unless it has begun anew after a long pause.
fn pause_ns(call: &FileCall, ended_ns: u64) -> u64 {
    let apart_ns = call.issued_ns.saturating_sub(ended_ns);
    if apart_ns > PAUSE_NS { 0 } else { apart_ns.saturating_sub(call.held_before_ns) }
}

/// Two windows each as one.
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

/// Puts neighbours together, those first that lose least by it.
fn put_together(mut windows: Vec<Window>) -> Vec<Window> {
    let all: u64 = windows.iter().map(Window::bytes).sum();
    loop {
        let losses = windows.windows(2).map(|pair| pair[0].loss(&pair[1], all as f64));
        let least = losses.enumerate().min_by(|one, other| one.1.total_cmp(&other.1));
        match least {
            Some((at, loss)) if loss < LOSS || windows.len() > PHASES => {
                let next = windows.remove(at + 1);
                windows[at].merge(next);
            }
            _ => return windows,
        }
    }
}

#[cfg(test)]
mod tests;
