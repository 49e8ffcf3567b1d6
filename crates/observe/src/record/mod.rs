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
pub use gather::{Gathered, gather};
pub use own::OwnRequests;

use instance::Instance;
use ioscape_machine::error::Error;
use ioscape_schema::TraceInfo;
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
    chunk: Vec<u8>,
    unix_offset_ns: i64,
}

/// What was recorded: the pages of each CPU and how to read them.
pub struct Recording {
    /// Text of `events/header_page`.
    pub header_page: String,
    /// Texts of the `format` files of the events that were recorded.
    pub formats: Vec<String>,
    /// The pages of each CPU.
    pub cpus: Vec<File>,
    /// Events that the kernel could not keep, by CPU.
    pub lost_by_cpu: Vec<u64>,
    /// What to add to the events' clock to have nanoseconds since 1970.
    pub unix_offset_ns: i64,
    /// The disks.
    pub disks: Vec<RecordedDisk>,
    /// The recorder's own requests, which are no part of the recording.
    pub own: OwnRequests,
}

impl Recording {
    /// The disks and the time, as a trace tells them.
    pub fn info(&self) -> TraceInfo {
        TraceInfo {
            format: "recorded".to_owned(),
            started_unix_ns: Some(self.unix_offset_ns),
            devices: self.disks.iter().map(RecordedDisk::device).collect(),
            lost_by_cpu: self.lost_by_cpu.clone(),
            ..TraceInfo::default()
        }
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
        let unix_offset_ns = unix_offset_ns();
        instance.enable()?;
        let disks = match options.disks.as_slice() {
            [] => RecordedDisk::all(),
            some => some.to_vec(),
        };
        Ok(Self { instance, pipes, disks, chunk: vec![0; CHUNK], unix_offset_ns })
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

    /// Ends the recording.
    ///
    /// # Errors
    /// The spool cannot be written, or the kernel does not tell its formats.
    pub fn stop(mut self) -> Result<Recording, Error> {
        self.instance.disable()?;
        self.drain()?;
        let numbers: Vec<u32> = self.disks.iter().map(|disk| disk.number).collect();
        let mut own = OwnRequests::of_process(std::process::id());
        let lost_by_cpu = self.instance.lost()?;
        let (header_page, formats) = self.instance.formats()?;
        for pipe in &self.pipes {
            let failed = |e| Error::io("write", &pipe.path, e);
            pipe.spool.sync_all().map_err(failed)?;
            own.add(blocks::of_file(&pipe.spool), &numbers);
        }
        Ok(Recording {
            header_page,
            formats,
            cpus: self.pipes.into_iter().map(|pipe| pipe.spool).collect(),
            lost_by_cpu,
            unix_offset_ns: self.unix_offset_ns,
            disks: self.disks,
            own,
        })
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

/// The wall clock less the monotonic one.
fn unix_offset_ns() -> i64 {
    let read = |clock| {
        let time = rustix::time::clock_gettime(clock);
        time.tv_sec * 1_000_000_000 + time.tv_nsec
    };
    read(rustix::time::ClockId::Realtime) - read(rustix::time::ClockId::Monotonic)
}
