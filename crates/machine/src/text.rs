//! Reads the small text files in which the kernel describes itself.

use std::path::{Path, PathBuf};

/// Returns the paths of what is in `folder`; none if it cannot be read.
pub fn entries(folder: impl AsRef<Path>) -> impl Iterator<Item = PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// Returns the content of `path` without surrounding white space; `None` if it cannot be read.
pub fn read(path: impl AsRef<Path>) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// Returns the whole number in `path`.
pub fn read_number(path: impl AsRef<Path>) -> Option<u64> {
    read(path)?.parse().ok()
}

/// Returns the first number after `name` in lines such as `MemTotal:  24684092 kB` or `nr_dirty
/// 12`.
pub fn field(text: &str, name: &str) -> Option<u64> {
    field_in(text, name, 10)
}

/// Does the same for numbers to this base.
pub fn field_in(text: &str, name: &str, base: u32) -> Option<u64> {
    text.lines().find_map(|line| {
        let (key, rest) = line.split_once([':', ' ', '\t'])?;
        if key != name {
            return None;
        }
        u64::from_str_radix(rest.split_whitespace().next()?, base).ok()
    })
}

/// Parses a list of numbers as the kernel writes it, such as `0,2-3`; leaves out what is none.
pub fn list(text: &str) -> Vec<usize> {
    let ends = |part: &str| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        Some(from.trim().parse::<usize>().ok()?..=to.trim().parse::<usize>().ok()?)
    };
    text.split(',').filter_map(ends).flatten().collect()
}

/// Returns the flags of an open descriptor from its `fdinfo` file (proc_pid_fdinfo(5)).
pub fn open_flags(fdinfo: &str) -> Option<i32> {
    field_in(fdinfo, "flags", 8)?.try_into().ok()
}

/// Parses two numbers such as `254:0`.
pub fn pair(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "MemTotal:       24684092 kB\nMem: 3\nnr_dirty 12\nbroken\n";
        assert_eq!(field(text, "MemTotal"), Some(24_684_092));
        assert_eq!(field(text, "Mem"), Some(3));
        assert_eq!([10, 16].map(|base| field_in(text, "nr_dirty", base)), [Some(12), Some(0x12)]);
        assert_eq!(field(text, "broken"), None);
    }

    #[test]
    fn lists_of_numbers_are_read() {
        assert_eq!(list("0,64"), [0, 64]);
        assert_eq!(list("2-3\n"), [2, 3]);
        assert!(list("").is_empty());
    }

    #[test]
    fn pairs_are_read() {
        assert_eq!(pair("254:0"), Some((254, 0)));
        assert_eq!(pair("254"), None);
        assert_eq!(pair("a:0"), None);
    }
}
