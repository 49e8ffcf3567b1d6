//! Records block I/O: the kernel's own events, read raw from a private instance of tracefs.
//!
//! Works where blktrace is refused (locked-down kernels). The recorder only gathers pages; what is in them is for those
//! who know the format. It writes its pages into unlinked files, whose blocks it tells, so that its own I/O can be left out.

mod blocks;
mod command;
mod disks;
mod gather;
mod instance;
mod own;

pub use blocks::block_map;
pub use command::RecordedCommand;
pub use disks::RecordedDisk;
pub use gather::{Cuts, Gathered, gather};
pub use own::OwnRequests;

use instance::Instance;
use ioscape_machine::error::Error;
use ioscape_schema::TraceInfo;
use rustix::time::ClockId;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Bytes read at once: some pages of the ring buffer.
const CHUNK: usize = 1 << 16;

/// What to record and how.
#[derive(Clone, Debug)]
pub struct RecordOptions {
    /// Disks, by [`disks`](RecordedDisk); none records all.
    pub disks: Vec<RecordedDisk>,
    /// Ring buffer of each CPU in bytes.
    pub buffer_bytes: u64,
    /// Folder for the unlinked files that take the pages.
    pub spool: PathBuf,
}

/// Bytes of each CPU's ring buffer that lose nothing at 60,000 I/O per second with a look at it every 50 ms.
pub const BUFFER_BYTES: u64 = 16 << 20;

/// One CPU's pages on their way to its spool.
struct Pipe {
    path: PathBuf,
    pages: File,
    spool: File,
}

/// A recording that is going on; it ends when this is dropped.
pub struct Recorder {
    instance: Instance,
    pipes: Vec<Pipe>,
    disks: Vec<RecordedDisk>,
    folder: PathBuf,
    chunk: Vec<u8>,
    unix_offset_ns: i64,
    /// Events that the kernel could not keep in the parts that ended, by CPU.
    lost_by_cpu: Vec<u64>,
}

/// How to read what is recorded, and what is known of it from the beginning.
pub struct RecordingSource {
    /// Text of `events/header_page`.
    pub header_page: String,
    /// Texts of the `format` files of the events that are recorded.
    pub formats: Vec<String>,
    /// The numbers of the disks, in the order of the devices of `info`.
    pub devices: Vec<u32>,
    /// The disks; its beginning is what to add to the events' clock to have nanoseconds since 1970.
    pub info: TraceInfo,
}

/// A part of a recording, or all of it.
pub struct RecordedPart {
    /// The pages of each CPU.
    pub cpus: Vec<File>,
    /// When it ends, on the events' clock; later events may be in the pages and belong to the next part. The last has no end.
    pub until_ns: Option<u64>,
    /// Events that the kernel could not keep, by CPU.
    pub lost_by_cpu: Vec<u64>,
    /// The numbers of the recorded disks.
    disks: Vec<u32>,
}

impl RecordedPart {
    /// The recorder's own requests, which are no part of the recording.
    ///
    /// # Errors
    /// The pages cannot be written to the disk.
    pub fn own(&self) -> Result<OwnRequests, Error> {
        let mut own = OwnRequests::of_process(std::process::id(), self.disks.clone());
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
    /// No tracefs or no right to use it, and a spool folder that cannot be written.
    pub fn start(options: &RecordOptions) -> Result<Self, Error> {
        let instance = Instance::new()?;
        instance.set_up(options.buffer_bytes, &options.disks)?;
        let mut pipes = Vec::new();
        for path in instance.cpus()? {
            let pages = File::options()
                .read(true)
                .custom_flags(libc::O_NONBLOCK)
                .open(&path)
                .map_err(|e| Error::io("open", &path, e))?;
            pipes.push(Pipe { path, pages, spool: spool(&options.spool)? });
        }
        let unix_offset_ns = now_ns(ClockId::Realtime) - now_ns(ClockId::Monotonic);
        instance.enable()?;
        let disks = match options.disks.as_slice() {
            [] => RecordedDisk::all(),
            some => some.to_vec(),
        };
        let (folder, chunk) = (options.spool.clone(), vec![0; CHUNK]);
        let lost_by_cpu = Vec::new();
        Ok(Self { instance, pipes, disks, folder, chunk, unix_offset_ns, lost_by_cpu })
    }

    /// How to read what is recorded.
    ///
    /// # Errors
    /// The kernel does not tell its formats.
    pub fn source(&self) -> Result<RecordingSource, Error> {
        let (header_page, formats) = self.instance.formats()?;
        let info = TraceInfo {
            format: "recorded".to_owned(),
            started_unix_ns: Some(self.unix_offset_ns),
            devices: self.disks.iter().map(RecordedDisk::device).collect(),
            ..TraceInfo::default()
        };
        let devices = self.disks.iter().map(|disk| disk.number).collect();
        Ok(RecordingSource { header_page, formats, devices, info })
    }

    /// Takes what has gathered since the last call, which should not be long ago; bytes taken.
    ///
    /// # Errors
    /// The spool cannot be written.
    pub fn drain(&mut self) -> Result<u64, Error> {
        let mut taken = 0;
        for pipe in &mut self.pipes {
            taken += drain(pipe, &mut self.chunk)?;
        }
        Ok(taken)
    }

    /// Ends a part of the recording, which goes on.
    ///
    /// # Errors
    /// The spool cannot be written.
    pub fn cut(&mut self) -> Result<RecordedPart, Error> {
        // What is not in the kernel's buffers by now comes later.
        let until_ns = u64::try_from(now_ns(ClockId::Monotonic)).ok();
        self.drain()?;
        let fresh =
            self.pipes.iter().map(|_| spool(&self.folder)).collect::<Result<Vec<_>, _>>()?;
        let full = self.pipes.iter_mut().zip(fresh);
        let full = full.map(|(pipe, fresh)| std::mem::replace(&mut pipe.spool, fresh)).collect();
        self.part(full, until_ns)
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// The spool cannot be written.
    pub fn stop(mut self) -> Result<RecordedPart, Error> {
        self.instance.disable()?;
        self.drain()?;
        let last = std::mem::take(&mut self.pipes).into_iter().map(|pipe| pipe.spool).collect();
        self.part(last, None)
    }

    fn part(&mut self, cpus: Vec<File>, until_ns: Option<u64>) -> Result<RecordedPart, Error> {
        let lost = self.instance.lost()?;
        let before = std::mem::replace(&mut self.lost_by_cpu, lost.clone());
        let before = before.into_iter().chain(std::iter::repeat(0));
        let lost_by_cpu =
            lost.into_iter().zip(before).map(|(all, old)| all.saturating_sub(old)).collect();
        let disks = self.disks.iter().map(|disk| disk.number).collect();
        Ok(RecordedPart { cpus, until_ns, lost_by_cpu, disks })
    }
}

fn drain(pipe: &mut Pipe, chunk: &mut [u8]) -> Result<u64, Error> {
    let mut taken = 0;
    loop {
        match pipe.pages.read(chunk) {
            Ok(0) => return Ok(taken),
            Ok(count) => {
                let written = pipe.spool.write_all(&chunk[..count]);
                written.map_err(|e| Error::io("write the pages of", &pipe.path, e))?;
                taken += count as u64;
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(taken),
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(Error::io("read", &pipe.path, e)),
        }
    }
}

/// The number of the calling thread, as the kernel's events name it.
pub fn this_thread() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()
}

/// A file without a name: it vanishes with the recorder.
fn spool(folder: &Path) -> Result<File, Error> {
    File::options()
        .read(true)
        .write(true)
        .custom_flags(libc::O_TMPFILE)
        .mode(0o600)
        .open(folder)
        .map_err(|e| Error::io("make a temporary file in", folder, e))
}

/// What a clock says.
fn now_ns(clock: ClockId) -> i64 {
    let time = rustix::time::clock_gettime(clock);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}
