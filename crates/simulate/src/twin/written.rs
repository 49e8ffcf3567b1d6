//! The drive that a twin's file describes: its size, its spare flash, and the sources of its
//! numbers.

use super::fit::sized;
use crate::ssd::{ASSUMED_BUFFER, ASSUMED_SPARE, Flash, Parameters};
use std::collections::BTreeMap;

/// Pairs of a drive size and the share of spare flash for drives up to that size; the first pair
/// that can be simulated applies. A twin is fitted to and judged by workloads that end before
/// garbage collection begins. With three times the capacity as spare, blocks are almost empty when
/// collected, so writes stay as fast as judged. Every block takes memory, so larger drives get less
/// spare, which no simulation is long enough to use up.
const SPARE: [(u64, f64); 3] = [(256 << 30, AMPLE), (u64::MAX, 1.0), (u64::MAX, 0.07)];
/// A share of spare flash with which garbage collection costs nothing.
const AMPLE: f64 = 3.0;

/// Resizes a fitted drive to `target_bytes`, or to `set_bytes` if no drive of the target's size can
/// be built; also returns whether it has the target's size.
pub fn as_large(fitted: Parameters, target_bytes: u64, set_bytes: u64) -> (Parameters, bool) {
    let of = |bytes: u64| {
        let shares = SPARE.into_iter().filter(|(most, _)| bytes <= *most);
        let mut drives = shares.map(|(_, spare)| sized(fitted.clone(), bytes, spare));
        drives.find(|drive| drive.build().is_ok())
    };
    match of(target_bytes) {
        Some(whole) => (whole, true),
        None => (of(set_bytes).unwrap_or(fitted), false),
    }
}

/// The sources of the numbers, by group; the drive has the target's size if `is_whole`, otherwise
/// that of the set.
pub fn sources(
    summary: &[String],
    parameters: &Parameters,
    is_whole: bool,
) -> BTreeMap<String, String> {
    let size = if is_whole { "size of the target" } else { "size of the set that was measured" };
    let fitted = "fitted to measured throughputs, the time of a system call included";
    let spare = spare_percent(parameters);
    let shows = if spare >= 100.0 * AMPLE {
        "does not show"
    } else {
        "shows only once writes have used up the spare part"
    };
    let assumed = format!(
        "{spare:.0} % spare, no time to erase and every page written once: {ASSUMED_SPARE}, and {shows}"
    );
    let all = BTreeMap::from([
        ("capacity_bytes", size.to_owned()),
        ("filled", assumed.clone()),
        (
            "flash",
            format!(
                "channels, dies and times {fitted}; what explains them best, not what the drive is made of; {assumed}"
            ),
        ),
        ("controller", format!("{fitted}; {ASSUMED_BUFFER}")),
        ("verdict", summary.join("; ")),
    ]);
    all.into_iter().map(|(key, text)| (key.to_owned(), text)).collect()
}

/// Flash beyond the capacity that the host sees, in percent of that capacity.
fn spare_percent(parameters: &Parameters) -> f64 {
    let Flash { channels, dies_per_channel, blocks_per_die, pages_per_block, page_bytes, .. } =
        parameters.flash;
    let counts = [channels, dies_per_channel, blocks_per_die, pages_per_block, page_bytes];
    let bytes: f64 = counts.into_iter().map(f64::from).product();
    100.0 * (bytes / parameters.capacity_bytes as f64 - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_drive_has_less_to_spare_rather_than_another_size() {
        let drive = crate::ssd::find("generic-ssd").expect("it is shipped");
        let spare = |gib: u64| {
            let (drive, is_whole) = as_large(drive.clone(), gib << 30, 1 << 30);
            let used_up = sources(&[], &drive, is_whole)["filled"].contains("have used up");
            (spare_percent(&drive).round(), is_whole, used_up)
        };
        assert_eq!(spare(256), (301.0, true, false));
        assert_eq!([1 << 10, 6 << 10].map(spare), [(100.0, true, true); 2]);
        assert_eq!(spare(10 << 10), (7.0, true, true));
        assert!(!spare(40 << 10).1);
    }
}
