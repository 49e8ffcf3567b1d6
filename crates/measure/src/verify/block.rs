//! A block that can be verified: every sector says where it belongs, which write it belongs to, and
//! its checksum.
//!
//! All requests are multiples of a block, which has at most 4 KiB, so that a block is always
//! written as a whole. Each of its 512-byte sectors carries its own marks. If the sectors of a
//! block belong to different writes, the block is torn rather than corrupt.

use ioscape_schema::VerifyKind;

/// The smallest block that has room for the marks, in bytes.
pub(crate) const LEAST_BYTES: u64 = 64;
/// The largest block, in bytes.
pub(crate) const MOST_BYTES: u64 = 4096;
/// The largest part of a block that carries marks of its own: no storage writes less at a time.
const SECTOR: usize = 512;

const MAGIC: u64 = u64::from_le_bytes(*b"ioscape\x01");
/// Size of the marks in bytes: magic, place, write, run, file, checksum.
const MARKS: usize = 40;

/// The run and file that own a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    /// A number unique to the run.
    pub(crate) run: u64,
    /// The number of the file within the run.
    pub(crate) file: u32,
}

/// The marks of a sector that a write of this run left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Marks {
    place: u64,
    write: u64,
    file: u32,
}

/// The state of a sector.
enum Sector {
    Whole(Marks),
    /// It carries marks of this run, but its bytes are not those that were marked.
    Damaged,
    /// This run did not write it.
    Foreign,
}

/// How a block is wrong, and what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// The kind of fault.
    pub(crate) kind: VerifyKind,
    /// The number of the write that it holds; 0 if it holds none.
    pub(crate) write: u64,
    /// Where the block that it holds belongs, as a byte offset.
    pub(crate) place: u64,
    /// The file to which the block that it holds belongs.
    pub(crate) file: u32,
}

fn word(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}

fn checksum(sector: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&sector[..MARKS - 4]), &sector[MARKS..])
}

/// Marks `block`, which belongs at byte `place`, as part of write number `write`.
pub(crate) fn seal(block: &mut [u8], owner: Owner, place: u64, write: u64) {
    for (sector, place) in block.chunks_exact_mut(SECTOR.min(block.len())).zip(places(place)) {
        for (at, value) in [MAGIC, place, write, owner.run].into_iter().enumerate() {
            sector[8 * at..8 * at + 8].copy_from_slice(&value.to_le_bytes());
        }
        sector[32..36].copy_from_slice(&owner.file.to_le_bytes());
        let sum = checksum(sector);
        sector[36..MARKS].copy_from_slice(&sum.to_le_bytes());
    }
}

/// Where the sectors of a block at `place` belong.
fn places(place: u64) -> impl Iterator<Item = u64> {
    (place..).step_by(SECTOR)
}

fn examine(sector: &[u8], owner: Owner, place: u64) -> Sector {
    let [magic, found, write, run] = [0, 8, 16, 24].map(|at| word(sector, at));
    let file = word(sector, 32) as u32;
    let sound = sector[36..MARKS] == checksum(sector).to_le_bytes();
    // In a damaged sector, any one of the marks may be the damaged part.
    let ours = [magic == MAGIC, run == owner.run, found == place];
    match ours.into_iter().filter(|ours| *ours).count() {
        _ if sound && ours[0] && ours[1] => Sector::Whole(Marks { place: found, write, file }),
        2.. if !sound => Sector::Damaged,
        _ => Sector::Foreign,
    }
}

/// Finds what is wrong with `block`, which was read from byte `place` and last written by `write`;
/// `None` if it holds exactly that.
pub(crate) fn judge(block: &[u8], owner: Owner, place: u64, write: u64) -> Option<Wrong> {
    let (mut whole, mut foreign, mut last) = (0, false, None);
    let mut others = false;
    for (sector, place) in block.chunks_exact(SECTOR.min(block.len())).zip(places(place)) {
        match examine(sector, owner, place) {
            Sector::Damaged => {
                return Some(Wrong {
                    kind: VerifyKind::Corrupt,
                    write: 0,
                    place,
                    file: owner.file,
                });
            }
            Sector::Foreign => foreign = true,
            Sector::Whole(marks) if (marks.place, marks.file) != (place, owner.file) => {
                let Marks { place, write, file } = marks;
                return Some(Wrong { kind: VerifyKind::Misplaced, write, place, file });
            }
            Sector::Whole(marks) => {
                whole += 1;
                others |= last.is_some_and(|other| other != marks.write);
                // For a torn block, the write that should not be there is reported.
                last = last.filter(|other| *other != write).or(Some(marks.write));
            }
        }
    }
    let kind = match (whole, foreign) {
        (0, _) => VerifyKind::Lost,
        (_, true) => VerifyKind::Torn,
        _ if others => VerifyKind::Torn,
        _ if last == Some(write) => return None,
        _ => VerifyKind::Stale,
    };
    Some(Wrong { kind, write: last.unwrap_or(0), place, file: owner.file })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::buffer::fill;
    use proptest::prelude::*;

    const OWNER: Owner = Owner { run: 0xABCD_EF01_2345_6789, file: 3 };

    fn sealed(bytes: usize, place: u64, write: u64) -> Vec<u8> {
        let mut block = vec![0; bytes];
        fill(&mut block, place ^ write);
        seal(&mut block, OWNER, place, write);
        block
    }

    fn kind(block: &[u8], place: u64, write: u64) -> Option<VerifyKind> {
        judge(block, OWNER, place, write).map(|wrong| wrong.kind)
    }

    proptest! {
        #[test]
        fn what_was_sealed_is_sound_and_any_changed_bit_is_found(
            size in 6u32..=12, block in 0u64..1 << 40, write in 1u64..1 << 40, bit in any::<prop::sample::Index>(),
        ) {
            let bytes = 1usize << size;
            let place = block << size;
            let mut data = sealed(bytes, place, write);
            prop_assert_eq!(kind(&data, place, write), None);
            let bit = bit.index(8 * bytes);
            data[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(kind(&data, place, write), Some(VerifyKind::Corrupt));
        }

        #[test]
        fn any_cut_between_two_writes_is_torn(cut in 1usize..8, old in 1u64..100, newer in 1u64..100) {
            let (before, after) = (sealed(4096, 8192, old), sealed(4096, 8192, old + newer));
            let torn = [&after[..cut * 512], &before[cut * 512..]].concat();
            let found = judge(&torn, OWNER, 8192, old + newer).unwrap();
            prop_assert_eq!((found.kind, found.write), (VerifyKind::Torn, old));
            let torn = [&before[..cut * 512], &after[cut * 512..]].concat();
            prop_assert_eq!(kind(&torn, 8192, old + newer), Some(VerifyKind::Torn));
            let half = [&after[..cut * 512], &vec![0; 4096 - cut * 512][..]].concat();
            prop_assert_eq!(kind(&half, 8192, old + newer), Some(VerifyKind::Torn));
        }
    }

    #[test]
    fn blocks_of_elsewhere_of_before_and_of_others_are_told_apart() {
        let found = judge(&sealed(4096, 4096, 7), OWNER, 8192, 9).unwrap();
        assert_eq!((found.kind, found.place, found.write), (VerifyKind::Misplaced, 4096, 7));
        assert_eq!(kind(&sealed(4096, 8192, 7), 8192, 9), Some(VerifyKind::Stale));
        assert_eq!(kind(&[0; 4096], 8192, 9), Some(VerifyKind::Lost));
        let mut noise = [0; 4096];
        fill(&mut noise, 1);
        assert_eq!(kind(&noise, 8192, 9), Some(VerifyKind::Lost));
        let mut others = vec![0; 4096];
        seal(&mut others, Owner { run: 1, ..OWNER }, 8192, 9);
        assert_eq!(kind(&others, 8192, 9), Some(VerifyKind::Lost), "a block of an earlier run");
        let mut another = vec![0; 4096];
        seal(&mut another, Owner { file: 4, ..OWNER }, 8192, 9);
        let found = judge(&another, OWNER, 8192, 9).unwrap();
        assert_eq!((found.kind, found.file), (VerifyKind::Misplaced, 4));
    }
}
