//! Where the requests of a run were served from, by what the kernel counted.

use crate::evaluation::Evaluation;
use crate::{BorderOperation, Measurement, Point};

/// Least share of the set in the file cache, and of reads served from it, at which storage is taken to play no part.
const CACHED: f64 = 0.97;
/// Least share of the time spent computing at which processes are taken not to wait for storage. Copying counts as computing.
const COMPUTING: f64 = 0.9;
/// Share of the requests that miss from which on the growth of what is resident says that the cache is not full: a full one gives up a page for
/// each that comes in.
const TAKEN_UP: f64 = 0.3;
/// By so many bytes what a full cache holds comes and goes, as the kernel frees pages in batches: in 50 runs of 0.5 s in a control group of 128 MiB by up to
/// 1 MiB, beside which slow storage brings little more. Less than this says so only where this share of what missed stayed.
const BATCHES: f64 = 2.0 * 1_048_576.0;
const STAYED: f64 = 0.7;
/// Share of the bytes moved from which on what comes in counts where writes are among them.
const NOTICED: f64 = 0.001;

impl Measurement {
    /// How many clients ran the workload, each in a set of its own: bytes and times of processors are of all of them.
    pub fn client_count(&self) -> f64 {
        self.clients.as_ref().map_or(1.0, |clients| clients.each.len().max(1) as f64)
    }

    /// Seconds for which its processes together had a processor, or could have had one; where the time they waited for one is not
    /// known, they are taken to have had one each.
    pub fn available_s(&self) -> f64 {
        let delay_s = self.witness.run_delay_s.unwrap_or(0.0);
        self.elapsed_s * f64::from(self.workload.process_num) * self.client_count() - delay_s
    }

    /// Bytes by which what is resident of all sets grew while it was measured; `None` where the kernel was not asked.
    pub fn grown_bytes(&self) -> Option<f64> {
        let [before, after] = self.witness.resident_frac?;
        Some((after - before) * self.workload.unique_bytes as f64 * self.client_count())
    }

    /// Whether it was served from memory alone, by the kernel's counters and the processes' own time; without any of these it counts as
    /// served from storage.
    pub fn is_from_memory(&self) -> bool {
        let is_cached = |share: Option<f64>| share.is_none_or(|share| share >= CACHED);
        let computed_s = self.cpu_user_s + self.cpu_system_s;
        is_cached(self.resident_frac)
            && is_cached(self.read_hit_frac())
            && computed_s > 0.0
            && computed_s >= COMPUTING * self.available_s()
    }

    /// Whether the file cache was still taking up the set while it was measured: how fast it was then tells how much of the set had come in
    /// by that time, and not how fast it is with a full cache, which is no slower. Not known without the share of the set before and after.
    pub fn was_filling(&self) -> bool {
        let Some(([before, after], grown)) = self.witness.resident_frac.zip(self.grown_bytes())
        else {
            return false;
        };
        let missed = (1.0 - 0.5 * (before + after)) * self.bytes as f64;
        // Writes wait for other reasons as well, beside which a few pages that come in do not count.
        let least = if self.workload.read_frac == 1.0 { 0.0 } else { NOTICED * self.bytes as f64 };
        // In a set that fits nothing gives way to what comes in.
        let full = (TAKEN_UP * missed).max(BATCHES.min(STAYED * missed));
        let given_way = if after >= CACHED { 0.0 } else { full };
        let is_growing = grown > given_way.max(least);
        self.workload.access.reads_cached() && is_growing && !self.is_from_memory()
    }
}

impl Evaluation {
    /// The curve of these requests over the sizes of the set.
    pub fn set_size_curve(&self, operation: BorderOperation) -> &[Point] {
        match operation {
            BorderOperation::Write => &self.unique_bytes_write_curve,
            BorderOperation::Read => &self.unique_bytes_read_curve,
            BorderOperation::Mixed => &self.unique_bytes_curve,
        }
    }

    /// The least set, in bytes, from which on all sets of these requests were still coming into the file cache while they were measured; `None`
    /// where the largest was not. What lies beyond the last set that was steady is then not seen.
    pub fn fills_from(&self, operation: BorderOperation) -> Option<f64> {
        let filling = self.set_size_curve(operation).iter().rev();
        filling.take_while(|point| point.measurement.was_filling()).last().map(|point| point.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Client, Clients, Stop, Workload};

    /// Reads of 14 MiB of a set of 384 MiB, by processes that waited.
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
        // As of reads of a slow disk: 1.05 MiB of the 2.6 MiB that missed, in a cache that was full.
        let few = |resident: [f64; 2]| {
            let mut m = run(resident);
            m.bytes = 5 << 20;
            m.was_filling()
        };
        assert!(!few([0.4, 0.4 + 1.05 / 384.0]));
        assert!(few([0.01, 0.01 + 4.5 / 384.0]));
    }

    /// Four clients, each with a set of its own: what each counted is summed.
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
}
