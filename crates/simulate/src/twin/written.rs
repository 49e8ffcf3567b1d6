//! The drive of a twin's file: how large it is, how much of its flash is spare, and where its numbers come from.

use super::fit::sized;
use crate::ssd::{ASSUMED_BUFFER, Flash, Parameters};
use std::collections::BTreeMap;

/// Flash that is spare, as a share of what drives of up to so many bytes hold; the first that can be simulated is taken. A twin is fitted and judged
/// by workloads that end before any garbage is collected: with three times as much, blocks are all but empty when they are collected, so that its
/// writes stay as they were judged. Every block takes memory, so larger drives get less, which no simulation is long enough to use up.
const SPARE: [(u64, f64); 3] = [(256 << 30, AMPLE), (u64::MAX, 1.0), (u64::MAX, 0.07)];
/// So much that garbage costs nothing.
const AMPLE: f64 = 3.0;

/// A fitted drive as large as the target, of so many bytes, or else as the set, where no drive of that size can be built; and whether it is the former.
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

/// Where the numbers come from, group by group; the drive is as large as the target if it `is_whole`, or else as the set.
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
        "{spare:.0} % spare, no time to erase and every page written once: what collecting garbage costs was not measured, and {shows}"
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

/// Pages of the flash beyond those that the host sees, in percent of these.
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
