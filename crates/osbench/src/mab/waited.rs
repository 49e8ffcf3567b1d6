//! The processor time others took while the benchmark's processes ran: each reports it when it ends, to the file that is its standard
//! input.

use crate::waiting::{Meter, Waiting};
use rustix::fs::{MemfdFlags, OFlags, fcntl_get_seals, fcntl_setfl, memfd_create};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::process::Stdio;

/// The file in memory that all processes of a run append to, and the conductor's own count.
pub(super) struct Waited {
    file: File,
    own: Meter,
}

impl Waited {
    pub(super) fn new() -> io::Result<Self> {
        let file = File::from(memfd_create("waited", MemfdFlags::CLOEXEC)?);
        fcntl_setfl(&file, OFlags::APPEND)?;
        Ok(Self { file, own: Meter::new(Waiting::Queued, None) })
    }

    /// The file as a process's standard input, which the processes that it starts inherit.
    pub(super) fn stdin(&self) -> io::Result<Stdio> {
        Ok(self.file.try_clone()?.into())
    }

    /// Nanoseconds that others had so far, as far as the kernel and the processes told.
    pub(super) fn total_ns(&self) -> io::Result<u64> {
        let mut all = vec![0; usize::try_from(self.file.metadata()?.len()).unwrap_or(0)];
        self.file.read_exact_at(&mut all, 0)?;
        let told = all.chunks_exact(8).map(|one| one.try_into().map_or(0, u64::from_le_bytes));
        Ok(told.fold(self.own.read().unwrap_or(0), u64::saturating_add))
    }
}

/// Tells the time others took while this process was ready to run, if its standard input is such a file.
pub(crate) fn tell() {
    // Only a file in memory has seals.
    if fcntl_get_seals(io::stdin()).is_ok()
        && let Some(ns) = Meter::new(Waiting::Queued, None).read()
    {
        append(&ns.to_le_bytes());
    }
}

fn append(bytes: &[u8]) {
    // What is not told counts as time of the benchmark's own.
    let _ = rustix::io::write(io::stdin(), bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::process::Command;

    #[test]
    fn what_processes_tell_is_added_up() {
        let waited = Waited::new().unwrap();
        let own = waited.total_ns().unwrap();
        for _ in 0..3 {
            let mut printf = Command::new("sh");
            printf.args(["-c", r"printf '\001\001\001\001\001\001\001\001' >&0"]);
            assert!(printf.stdin(waited.stdin().unwrap()).status().unwrap().success());
        }
        let told = waited.total_ns().unwrap() - own;
        assert!((3 * 0x0101_0101_0101_0101..4 * 0x0101_0101_0101_0101).contains(&told), "{told}");
        (&waited.file).write_all(&[1]).unwrap();
        assert!(waited.total_ns().is_ok(), "a torn entry is left out");
    }
}
