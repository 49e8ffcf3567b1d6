//! The requests that the recorder itself causes.

use super::blocks::of_file;
use ioscape_schema::Io;
use std::fs::File;

/// Whether a request went to one of the recorded disks, the first so many devices of a recording; to any where there is none. Others come
/// where a filter has no room for the numbers of all.
pub fn is_recorded(io: &Io, disks: usize) -> bool {
    disks == 0 || usize::from(io.device) < disks
}

/// Tells the recorder's own requests from those that are recorded.
#[derive(Clone, Debug, Default)]
pub struct OwnRequests {
    /// Threads that record and look around.
    threads: Vec<u32>,
    /// The numbers of the disks, by the indices of the devices.
    disks: Vec<u32>,
    /// Index of the device, first byte, byte after the last.
    ranges: Vec<(u16, u64, u64)>,
}

impl OwnRequests {
    pub(super) fn of_process(process: u32, disks: Vec<u32>) -> Self {
        Self { threads: vec![process], disks, ranges: Vec::new() }
    }

    /// Also counts what goes to the blocks that the file has now.
    pub fn with_file(&mut self, file: &File) {
        self.add(of_file(file));
    }

    /// Also counts ranges, each with the number of its disk.
    fn add(&mut self, ranges: Vec<(u32, u64, u64)>) {
        let disks = &self.disks;
        let device = |disk| u16::try_from(disks.iter().position(|number| *number == disk)?).ok();
        let range = |(disk, from, to)| Some((device(disk)?, from, to));
        self.ranges.extend(ranges.into_iter().filter_map(range));
    }

    /// Also counts what another part of the recording counts: its files are written back later.
    pub fn with(&mut self, other: &Self) {
        self.threads.extend(&other.threads);
        self.ranges.extend(&other.ranges);
    }

    /// Also counts what this thread issues.
    pub fn with_thread(&mut self, thread: u32) {
        self.threads.push(thread);
    }

    /// Whether the recorder caused the request, by its threads, or in its files, which the kernel writes later; or whether it went to
    /// another disk than those recorded.
    pub fn contains(&self, io: &Io) -> bool {
        if !is_recorded(io, self.disks.len()) {
            return true;
        }
        let within = |(device, from, to): &(u16, u64, u64)| {
            *device == io.device && (*from..*to).contains(&io.request.offset)
        };
        self.threads.contains(&io.process) || io.request.len > 0 && self.ranges.iter().any(within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{Op, Request};

    #[test]
    fn threads_and_files_of_the_recorder_are_its_own() {
        let mut own = OwnRequests::of_process(7, vec![3, 9]);
        own.add(vec![(9, 4096, 8192), (8, 0, 4096)]);
        own.with_thread(11);
        let io = |process, device, offset, len| Io {
            request: Request { op: Op::Write, offset, len },
            process,
            device,
            ..Io::default()
        };
        assert!(own.contains(&io(7, 0, 0, 512)) && own.contains(&io(11, 0, 0, 512)));
        assert!(own.contains(&io(1, 1, 8191, 512)), "written later by the kernel");
        for other in [io(1, 1, 8192, 512), io(1, 0, 4096, 512), io(1, 1, 4096, 0)] {
            assert!(!own.contains(&other), "{other:?}");
        }
    }

    #[test]
    fn a_request_to_a_disk_that_is_not_recorded_is_left_out() {
        let io = Io { device: 2, process: 1, ..Io::default() };
        assert!(OwnRequests::of_process(7, vec![3, 9]).contains(&io));
        assert!(!OwnRequests::of_process(7, vec![3, 9, 11]).contains(&io));
        assert!(!OwnRequests::of_process(7, Vec::new()).contains(&io), "any disk is recorded");
    }
}
