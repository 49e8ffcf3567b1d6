//! When what the blocks hold is asked for: around a recording, and again and again beside one.

use super::{RecordedDisk, block_map};
use ioscape_machine::thread;
use ioscape_schema::BlockMap;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Since an interruption the file systems have so long to tell what their blocks hold, for which those of many directories take
/// long: five seconds less what the rest takes.
const AT_END: Duration = Duration::from_millis(3500);
/// So long at least they have where nobody interrupts, and as long as was recorded.
const LEAST: Duration = Duration::from_secs(10);
/// From one map beside a recording to the next.
const EVERY: Duration = Duration::from_secs(60);

/// Asks the file systems what their blocks hold, and gives up where that would keep an interrupted recording from its end.
pub struct Maps<'a> {
    /// The disks that are recorded.
    pub disks: &'a [RecordedDisk],
    /// Whether the user wants it to end.
    pub interrupted: &'a AtomicBool,
    /// Whether the recording has ended.
    pub recorded: &'a AtomicBool,
    /// When it began.
    pub begun: Instant,
    /// When the interruption was first seen.
    pub since: &'a OnceLock<Instant>,
}

impl Maps<'_> {
    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Before the recording; nothing where that ends meanwhile, which leaves the time to the map at the end.
    pub fn at_begin(&self) -> Option<BlockMap> {
        let given_up = || self.is_interrupted() || self.recorded.load(Ordering::Relaxed);
        block_map(self.disks, &given_up)
    }

    /// At the end of a part; nothing where that takes too long.
    pub fn at_end(&self) -> Option<BlockMap> {
        let (asked, most) = (Instant::now(), self.begun.elapsed().max(LEAST));
        let given_up = || {
            asked.elapsed() > most
                || self.is_interrupted() && self.since.get_or_init(Instant::now).elapsed() > AT_END
        };
        block_map(self.disks, &given_up)
    }
}

/// What the blocks of the disks hold, asked again and again beside all else, since large file systems take long to tell, and what `make`
/// makes of it; and the number of the thread that asks.
///
/// # Errors
/// The kernel refuses the thread.
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
