//! Files that a program registers with a ring, read from its memory at the end of
//! `io_uring_register(2)`.

use super::memory::{Bytes, read};

/// Commands that concern files (`linux/io_uring.h`).
const REGISTER: u64 = 2;
const UNREGISTER: u64 = 3;
const UPDATE: u64 = 6;
const REGISTER_TAGGED: u64 = 13;
const UPDATE_TAGGED: u64 = 14;
/// `IORING_REGISTER_FILES_SKIP`: the entry stays as it is.
pub(super) const SKIP: i32 = -2;
/// More files than the kernel accepts at once.
const MOST: u64 = 1 << 16;

/// A change to a ring's table of files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Registered {
    /// Whether there was no table before.
    pub(super) is_new: bool,
    /// The index of the first file.
    pub(super) first: usize,
    /// Descriptors; -1 for none, or for one that cannot be read.
    pub(super) descriptors: Vec<i32>,
}

/// The files that `command` with these arguments has just registered, where its result was `value`;
/// `None` if the command concerns something else.
pub(super) fn registered(
    tid: i32,
    command: u64,
    [_, _, list, count, ..]: &[u64; 6],
    value: u64,
) -> Option<Registered> {
    let new = |descriptors| Registered { is_new: true, first: 0, descriptors };
    Some(match command {
        UNREGISTER => new(Vec::new()),
        REGISTER => new(descriptors(tid, *list, *count)),
        REGISTER_TAGGED => {
            let told = read(tid, *list, 32)?;
            new(descriptors(tid, told.word64(16)?, told.word32(0)?.into()))
        }
        UPDATE => update(tid, &read(tid, *list, 16)?, *count, value)?,
        UPDATE_TAGGED => {
            let told = read(tid, *list, 32)?;
            let count = told.word32(24)?.into();
            update(tid, &told, count, value)?
        }
        _ => return None,
    })
}

/// An update of `count` files, the first `done` of which were accepted.
fn update(tid: i32, told: &Bytes, count: u64, done: u64) -> Option<Registered> {
    let descriptors = descriptors(tid, told.word64(8)?, count.min(done));
    Some(Registered { is_new: false, first: told.word32(0)? as usize, descriptors })
}

fn descriptors(tid: i32, list: u64, count: u64) -> Vec<i32> {
    let count = count.min(MOST) as usize;
    let bytes = read(tid, list, 4 * count).unwrap_or_default();
    (0..count).map(|at| bytes.word32(4 * at).map_or(-1, |fd| fd as i32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_registered_and_updated_in_four_ways() {
        let own = std::process::id() as i32;
        let files = [7, -1, SKIP];
        let list = files.as_ptr() as u64;
        let found = |command, argument: &[u64], count, value| {
            let arguments = [9, command, argument.as_ptr() as u64, count, 0, 0];
            registered(own, command, &arguments, value)
        };
        let known = |is_new, first, descriptors: &[i32]| {
            Some(Registered { is_new, first, descriptors: descriptors.to_vec() })
        };
        let direct = registered(own, REGISTER, &[9, REGISTER, list, 3, 0, 0], 0);
        assert_eq!(direct, known(true, 0, &files));
        assert_eq!(found(UNREGISTER, &[], 0, 0), known(true, 0, &[]));
        assert_eq!(found(UPDATE, &[5, list], 3, 2), known(false, 5, &[7, -1]), "two were taken");
        assert_eq!(found(REGISTER_TAGGED, &[2, 0, list, 0], 32, 0), known(true, 0, &[7, -1]));
        let sparse = [2 | 1u64 << 32, 0, 0, 0];
        assert_eq!(found(REGISTER_TAGGED, &sparse, 32, 0), known(true, 0, &[-1, -1]));
        let update = [4, list, 0, 3];
        assert_eq!(found(UPDATE_TAGGED, &update, 32, 3), known(false, 4, &files));
        assert_eq!(found(0, &[], 0, 0), None, "memory, not files");
    }
}
