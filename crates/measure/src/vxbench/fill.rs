//! File systems aged to a given fullness: files of many sizes are created and removed at random
//! until they use a share of the space.

use super::Watch;
use crate::engine::buffer::{Buffer, Stamp};
use ioscape_machine::error::Error;
use ioscape_schema::Fill;
use rand_distr::{Distribution, LogNormal};
use rand_pcg::Pcg64Mcg;
use rustix::io::Errno;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Median and mean size of the files, in bytes, as Agrawal et al. found them in 2004 ("A Five-Year
/// Study of File-System Metadata", FAST 2007, section 3.2). The sizes are log-normal.
const SIZE_MEDIAN: f64 = 4096.0;
const SIZE_MEAN: f64 = 189.0 * 1024.0;

/// The largest file takes one part in this many of the space.
const LARGEST_SHARE: u64 = 200;

/// The number of files per directory.
const PER_DIRECTORY: u64 = 200;

/// New files are written back after each of this many parts of the space, so that they have their
/// places before others are removed.
const PARTS: u64 = 32;

/// The fullness is reached when less than one part in this many of the space is missing.
const CLOSE_ENOUGH: u64 = 500;

/// Bytes per write call.
const PIECE: usize = 1 << 20;

/// The contents with which a file system was filled.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Filled {
    /// Number of files.
    pub files: u64,
    /// Total size of the files in bytes.
    pub bytes: u64,
    /// Share of the space that is used, in percent.
    pub percent: f64,
}

/// Fills the empty file system of `folder` as `fill` says, with the same sizes in the same order
/// every time.
///
/// # Errors
/// A file cannot be made, written or removed, or the user interrupts.
pub(super) fn fill(folder: &Path, fill: Fill, watch: &Watch) -> Result<Filled, Error> {
    let mut ager = Ager::new(folder, watch)?;
    let used = ager.empty_bytes / 100 * u64::from(fill.percent);
    ager.grow(used)?;
    for _ in 0..fill.turnover {
        ager.remove_half()?;
        ager.grow(used)?;
    }
    let used = ager.used_bytes()?;
    Ok(Filled {
        files: ager.files.len() as u64,
        bytes: ager.files.iter().map(|(_, bytes)| bytes).sum(),
        percent: used as f64 / ager.empty_bytes.max(1) as f64 * 100.0,
    })
}

/// The file system while it is being filled.
struct Ager<'a> {
    folder: &'a Path,
    all: File,
    watch: &'a Watch,
    // Free space while the file system was empty, in bytes.
    empty_bytes: u64,
    sizes: LogNormal<f64>,
    random: Pcg64Mcg,
    buffer: Buffer,
    stamp: Stamp,
    // Number and size of the files present.
    files: Vec<(u64, u64)>,
    made: u64,
}

impl<'a> Ager<'a> {
    fn new(folder: &'a Path, watch: &'a Watch) -> Result<Self, Error> {
        let failed = |e: std::io::Error| Error::io("examine", folder, e);
        let all = File::open(folder).map_err(failed)?;
        let empty_bytes = free_bytes(&all).map_err(failed)?;
        let no_memory = || Error::io("get memory for", folder, Errno::NOMEM);
        let buffer = Buffer::new(PIECE, 4096, 1).ok_or_else(no_memory)?;
        // The mean of a log-normal variable is its median times exp(sigma^2 / 2).
        let sigma = (2.0 * (SIZE_MEAN / SIZE_MEDIAN).ln()).sqrt();
        let sizes = LogNormal::new(SIZE_MEDIAN.ln(), sigma)
            .map_err(|e| Error::target(folder, e.to_string()))?;
        let random = Pcg64Mcg::new(1);
        let (files, stamp) = (Vec::new(), Stamp::new());
        Ok(Self { folder, all, watch, empty_bytes, sizes, random, buffer, stamp, files, made: 0 })
    }

    /// Bytes used since the file system was empty, after writing everything back.
    fn used_bytes(&self) -> Result<u64, Error> {
        rustix::fs::syncfs(&self.all).map_err(|e| Error::io("write back", self.folder, e))?;
        let free = free_bytes(&self.all).map_err(|e| Error::io("examine", self.folder, e))?;
        Ok(self.empty_bytes.saturating_sub(free))
    }

    /// Creates files until `used` bytes are used, or until there is no space.
    fn grow(&mut self, used: u64) -> Result<(), Error> {
        loop {
            let missing = used.saturating_sub(self.used_bytes()?);
            if missing <= self.empty_bytes / CLOSE_ENOUGH {
                return Ok(());
            }
            let mut part = missing.min(self.empty_bytes / PARTS).max(4096);
            let kept = self.files.len();
            while part > 0 {
                if self.watch.is_interrupted() {
                    // Otherwise, the user who interrupted would wait for their write-back before
                    // the file system can go.
                    self.remove_from(kept);
                    return Err(Error::Interrupted);
                }
                match self.make(part)? {
                    Some(bytes) => part = part.saturating_sub(bytes.max(4096)),
                    None => return Ok(()),
                }
            }
        }
    }

    /// Creates a file of at most `most` bytes; returns its size, or `None` if there is no space for
    /// it.
    fn make(&mut self, most: u64) -> Result<Option<u64>, Error> {
        let drawn = self.sizes.sample(&mut self.random) as u64;
        let bytes = drawn.min(self.empty_bytes / LARGEST_SHARE).min(most);
        let (number, path) = (self.made, self.path(self.made));
        self.made += 1;
        if let (true, Some(directory)) = (number.is_multiple_of(PER_DIRECTORY), path.parent()) {
            fs::create_dir_all(directory).map_err(|e| Error::io("make", directory, e))?;
        }
        match self.write(&path, bytes) {
            Ok(()) => {
                self.files.push((number, bytes));
                Ok(Some(bytes))
            }
            Err(error) if error.kind() == std::io::ErrorKind::StorageFull => {
                // The file system is full. What was written of this file does not count.
                let _ = fs::remove_file(&path);
                Ok(None)
            }
            Err(error) => Err(Error::io("write", &path, error)),
        }
    }

    fn write(&mut self, path: &Path, bytes: u64) -> std::io::Result<()> {
        let mut file = File::create_new(path)?;
        let mut left = bytes;
        while left > 0 {
            let piece = left.min(PIECE as u64) as usize;
            self.stamp.mark(&mut self.buffer[..piece]);
            file.write_all(&self.buffer[..piece])?;
            left -= piece as u64;
        }
        Ok(())
    }

    /// Removes half of the files, drawn at random.
    fn remove_half(&mut self) -> Result<(), Error> {
        for _ in 0..self.files.len() / 2 {
            if self.watch.is_interrupted() {
                return Err(Error::Interrupted);
            }
            let chosen = uniform(&mut self.random, self.files.len());
            let (number, _) = self.files.swap_remove(chosen);
            let path = self.path(number);
            fs::remove_file(&path).map_err(|e| Error::io("remove", &path, e))?;
        }
        Ok(())
    }

    /// Removes all files except the first `kept`.
    fn remove_from(&mut self, kept: usize) {
        for (number, _) in self.files.split_off(kept) {
            // A file that cannot be removed only costs time.
            let _ = fs::remove_file(self.path(number));
        }
    }

    fn path(&self, number: u64) -> PathBuf {
        self.folder.join(format!("{}/{number}", number / PER_DIRECTORY))
    }
}

/// Returns the free space that the file system itself reports, in bytes. What lies below it would hide
/// that removed files freed some.
fn free_bytes(all: &File) -> std::io::Result<u64> {
    let state = rustix::fs::fstatvfs(all)?;
    Ok(state.f_bavail.saturating_mul(state.f_frsize))
}

/// A random number below `below`. That is far below 2^64, so that the remainder is practically
/// uniform.
fn uniform(random: &mut Pcg64Mcg, below: usize) -> usize {
    use rand_pcg::rand_core::Rng;
    (random.next_u64() % below.max(1) as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_part_that_is_interrupted_need_not_be_written_back() {
        let (folder, watch) = (tempfile::tempdir().unwrap(), Watch::default());
        let mut ager = Ager::new(folder.path(), &watch).unwrap();
        for _ in 0..5 {
            ager.make(4096).unwrap();
        }
        ager.remove_from(2);
        let left = fs::read_dir(folder.path().join("0")).unwrap().count();
        assert_eq!((left, ager.files.len()), (2, 2));
    }
}
