//! The simulated disk as a FUSE file system with three files: `disk`, its orders `ctl`, its
//! counters `stat`.
//!
//! No thread waits for a request: the timer answers it when the mechanism is done. So a slow or
//! hanging disk still receives its orders.

use super::device::{Device, Effect, Fate, Request as DiskRequest};
use super::faults::{Fault, Lie};
use super::parameters::Parameters;
use super::store::Store;
use super::timer::Timer;
use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty,
    ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use std::ffi::OsStr;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long the kernel may trust names and attributes, which never change.
const FOREVER: Duration = Duration::from_secs(3600);
/// The largest request that the kernel may send, in bytes.
const REQUEST_MOST: u32 = 1 << 20;
/// Requests in flight before the kernel holds more back: enough to keep many arms busy.
const UNDER_WAY: u16 = 128;
const BLOCK: u64 = 4096;

const DISK: INodeNo = INodeNo(2);
const CTL: INodeNo = INodeNo(3);
const STAT: INodeNo = INodeNo(4);
const NAMES: [(&str, INodeNo); 3] = [("disk", DISK), ("ctl", CTL), ("stat", STAT)];

/// The recipient of an answer.
enum Asker {
    Reader(ReplyData),
    /// A writer, and the data it wrote.
    Writer(ReplyWrite, Vec<u8>),
}

/// The disk and its data.
struct Disk {
    device: Mutex<Device>,
    store: Store,
    timer: Timer,
    held: Mutex<Vec<(DiskRequest, Asker)>>,
}

/// The file system.
pub struct DiskFiles {
    disk: Arc<Disk>,
    parameters: Parameters,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Disk {
    fn submit(self: &Arc<Self>, request: DiskRequest, asker: Asker) {
        let (fate, lie) = {
            let mut device = locked(&self.device);
            (device.submit(request, self.timer.now_ns()), device.lie(&request))
        };
        match fate {
            Fate::Held => locked(&self.held).push((request, asker)),
            Fate::Answered { at_ns, done } => {
                let disk = Arc::clone(self);
                let answer = move || {
                    disk.answer(request, asker, done, lie);
                    let late_ns = disk.timer.now_ns().saturating_sub(at_ns);
                    locked(&disk.device).answered(late_ns);
                };
                self.timer.at(at_ns, Box::new(answer));
            }
        }
    }

    fn answer(
        &self,
        request: DiskRequest,
        asker: Asker,
        done: Result<u64, Fault>,
        lie: Option<Lie>,
    ) {
        let result = done.map_err(|fault| match fault {
            Fault::Io => Errno::EIO,
            Fault::NoSpace => Errno::ENOSPC,
        });
        match asker {
            Asker::Reader(reply) => {
                let read = |length: u64| self.store.read(request.offset, length as usize);
                match result.and_then(|length| read(length).map_err(Errno::from)) {
                    Ok(data) => reply.data(&data),
                    Err(errno) => reply.error(errno),
                }
            }
            Asker::Writer(reply, data) => {
                let write = |length: u64| {
                    let mut data = data[..length as usize].to_vec();
                    let place = lie.map_or(request.offset, |l| l.spoil(request.offset, &mut data));
                    self.store.write(place, &data).map(|()| length)
                };
                match result.and_then(|length| write(length).map_err(Errno::from)) {
                    Ok(length) => reply.written(length as u32),
                    Err(errno) => reply.error(errno),
                }
            }
        }
    }

    /// Carries out orders, one per line.
    fn follow(self: &Arc<Self>, text: &str) -> Result<(), String> {
        for line in text.lines() {
            let effect = locked(&self.device).order(line)?;
            match effect {
                Effect::None => {}
                Effect::Release => {
                    let held = std::mem::take(&mut *locked(&self.held));
                    held.into_iter().for_each(|(request, asker)| self.submit(request, asker));
                }
                Effect::Die => std::process::abort(),
            }
        }
        Ok(())
    }
}

impl DiskFiles {
    /// Creates a disk with these parameters and no data.
    ///
    /// # Errors
    /// The kernel refuses the memory.
    pub fn new(parameters: Parameters) -> io::Result<Self> {
        let disk = Disk {
            device: Mutex::new(Device::new(parameters)),
            store: Store::new(parameters.size_bytes())?,
            timer: Timer::start(),
            held: Mutex::default(),
        };
        Ok(Self { disk: Arc::new(disk), parameters })
    }

    fn attributes(&self, ino: INodeNo) -> FileAttr {
        let size = match ino {
            DISK => self.parameters.size_bytes(),
            STAT => BLOCK,
            _ => 0,
        };
        let is_directory = ino == INodeNo::ROOT;
        FileAttr {
            ino,
            size,
            blocks: size / 512,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind: if is_directory { FileType::Directory } else { FileType::RegularFile },
            perm: if is_directory { 0o755 } else { 0o644 },
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: BLOCK as u32,
            flags: 0,
        }
    }

    /// The length of the part of a request that lies on the disk.
    fn within(&self, offset: u64, length: u64) -> u64 {
        length.min(self.parameters.size_bytes().saturating_sub(offset))
    }
}

impl Filesystem for DiskFiles {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // If the kernel allows less, its own limit stays.
        let _ = config.set_max_write(REQUEST_MOST);
        let _ = config.set_max_readahead(REQUEST_MOST);
        let _ = config.set_max_background(UNDER_WAY);
        let _ = config.set_congestion_threshold(UNDER_WAY / 4 * 3);
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        if self.parameters.write_back != 0.0 {
            let refused = |_| io::Error::other("the kernel has no write-back cache for FUSE");
            config.add_capabilities(InitFlags::FUSE_WRITEBACK_CACHE).map_err(refused)?;
        }
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match NAMES.iter().find(|(known, _)| parent == INodeNo::ROOT && name == *known) {
            Some(&(_, ino)) => reply.entry(&FOREVER, &self.attributes(ino), Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&FOREVER, &self.attributes(ino));
    }

    fn setattr(
        &self,
        _: &Request,
        ino: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        // A disk keeps its size, whatever a program asks for.
        reply.attr(&FOREVER, &self.attributes(ino));
    }

    fn readdir(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        for (at, &(name, ino)) in NAMES.iter().enumerate().skip(offset as usize) {
            if reply.add(ino, at as u64 + 1, FileType::RegularFile, name) {
                break;
            }
        }
        reply.ok();
    }

    fn open(&self, _: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let flags = if ino != DISK || self.parameters.direct_io != 0.0 {
            FopenFlags::FOPEN_DIRECT_IO
        } else if self.parameters.keep_cache != 0.0 {
            FopenFlags::FOPEN_KEEP_CACHE
        } else {
            FopenFlags::empty()
        };
        reply.opened(FileHandle(0), flags);
    }

    fn read(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        if ino != DISK {
            let counters = locked(&self.disk.device).counters();
            let text = serde_json::to_string(&counters).unwrap_or_default() + "\n";
            let from = text.len().min(offset as usize);
            reply.data(&text.as_bytes()[from..text.len().min(from + size as usize)]);
            return;
        }
        let length = self.within(offset, u64::from(size));
        let request = DiskRequest { write: false, offset, length };
        self.disk.submit(request, Asker::Reader(reply));
    }

    fn write(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        if ino != DISK {
            match self.disk.follow(&String::from_utf8_lossy(data)) {
                Ok(()) => reply.written(data.len() as u32),
                Err(_) => reply.error(Errno::EINVAL),
            }
            return;
        }
        let length = self.within(offset, data.len() as u64);
        if length == 0 {
            reply.error(Errno::EFBIG);
            return;
        }
        let request = DiskRequest { write: true, offset, length };
        let data = data[..length as usize].to_vec();
        self.disk.submit(request, Asker::Writer(reply, data));
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        locked(&self.disk.device).synced();
        reply.ok();
    }

    fn fallocate(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        _: u64,
        _: u64,
        _: i32,
        reply: ReplyEmpty,
    ) {
        reply.error(Errno::EOPNOTSUPP);
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let blocks = self.parameters.size_bytes() / BLOCK;
        reply.statfs(blocks, 0, 0, 3, 0, BLOCK as u32, 255, BLOCK as u32);
    }
}
