//! The reach of an evaluation: the range of set sizes and request sizes that a target, its memory
//! and the budget allow.

mod premise;
mod room;
mod shortfall;

pub use room::check_capacity;
pub use shortfall::doubts;

use ioscape_schema::units::{Bytes, bytes_word};
use ioscape_schema::{Settings, Workload};

/// Smallest set, in bytes: below it, the processor caches are measured rather than the file system.
pub const UNIQUE_BYTES_MIN: u64 = 1 << 20;
/// Sets grow to this multiple of the memory in force: well past any file cache.
const PAST_MEMORY: u64 = 4;
/// Range of mean request sizes, in bytes.
const SIZE_MEAN: [u64; 2] = [4 << 10, 4 << 20];
/// Largest number of processes tried.
const PROCESS_MAX: u32 = 16;
/// Least memory limit, as a multiple of the mean request size: with all processes and requests of
/// up to eight times the mean, the workers' buffers stay within a quarter of it.
const LIMIT_OVER_SIZE: u64 = 4 * 8 * PROCESS_MAX as u64;
/// Share of the budget that laying out the set may take. Memory that a guest touches for the first
/// time costs seconds per gibibyte.
const LAYOUT_SHARE: f64 = 0.25;
/// Share of the budget in which a set well past the memory must be laid out if the end of the file
/// cache is to be found with such sets. Each measurement of such a set takes about as long again.
const OUTGROWING_SHARE: f64 = 0.1;
/// The same share if no control group can be made and the whole budget goes to such sets: with less
/// time, only a few could be measured.
const UNDIVIDED_SHARE: f64 = 0.125;
/// Share of its part of the budget for laying out the largest set of a part in which no set is well
/// past the memory.
const PART_LAYOUT_SHARE: f64 = 1.0 / 7.0;
/// Share of the budget for learning the layout rate.
pub const LAYOUT_TRIAL_SHARE: f64 = 0.04;
/// Share of the budget for exploring.
const EXPLORING: f64 = 0.96;
/// Share of the whole budget for laying out the sets of a control group that stands in for a memory
/// which no set outgrows. These sets are measured many times, and each time the group's cache fills
/// anew.
const GROUP_LAYOUT_SHARE: f64 = 1.0 / 60.0;
/// The highest layout rate, in bytes per second, for which the sizes of that group, and of a part's
/// sets within memory, are chosen. On a virtual disk the rate depends on whether the blocks were
/// ever written before (292, 896 and 959 MB/s in three evaluations of one directory, the first of
/// which was the first to write there), and two evaluations should choose the same sizes.
const LAYOUT_COUNTED: f64 = 250e6;
/// Memory of that group in bytes: the least, with little room for a cache beside the workers'
/// buffers; the usual least, unless its sets have no room; and the most.
const GROUP: [u64; 3] = [32 << 20, 128 << 20, 4 << 30];
/// Weight of such a group in the division of time, if the group, the machine as it is, and the
/// device are evaluated separately; the other two have weight 1.
pub(crate) const GROUP_WEIGHT: f64 = 1.5;
/// Memory assumed if it is not known, in bytes.
const MEMORY_ASSUMED: u64 = 1 << 30;

/// The limits on the sets of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReachLimits {
    /// Time the whole evaluation may take, in seconds.
    pub budget_s: f64,
    /// Largest set that the user allows, in bytes.
    pub max_unique_bytes: Option<u64>,
    /// Memory limit of the workers, in bytes.
    pub memory_limit_bytes: Option<u64>,
    /// Memory of the machine, in bytes.
    pub memory_bytes: Option<u64>,
    /// Largest set that fits on the target, in bytes.
    pub capacity_bytes: u64,
    /// Whether the target lies in the machine's memory, which its sets then occupy permanently.
    pub is_in_memory: bool,
    /// The rate at which a set is laid out, in bytes per second, if known.
    pub layout_bytes_per_s: Option<f64>,
    /// Whether all requests bypass the file cache.
    pub direct: bool,
    /// Whether this is one part of a budget that was divided because no set is well past the
    /// memory; `budget_s` is that part's time.
    pub is_part: bool,
}

/// Returns the least memory limit, in bytes and whole mebibytes, with which an evaluation measures
/// requests of this mean size; `None` if no evaluation measures that size.
pub fn limit_for(size_mean: u64) -> Option<u64> {
    let [least, most] = SIZE_MEAN;
    let limit = || size_mean.saturating_mul(LIMIT_OVER_SIZE).next_multiple_of(1 << 20);
    (least..=most).contains(&size_mean).then(limit)
}

impl ReachLimits {
    /// Returns the limit, in bytes, of a control group that sets can outgrow if none outgrows the
    /// memory within the budget and the space. It is a power of two, so that two evaluations choose
    /// the same. The smallest may still be [too large](Self::too_small_for).
    ///
    /// Returns `None` if sets outgrow the memory and there is time to measure several of them, or
    /// if the user chose memory, sets or direct access.
    pub fn group(&self) -> Option<u64> {
        let is_chosen =
            self.direct || self.memory_limit_bytes.is_some() || self.max_unique_bytes.is_some();
        let [_, largest] = self.unique_bytes();
        let is_out_of_reach =
            |memory| self.is_short_of(memory) || self.is_slow_past(memory, OUTGROWING_SHARE);
        let memory = self.memory_bytes.filter(|&memory| !is_chosen && is_out_of_reach(memory))?;
        let [least, usual, most] = GROUP;
        let layout_s = self.budget_s * GROUP_LAYOUT_SHARE;
        let rate = self.layout_bytes_per_s.map_or(LAYOUT_COUNTED, |rate| rate.min(LAYOUT_COUNTED));
        let limit = ((rate * layout_s) as u64 / PAST_MEMORY).clamp(usual, most);
        let fitting = limit.min(largest / PAST_MEMORY).min(memory / 2).max(least);
        Some(1 << fitting.ilog2())
    }

    /// Why no control group of `limit` bytes can be measured in place of the memory, if so.
    pub(crate) fn too_small_for(&self, limit: u64) -> Option<String> {
        let is_fit = limit * PAST_MEMORY <= self.unique_bytes()[1]
            && self.memory_bytes.is_some_and(|memory| limit <= memory / 2);
        let [limit, sets] = [limit, limit * PAST_MEMORY].map(|bytes| Bytes(bytes as f64));
        (!is_fit).then(|| format!("the smallest has {limit}, takes sets of {sets} and twice its memory; free space, --budget or memory allow less"))
    }

    /// Whether some set is well past the memory, even if there is time for only a few such sets.
    pub(crate) fn outgrows_memory(&self) -> bool {
        self.memory_bytes.is_some_and(|memory| !self.is_short_of(memory))
    }

    /// Whether more than a few sets well past the memory can be measured if all the time is spent
    /// on them.
    pub(crate) fn outgrows_memory_often(&self) -> bool {
        let is_slow = |memory| self.is_slow_past(memory, UNDIVIDED_SHARE);
        self.outgrows_memory() && !self.memory_bytes.is_some_and(is_slow)
    }

    /// Whether the largest set is not well past `memory` bytes.
    fn is_short_of(&self, memory: u64) -> bool {
        self.unique_bytes()[1] < well_past(memory)
    }

    /// Whether laying out a set well past `memory` bytes takes more than this share of the budget.
    fn is_slow_past(&self, memory: u64, share: f64) -> bool {
        let in_time = |rate: f64| rate * self.budget_s * share;
        self.layout_bytes_per_s.is_some_and(|rate| in_time(rate) < well_past(memory) as f64)
    }

    fn memory(&self) -> Option<u64> {
        self.memory_limit_bytes.or(self.memory_bytes)
    }

    /// Seconds that laying out a set may take before the layout rate is known.
    pub fn layout_trial_s(&self) -> f64 {
        self.budget_s * LAYOUT_TRIAL_SHARE
    }

    /// Returns the part of the budget to explore in, in seconds, when `spent_s` of it are gone. The
    /// remainder is for removing the scratch file and writing the results.
    pub fn exploring_s(&self, spent_s: f64) -> f64 {
        (self.budget_s * EXPLORING - spent_s).max(0.1 * self.budget_s)
    }

    /// Largest share of the time for laying out a set. A part whose sets outgrow no memory learns
    /// least from its largest set, and so gets less; a group's sets must outgrow it.
    fn layout_share(&self) -> f64 {
        let is_to_outgrow = !self.is_part || self.memory_limit_bytes.is_some();
        if is_to_outgrow { LAYOUT_SHARE } else { PART_LAYOUT_SHARE }
    }

    /// The largest set, in bytes, that can be laid out in its share of the time; unbounded if the
    /// layout rate is unknown.
    fn in_time(&self) -> u64 {
        let in_time = |rate: f64| (rate * self.budget_s * self.layout_share()) as u64;
        self.layout_bytes_per_s.map_or(u64::MAX, in_time)
    }

    /// The smallest and the largest set, in bytes.
    pub fn unique_bytes(&self) -> [u64; 2] {
        let past_memory = self.memory().unwrap_or(MEMORY_ASSUMED).saturating_mul(PAST_MEMORY);
        let chosen = past_memory.min(self.repeatable()).min(self.within_limit());
        let wanted = self.max_unique_bytes.unwrap_or(chosen);
        // Whole mebibytes keep every offset aligned and the figures readable.
        let largest = self.capacity_bytes.min(wanted) >> 20 << 20;
        [UNIQUE_BYTES_MIN, largest.max(UNIQUE_BYTES_MIN)]
    }

    /// The largest set, in bytes, whose files fit beside the workers under the memory limit, if the
    /// target lies in memory: files that are charged to a control group and cannot be dropped are
    /// not a cache that a set outgrows. Unbounded elsewhere.
    fn within_limit(&self) -> u64 {
        let limit = self.memory_limit_bytes.filter(|_| self.is_in_memory);
        limit.map_or(u64::MAX, |limit| limit / 2)
    }

    /// Whether this is a part in which all sets stay in memory or none is cached there, so that the
    /// largest one adds little.
    fn outgrows_nothing(&self) -> bool {
        let is_held = self.memory_bytes.is_some_and(|memory| self.in_time() < memory);
        self.is_part && self.memory_limit_bytes.is_none() && (self.direct || is_held)
    }

    /// The largest set, in bytes, that can be laid out in that time at [`LAYOUT_COUNTED`].
    fn counted(&self) -> u64 {
        (LAYOUT_COUNTED * self.budget_s * self.layout_share()) as u64
    }

    /// The largest set, in bytes, that can be laid out in time. In a part that outgrows no memory it
    /// is a power of two, so that another evaluation chooses it too if sets are laid out fast
    /// enough.
    fn repeatable(&self) -> u64 {
        if !self.outgrows_nothing() {
            return self.in_time();
        }
        1 << self.in_time().min(self.counted()).max(UNIQUE_BYTES_MIN).ilog2()
    }

    /// Returns the range of mean request sizes, in bytes. If memory is scarce, larger requests
    /// would make the workers' buffers take the file cache's share, or more than there is.
    pub fn size_mean(&self) -> [u64; 2] {
        let [least, most] = SIZE_MEAN;
        let taken = if self.is_in_memory { self.unique_bytes()[1] } else { 0 };
        // A power of two does not change with every mebibyte that a kernel takes for itself.
        let of_machine =
            |memory: u64| 1 << (memory.saturating_sub(taken) / LIMIT_OVER_SIZE).max(1).ilog2();
        let limit = self.memory_limit_bytes.map(|limit| limit / LIMIT_OVER_SIZE);
        let room = limit.or(self.memory_bytes.map(of_machine)).unwrap_or(most);
        [least, room.clamp(2 * least, most)]
    }

    /// Returns the settings of an evaluation within these limits, in which all workloads are like
    /// `base` and dirty pages are flushed after `flush_interval_s` seconds.
    pub fn settings(&self, base: Workload, flush_interval_s: Option<f64>) -> Settings {
        Settings {
            unique_bytes: self.unique_bytes(),
            size_mean: self.size_mean(),
            process_num: [1, PROCESS_MAX],
            base,
            budget_s: self.budget_s,
            all_parameters: false,
            points_max: None,
            flush_interval_s,
            layout_bytes_per_s: self.layout_bytes_per_s,
            memory_limit_bytes: self.memory_limit_bytes,
        }
    }

    /// Says, in sentences, up to where the findings hold, for limits tighter than those of an
    /// undivided evaluation on a machine with enough memory. `explored` is the largest set on the
    /// curves, in bytes. Time may have kept it below the limit; the pilot may have tried larger
    /// ones.
    pub fn caps(&self, explored: Option<f64>) -> Vec<String> {
        let [_, most] = self.size_mean();
        let mut caps = Vec::new();
        if let Some(memory) = self.memory().filter(|_| most < SIZE_MEAN[1]) {
            let of = match self.memory_limit_bytes {
                Some(limit) => format!("with --memory {}", bytes_word(limit)),
                None => format!("in memory of {}", Bytes(memory as f64)),
            };
            caps.push(format!(
                "Findings on request size hold for mean sizes of up to {}: {of} larger ones were not tried, because the workers' buffers would take {}.",
                Bytes(most as f64),
                match (self.is_in_memory, self.direct) {
                    (true, _) => "what its files leave of it",
                    (false, true) => "too much of it",
                    (false, false) => "the file cache's room",
                }
            ));
        }
        if let Some((asked, explored)) = self.max_unique_bytes.zip(explored) {
            let is_short = (explored as u64) < self.unique_bytes()[1];
            let by = if is_short { " would allow larger ones" } else { "" };
            caps.push(format!(
                "The curves end at sets of {} (--max-unique-bytes {}{by}), so findings on the last region hold only up to that size.",
                Bytes(explored),
                bytes_word(asked)
            ));
        }
        caps
    }
}

/// The least set that is well past a memory of `memory` bytes.
fn well_past(memory: u64) -> u64 {
    (memory / 4).saturating_mul(5)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(crate) const LIMITS: ReachLimits = ReachLimits {
        budget_s: 600.0,
        max_unique_bytes: None,
        memory_limit_bytes: None,
        memory_bytes: Some(8 << 30),
        capacity_bytes: 1 << 40,
        is_in_memory: false,
        layout_bytes_per_s: None,
        direct: false,
        is_part: false,
    };

    #[test]
    fn sets_grow_past_memory_as_far_as_room_and_time_allow() {
        assert_eq!(LIMITS.unique_bytes(), [1 << 20, 32 << 30]);
        let full = ReachLimits { capacity_bytes: (9 << 30) + 5, ..LIMITS };
        assert_eq!(full.unique_bytes()[1], 9 << 30);
        let slow = ReachLimits { layout_bytes_per_s: Some((1 << 20) as f64), ..LIMITS };
        assert_eq!(slow.unique_bytes()[1], 150 << 20);
        let asked = ReachLimits { max_unique_bytes: Some(2 << 30), ..slow };
        assert_eq!(asked.unique_bytes()[1], 2 << 30, "what is asked for is laid out");
        let part = ReachLimits { is_part: true, ..slow };
        assert_eq!(part.unique_bytes()[1], 64 << 20, "of 86 MiB in a seventh of the time");
        let of = |name: &str, limits| (name.to_owned(), limits);
        let said = doubts(&[of("buffered", part)]);
        let twice = "at most 64 MiB, a power of two: laying out twice as much would take more";
        assert!(said[0].message.contains(twice) && said[0].message.contains("than a seventh"));
        let group = ReachLimits { memory_limit_bytes: Some(128 << 20), ..part };
        assert_eq!(group.unique_bytes()[1], 150 << 20, "its sets are to outgrow it");
        let said = doubts(&[of("buffered", slow)]);
        assert!(said[0].message.contains("150 MiB would take more than a quarter"));
        let direct = ReachLimits { direct: true, ..part };
        let said = doubts(&[of("buffered", part), of("direct", direct)]);
        let each = "at most 64 MiB (buffered) or 64 MiB (direct), a power of two: laying out";
        assert!(said[0].message.contains(each), "{said:?}");
        assert_eq!(said.len(), 2, "and the memory: {said:?}");
    }

    #[test]
    fn a_group_stands_for_a_memory_that_no_set_outgrows() {
        assert_eq!(LIMITS.group(), None, "sets of four times the memory");
        // 24 GiB over a virtual disk, in a minute.
        let minute = ReachLimits {
            budget_s: 60.0,
            memory_bytes: Some(24 << 30),
            layout_bytes_per_s: Some(1.4e9),
            ..LIMITS
        };
        assert_eq!(minute.group(), Some(128 << 20));
        let grouped = ReachLimits { memory_limit_bytes: Some(128 << 20), ..minute };
        let said = doubts(&[("in the group".to_owned(), grouped)]);
        assert_eq!((grouped.unique_bytes()[1], said), (512 << 20, Vec::new()));
        assert_eq!(ReachLimits { memory_bytes: Some(512 << 30), ..LIMITS }.group(), None);
        let server = ReachLimits { memory_bytes: Some(512 << 30), budget_s: 600.0, ..minute };
        assert_eq!(server.group(), Some(512 << 20));
        // Little space is left on the file system.
        let full = ReachLimits { capacity_bytes: 3 << 30, ..LIMITS };
        assert_eq!(full.group(), Some(512 << 20));
        let small = ReachLimits { capacity_bytes: 449 << 20, ..LIMITS };
        assert_eq!(small.group(), Some(64 << 20));
        for other in [
            ReachLimits { max_unique_bytes: Some(1 << 30), ..minute },
            ReachLimits { direct: true, ..minute },
            ReachLimits { memory_bytes: None, ..minute },
            grouped,
        ] {
            assert_eq!(other.group(), None, "{other:?}");
        }
    }

    #[test]
    fn memory_that_few_sets_could_outgrow_in_the_time_is_not_outgrown() {
        let machine =
            ReachLimits { memory_bytes: Some(24 << 30), layout_bytes_per_s: Some(1.3e9), ..LIMITS };
        let of = |budget_s| ReachLimits { budget_s, ..machine };
        assert_eq!([300.0, 600.0].map(|s| of(s).group()), [None; 2]);
        let short = of(180.0);
        assert!(!short.is_short_of(24 << 30), "one such set could be laid out");
        let limit = short.group().unwrap_or(0);
        assert_eq!(limit, 128 << 20);
        let whole = short.premise(limit, None, true);
        assert!(
            whole.contains(
                "No set can outgrow this machine's memory of 24 GiB and be measured often"
            ),
            "{whole}"
        );
        assert_eq!(ReachLimits { max_unique_bytes: Some(32 << 30), ..short }.group(), None);
    }

    /// Three evaluations of one directory on a machine of 24 GiB; the first was the first to write
    /// to blocks of its virtual disk.
    #[test]
    fn evaluations_of_one_machine_choose_the_same_sizes() {
        let sizes = |(rate, spent_s): (f64, f64)| {
            let whole = ReachLimits {
                memory_bytes: Some(24 << 30),
                capacity_bytes: 27 << 30,
                layout_bytes_per_s: Some(rate),
                ..LIMITS
            };
            let budget_s = (whole.budget_s - spent_s) / (2.0 + GROUP_WEIGHT);
            let part = ReachLimits { is_part: true, budget_s, ..whole };
            (whole.group(), part.unique_bytes()[1])
        };
        for run in [(292e6, 34.0), (896e6, 32.0), (959e6, 32.0)] {
            assert_eq!(sizes(run), (Some(512 << 20), 4 << 30), "{run:?}");
        }
    }

    #[test]
    fn caps_are_named_with_the_option_that_set_them() {
        assert_eq!(LIMITS.caps(Some(3e9)), Vec::<String>::new());
        let small = ReachLimits {
            memory_limit_bytes: Some(512 << 20),
            max_unique_bytes: Some(3 << 29),
            ..LIMITS
        };
        let caps = small.caps(Some(f64::from(3 << 29)));
        assert!(caps[0].contains("up to 1 MiB") && caps[0].contains("--memory 512M"), "{caps:?}");
        assert!(caps[1].contains("1.5 GiB") && caps[1].contains("--max-unique-bytes 1536M)"));
        let stopped = small.caps(Some(f64::from(1 << 28)));
        assert!(stopped[1].contains("The curves end at sets of 256 MiB"), "{stopped:?}");
        assert!(stopped[1].contains("1536M would allow larger ones)"), "{stopped:?}");
        assert_eq!(small.caps(None).len(), 1, "no set was measured");
        let roomy = ReachLimits { memory_limit_bytes: Some(4 << 30), ..LIMITS };
        assert_eq!(roomy.caps(None), Vec::<String>::new(), "all sizes are tried");
    }

    #[test]
    fn a_memory_limit_leaves_room_for_the_cache() {
        assert_eq!(LIMITS.size_mean(), [4 << 10, 4 << 20]);
        let limit = |bytes| ReachLimits { memory_limit_bytes: Some(bytes), ..LIMITS }.size_mean();
        assert_eq!(limit(512 << 20), [4 << 10, 1 << 20]);
        assert_eq!(limit(1 << 20), [4 << 10, 8 << 10]);
        // A limit under which the program was started leaves just as little.
        let container = ReachLimits { memory_bytes: Some(128 << 20), ..LIMITS };
        assert_eq!(container.size_mean(), [4 << 10, 256 << 10]);
        assert!(container.caps(None)[0].contains("up to 256 KiB: in memory of 128 MiB larger"));
        for size in [4 << 10, 300_000, 1 << 20, 4 << 20] {
            let [_, most] = limit(limit_for(size).unwrap());
            assert!(most >= size, "{size} {most}");
        }
        assert_eq!(limit_for(1 << 20), Some(512 << 20));
        assert_eq!([limit_for(512), limit_for(8 << 20)], [None; 2]);
    }

    /// Guards against a defect: an evaluation of a memory-backed volume of 256 MiB ended at a
    /// workload whose buffers did not fit beside its own set.
    #[test]
    fn buffers_have_room_beside_a_set_that_takes_the_memory_itself() {
        let volume = ReachLimits {
            memory_bytes: Some(256 << 20),
            capacity_bytes: 118 << 20,
            is_in_memory: true,
            ..LIMITS
        };
        let buffers = |limits: ReachLimits| {
            let [_, most] = limits.size_mean();
            8 * most * u64::from(PROCESS_MAX)
        };
        // The program takes 40 MiB itself, and half of what then remains is for the buffers.
        let room = (256 - 118 - 40) << 19;
        assert!(buffers(volume) <= room);
        assert!(buffers(ReachLimits { is_in_memory: false, ..volume }) > room);
        let small = ReachLimits { max_unique_bytes: Some(1 << 20), ..volume };
        assert_eq!(small.size_mean()[1], 256 << 10, "a power of two below 255 MiB / 512");
        let told = volume.caps(None).remove(0);
        let words = ["up to 256 KiB: in memory of 256 MiB", "take what its files leave of it"];
        assert!(words.iter().all(|one| told.contains(one)), "{told}");
    }

    /// Guards against a defect: sets of four times the limit were laid out in tmpfs under that
    /// limit, and the kernel killed the process.
    #[test]
    fn sets_in_memory_stay_within_a_limit_of_it() {
        let limited = ReachLimits { memory_limit_bytes: Some(1 << 30), ..LIMITS };
        assert_eq!(limited.unique_bytes()[1], 4 << 30);
        let volume = ReachLimits { is_in_memory: true, ..limited };
        assert_eq!(volume.unique_bytes()[1], 512 << 20);
        let said = doubts(&[("buffered".to_owned(), volume)]);
        assert!(said[0].message.contains("512 MiB, is not well past the memory"), "{said:?}");
        assert!(said[0].message.ends_with("so that no set outgrows it"), "{said:?}");
        let asked = ReachLimits { max_unique_bytes: Some(700 << 20), ..volume };
        assert_eq!(asked.unique_bytes()[1], 700 << 20, "what is asked for is laid out");
        assert_eq!(ReachLimits { memory_limit_bytes: None, ..volume }.unique_bytes()[1], 32 << 30);
    }

    proptest! {
        #[test]
        fn every_range_can_be_swept(capacity: u64, memory: u64, rate in 0.0f64..1e12) {
            let limits = ReachLimits {
                capacity_bytes: capacity,
                memory_bytes: Some(memory),
                memory_limit_bytes: Some(memory),
                layout_bytes_per_s: Some(rate),
                ..LIMITS
            };
            let group = ReachLimits { memory_limit_bytes: None, ..limits }.group();
            prop_assert!(group.is_none_or(|group| group == GROUP[0] || group <= memory / 2));
            for [low, high] in [limits.unique_bytes(), limits.size_mean()] {
                prop_assert!(low >= 4096 && low <= high);
            }
        }
    }
}
