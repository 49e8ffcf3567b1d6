//! `read`: reads from the file cache, 16 KB at a time into one buffer (Ousterhout 1990, section 8,
//! Table 6).

use super::caches::is_faster;
use super::case::{Case, Op, not_here, wrong};
use super::sizes::Sizes;
use ioscape_machine::cache;
use ioscape_schema::{Locality, OsBenchmark, OsRule, Warning, WarningKind};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};

/// Bytes of one read.
pub(crate) const BLOCK: u64 = 16 << 10;

/// If the ratio of the two cases exceeds this, the file as written lies in smaller folios than the
/// file as read.
const FOLIO: f64 = 1.2;

/// The case of a file as it was written.
pub(crate) const WRITTEN: &str = "file cache, as written";

/// How the file came into the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Filled {
    /// Written, evicted, and read again from its beginning: the kernel chooses the folio size.
    ReadAgain,
    /// Written in blocks of 16 KB, which may leave it in small folios.
    Written,
}

/// The cases; the relative speed is computed from `file cache`.
pub(crate) fn cases(sizes: &Sizes, place: (usize, Locality)) -> Vec<Case> {
    // Large enough that no processor cache holds the data that is read, as in the original.
    let large = sizes.file_past_caches(place.0).map(|bytes| bytes.next_multiple_of(BLOCK));
    let second = sizes.caches.get(1).copied().unwrap_or(1 << 20);
    let small = Ok((second / 2).clamp(BLOCK * 4, 16 << 20).next_multiple_of(BLOCK));
    let case = |name: &str, bytes: &Result<u64, String>, filled, teaches| {
        let bytes = bytes.clone();
        Case::new("read", name, teaches, move |_| {
            operation(bytes.clone().map_err(not_here)?, filled)
        })
        .moving(BLOCK)
        .by(OsRule::CleanQuartile)
        .at(place)
    };
    vec![
        case(
            "file cache",
            &large,
            Filled::ReadAgain,
            "Entering the kernel and copying from the file cache: mostly memory bandwidth.",
        ),
        case(
            WRITTEN,
            &large,
            Filled::Written,
            "The same file as writes of 16 KB left it in the cache: the cost of small folios.",
        ),
        case(
            "level 2 cache",
            &small,
            Filled::ReadAgain,
            "The same with a file that stays in a processor cache: the cost of the call itself.",
        ),
    ]
}

fn operation(bytes: u64, filled: Filled) -> io::Result<Op> {
    let mut file = fill(bytes, filled)?;
    let mut buffer = vec![1u8; BLOCK as usize];
    Ok(Box::new(move |count| {
        let mut left = count;
        while left > 0 {
            // A short read is the end of the file: start over, as the original does.
            if rustix::io::read(&file, &mut buffer)? < buffer.len() {
                file.seek(SeekFrom::Start(0))?;
            } else {
                left -= 1;
            }
        }
        Ok(())
    }))
}

/// Returns the file, entirely in the cache. It lies beside the directories of the processes, and
/// the first process creates it: writing it for each process would take most of a run.
fn fill(bytes: u64, filled: Filled) -> io::Result<File> {
    let path = format!("../{filled:?}-{bytes}");
    if let Ok(file) = File::open(&path)
        && file.metadata()?.len() == bytes
        && cached(cache::resident_bytes(&file, 0, bytes), bytes).is_ok()
    {
        return Ok(file);
    }
    let mut file =
        OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)?;
    let block = [0x5a; BLOCK as usize];
    for _ in 0..bytes / BLOCK {
        file.write_all(&block)?;
    }
    if filled == Filled::ReadAgain {
        cache::evict(&file).map_err(io::Error::other)?;
    }
    file.seek(SeekFrom::Start(0))?;
    let mut pass = vec![0; 1 << 20];
    while file.read(&mut pass)? > 0 {}
    file.seek(SeekFrom::Start(0))?;
    cached(cache::resident_bytes(&file, 0, bytes), bytes)?;
    Ok(file)
}

/// Refuses a file that is not in the cache. If the kernel does not report residency, the file is
/// assumed to be there.
fn cached(resident: Option<u64>, bytes: u64) -> io::Result<()> {
    match resident {
        Some(0) if bytes > 0 => Err(not_here("this file system does not use the file cache")),
        Some(there) if (there as f64) < bytes as f64 * 0.98 => Err(wrong(format!(
            "only {there} of {bytes} bytes of the file stayed in the file cache: memory is short"
        ))),
        _ => Ok(()),
    }
}

/// Returns the warning that writes left small folios in files at `place`, if the intervals of the
/// two results are far enough apart.
pub(crate) fn doubts(all: &[OsBenchmark], place: Option<Locality>) -> Option<Warning> {
    let of = |case: &str| {
        all.iter().find(|one| one.name == "read" && one.case == case && one.place == place)
    };
    let (again, written) = (of("file cache")?, of(WRITTEN)?);
    let times = again.value? / written.value?;
    (is_faster(again, written, FOLIO) == Some(true)).then(|| {
        Warning::new(
            WarningKind::Trap,
            format!(
                "the same file is read {times:.1} times as fast if it came into the cache by reading instead of by writes of 16 KB, which leave small folios; the faster case counts"
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_in_the_cache_is_refused() {
        assert!(cached(Some(100), 100).is_ok() && cached(None, 100).is_ok());
        assert_eq!(cached(Some(0), 100).unwrap_err().kind(), io::ErrorKind::Unsupported);
        assert!(cached(Some(50), 100).unwrap_err().to_string().contains("50 of 100"));
    }

    #[test]
    fn small_page_groups_are_told() {
        let one = |case: &str, value: f64, off: f64| OsBenchmark {
            name: "read".into(),
            case: case.into(),
            value: Some(value),
            ci95: Some([value * (1.0 - off), value * (1.0 + off)]),
            ..OsBenchmark::default()
        };
        let told = |again, written, off| {
            let all = [one("file cache", again, off), one(WRITTEN, written, off)];
            doubts(&all, None).map(|warning| warning.message)
        };
        assert!(told(18e9, 5.6e9, 0.02).unwrap().contains("3.2 times"));
        assert_eq!(told(18e9, 17e9, 0.02), None);
        assert_eq!(told(18e9, 13e9, 0.2), None, "their intervals are not apart");
        assert_eq!(doubts(&[], None), None);
    }
}
