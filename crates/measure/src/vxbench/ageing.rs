//! File-system ageing: files written alternately, in small pieces, until their extents interleave
//! (VERITAS 1996, p. 14).

use super::Watch;
use crate::engine::buffer::{Buffer, Stamp};
use ioscape_machine::error::Error;
use ioscape_machine::extents::{extents, fragments};
use ioscape_machine::target;
use ioscape_schema::chance::mix;
use rustix::io::{Errno, pwrite};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Writes new files of `bytes` each at `paths`, alternating between them every `piece` bytes.
/// Returns the number of fragments of each (`FIEMAP`), absent if the file system does not report
/// it.
///
/// Each piece has its place on the device before the next one is written: by direct I/O, or else by
/// write-back.
///
/// # Errors
/// A file exists or cannot be made, there is too little space, writing fails, or the user
/// interrupts.
pub fn age(
    paths: &[PathBuf],
    bytes: u64,
    piece: u64,
    watch: &Watch,
) -> Result<Vec<Option<u64>>, Error> {
    let piece = piece.clamp(4096, 64 << 20) / 4096 * 4096;
    let files = paths.iter().map(|path| make(path)).collect::<Result<Vec<_>, _>>()?;
    let Some((first, _)) = files.first() else { return Ok(Vec::new()) };
    let needed = bytes.saturating_mul(files.len() as u64);
    let free = target::space(first, false).map_err(|e| Error::io("examine", &paths[0], e))?.1;
    if needed > free {
        let path = target::named_by_user(&paths[0]).to_owned();
        return Err(Error::Space { path, needed, spared: 0, free });
    }
    let short = || Error::io("get memory for", &paths[0], Errno::NOMEM);
    let mut buffer = Buffer::new(piece as usize, 4096, mix(bytes)).ok_or_else(short)?;
    let mut stamp = Stamp::new();
    let mut place = 0;
    while place < bytes {
        if watch.is_interrupted() {
            return Err(Error::Interrupted);
        }
        let len = (bytes - place).min(piece) as usize;
        for ((file, direct), path) in files.iter().zip(paths) {
            stamp.mark(&mut buffer[..len]);
            let direct = direct.as_ref().filter(|_| len.is_multiple_of(4096));
            write(file, direct, &buffer[..len], place)
                .map_err(|e| Error::io_at("write", path, place, e))?;
        }
        place += len as u64;
        if let Some(told) = &watch.on_progress {
            told(place.saturating_mul(files.len() as u64));
        }
    }
    for ((file, _), path) in files.iter().zip(paths) {
        rustix::fs::fsync(file).map_err(|e| Error::io("write back", path, e))?;
    }
    let pieces = |(file, _): &(File, _)| fragments(&extents(file).ok()?);
    Ok(files.iter().map(pieces).collect())
}

/// Creates a file; also returns a handle for direct I/O, where that is supported.
fn make(path: &Path) -> Result<(File, Option<File>), Error> {
    let reach = target::reach(path).map_err(|e| target::unwritable(path, e))?;
    let made = File::options().read(true).write(true).create_new(true).open(&reach.path);
    let file = made.map_err(|e| target::unwritable(path, e))?;
    let direct = target::open_again(&file, path, libc::O_DIRECT, true).ok();
    Ok((file, direct))
}

/// Writes one piece and makes the file system allocate its place on the device.
fn write(file: &File, direct: Option<&File>, bytes: &[u8], offset: u64) -> Result<(), Errno> {
    let mut done = 0;
    while done < bytes.len() {
        let way = direct.filter(|_| done == 0).unwrap_or(file);
        match pwrite(way, &bytes[done..], offset + done as u64) {
            Ok(0) => return Err(Errno::NOSPC),
            Ok(written) => done += written,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    if direct.is_none() { rustix::fs::fdatasync(file) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_machine::testing::{build_directory, skipped};
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn files_written_in_turns_lie_in_pieces() {
        let folder = tempfile::tempdir_in(build_directory()).unwrap();
        let paths =
            |names: &[&str]| names.iter().map(|n| folder.path().join(n)).collect::<Vec<_>>();
        let watch = Watch::default();
        // Where free space is fragmented, even a file that is written alone is in fragments, but
        // not in every place.
        let more_pieces = (0..5).any(|place| {
            let names = ["a", "b", "c"].map(|name| format!("{name}{place}"));
            let [a, b, c] = [0, 1, 2].map(|at| names[at].as_str());
            let alone = age(&paths(&[a]), 1 << 20, 16 << 10, &watch).unwrap();
            let together = age(&paths(&[b, c]), 1 << 20, 16 << 10, &watch).unwrap();
            for path in paths(&[a, b, c]) {
                assert_eq!(std::fs::metadata(path).unwrap().size(), 1 << 20);
            }
            match (alone[0], together[0]) {
                (Some(alone), Some(together)) => together > alone,
                _ => {
                    skipped("the file system does not tell its extents");
                    true
                }
            }
        });
        assert!(more_pieces, "files written in turns never lie in more pieces than one alone");
        assert!(age(&paths(&["a0"]), 1 << 20, 16 << 10, &watch).unwrap_err().is_misuse());
    }

    /// Whoever owns the parent of the folder may move the folder away and put a link to something
    /// else there.
    #[test]
    fn nothing_is_made_in_what_is_put_in_the_place_of_our_folder() {
        let place = tempfile::tempdir().unwrap();
        let other = place.path().join("other");
        std::fs::create_dir(&other).unwrap();
        let ours = target::ScratchFolder::new_in(place.path()).unwrap();
        let path = ours.path().join("file-0");
        std::fs::rename(ours.path(), place.path().join("away")).unwrap();
        std::os::unix::fs::symlink(&other, ours.path()).unwrap();
        assert!(age(&[path], 1 << 20, 16 << 10, &Watch::default()).is_err());
        assert_eq!(std::fs::read_dir(&other).unwrap().count(), 0);
        std::fs::remove_file(ours.path()).unwrap();
    }
}
