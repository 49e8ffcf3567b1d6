//! Records block I/O: the kernel's own events, read raw from a private instance of tracefs.
//!
//! Works where blktrace is refused (locked-down kernels). The recorder only gathers pages; what is in them is for those
//! who know the format. It writes its pages into files, whose blocks it tells, so that its own I/O can be left out, or keeps
//! them in memory.

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
pub use gather::{Cuts, Gathered, gather};
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

/// Bytes read at once: some pages of the ring buffer.
const CHUNK: usize = 1 << 16;
/// Events of one CPU that fill a few pages. The kernel gives whole pages, however few events are in the last one.
const FILLED: u64 = 256;
/// So long the events of one CPU wait at most for others to fill their page.
const LONGEST: Duration = Duration::from_secs(1);

/// What to record and how.
#[derive(Clone, Debug)]
pub struct RecordOptions<'a> {
    /// Disks, by [`disks`](RecordedDisk); none records all.
    pub disks: Vec<RecordedDisk>,
    /// Ring buffer of each CPU in bytes.
    pub buffer_bytes: u64,
    /// Folder for the files that take the pages, each of which a trace reader can read by itself; none keeps them in memory.
    pub spool: Option<&'a SpoolFolder>,
}

/// Bytes of each CPU's ring buffer that lose nothing at 60,000 I/O per second with a look at it every 50 ms.
pub const BUFFER_BYTES: u64 = 16 << 20;

/// One CPU's pages on their way to its spool.
struct Pipe {
    path: PathBuf,
    pages: File,
    /// What the kernel says of its buffer, if it does.
    stats: Option<File>,
    /// When its pages were taken last.
    taken: Instant,
    spool: Spool,
}

impl Pipe {
    /// Opens the CPU at `path`.
    fn open(path: PathBuf, spool: Spool) -> Result<Self, Error> {
        let mut options = File::options();
        let pages = options.read(true).custom_flags(libc::O_NONBLOCK).open(&path);
        let pages = pages.map_err(|e| Error::io("open", &path, e))?;
        let stats = File::open(path.with_file_name("stats")).ok();
        Ok(Self { path, pages, stats, taken: Instant::now(), spool })
    }

    /// Events that have not been taken.
    fn waiting(&self) -> Option<u64> {
        // The number is at the beginning.
        let mut text = [0; 256];
        let length = self.stats.as_ref()?.read_at(&mut text, 0).ok()?;
        instance::count(&String::from_utf8_lossy(text.get(..length)?), "entries")
    }
}

/// Whether so many events of a CPU that have waited so long are to be taken now.
fn is_due(waiting: Option<u64>, waited: Duration) -> bool {
    waited >= LONGEST || waiting.is_none_or(|events| events >= FILLED)
}

/// A recording that is going on; it ends when this is dropped.
pub struct Recorder {
    // Closed before the instance goes: the kernel removes none whose pipes are open.
    pipes: Vec<Pipe>,
    instance: Instance,
    spools: Spools,
    source: RecordingSource,
    chunk: Vec<u8>,
    /// Events that the kernel could not keep in the parts that ended, by CPU.
    lost_by_cpu: Vec<u64>,
    /// The indices of the disks whose requests are recorded elsewhere.
    elsewhere: Vec<u16>,
    /// What to add to the events' clock to have nanoseconds since 1970, as it was when the present part began.
    unix_offset_ns: i64,
}

/// A part of a recording, or all of it.
pub struct RecordedPart {
    /// The pages of each CPU, behind so many bytes.
    pub cpus: Vec<File>,
    /// Bytes of each file before its pages.
    pub head_bytes: u64,
    /// The names of these files in their folder, to be removed when a trace was made of them; none in memory.
    pub names: Vec<String>,
    /// When it ends, on the events' clock; later events may be in the pages and belong to the next part. The last has no end.
    pub until_ns: Option<u64>,
    /// Events that the kernel could not keep, by CPU.
    pub lost_by_cpu: Vec<u64>,
    /// What to add to the events' clock to have nanoseconds since 1970, as it was when the part began: that clock stands still while the
    /// machine is suspended, and is not set.
    pub unix_offset_ns: i64,
    /// The numbers of the recorded disks, and the indices of those whose requests are recorded elsewhere.
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
    /// No tracefs or no right to use it, disks of which the kernel tells nothing, and a spool folder that cannot be written.
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
        let is_chosen = !options.disks.is_empty();
        let chosen = recorded.iter().filter(|_| is_chosen).map(|disk| disk.number);
        let chosen: Vec<u32> = chosen.collect();
        instance.set_up(options.buffer_bytes, &chosen, &queueless.numbers)?;
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

    /// The indices of the disks of which there are no rows: their requests are recorded on those below them, or nothing is told of them.
    pub fn elsewhere(&self) -> &[u16] {
        &self.elsewhere
    }

    /// How to read what is recorded.
    pub fn source(&self) -> RecordingSource {
        self.source.clone()
    }

    /// Takes what has gathered since the last call, which should not be long ago; what fills no page may wait for a second. Bytes taken.
    ///
    /// # Errors
    /// The spool cannot be written.
    pub fn drain(&mut self) -> Result<u64, Error> {
        self.take(false)
    }

    /// Takes what has gathered; all of it, or only what is due.
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

    /// Ends a part of the recording, which goes on.
    ///
    /// # Errors
    /// The spool cannot be written.
    pub fn cut(&mut self) -> Result<RecordedPart, Error> {
        // What is not in the kernel's buffers by now comes later.
        let (until_ns, unix_ns) = (now_ns(ClockId::Monotonic), now_ns(ClockId::Realtime));
        self.take(true)?;
        let fresh = self.spools.next(self.pipes.len())?;
        let full = self.pipes.iter_mut().zip(fresh);
        let full = full.map(|(pipe, fresh)| std::mem::replace(&mut pipe.spool, fresh)).collect();
        let part = self.part(full, u64::try_from(until_ns).ok())?;
        self.unix_offset_ns = offset_now(self.unix_offset_ns, unix_ns - until_ns);
        Ok(part)
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// The spool cannot be written.
    pub fn stop(mut self) -> Result<RecordedPart, Error> {
        self.instance.disable()?;
        self.take(true)?;
        let last = std::mem::take(&mut self.pipes).into_iter().map(|pipe| pipe.spool).collect();
        self.part(last, None)
    }

    fn part(&mut self, full: Vec<Spool>, until_ns: Option<u64>) -> Result<RecordedPart, Error> {
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
            until_ns,
            lost_by_cpu,
            unix_offset_ns,
            disks,
            elsewhere,
        })
    }
}

/// The offset between two clocks that was `before` and is measured again: a step is taken over. What is less than a second is drift, and
/// would only make the parts of a recording overlap.
fn offset_now(before: i64, measured: i64) -> i64 {
    if measured.abs_diff(before) > 1_000_000_000 { measured } else { before }
}

/// Moves the pages that are there, of the CPU at `path`; their bytes.
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
            // The kernel knows places for more CPUs than there ever were, and has pages of those only that came.
            Err(e) if e.raw_os_error() == Some(libc::ENODEV) => return Ok(taken),
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(Error::io("read", path, e)),
        }
    }
}

/// The number of the calling thread, as the kernel's events name it; in a container, whose threads have other numbers there, one that
/// no thread has.
pub fn this_thread() -> u32 {
    in_events(rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs())
}

/// The note of a recording about the recorder's own requests that it cannot leave out.
pub const RECORDING: &str = "recording";
/// The note about disks whose requests are recorded on the disks below them.
pub const DISKS: &str = "disks";
/// The note about disks of which nothing is told.
pub const DISKS_NOT_SEEN: &str = "disks not seen";

/// What is said of numbers that are not those of the machine.
const OWN_INCLUDED: &str = "the recorder ran where processes have numbers of their own, as in a container: its own requests are among the others, but for those to its files, and processes bear the numbers that they have on the machine";

/// What a recording tells of itself: whether our numbers are those of the events, that our files are written to unknown places, which disks are
/// left to those below them, and of which nothing is told.
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

/// What a clock says.
fn now_ns(clock: ClockId) -> i64 {
    let time = rustix::time::clock_gettime(clock);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    /// Gives its pages, then fails with this number.
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

    /// Pages of few events, taken at each look, made a quiet recording of 96 CPUs seventeen times as large as its events.
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
