//! What a trace does not tell, by its notes: figures that follow from it are left out.

use crate::TraceInfo;

/// Note of a file that holds the slow requests of a recording alone; its text says how slow.
pub const SLOW_ALONE: &str = "slow requests alone";

/// What a trace does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceLacks {
    /// All but the slow requests.
    pub fast: bool,
    /// What reads and what writes.
    pub operations: bool,
    /// Where on the device requests go: they have numbers of objects.
    pub places: bool,
    /// When within a second requests come, or when at all.
    pub instants: bool,
}

impl TraceLacks {
    /// Of a trace.
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
