//! Requests that the recorder itself causes.

use super::blocks::of_file;
use super::disks::RecordedDisk;
use super::queueless::is_above;
use super::spool::SpoolFolder;
use ioscape_schema::Io;
use std::fs::File;
use std::path::Path;

/// Whether a request went to one of the recorded disks: the first `disks` devices of a recording,
/// except those recorded [`elsewhere`](super::Recorder::elsewhere). With `disks` 0, every request
/// did. Requests to other disks appear if a filter has no room for all the numbers.
pub fn is_recorded(io: &Io, disks: usize, elsewhere: &[u16]) -> bool {
    disks == 0 || usize::from(io.device) < disks && !elsewhere.contains(&io.device)
}

/// The note if the files in `folder` are written to the `recorded` disks, but in unknown places;
/// `block` is `/sys/block`.
pub(super) fn untold(
    folder: &SpoolFolder,
    recorded: &[&RecordedDisk],
    block: &Path,
) -> Option<String> {
    let (name, is_placed) = match folder.device() {
        Some(device) => (device.disk().name(), true),
        // A file system that may span several disks, such as btrfs, has its own addresses.
        None => (RecordedDisk::below(folder.path()).ok()?.name, false),
    };
    let itself = !is_placed && recorded.iter().any(|disk| disk.name == name);
    (itself || is_above(&name, recorded, block)).then(|| {
        format!(
            "the recorder's files lie on {name}, and where their blocks are on the recorded disks is not known: what they cost is among the requests; write the trace to another disk (-o)"
        )
    })
}

/// Tells the recorder's own requests from the recorded ones.
#[derive(Clone, Debug, Default)]
pub struct OwnRequests {
    /// Threads that record and query block maps.
    threads: Vec<u32>,
    /// The numbers of the disks, in the order of the device indices.
    disks: Vec<u32>,
    /// The indices of the disks whose requests are recorded on other disks or not at all.
    elsewhere: Vec<u16>,
    /// Index of the device, first byte, byte after the last.
    ranges: Vec<(u16, u64, u64)>,
}

impl OwnRequests {
    pub(super) fn of_process(process: u32, disks: Vec<u32>, elsewhere: Vec<u16>) -> Self {
        Self { threads: vec![process], disks, elsewhere, ranges: Vec::new() }
    }

    /// Adds the blocks that the file has now.
    pub fn with_file(&mut self, file: &File) {
        self.add(of_file(file));
    }

    /// Adds ranges, each with the number of its disk.
    fn add(&mut self, ranges: Vec<(u32, u64, u64)>) {
        let disks = &self.disks;
        let device = |disk| u16::try_from(disks.iter().position(|number| *number == disk)?).ok();
        let range = |(disk, from, to)| Some((device(disk)?, from, to));
        self.ranges.extend(ranges.into_iter().filter_map(range));
    }

    /// Adds everything of another part of the recording, whose files are written back later.
    pub fn with(&mut self, other: &Self) {
        self.threads.extend(&other.threads);
        self.ranges.extend(&other.ranges);
    }

    /// Adds the requests that this thread issues.
    pub fn with_thread(&mut self, thread: u32) {
        self.threads.push(thread);
    }

    /// Whether the recorder caused the request, through its threads or in its files, which the
    /// kernel writes back later, or the request went to a disk that is not recorded.
    pub fn contains(&self, io: &Io) -> bool {
        if !is_recorded(io, self.disks.len(), &self.elsewhere) {
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
        let mut own = OwnRequests::of_process(7, vec![3, 9], Vec::new());
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
        let of = |disks: &[u32], elsewhere: &[u16]| {
            OwnRequests::of_process(7, disks.to_vec(), elsewhere.to_vec())
        };
        assert!(of(&[3, 9], &[]).contains(&io));
        assert!(!of(&[3, 9, 11], &[1]).contains(&io));
        assert!(of(&[3, 9, 11], &[2]).contains(&io), "it is recorded below");
        assert!(!of(&[], &[]).contains(&io), "any disk is recorded");
    }

    #[test]
    fn files_beside_the_recorded_disks_cost_them_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let spooled = SpoolFolder::open(folder.path()).unwrap();
        assert_eq!(untold(&spooled, &[], Path::new("/sys/block")), None);
    }
}
