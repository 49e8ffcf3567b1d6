//! When the contents of the blocks are queried: before and after a recording, and repeatedly during
//! one.

use super::{RecordedDisk, block_map};
use ioscape_machine::thread;
use ioscape_schema::BlockMap;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// The most time since an interruption that file systems get to report what their blocks hold,
/// which takes long with many directories: five seconds less what everything else takes.
const AT_END: Duration = Duration::from_millis(3500);
/// The least time that they get without an interruption. They get as long as the recording took, if
/// that is more.
const LEAST: Duration = Duration::from_secs(10);
/// Time from one map to the next during a recording.
const EVERY: Duration = Duration::from_secs(60);

/// Queries the file systems for what their blocks hold, and gives up if that would delay the end of
/// an interrupted recording.
pub struct Maps<'a> {
    /// The disks that are recorded.
    pub disks: &'a [RecordedDisk],
    /// Whether the user wants the recording to end.
    pub interrupted: &'a AtomicBool,
    /// Whether the recording has ended.
    pub recorded: &'a AtomicBool,
    /// When the recording began.
    pub begun: Instant,
    /// When the interruption was first seen.
    pub since: &'a OnceLock<Instant>,
}

impl Maps<'_> {
    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// The map before the recording. Returns `None` if the recording ends meanwhile, which leaves
    /// the time to the map at the end.
    pub fn at_begin(&self) -> Option<BlockMap> {
        let given_up = || self.is_interrupted() || self.recorded.load(Ordering::Relaxed);
        block_map(self.disks, &given_up)
    }

    /// The map at the end of a part; `None` if it takes too long.
    pub fn at_end(&self) -> Option<BlockMap> {
        let (asked, most) = (Instant::now(), self.begun.elapsed().max(LEAST));
        let given_up = || {
            asked.elapsed() > most
                || self.is_interrupted() && self.since.get_or_init(Instant::now).elapsed() > AT_END
        };
        block_map(self.disks, &given_up)
    }
}

/// Queries what the blocks of the disks hold again and again, in a thread beside everything else,
/// since large file systems take long to answer. Returns what `make` makes of the maps, and the
/// number of that thread.
///
/// # Errors
/// The kernel refuses to create the thread.
pub fn maps_beside<T: Send + 'static>(
    disks: Vec<RecordedDisk>,
    make: fn(BlockMap) -> T,
) -> io::Result<(Receiver<T>, u32)> {
    let ((give, maps), (say, number)) = (channel(), channel());
    thread::builder()?.spawn(move || {
        let _ = say.send(super::this_thread());
        while let Some(map) = block_map(&disks, &|| false)
            && give.send(make(map)).is_ok()
        {
            std::thread::sleep(EVERY);
        }
    })?;
    Ok((maps, number.recv().unwrap_or_default()))
}
