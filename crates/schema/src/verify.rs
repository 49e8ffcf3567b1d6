//! Result of a verified run: blocks that do not hold what was last written to them.

use crate::units::{Bytes, Count};
use serde::{Deserialize, Serialize};

/// What is wrong with a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerifyKind {
    /// Its checksum does not match its bytes.
    Corrupt,
    /// It holds a block that was written elsewhere.
    Misplaced,
    /// It holds nothing that this run wrote: the write never arrived.
    Lost,
    /// It holds an earlier write, not the last one.
    Stale,
    /// Its sectors are from different writes, though all of them were written together.
    Torn,
}

impl VerifyKind {
    /// All kinds, in the order used in a report.
    pub const ALL: [Self; 5] =
        [Self::Corrupt, Self::Misplaced, Self::Lost, Self::Stale, Self::Torn];
}

crate::words!(VerifyKind, Corrupt => "corrupt", Misplaced => "misplaced", Lost => "lost",
    Stale => "stale", Torn => "torn");

/// One block that does not hold what was last written to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyFinding {
    /// What is wrong with it.
    pub kind: VerifyKind,
    /// The file or device, as named.
    pub file: String,
    /// First byte of the block in the file.
    pub offset: u64,
    /// Number of the write that it should hold; a run numbers its writes in order of issue.
    pub expected_write: u64,
    /// Number of the write that it holds; absent if unknown or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_write: Option<u64>,
    /// Offset to which the block that it holds was written; absent if that is its own place or
    /// unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_offset: Option<u64>,
    /// The file to which the block that it holds was written, if different.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_file: Option<String>,
    /// Whether the final read-back found it, rather than a read of the workload.
    pub at_end: bool,
}

impl VerifyFinding {
    /// Returns a sentence on what was expected and what was found.
    pub fn sentence(&self) -> String {
        let expected = self.expected_write;
        let held = self.found_write.map_or("no write".to_owned(), |n| format!("write {n}"));
        let place = self.found_offset.unwrap_or(self.offset);
        let of = self.found_file.as_ref().map_or(String::new(), |file| format!(" of {file}"));
        match self.kind {
            VerifyKind::Corrupt => {
                format!("write {expected} expected; the checksum does not match the bytes found")
            }
            VerifyKind::Misplaced => {
                format!("write {expected} expected; {held} found, which went to byte {place}{of}")
            }
            VerifyKind::Lost => {
                format!("write {expected} expected; nothing found that this run wrote")
            }
            VerifyKind::Stale => format!("write {expected} expected; {held} found"),
            VerifyKind::Torn => format!(
                "write {expected} expected; sectors of it and of other writes found, one of them {held}"
            ),
        }
    }
}

/// The outcome of verifying a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct VerifyReport {
    /// Size of a block, in bytes, at most 4096: all requests are multiples of it.
    pub block_bytes: u64,
    /// Blocks returned by reads of the workload and checked.
    pub checked_blocks: u64,
    /// Blocks returned by reads of the workload that could not be judged: written meanwhile, last
    /// written by two concurrent requests or in part, or never written by this run.
    pub unjudged_blocks: u64,
    /// Blocks checked by the final read-back.
    pub read_back_blocks: u64,
    /// Fraction of the read-back that was not in the file cache and so came from below it; absent
    /// if the kernel cannot tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_storage_frac: Option<f64>,
    /// Blocks whose checksum is wrong.
    pub corrupt: u64,
    /// Blocks that belong elsewhere.
    pub misplaced: u64,
    /// Blocks whose only write never arrived.
    pub lost: u64,
    /// Blocks that hold an earlier write than their last.
    pub stale: u64,
    /// Blocks of which only a part of the last write arrived.
    pub torn: u64,
    /// The first wrong blocks found; the counts cover all.
    pub findings: Vec<VerifyFinding>,
}

impl VerifyReport {
    /// Returns the count of one kind.
    pub fn count(&self, kind: VerifyKind) -> u64 {
        match kind {
            VerifyKind::Corrupt => self.corrupt,
            VerifyKind::Misplaced => self.misplaced,
            VerifyKind::Lost => self.lost,
            VerifyKind::Stale => self.stale,
            VerifyKind::Torn => self.torn,
        }
    }

    /// Returns the count of one kind for modification.
    pub fn count_mut(&mut self, kind: VerifyKind) -> &mut u64 {
        match kind {
            VerifyKind::Corrupt => &mut self.corrupt,
            VerifyKind::Misplaced => &mut self.misplaced,
            VerifyKind::Lost => &mut self.lost,
            VerifyKind::Stale => &mut self.stale,
            VerifyKind::Torn => &mut self.torn,
        }
    }

    /// Returns the number of blocks of all kinds that do not hold what was last written to them.
    pub fn wrong_blocks(&self) -> u64 {
        VerifyKind::ALL.into_iter().map(|kind| self.count(kind)).sum()
    }

    /// Returns what was checked, how, and with what result, in one or two sentences.
    pub fn sentence(&self) -> String {
        let checked = Count((self.checked_blocks + self.read_back_blocks) as f64);
        let blocks = format!(
            "{checked} blocks of {} checked ({} by the workload's reads, {} read back at the end)",
            Bytes(self.block_bytes as f64),
            Count(self.checked_blocks as f64),
            Count(self.read_back_blocks as f64)
        );
        let verdict = match self.wrong_blocks() {
            0 if self.checked_blocks + self.read_back_blocks == 0 => {
                "so nothing can be told about the data".to_owned()
            }
            0 => "all hold what was written to them last".to_owned(),
            wrong => format!("{wrong} do not hold what was written to them last: {}", self.kinds()),
        };
        let cached = self.from_storage_frac.filter(|frac| *frac < 0.98).map(|frac| {
            format!(
                " {:.0} % of what was read back came from the file cache, so it says nothing about the storage below.",
                100.0 * (1.0 - frac)
            )
        });
        format!("{blocks}: {verdict}.{}", cached.unwrap_or_default())
    }

    /// Returns the kinds with their counts, such as `2 corrupt, 1 lost`.
    fn kinds(&self) -> String {
        let told = VerifyKind::ALL.into_iter().filter(|kind| self.count(*kind) > 0);
        let words: Vec<_> = told.map(|k| format!("{} {}", self.count(k), k.word())).collect();
        words.join(", ")
    }

    /// Returns why the run failed: how many blocks are wrong and where the first is; `None` if none
    /// is.
    pub fn failure(&self) -> Option<String> {
        let wrong = self.wrong_blocks();
        let first = self.findings.first().map(|one| {
            let (kind, at) = (one.kind.word(), one.offset);
            format!("; the first, {kind}, at byte {at} of {}: {}", one.file, one.sentence())
        });
        (wrong > 0).then(|| {
            format!(
                "verification failed: {wrong} blocks do not hold what was written to them last ({}){}",
                self.kinds(),
                first.unwrap_or_default()
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_tells_counts_kinds_and_what_cannot_be_told() {
        let nothing = VerifyReport { block_bytes: 4096, ..VerifyReport::default() };
        assert!(nothing.sentence().contains("nothing can be told"), "{}", nothing.sentence());
        assert_eq!(nothing.failure(), None);
        let sound = VerifyReport { checked_blocks: 10, read_back_blocks: 5, ..nothing.clone() };
        assert!(sound.sentence().contains("15 blocks of 4 KiB checked"), "{}", sound.sentence());
        let cached = VerifyReport { from_storage_frac: Some(0.25), ..sound.clone() };
        assert!(cached.sentence().contains("75 % of what was read back"), "{}", cached.sentence());
        let finding = VerifyFinding {
            kind: VerifyKind::Stale,
            file: "/a".into(),
            offset: 8192,
            expected_write: 9,
            found_write: Some(4),
            found_offset: None,
            found_file: None,
            at_end: true,
        };
        let wrong = VerifyReport { stale: 2, torn: 1, findings: vec![finding], ..sound };
        let told = wrong.failure().unwrap();
        assert!(told.contains("3 blocks") && told.contains("2 stale, 1 torn"), "{told}");
        assert!(told.contains("at byte 8192 of /a: write 9 expected; write 4 found"), "{told}");
    }
}
