//! What a trace does not record, according to its notes. Figures that depend on it are left out.

use crate::TraceInfo;

/// Note in a file that holds only the slow requests of a recording; its text says how slow.
pub const SLOW_ALONE: &str = "slow requests alone";

/// Note in a recording after which much written data was still in memory; its text says how much.
pub const LEFT_IN_MEMORY: &str = "left in memory";

/// What a trace does not record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceLacks {
    /// All requests except the slow ones.
    pub fast: bool,
    /// Which requests read and which write.
    pub operations: bool,
    /// Where on the device requests go, since the trace has object numbers instead.
    pub places: bool,
    /// Which requests arrive within one step of this length, in nanoseconds; 0 if steps are fine,
    /// [`u64::MAX`] if arrivals are not recorded at all.
    pub arrival_step_ns: u64,
    /// How long requests took, to within a step of the clock: some took less.
    pub steps: bool,
}

impl TraceLacks {
    /// Returns what the trace lacks, from its notes.
    pub fn of(info: &TraceInfo) -> Self {
        let has = |note| info.notes.contains_key(note);
        Self {
            fast: has(SLOW_ALONE),
            operations: has("operations"),
            places: has("objects"),
            arrival_step_ns: match info.arrival_step_ns {
                _ if has("arrivals") => u64::MAX,
                // Earlier versions noted whole seconds alone.
                None if has("seconds") => 1_000_000_000,
                step_ns => step_ns.unwrap_or(0),
            },
            steps: has("steps"),
        }
    }

    /// Whether arrivals tell what happens within a time, in nanoseconds: it must be ten steps long.
    pub fn tells(&self, within_ns: u64) -> bool {
        self.arrival_step_ns <= within_ns / 10
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_tell_what_is_lacking() {
        assert_eq!(TraceLacks::of(&TraceInfo::default()), TraceLacks::default());
        let notes = ["operations", "host"].map(|note| (note.to_owned(), String::new())).into();
        let lacks = TraceLacks::of(&TraceInfo { notes, ..TraceInfo::default() });
        assert_eq!(lacks, TraceLacks { operations: true, ..TraceLacks::default() });
    }

    #[test]
    fn arrivals_tell_what_takes_ten_of_their_steps() {
        let of = |note: &str, arrival_step_ns| {
            let notes = [(note.to_owned(), String::new())].into();
            let lacks =
                TraceLacks::of(&TraceInfo { notes, arrival_step_ns, ..TraceInfo::default() });
            [1_000_000, 1_000_000_000, 30_000_000_000, u64::MAX].map(|ns| lacks.tells(ns))
        };
        assert_eq!(of("host", None), [true; 4]);
        assert_eq!(of("host", Some(1_000_000)), [false, true, true, true]);
        assert_eq!(of("seconds", None), [false, false, true, true], "of an older version");
        assert_eq!(of("arrivals", None), [false; 4]);
    }
}
