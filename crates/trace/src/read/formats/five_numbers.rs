//! Lines of five numbers, which three formats use with different units: replayer, ssdsim and
//! disksim.
//!
//! The values of the numbers must show their units. Where they do not, all possible formats are
//! named.

use super::disksim::Ascii;
use super::replayer::Replayer;
use super::ssdsim::SsdSim;
use crate::read::head::{Head, Likeness};
use crate::read::lines::{Pieces, rows_of};
use crate::read::plausible::{are_too_large, is_gap_plausible};
use crate::read::text::SECTOR;
use ioscape_schema::Io;

/// Returns the units of a format's numbers, if only they distinguish it from other formats.
pub(super) fn units(format: &str) -> Option<&'static str> {
    match format {
        "replayer" => Some("milliseconds and bytes"),
        "ssdsim" => Some("nanoseconds and sectors"),
        "disksim" => Some("milliseconds and sectors"),
        _ => None,
    }
}

/// Recognizes milliseconds and bytes.
pub(super) fn like_replayer(head: &Head<'_>) -> Likeness {
    likeness(head, 0)
}

/// Recognizes nanoseconds and sectors.
pub(super) fn like_ssdsim(head: &Head<'_>) -> Likeness {
    likeness(head, 1)
}

/// Recognizes milliseconds and sectors.
pub(super) fn like_disksim(head: &Head<'_>) -> Likeness {
    likeness(head, 2)
}

fn likeness(head: &Head<'_>, which: usize) -> Likeness {
    let all = [read::<Replayer>(head), read::<SsdSim>(head), read::<Ascii>(head)];
    // None of them has a line of names: whose names these are, and in what units, cannot be told.
    let likely = head.names().is_none() && possible(&all)[which];
    if likely { Likeness::Lines(all[which].0) } else { Likeness::NONE }
}

/// Returns how many of the first lines a format can read, and the rows of all lines at hand.
fn read<P: Pieces + Default>(head: &Head<'_>) -> (usize, Vec<Io>) {
    (rows_of::<P>(&head.lines).0, rows_of::<P>(&head.all_lines()).1)
}

/// Returns which of the three formats the lines can have.
fn possible(all: &[(usize, Vec<Io>); 3]) -> [bool; 3] {
    let most = all.iter().map(|one| one.0).max().unwrap_or(0);
    let mut possible = [0, 1, 2].map(|which| most > 0 && all[which].0 == most);
    // Offsets and lengths in bytes are whole sectors.
    let whole = |io: &Io| (io.request.offset | u64::from(io.request.len)).is_multiple_of(SECTOR);
    possible[0] &= all[0].1.iter().all(whole);
    if all[1..].iter().any(|(_, rows)| are_too_large(rows)) {
        possible = [possible[0], false, false];
    }
    let in_time = [0, 1, 2].map(|which| possible[which] && is_gap_plausible(&all[which].1));
    if in_time.contains(&true) { in_time } else { possible }
}
