//! Where the requests of a run were served from, according to the kernel's counters.

use crate::evaluation::{Evaluation, Settings};
use crate::{Access, Border, BorderOperation, Engine, Measurement, Parameter, Point};

/// Residency of the set, and hit ratio of reads, from which storage is assumed to play no part.
const CACHED: f64 = 0.97;
/// Fraction of the time spent computing from which processes are assumed not to wait for storage.
/// Copying counts as computing.
const COMPUTING: f64 = 0.9;
/// If residency grows by at least this fraction of the missed bytes, the cache is not full: a full
/// cache evicts a page for each page that it takes in.
const TAKEN_UP: f64 = 0.3;
/// The residency of a full cache fluctuates by up to this many bytes, since the kernel frees pages
/// in batches. In 50 runs of 0.5 s in a control group of 128 MiB it was up to 1 MiB, and slow
/// storage brings in little more. Smaller growth counts only if `STAYED` of the missed bytes
/// remained.
const BATCHES: f64 = 2.0 * 1_048_576.0;
const STAYED: f64 = 0.7;
/// With writes in the mix, growth below this fraction of the bytes moved is ignored.
const NOTICED: f64 = 0.001;
/// Smallest residency of a set that fits if the file cache takes part at all.
const KEPT: f64 = 0.5;

impl Measurement {
    /// Returns how many bytes the residency of all sets grew during the measurement; `None` if
    /// unknown.
    pub fn grown_bytes(&self) -> Option<f64> {
        let [before, after] = self.witness.resident_frac?;
        Some((after - before) * self.workload.unique_bytes as f64 * self.client_count())
    }

    /// Returns the largest fraction of the set seen in the file cache; `None` if unknown.
    fn seen_resident(&self) -> Option<f64> {
        let pair = self.witness.resident_frac.map(|[before, after]| before.max(after));
        pair.or(self.resident_frac)
    }

    /// Returns whether the run was served from memory alone, judged by the kernel's counters and
    /// the processes' own time. Without any of these it counts as served from storage.
    pub fn is_from_memory(&self) -> bool {
        let is_cached = |share: Option<f64>| share.is_none_or(|share| share >= CACHED);
        is_cached(self.resident_frac) && is_cached(self.read_hit_frac()) && self.computed(COMPUTING)
    }

    /// Returns whether the file cache was still filling with the set during the measurement.
    ///
    /// The throughput then reflects how much of the set had come in by that time. A full cache is
    /// no slower. Unknown, and so false, without the residency before and after.
    pub fn was_filling(&self) -> bool {
        let Some(([before, after], grown)) = self.witness.resident_frac.zip(self.grown_bytes())
        else {
            return false;
        };
        let missed = (1.0 - 0.5 * (before + after)) * self.bytes as f64;
        // Writes also wait for other reasons, beside which a few pages that come in do not matter.
        let least = if self.workload.read_frac == 1.0 { 0.0 } else { NOTICED * self.bytes as f64 };
        // If the set fits, nothing is evicted.
        let full = (TAKEN_UP * missed).max(BATCHES.min(STAYED * missed));
        let given_way = if after >= CACHED { 0.0 } else { full };
        let is_growing = grown > given_way.max(least);
        self.workload.access.reads_cached() && is_growing && !self.is_from_memory()
    }
}

impl Evaluation {
    /// Returns the curve of these requests over the size of the set.
    pub fn set_size_curve(&self, operation: BorderOperation) -> &[Point] {
        match operation {
            BorderOperation::Write => &self.unique_bytes_write_curve,
            BorderOperation::Read => &self.unique_bytes_read_curve,
            BorderOperation::Mixed => &self.unique_bytes_curve,
        }
    }

    /// Iterates over the curves of set sizes and then those of these parameters, region by region.
    pub fn curves(&self, of: &'static [Parameter]) -> impl Iterator<Item = &[Point]> {
        let operations = [BorderOperation::Mixed, BorderOperation::Read, BorderOperation::Write];
        let sets = operations.map(|operation| self.set_size_curve(operation));
        let within = self.regions.iter().flat_map(|region| {
            of.iter().filter_map(|parameter| region.curves.get(*parameter)).map(Vec::as_slice)
        });
        sets.into_iter().chain(within)
    }

    /// Returns the smallest set, in bytes, from which on all sets of these requests were still
    /// filling the file cache while measured; `None` if the largest was not. Nothing can then be
    /// seen beyond the last steady set.
    pub fn fills_from(&self, operation: BorderOperation) -> Option<f64> {
        let filling = self.set_size_curve(operation).iter().rev();
        filling.take_while(|point| point.measurement.was_filling()).last().map(|point| point.value)
    }

    /// Returns the borders of these requests at which storage takes over, in order: all except
    /// those within memory.
    pub fn of_storage(&self, operation: BorderOperation) -> impl Iterator<Item = &Border> {
        self.borders.iter().filter(move |b| b.operation == operation && !b.in_memory)
    }

    /// Returns whether the file cache takes part in requests of this kind.
    ///
    /// `O_DIRECT` bypasses it, `O_DSYNC` makes every write wait for storage, and some file systems
    /// keep nothing in it. A mix of half reads and half writes counts as writes.
    pub fn has_file_cache(&self, operation: BorderOperation) -> bool {
        let is_asked = match self.access() {
            Access::Buffered => true,
            Access::Direct => false,
            Access::Dsync => operation == BorderOperation::Read,
        };
        is_asked && !self.keeps_nothing()
    }

    /// Returns whether nothing stays in the file cache.
    ///
    /// Either the engine drops the pages of its requests, or the kernel reported that most of every
    /// read set up to the first storage border was not resident, as on file systems that cache
    /// nothing there. Any speedup of small sets then comes from a server's cache or a drive's.
    fn keeps_nothing(&self) -> bool {
        let drops = |settings: &Settings| settings.base.engine == Engine::Dontcache;
        self.settings.as_ref().is_some_and(drops) || self.is_kept_out()
    }

    fn is_kept_out(&self) -> bool {
        let border = self.of_storage(BorderOperation::Read).next();
        let end = border.map_or(f64::INFINITY, |border| border.unique_bytes);
        let curve = self.set_size_curve(BorderOperation::Read).iter();
        let mut small = curve.filter(|point| point.value <= end).peekable();
        let is_out = |m: &Measurement| m.seen_resident().is_some_and(|share| share < KEPT);
        // Reads from memory take processor time; reads from a server are waited for. On stacked
        // file systems the cached pages belong to another file.
        let is_out_of_all =
            |point: &Point| is_out(&point.measurement) && !point.measurement.computes();
        let mut runs = self.probes.iter().map(|probe| &probe.measurement);
        small.peek().is_some()
            && small.all(is_out_of_all)
            && runs.all(|m| m.seen_resident().is_none() || is_out(m))
    }

    /// Returns the first set beyond a border of these requests, in bytes, if that set was [not read
    /// in](Measurement::not_read_in) and the last set before the border was. Such a border need not
    /// be the end of a cache: it may be the end of what was read.
    pub fn not_read_in_from(&self, border: &Border) -> Option<f64> {
        let curve = self.set_size_curve(border.operation);
        let before = curve.iter().rev().find(|point| point.value <= border.low)?;
        let behind = curve.iter().find(|point| point.value >= border.high)?;
        let is_cold = behind.measurement.not_read_in && !before.measurement.not_read_in;
        is_cold.then_some(behind.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Client, Clients, Stop, Workload};

    /// Reads of 14 MiB from a set of 384 MiB by processes that waited.
    fn run([before, after]: [f64; 2]) -> Measurement {
        let workload = Workload { unique_bytes: 384 << 20, read_frac: 1.0, ..Workload::default() };
        let mut m = Measurement::empty(workload, Stop::Confident);
        (m.bytes, m.resident_frac) = (14 << 20, Some(after));
        m.witness.resident_frac = Some([before, after]);
        m
    }

    #[test]
    fn a_run_whose_cache_took_up_the_set_is_not_a_full_one() {
        let filling = |resident| run(resident).was_filling();
        assert!(filling([0.008, 0.0437]), "all came in and nothing gave way");
        assert!(filling([0.99, 1.0]), "nothing gives way in a set that fits");
        assert!(!filling([0.25, 0.25]), "what came in took the place of other pages");
        assert!(!filling([0.25, 0.24]));
        // As with reads from a slow disk: 1.05 MiB of the 2.6 MiB missed stayed in a full cache.
        let few = |resident: [f64; 2]| {
            let mut m = run(resident);
            m.bytes = 5 << 20;
            m.was_filling()
        };
        assert!(!few([0.4, 0.4 + 1.05 / 384.0]));
        assert!(few([0.01, 0.01 + 4.5 / 384.0]));
    }

    /// Four clients, each with its own set: their counters are summed.
    #[test]
    fn runs_of_several_clients_are_judged_by_all_of_their_time_and_sets() {
        let each: Vec<Client> = (0..4).map(|rank| Client { rank, ..Client::default() }).collect();
        let of_four = |resident: [f64; 2]| {
            let mut m = run(resident);
            m.bytes *= 4;
            m.clients = Some(Clients { each: each.clone(), ..Clients::default() });
            m
        };
        assert!(of_four([0.008, 0.0437]).was_filling() && !of_four([0.25, 0.25]).was_filling());
        let computed = |cpu_system_s| {
            let m = of_four([1.0, 1.0]);
            Measurement { elapsed_s: 1.0, cpu_system_s, ..m }.is_from_memory()
        };
        assert_eq!([1.0, 3.9].map(computed), [false, true]);
    }

    #[test]
    fn what_lies_beyond_the_last_set_that_was_steady_is_not_seen() {
        let point = |value: f64, resident| Point {
            value,
            measurement: run(resident),
            rounds: Vec::new(),
            spread: None,
        };
        let (steady, filling) = ([0.25, 0.25], [0.008, 0.0437]);
        let of = |largest| {
            let curve =
                [(1.0, steady), (2.0, filling), (3.0, steady), (4.0, filling), (5.0, largest)];
            let curve: Vec<Point> = curve.into_iter().map(|(v, r)| point(v, r)).collect();
            Evaluation { unique_bytes_read_curve: curve, ..Evaluation::default() }
        };
        assert_eq!(of(filling).fills_from(BorderOperation::Read), Some(4.0));
        assert_eq!(of(steady).fills_from(BorderOperation::Read), None);
    }

    /// A border of reads between sets of 2 and 4 bytes.
    fn border() -> Border {
        Border {
            operation: BorderOperation::Read,
            unique_bytes: 3.0,
            low: 2.5,
            high: 3.5,
            ratio: 9.0,
            in_memory: false,
            slower: None,
        }
    }

    /// Reads of sets of these sizes, with these measurements.
    fn reads(curve: Vec<(f64, Measurement)>) -> Evaluation {
        let point =
            |(value, measurement)| Point { value, measurement, rounds: Vec::new(), spread: None };
        Evaluation {
            unique_bytes_read_curve: curve.into_iter().map(point).collect(),
            borders: vec![border()],
            ..Evaluation::default()
        }
    }

    /// Guards against taking a server's 64 MiB cache for the file cache, which held none of the
    /// sets.
    #[test]
    fn a_file_system_that_keeps_nothing_in_the_file_cache_has_none() {
        let has_cache = |small: Option<[f64; 2]>, large: Option<[f64; 2]>| {
            let told = |resident: Option<[f64; 2]>| {
                let mut m = run(resident.unwrap_or_default());
                (m.witness.resident_frac, m.resident_frac) = (resident, resident.map(|r| r[1]));
                m
            };
            let all = reads(vec![(1.0, told(small)), (2.0, told(small)), (4.0, told(large))]);
            [BorderOperation::Read, BorderOperation::Write].map(|of| all.has_file_cache(of))
        };
        assert_eq!(has_cache(Some([0.0; 2]), Some([0.0; 2])), [false; 2]);
        assert_eq!(has_cache(Some([1.0; 2]), Some([0.0; 2])), [true; 2]);
        assert_eq!(has_cache(None, Some([0.0; 2])), [true; 2], "absent never means zero");
        assert_eq!(has_cache(Some([1.0, 0.0]), None), [true; 2], "dropped when it was closed");
    }

    /// Guards against taking a drive's cache for the file cache, although every page was dropped as
    /// soon as its request was done.
    #[test]
    fn requests_that_drop_their_pages_have_no_file_cache() {
        let has_cache = |engine| {
            let base = Workload { engine, ..Workload::default() };
            let asked = Settings {
                unique_bytes: [1, 4],
                size_mean: [1, 1],
                process_num: [1, 1],
                base,
                budget_s: 1.0,
                all_parameters: false,
                points_max: None,
                flush_interval_s: None,
                layout_bytes_per_s: None,
                memory_limit_bytes: None,
            };
            let all = Evaluation { settings: Some(asked), ..reads(Vec::new()) };
            [BorderOperation::Read, BorderOperation::Write].map(|of| all.has_file_cache(of))
        };
        assert_eq!(has_cache(Engine::Dontcache), [false; 2]);
        assert_eq!(has_cache(Engine::Psync), [true; 2]);
    }

    #[test]
    fn a_border_where_reading_in_stops_need_be_no_end_of_a_cache() {
        let from = |cold: [bool; 3]| {
            let sized = cold
                .into_iter()
                .zip([1.0, 2.0, 4.0])
                .map(|(not_read_in, value)| (value, Measurement { not_read_in, ..run([0.0; 2]) }));
            reads(sized.collect()).not_read_in_from(&border())
        };
        assert_eq!(from([false, false, true]), Some(4.0));
        assert_eq!([from([false; 3]), from([true; 3]), from([false, true, true])], [None; 3]);
    }
}
