//! Reasons in a drive's own file to distrust borders and rates that are simulated with it.

use ioscape_schema::units::Bytes;
use std::collections::BTreeMap;

/// The words by which a file says that the size of its write buffer was not measured.
pub const ASSUMED_BUFFER: &str = "write_buffer_bytes is an assumption";
/// The words with which a verdict begins to say on which part of the device the drive was judged,
/// up to a semicolon.
pub const JUDGED_ON: &str = "judged on a set of";

/// Returns the doubts from a drive's `sources`, a sentence each; its write buffer holds
/// `buffer_bytes`.
pub fn doubts(sources: &BTreeMap<String, String>, buffer_bytes: u64) -> Vec<String> {
    let said = |key: &str| sources.get(key).map_or("", String::as_str);
    let judged = said("verdict").split_once(JUDGED_ON).map(|(_, rest)| {
        let sizes = rest.split(';').next().unwrap_or_default();
        format!("the drive was {JUDGED_ON}{sizes}: nothing was measured of larger sets")
    });
    let assumed = said("controller").contains(ASSUMED_BUFFER).then(|| {
        let buffer = Bytes(buffer_bytes as f64);
        format!(
            "the drive's write buffer of {buffer} is assumed: borders of writes at some times as much may be none of the real drive"
        )
    });
    judged.into_iter().chain(assumed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_set_and_the_assumed_buffer_of_a_twin_are_told_and_none_of_another_drive() {
        let of = |verdict: &str, controller: &str| {
            let sources = [("verdict", verdict), ("controller", controller)];
            let sources = sources.map(|(key, said)| (key.to_owned(), said.to_owned()));
            doubts(&BTreeMap::from(sources), 16 << 20)
        };
        let twin = of(
            "off by 5 %; judged on a set of 1 GiB of 4 TiB; what requests over more",
            "fitted; write_buffer_bytes is an assumption",
        );
        assert!(twin[0].contains("judged on a set of 1 GiB of 4 TiB: nothing"), "{twin:?}");
        assert!(twin[1].contains("buffer of 16 MiB is assumed"), "{twin:?}");
        assert_eq!(of("off by 5 %", "PCIe 3.0"), Vec::<String>::new());
    }
}
