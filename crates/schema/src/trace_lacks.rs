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
    /// When requests arrive within a second, or at all.
    pub instants: bool,
}

impl TraceLacks {
    /// Returns what the trace lacks, from its notes.
    pub fn of(info: &TraceInfo) -> Self {
        let has = |note| info.notes.contains_key(note);
        Self {
            fast: has(SLOW_ALONE),
            operations: has("operations"),
            places: has("objects"),
            instants: has("seconds") || has("arrivals"),
        }
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
    fn without_arrivals_there_are_no_instants() {
        let notes = [("arrivals".to_owned(), String::new())].into();
        let lacks = TraceLacks::of(&TraceInfo { notes, ..TraceInfo::default() });
        assert_eq!(lacks, TraceLacks { instants: true, ..TraceLacks::default() });
    }
}
