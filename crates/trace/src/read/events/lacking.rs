//! Counts requests of which an event is not in the trace, and notes them.

use std::collections::BTreeMap;

/// The notes that count requests of which only the end or only the beginning is in the trace; they
/// have no row.
pub(crate) const ONE_END: [&str; 2] =
    ["completions without a beginning", "requests without a completion"];
/// The note that counts rows whose arrival is that of the next event in the trace.
pub(crate) const UNARRIVED: &str = "requests without an arrival";
/// The note that counts rows of a source without any issue: they count as issued when they arrived.
pub(crate) const UNISSUED: &str = "requests without an issue";

/// The counts since they were last noted.
#[derive(Default)]
pub(super) struct Lacking {
    /// Completions whose beginning is not in the trace.
    pub beginning: u64,
    /// Requests whose completion is not in the trace.
    pub end: u64,
    /// Rows without an arrival.
    pub arrival: u64,
    /// Rows without an issue.
    pub issue: u64,
}

impl Lacking {
    /// Notes the counts, replacing those of the previous part, and begins anew.
    pub fn tell(&mut self, notes: &mut BTreeMap<String, String>) {
        let Self { beginning, end, arrival, issue } = std::mem::take(self);
        let [only_end, only_beginning] = ONE_END;
        for (name, count) in
            [(only_end, beginning), (only_beginning, end), (UNARRIVED, arrival), (UNISSUED, issue)]
        {
            if count > 0 {
                notes.insert(name.to_owned(), count.to_string());
            } else {
                notes.remove(name);
            }
        }
    }
}
