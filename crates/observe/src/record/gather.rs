//! Gathers events while a command runs, for a given time, or until the user interrupts.

use super::command::RecordedCommand;
use super::{RecordedPart, Recorder};
use ioscape_machine::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time between two readings of the kernel's buffers. At 60,000 IOPS, these are then filled to only
/// a small part.
const LOOK: Duration = Duration::from_millis(50);
/// Time that a command gets to end by itself after an interruption. What follows must fit into five
/// seconds with it.
const PATIENCE: Duration = Duration::from_secs(2);

/// When a recording ends one part and begins the next.
pub struct Cuts<'a> {
    /// Seconds from one cut to the next; absent if the recording is a single part.
    pub every_s: Option<f64>,
    /// Takes each part except the last.
    pub on_part: &'a mut dyn FnMut(RecordedPart),
}

/// Progress of the gathering.
#[derive(Clone, Copy, Debug)]
pub struct Gathered {
    /// Bytes of events.
    pub bytes: u64,
    /// Seconds since it began.
    pub spent_s: f64,
    /// Whether gathering is complete: the command has ended, or the time is over.
    pub is_last: bool,
}

/// How a gathering ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// If the command failed: its exit code, as a shell reports it, and a sentence.
    pub complaint: Option<(u8, String)>,
    /// Bytes that were written while the command ran, by it or by others, but were still in the
    /// file cache when it ended; at least so many, and no more than it wrote. 0 without a command.
    pub left_bytes: u64,
}

/// Gathers until the command has ended, `seconds` are over, or the user interrupts, which ends the
/// command. The recording is kept in any case.
///
/// # Errors
/// The spool cannot be written.
pub fn gather(
    recorder: &mut Recorder,
    mut command: Option<RecordedCommand>,
    seconds: Option<f64>,
    interrupted: &AtomicBool,
    cuts: &mut Cuts<'_>,
    on_progress: &mut dyn FnMut(Gathered),
) -> Result<Ended, Error> {
    let started = Instant::now();
    let mut asked_to_end: Option<Instant> = None;
    let (mut bytes, mut cut_s) = (0, 0.0);
    loop {
        bytes += recorder.drain()?;
        let spent_s = started.elapsed().as_secs_f64();
        if cuts.every_s.is_some_and(|every| spent_s - cut_s >= every) {
            (cuts.on_part)(recorder.cut()?);
            cut_s = spent_s;
        }
        let is_last = match &mut command {
            None => seconds.is_some_and(|all| spent_s >= all),
            Some(command) => command.has_ended(),
        };
        on_progress(Gathered { bytes, spent_s, is_last });
        let stopped = interrupted.load(Ordering::Relaxed);
        if is_last || stopped && command.is_none() {
            let Some(command) = command else { return Ok(Ended::default()) };
            // The spooled events may be dirty, too.
            let left_bytes = command.left_bytes(bytes);
            return Ok(Ended { complaint: command.complaint(), left_bytes });
        }
        if let Some(command) = command.as_mut().filter(|_| stopped) {
            match asked_to_end {
                None => {
                    command.ask_to_end();
                    asked_to_end = Some(Instant::now());
                }
                Some(since) if since.elapsed() > PATIENCE => command.kill(),
                Some(_) => {}
            }
        }
        std::thread::sleep(LOOK);
    }
}
