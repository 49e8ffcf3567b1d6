//! Reads structures from a stopped process's memory.
#![allow(unsafe_code, reason = "process_vm_readv has no safe form")]

/// Bytes of another process, from which numbers can be read at given offsets.
#[derive(Clone, Debug, Default)]
pub(super) struct Bytes(Vec<u8>);

impl Bytes {
    fn part<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.0.get(at..at + N)?.try_into().ok()
    }

    pub(super) fn word8(&self, at: usize) -> Option<u8> {
        self.0.get(at).copied()
    }

    pub(super) fn word16(&self, at: usize) -> Option<u16> {
        self.part(at).map(u16::from_ne_bytes)
    }

    pub(super) fn word32(&self, at: usize) -> Option<u32> {
        self.part(at).map(u32::from_ne_bytes)
    }

    pub(super) fn word64(&self, at: usize) -> Option<u64> {
        self.part(at).map(u64::from_ne_bytes)
    }
}

/// Reads `len` bytes at `address` of a stopped process; `None` unless all of them can be read.
pub(super) fn read(pid: i32, address: u64, len: usize) -> Option<Bytes> {
    let mut bytes = vec![0u8; len];
    let mut local = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: len };
    let mut remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: len };
    // SAFETY: the kernel checks the other process's address; ours is a vector of the length given.
    let read = unsafe { libc::process_vm_readv(pid, &raw mut local, 1, &raw mut remote, 1, 0) };
    usize::try_from(read).is_ok_and(|read| read == len).then_some(Bytes(bytes))
}

/// The longest path that the kernel accepts (`PATH_MAX`), which is also the smallest page size: no
/// piece crosses a page boundary.
const PATH_MOST: usize = 4096;

/// Reads the bytes up to the next zero at `address` of a stopped process; `None` if they cannot be
/// read or are too many for a path.
pub(super) fn string(pid: i32, address: u64) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    while all.len() < PATH_MOST {
        let at = address.checked_add(all.len() as u64)?;
        // A page can be read either entirely or not at all.
        let piece = read(pid, at, PATH_MOST - at as usize % PATH_MOST)?.0;
        match piece.iter().position(|byte| *byte == 0) {
            Some(end) => {
                all.extend(&piece[..end]);
                return Some(all);
            }
            None => all.extend(piece),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_ends_at_its_zero() {
        let own = std::process::id() as i32;
        let long = [vec![b'a'; 4090], vec![0, b'b']].concat();
        let found = string(own, long.as_ptr() as u64).expect("our own memory");
        assert_eq!(found, long[..4090]);
        let endless = vec![b'a'; 3 * PATH_MOST];
        assert_eq!(string(own, endless.as_ptr() as u64), None);
        assert_eq!(string(own, 8), None);
    }

    #[test]
    fn numbers_are_read_where_they_stand() {
        let words = [0x0102_0304_0506_0708_u64, u64::MAX];
        let own = std::process::id() as i32;
        let bytes = read(own, words.as_ptr() as u64, 16).expect("our own memory");
        assert_eq!((bytes.word64(0), bytes.word64(8)), (Some(words[0]), Some(u64::MAX)));
        assert_eq!(
            bytes.word32(0),
            Some(if cfg!(target_endian = "little") { 0x0506_0708 } else { 0x0102_0304 })
        );
        assert_eq!((bytes.word64(9), bytes.word8(15), bytes.word16(15)), (None, Some(255), None));
        assert!(read(own, 8, 16).is_none(), "no such address");
    }
}
