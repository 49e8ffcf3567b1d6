//! Reasons in a drive's own file to distrust what is simulated with it.

use ioscape_schema::units::{Bytes, parse_bytes};
use std::collections::BTreeMap;

/// The words by which a file says that the size of its write buffer was not measured.
pub const ASSUMED_BUFFER: &str = "write_buffer_bytes is an assumption";
/// The words by which a file says that its spare flash stands for no real drive's.
pub const ASSUMED_SPARE: &str = "what collecting garbage costs was not measured";
/// The words with which a verdict begins to say on which part of the device the drive was judged,
/// up to a semicolon.
pub const JUDGED_ON: &str = "judged on a set of";

/// A reason to distrust what is simulated with a drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// The sentence.
    pub message: String,
    /// Bytes at the beginning of the drive of which it is not true; `None`: it is about writes.
    within_bytes: Option<u64>,
}

impl Doubt {
    /// Whether this is about requests that end up to `end_bytes` from the beginning of the drive;
    /// `writes` says whether any of them writes.
    pub fn is_about(&self, end_bytes: u64, writes: bool) -> bool {
        self.within_bytes.map_or(writes, |bytes| end_bytes > bytes)
    }
}

/// Whether a drive's `sources` say that its spare flash stands for no real drive's.
pub fn is_spare_assumed(sources: &BTreeMap<String, String>) -> bool {
    sources.get("filled").is_some_and(|said| said.contains(ASSUMED_SPARE))
}

/// Returns the doubts from a drive's `sources`; its write buffer holds `buffer_bytes`.
pub fn doubts(sources: &BTreeMap<String, String>, buffer_bytes: u64) -> Vec<Doubt> {
    let said = |key: &str| sources.get(key).map_or("", String::as_str);
    let judged = said("verdict").split_once(JUDGED_ON).map(|(_, rest)| {
        let sizes = rest.split(';').next().unwrap_or_default();
        let set = sizes.split(" of ").next().unwrap_or_default();
        let message =
            format!("the drive was {JUDGED_ON}{sizes}: nothing was measured of larger sets");
        Doubt { message, within_bytes: Some(parse_bytes(set).unwrap_or(0)) }
    });
    let buffer = said("controller").contains(ASSUMED_BUFFER).then(|| {
        let buffer = Bytes(buffer_bytes as f64);
        format!(
            "the drive's write buffer of {buffer} is assumed: borders of writes at some times as much may be none of the real drive"
        )
    });
    let spare = is_spare_assumed(sources).then(|| {
        format!("the drive's spare flash is assumed: {ASSUMED_SPARE}, and may make writes slower")
    });
    let of_writes = buffer.into_iter().chain(spare);
    let of_writes = of_writes.map(|message| Doubt { message, within_bytes: None });
    judged.into_iter().chain(of_writes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_set_and_the_assumed_buffer_of_a_twin_are_told_and_none_of_another_drive() {
        let of = |verdict: &str, controller: &str, filled: &str| {
            let sources = [("verdict", verdict), ("controller", controller), ("filled", filled)];
            let sources = sources.map(|(key, said)| (key.to_owned(), said.to_owned()));
            doubts(&BTreeMap::from(sources), 16 << 20)
        };
        let twin = of(
            "off by 5 %; judged on a set of 1 GiB of 4 TiB; what requests over more",
            "fitted; write_buffer_bytes is an assumption",
            "300 % spare: what collecting garbage costs was not measured, and does not show",
        );
        let words = ["judged on a set of 1 GiB of 4 TiB: nothing", "buffer of 16 MiB", "spare"];
        assert_eq!(twin.len(), words.len());
        for (doubt, words) in twin.iter().zip(words) {
            assert!(doubt.message.contains(words), "{doubt:?}");
        }
        let about = |end_bytes, writes| {
            twin.iter().map(|doubt| doubt.is_about(end_bytes, writes)).collect::<Vec<_>>()
        };
        assert_eq!(about(1 << 30, false), [false; 3]);
        assert_eq!(about((1 << 30) + 1, false), [true, false, false]);
        assert_eq!(about(1 << 30, true), [false, true, true]);
        assert_eq!(of("off by 5 %", "PCIe 3.0", "every page written once"), []);
    }
}
