//! Finds out from `/proc` which file a descriptor of another process refers to.

use super::faults::Inode;
use ioscape_machine::text;
use ioscape_schema::{Characterization, FileKind};
use rustix::fs::{AtFlags, CWD, FileType, Statx, StatxFlags};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The most files listed separately. All later ones are counted together, so that memory stays
/// bounded.
const FILES_MOST: usize = 100_000;

/// File systems that the kernel generates on request: their files are nobody's data
/// (`linux/magic.h`).
const MADE_UP: [i64; 20] = [
    0x9fa0,      // proc
    0x6265_6572, // sysfs
    0x0027_e0eb, // cgroup
    0x6367_7270, // cgroup2
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x7363_6673, // securityfs
    0x6165_676c, // pstore
    0x1cd1,      // devpts
    0x6265_6570, // configfs
    0xcafe_4a11, // bpf
    0x6e73_6673, // nsfs
    0xf97c_ff8c, // selinuxfs
    0x4341_5d53, // smackfs
    0x5a3c_69f0, // apparmorfs
    0x4249_4e4d, // binfmt_misc
    0xde5e_81e4, // efivarfs
    0x1980_0202, // mqueue
    0x6573_5543, // fusectl
    0x0765_5821, // resctrl
];

/// File systems whose files are memory of the processes that map them, outside of any file cache
/// that could drop them (`linux/magic.h`).
const IN_MEMORY: [i64; 2] = [
    0x0102_1994, // tmpfs, where shared memory is too
    0x9584_58f6, // hugetlbfs
];

/// A file that the command used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TracedFile {
    /// Path at its first use, as the kernel reports it.
    pub path: String,
    /// Whether it is a regular file or a block device.
    pub kind: FileKind,
    /// How often it was opened.
    pub opens: u64,
    /// Bytes of it mapped into memory, except as a program or library.
    pub mapped_bytes: u64,
    /// Whether it was mapped as a program or a library, or is an archive that belongs to programs:
    /// glibc's of locales, or Java's of classes.
    pub is_code: bool,
}

/// What a descriptor refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The counted file of this number.
    File(u32),
    /// Something else, described in one word.
    Elsewhere(&'static str),
}

/// What the kernel does not tell: `/proc` is not mounted, the program is not dumpable, so only root
/// sees its descriptors, or no descriptor of this number is open.
pub(super) const UNIDENTIFIED: Target = Target::Elsewhere(Characterization::UNIDENTIFIED);

/// A directory at or below the place that is counted.
pub(super) const DIRECTORY: Target = Target::Elsewhere("directory");

/// Device, inode number and time of birth: an inode number is reused when its file is gone.
type Identity = (u32, u32, u64, i64, u32);

/// All files seen.
#[derive(Debug, Default)]
pub(super) struct Files {
    numbers: HashMap<Identity, u32>,
    /// The latest file with each device and inode number.
    inodes: HashMap<Inode, u32>,
    list: Vec<TracedFile>,
    /// What the open descriptions of each file share, in the order of their numbers.
    open: Vec<Rc<()>>,
    below: Option<PathBuf>,
    /// The number of open file descriptions seen, of files and others.
    pub(super) descriptions: u32,
    /// Descriptors of counted files whose position and flags could not be read.
    pub(super) unread: u64,
    /// Bytes of copies, read and written, whose file system does not say whether it moved them.
    pub(super) untold_copied: u64,
    /// How often a file that is neither a program nor memory was mapped, including files that are
    /// not counted.
    pub(super) mappings: u64,
}

impl Files {
    /// Counts only files at or below `below`, if given: a path without links.
    pub(super) fn new(below: Option<PathBuf>) -> Self {
        Self { below, ..Self::default() }
    }

    /// The files, in the order of their numbers.
    pub(super) fn into_list(self) -> Vec<TracedFile> {
        self.list
    }

    /// The file with this number.
    pub(super) fn file(&mut self, number: u32) -> Option<&mut TracedFile> {
        self.list.get_mut(number as usize)
    }

    /// What a description of this file must keep as long as it is open.
    pub(super) fn keep_open(&self, target: Target) -> Option<Rc<()>> {
        let Target::File(number) = target else { return None };
        self.open.get(number as usize).cloned()
    }

    /// Whether some description of the file with this number is open. There may be many files,
    /// descriptors and threads, so none of them is asked.
    pub(super) fn is_open(&self, number: u32) -> bool {
        self.open.get(number as usize).is_some_and(|shared| Rc::strong_count(shared) > 1)
    }

    /// The file with this device and inode number, if its bytes are mapped and it is no program.
    pub(super) fn mapped(&self, inode: Inode) -> Option<u32> {
        let number = *self.inodes.get(&inode)?;
        let file = self.list.get(number as usize)?;
        (file.mapped_bytes > 0 && !file.is_code).then_some(number)
    }

    /// The path of the file with this number, if it is no program.
    pub(super) fn data(&self, number: u32) -> Option<&str> {
        let file = self.list.get(number as usize).filter(|file| !file.is_code)?;
        Some(&file.path)
    }

    /// What descriptor `fd` of thread `tid` refers to.
    pub(super) fn identify(&mut self, tid: i32, fd: i32) -> Target {
        let link = format!("/proc/{tid}/fd/{fd}");
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
        let Ok(stat) = rustix::fs::statx(CWD, &*link, AtFlags::empty(), wanted) else {
            return UNIDENTIFIED;
        };
        let kind = match FileType::from_raw_mode(stat.stx_mode.into()) {
            FileType::RegularFile if is_made_up(&link) => return Target::Elsewhere("kernel file"),
            FileType::RegularFile => Some(FileKind::Regular),
            FileType::BlockDevice => Some(FileKind::BlockDevice),
            FileType::Directory => None,
            FileType::Fifo => return Target::Elsewhere("pipe"),
            FileType::Socket => return Target::Elsewhere("socket"),
            FileType::CharacterDevice => return Target::Elsewhere("character device"),
            _ => return Target::Elsewhere("other"),
        };
        let path = std::fs::read_link(&link).unwrap_or_default();
        if self.below.as_ref().is_some_and(|below| !path.starts_with(below)) {
            return Target::Elsewhere("file not asked for");
        }
        let Some(kind) = kind else { return DIRECTORY };
        let identity = match kind {
            FileKind::BlockDevice => (stat.stx_rdev_major, stat.stx_rdev_minor, 0, 0, 0),
            _ => identity(&stat),
        };
        Target::File(self.number(identity, kind, &path))
    }

    /// Position and flags of a descriptor of a counted file. If they could not be read, the
    /// descriptor counts as unread, and is assumed to be at the beginning of its file, without
    /// flags.
    pub(super) fn told(&mut self, read: Option<(u64, i32)>) -> (u64, i32) {
        self.unread += u64::from(read.is_none());
        read.unwrap_or_default()
    }

    /// The used file that `path` names, if it has no other name.
    pub(super) fn only_name(&self, path: &Path) -> Option<u32> {
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
        let stat = rustix::fs::statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, wanted).ok()?;
        let number = self.numbers.get(&identity(&stat)).copied();
        number.filter(|_| stat.stx_nlink == 1)
    }

    fn number(&mut self, identity: Identity, kind: FileKind, path: &Path) -> u32 {
        if let Some(&known) = self.numbers.get(&identity) {
            return known;
        }
        let next = self.list.len() as u32;
        if self.list.len() > FILES_MOST {
            return next - 1;
        }
        let (path, kind) = if self.list.len() == FILES_MOST {
            ("(all later files)".to_owned(), FileKind::Others)
        } else {
            self.numbers.insert(identity, next);
            self.inodes.insert((identity.0, identity.1, identity.2), next);
            (path.to_string_lossy().into_owned(), kind)
        };
        self.list.push(TracedFile { path, kind, ..TracedFile::default() });
        self.open.push(Rc::default());
        next
    }
}

fn identity(stat: &Statx) -> Identity {
    let birth = stat.stx_btime;
    let known = StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::BTIME);
    let (s, ns) = if known { (birth.tv_sec, birth.tv_nsec) } else { (0, 0) };
    (stat.stx_dev_major, stat.stx_dev_minor, stat.stx_ino, s, ns)
}

fn is_made_up(link: &str) -> bool {
    rustix::fs::statfs(link).is_ok_and(|system| MADE_UP.contains(&{ system.f_type }))
}

/// Whether the file at `path` is kept in memory.
pub(super) fn is_in_memory(path: impl AsRef<Path>) -> bool {
    rustix::fs::statfs(path.as_ref()).is_ok_and(|system| IN_MEMORY.contains(&{ system.f_type }))
}

/// Position and open flags of descriptor `fd` of thread `tid`.
pub(super) fn position_and_flags(tid: i32, fd: i32) -> Option<(u64, i32)> {
    parse_fdinfo(&text::read(format!("/proc/{tid}/fdinfo/{fd}"))?)
}

fn parse_fdinfo(text: &str) -> Option<(u64, i32)> {
    Some((text::field(text, "pos")?, text::open_flags(text)?))
}

/// Size of the file behind descriptor `fd` of thread `tid`.
pub(super) fn size(tid: i32, fd: i32) -> Option<u64> {
    let link = format!("/proc/{tid}/fd/{fd}");
    rustix::fs::stat(&*link).ok().and_then(|stat| u64::try_from(stat.st_size).ok())
}

/// The open descriptors of thread `tid`; `None` if they cannot be listed.
pub(super) fn open_descriptors(tid: i32) -> Option<Vec<i32>> {
    let entries = std::fs::read_dir(format!("/proc/{tid}/fd")).ok()?;
    Some(entries.flatten().filter_map(|e| e.file_name().to_str()?.parse().ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fdinfo_is_read() {
        let text = "pos:\t4096\nflags:\t02102001\nmnt_id:\t29\n";
        let (position, flags) = parse_fdinfo(text).unwrap();
        assert_eq!(position, 4096);
        assert_eq!(flags & libc::O_ACCMODE, libc::O_WRONLY);
        assert!(flags & libc::O_APPEND != 0);
        assert_eq!(parse_fdinfo("pos:\t1"), None);
    }

    #[test]
    fn descriptors_whose_flags_cannot_be_read_are_counted() {
        let mut files = Files::new(None);
        assert_eq!((files.told(Some((7, libc::O_DSYNC))), files.unread), ((7, libc::O_DSYNC), 0));
        assert_eq!((files.told(None), files.unread), ((0, 0), 1));
    }

    #[test]
    fn a_file_system_of_the_kernel_that_is_not_always_mounted_is_known() {
        use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
        use std::os::fd::AsRawFd;
        let place = tempfile::tempdir().unwrap();
        let at = place.path();
        let mounted = || -> std::io::Result<std::fs::File> {
            ioscape_machine::namespace::own_mounts()?;
            mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)?;
            mount("none", at, "binfmt_misc", MountFlags::empty(), None)?;
            std::fs::File::open(at.join("status"))
        };
        let look = || {
            let Ok(status) = mounted() else {
                ioscape_machine::testing::skipped("binfmt_misc cannot be mounted here");
                return;
            };
            let me = std::process::id() as i32;
            let found = Files::new(None).identify(me, status.as_raw_fd());
            assert_eq!(found, Target::Elsewhere("kernel file"));
        };
        // The mounts end with the thread.
        std::thread::scope(|scope| {
            scope.spawn(look);
        });
    }

    #[test]
    fn our_own_descriptors_are_known() {
        use std::os::fd::AsRawFd;
        let me = std::process::id() as i32;
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut files = Files::new(None);
        let fd = file.as_file().as_raw_fd();
        assert_eq!(files.identify(me, fd), Target::File(0));
        let again = file.reopen().unwrap();
        assert_eq!(files.identify(me, again.as_raw_fd()), Target::File(0));
        let kernel = std::fs::File::open("/proc/self/status").unwrap();
        assert_eq!(files.identify(me, kernel.as_raw_fd()), Target::Elsewhere("kernel file"));
        let null = std::fs::File::open("/dev/null").unwrap();
        assert_eq!(files.identify(me, null.as_raw_fd()), Target::Elsewhere("character device"));
        assert!(open_descriptors(me).unwrap().contains(&fd));
        let mut elsewhere = Files::new(Some("/proc".into()));
        assert_eq!(elsewhere.identify(me, fd), Target::Elsewhere("file not asked for"));
        assert_eq!(files.into_list()[0].path, file.path().to_string_lossy());
    }
}
