//! Records block I/O: the kernel's own events, read raw from a private instance of tracefs.
//!
//! This works where blktrace is refused (locked-down kernels). The recorder only gathers pages;
//! interpreting them is left to those who know the format. It writes its pages into files and
//! reports their blocks, so that its own I/O can be left out, or keeps them in memory.

mod blocks;
mod command;
mod disks;
mod gather;
mod instance;
mod maps;
mod own;
mod queueless;
mod spool;

pub use blocks::block_map;
pub use command::RecordedCommand;
pub use disks::RecordedDisk;
pub use gather::{Cuts, Ended, Gathered, gather};
pub(crate) use instance::Instance;
pub use ioscape_schema::RecordingSource;
pub use maps::{Maps, maps_beside};
pub use own::{OwnRequests, is_recorded};
pub use spool::SpoolFolder;

use crate::namespace::{in_events, is_outermost};
use ioscape_machine::error::Error;
use ioscape_machine::limits::raise_open_files;
use ioscape_schema::TraceInfo;
use ioscape_schema::text::RECORDED;
use queueless::Queueless;
use rustix::time::ClockId;
use spool::{Spool, Spools};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Bytes per read: several pages of the ring buffer.
const CHUNK: usize = 1 << 16;
/// The number of events of one CPU that fill a few pages. The kernel returns whole pages, however
/// few events the last one holds.
const FILLED: u64 = 256;
/// The longest that the events of one CPU wait for others to fill their page.
const LONGEST: Duration = Duration::from_secs(1);

/// What to record and how.
#[derive(Clone, Debug)]
pub struct RecordOptions<'a> {
    /// The [disks](RecordedDisk) to record; empty for all.
    pub disks: Vec<RecordedDisk>,
    /// Ring buffer of each CPU in bytes.
    pub buffer_bytes: u64,
    /// Folder for the files that take the pages; a trace reader can read each of them by itself.
    /// Absent: the pages stay in memory.
    pub spool: Option<&'a SpoolFolder>,
}

/// Size in bytes of each CPU's ring buffer that loses nothing at 60,000 IOPS if it is read every 50
/// ms.
pub const BUFFER_BYTES: u64 = 16 << 20;

/// One CPU's pages on their way to its spool.
struct Pipe {
    path: PathBuf,
    pages: File,
    /// The kernel's statistics of its buffer, if available.
    stats: Option<File>,
    /// When its pages were last taken.
    taken: Instant,
    spool: Spool,
}

impl Pipe {
    /// Opens the pages of the CPU at `path`.
    fn open(path: PathBuf, spool: Spool) -> Result<Self, Error> {
        let mut options = File::options();
        let pages = options.read(true).custom_flags(libc::O_NONBLOCK).open(&path);
        let pages = pages.map_err(|e| Error::io("open", &path, e))?;
        let stats = File::open(path.with_file_name("stats")).ok();
        Ok(Self { path, pages, stats, taken: Instant::now(), spool })
    }

    /// The number of events not taken yet.
    fn waiting(&self) -> Option<u64> {
        // The number is near the beginning.
        let mut text = [0; 256];
        let length = self.stats.as_ref()?.read_at(&mut text, 0).ok()?;
        instance::count(&String::from_utf8_lossy(text.get(..length)?), "entries")
    }
}

/// Whether to take the events of a CPU now, given their number and how long they have waited.
fn is_due(waiting: Option<u64>, waited: Duration) -> bool {
    waited >= LONGEST || waiting.is_none_or(|events| events >= FILLED)
}

/// A recording in progress; it ends on drop.
pub struct Recorder {
    // Closed before the instance is removed: the kernel removes none whose pipes are open.
    pipes: Vec<Pipe>,
    instance: Instance,
    spools: Spools,
    source: RecordingSource,
    chunk: Vec<u8>,
    /// Events that the kernel lost in the parts that have ended, by CPU.
    lost_by_cpu: Vec<u64>,
    /// The indices of the disks whose requests are recorded on other disks or not at all.
    elsewhere: Vec<u16>,
    /// Offset from the events' clock to nanoseconds since 1970, as of the beginning of the present
    /// part.
    unix_offset_ns: i64,
}

/// A part of a recording, or all of it.
pub struct RecordedPart {
    /// The pages of each CPU, after `head_bytes`.
    pub cpus: Vec<File>,
    /// Bytes in each file before its pages.
    pub head_bytes: u64,
    /// The names of these files in their folder, to be removed after a trace was made of them;
    /// empty if they are in memory.
    pub names: Vec<String>,
    /// When the part ends, on the events' clock. The pages may contain later events, which belong
    /// to the next part. Absent for the last part, which has no end.
    pub until_ns: Option<u64>,
    /// When the recorder began to stop, on the events' clock. Requests that began later may lack
    /// their beginning. Absent for all parts but the last.
    pub stopped_ns: Option<u64>,
    /// Events that the kernel lost, by CPU.
    pub lost_by_cpu: Vec<u64>,
    /// Offset from the events' clock to nanoseconds since 1970, as of the beginning of the part.
    /// The events' clock stands still while the machine is suspended, and is never set.
    pub unix_offset_ns: i64,
    /// The numbers of the recorded disks, and the indices of those whose requests are recorded on
    /// other disks or not at all.
    disks: Vec<u32>,
    elsewhere: Vec<u16>,
}

impl RecordedPart {
    /// The recorder's own requests, which are no part of the recording.
    ///
    /// # Errors
    /// The pages cannot be written to the disk.
    pub fn own(&self) -> Result<OwnRequests, Error> {
        let process = in_events(std::process::id());
        let (disks, elsewhere) = (self.disks.clone(), self.elsewhere.clone());
        let mut own = OwnRequests::of_process(process, disks, elsewhere);
        for file in &self.cpus {
            file.sync_all().map_err(|e| Error::io("write", Path::new("the recorded pages"), e))?;
            own.with_file(file);
        }
        Ok(own)
    }
}

impl Recorder {
    /// Begins to record.
    ///
    /// # Errors
    /// There is no tracefs or no right to use it, the kernel reports nothing about the disks, or
    /// the spool folder cannot be written.
    pub fn start(options: &RecordOptions<'_>) -> Result<Self, Error> {
        raise_open_files();
        let mut instance = Instance::new()?;
        let disks = match options.disks.as_slice() {
            [] => RecordedDisk::all(),
            some => some.to_vec(),
        };
        let block = Path::new("/sys/block");
        let queueless = Queueless::among(&disks, block)?;
        let recorded = queueless.recorded(&disks);
        let numbers: Vec<u32> = recorded.iter().map(|disk| disk.number).collect();
        let also_others = options.disks.is_empty();
        instance.set_up(options.buffer_bytes, &numbers, also_others, &queueless.numbers)?;
        let untold = options.spool.and_then(|folder| own::untold(folder, &recorded, block));
        let Queueless { elsewhere, below, unseen, .. } = queueless;
        let source = source(&instance, &disks, notes(is_outermost(), untold, below, unseen))?;
        let mut spools = Spools::new(options.spool, &source);
        let cpus = instance.cpus()?;
        let next = spools.next(cpus.len())?;
        let pipes = cpus.into_iter().zip(next).map(|(path, spool)| Pipe::open(path, spool));
        let pipes = pipes.collect::<Result<_, _>>()?;
        instance.enable()?;
        let (chunk, lost_by_cpu) = (vec![0; CHUNK], Vec::new());
        let unix_offset_ns = source.info.started_unix_ns.unwrap_or(0);
        Ok(Self { instance, pipes, spools, source, chunk, lost_by_cpu, elsewhere, unix_offset_ns })
    }

    /// The indices of the disks without rows of their own: their requests are recorded on the disks
    /// below them, or nothing is reported about them.
    pub fn elsewhere(&self) -> &[u16] {
        &self.elsewhere
    }

    /// How to read the recording.
    pub fn source(&self) -> RecordingSource {
        self.source.clone()
    }

    /// Takes the events gathered since the last call, which must not be long ago; events that fill
    /// no page may wait for a second. Returns the number of bytes taken.
    ///
    /// # Errors
    /// The spool cannot be written.
    pub fn drain(&mut self) -> Result<u64, Error> {
        self.take(false)
    }

    /// Takes the gathered events: all of them, or only those that are due.
    fn take(&mut self, all: bool) -> Result<u64, Error> {
        let (now, mut taken) = (Instant::now(), 0);
        for pipe in &mut self.pipes {
            if all || is_due(pipe.waiting(), now.saturating_duration_since(pipe.taken)) {
                taken += drain(&mut pipe.pages, &mut pipe.spool.file, &pipe.path, &mut self.chunk)?;
                pipe.taken = now;
            }
        }
        Ok(taken)
    }

    /// Ends one part of the recording, which continues.
    ///
    /// # Errors
    /// The spool cannot be written.
    pub fn cut(&mut self) -> Result<RecordedPart, Error> {
        // Events that reach the kernel's buffers later are later than this.
        let (until_ns, unix_ns) = (now_ns(ClockId::Monotonic), now_ns(ClockId::Realtime));
        self.take(true)?;
        let fresh = self.spools.next(self.pipes.len())?;
        let full = self.pipes.iter_mut().zip(fresh);
        let full = full.map(|(pipe, fresh)| std::mem::replace(&mut pipe.spool, fresh)).collect();
        let until = u64::try_from(until_ns).ok();
        let part = RecordedPart { until_ns: until, ..self.part(full)? };
        self.unix_offset_ns = offset_now(self.unix_offset_ns, unix_ns - until_ns);
        Ok(part)
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// The spool cannot be written.
    pub fn stop(mut self) -> Result<RecordedPart, Error> {
        let stopped_ns = u64::try_from(now_ns(ClockId::Monotonic)).ok();
        self.instance.disable()?;
        self.take(true)?;
        let last = std::mem::take(&mut self.pipes).into_iter().map(|pipe| pipe.spool).collect();
        Ok(RecordedPart { stopped_ns, ..self.part(last)? })
    }

    /// A part that neither ends nor is the last.
    fn part(&mut self, full: Vec<Spool>) -> Result<RecordedPart, Error> {
        let lost = self.instance.lost()?;
        let before = std::mem::replace(&mut self.lost_by_cpu, lost.clone());
        let before = before.into_iter().chain(std::iter::repeat(0));
        let lost_by_cpu =
            lost.into_iter().zip(before).map(|(all, old)| all.saturating_sub(old)).collect();
        let (disks, elsewhere) = (self.source.devices.clone(), self.elsewhere.clone());
        let (head_bytes, unix_offset_ns) = (self.spools.head_bytes(), self.unix_offset_ns);
        let (cpus, names): (Vec<_>, Vec<_>) =
            full.into_iter().map(|spool| (spool.file, spool.name)).unzip();
        let names = names.into_iter().flatten().collect();
        Ok(RecordedPart {
            cpus,
            head_bytes,
            names,
            until_ns: None,
            stopped_ns: None,
            lost_by_cpu,
            unix_offset_ns,
            disks,
            elsewhere,
        })
    }
}

/// The offset between two clocks that was `before` and is now `measured`. A step is adopted. Less
/// than a second is drift, which would only make the parts of a recording overlap.
fn offset_now(before: i64, measured: i64) -> i64 {
    if measured.abs_diff(before) > 1_000_000_000 { measured } else { before }
}

/// Moves the available pages of the CPU at `path`; returns their bytes.
fn drain(
    pages: &mut impl Read,
    spool: &mut impl Write,
    path: &Path,
    chunk: &mut [u8],
) -> Result<u64, Error> {
    let mut taken = 0;
    loop {
        match pages.read(chunk) {
            Ok(0) => return Ok(taken),
            Ok(count) => {
                let written = spool.write_all(&chunk[..count]);
                written.map_err(|e| Error::io("write the pages of", path, e))?;
                taken += count as u64;
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(taken),
            // The kernel has folders for more CPUs than ever existed, but pages only for those that
            // did.
            Err(e) if e.raw_os_error() == Some(libc::ENODEV) => return Ok(taken),
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(Error::io("read", path, e)),
        }
    }
}

/// The number of the calling thread in the kernel's events. In a container, where threads have
/// other numbers, one that no thread has.
pub fn this_thread() -> u32 {
    in_events(rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs())
}

/// Key of the note about the recorder's own requests that a recording cannot leave out.
pub const RECORDING: &str = "recording";
/// Key of the note about disks whose requests are recorded on the disks below them.
pub const DISKS: &str = "disks";
/// Key of the note about disks about which nothing is reported.
pub const DISKS_NOT_SEEN: &str = "disks not seen";

/// The note for a recorder whose process numbers are not those of the machine.
const OWN_INCLUDED: &str = "the recorder ran where processes have numbers of their own, as in a container: its own requests are among the others, but for those to its files, and processes bear the numbers that they have on the machine";

/// The notes of a recording about itself: whether our process numbers are those of the events,
/// whether our files are written to unknown places, which disks are left to those below them, and
/// about which nothing is reported.
fn notes(
    is_outermost: bool,
    untold: Option<String>,
    below: Option<String>,
    unseen: Option<String>,
) -> BTreeMap<String, String> {
    let own = (!is_outermost).then(|| OWN_INCLUDED.to_owned());
    let own: Vec<String> = own.into_iter().chain(untold).collect();
    let own = (!own.is_empty()).then(|| own.join("; "));
    let all = [(RECORDING, own), (DISKS, below), (DISKS_NOT_SEEN, unseen)];
    all.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?))).collect()
}

/// How to read what an instance records of the disks from now on.
fn source(
    instance: &Instance,
    disks: &[RecordedDisk],
    notes: BTreeMap<String, String>,
) -> Result<RecordingSource, Error> {
    let (header_page, formats) = instance.formats()?;
    let begins_ns = now_ns(ClockId::Monotonic);
    let info = TraceInfo {
        format: RECORDED.to_owned(),
        started_unix_ns: Some(now_ns(ClockId::Realtime) - begins_ns),
        devices: disks.iter().map(RecordedDisk::device).collect(),
        notes,
        ..TraceInfo::default()
    };
    Ok(RecordingSource {
        header_page,
        formats,
        devices: disks.iter().map(|disk| disk.number).collect(),
        info,
        begins_ns: u64::try_from(begins_ns).unwrap_or(0),
        recorder: in_events(std::process::id()),
    })
}

/// Reads a clock.
fn now_ns(clock: ClockId) -> i64 {
    let time = rustix::time::clock_gettime(clock);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    /// Yields its pages, then fails with this error number.
    struct Pages(&'static [u8], i32);

    impl Read for Pages {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            match self.0.read(into)? {
                0 => Err(io::Error::from_raw_os_error(self.1)),
                count => Ok(count),
            }
        }
    }

    #[test]
    fn a_cpu_that_was_never_there_has_no_pages_as_yet() {
        let taken = |pages: &'static [u8], error| -> Result<u64, Error> {
            let mut spool: Vec<u8> = Vec::new();
            let path = Path::new("cpu3/trace_pipe_raw");
            let bytes = drain(&mut Pages(pages, error), &mut spool, path, &mut [0; 4])?;
            assert_eq!(spool, pages);
            Ok(bytes)
        };
        assert_eq!(taken(b"", libc::ENODEV).unwrap(), 0);
        assert_eq!(taken(b"pages", libc::ENODEV).unwrap(), 5);
        assert_eq!(taken(b"pages", libc::EAGAIN).unwrap(), 5);
        let failed = taken(b"", libc::EIO).unwrap_err();
        assert!(failed.to_string().starts_with("cannot read cpu3/trace_pipe_raw"), "{failed}");
    }

    #[test]
    fn a_recording_says_what_is_in_it_and_what_is_not() {
        assert!(notes(true, None, None, None).is_empty());
        let some = |text: &str| Some(text.to_owned());
        let told = notes(false, some("on dm-0"), some("left"), some("unseen"));
        assert!(told[RECORDING].contains("its own requests are among the others"));
        assert!(told[RECORDING].ends_with("; on dm-0"));
        assert_eq!([&told[DISKS], &told[DISKS_NOT_SEEN]], ["left", "unseen"]);
        assert_eq!(notes(true, some("on dm-0"), None, None)[RECORDING], "on dm-0");
    }

    /// Guards against taking pages with few events at each reading: that made a quiet recording of
    /// 96 CPUs seventeen times as large as its events.
    #[test]
    fn events_that_fill_no_page_wait_for_others_a_second_at_most() {
        let [short, long] = [50, 1000].map(Duration::from_millis);
        assert!(!is_due(Some(3), short) && is_due(Some(3), long));
        assert!(is_due(Some(1 << 20), short), "a burst does not wait");
        assert!(is_due(None, short), "nothing is known of them");
    }

    #[test]
    fn a_step_of_the_wall_clock_is_taken_over_and_its_drift_is_not() {
        assert_eq!(offset_now(5, 5 + 900_000_000), 5);
        let hours = 8 * 3_600_000_000_000;
        assert_eq!([offset_now(5, 5 + hours), offset_now(5, 5 - hours)], [5 + hours, 5 - hours]);
    }
}
