//! A private instance of the kernel's tracing, with its own buffers and its own choice of events.
//! It touches nobody else's.

use ioscape_machine::error::Error;
use ioscape_machine::text;
use ioscape_machine::tracefs::{PLACES, detached, refusal};
use ioscape_schema::units::Bytes;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The events of a request before it gets a slot of the queue: it arrives, is split, or joins an
/// earlier one. The wait for a slot, and for what throttles it there, comes after its arrival.
const BEFORE: [&str; 3] = ["block_bio_queue", "block_split", "block_bio_backmerge"];
/// The event of getting a slot: the first of these that the kernel has. It stands for the arrival
/// where the kernel reports none, as on the disks below md's RAID 0.
const SLOTS: [&str; 2] = ["block_io_start", "block_getrq"];
/// The event of the issue to the device. It is disabled first: a request without it gets no row.
const ISSUE: &str = "block_rq_issue";
/// The other events of a request.
const OTHERS: [&str; 4] =
    ["block_rq_complete", "block_rq_merge", "block_rq_requeue", "block_bio_frontmerge"];
/// The event that ends a request to a disk without a queue.
const END_WITHOUT_QUEUE: &str = "block_bio_complete";
/// The events that end a request.
const ENDS: [&str; 2] = ["block_rq_complete", END_WITHOUT_QUEUE];
/// The most bytes of a filter: the kernel accepts it in one page, and it must be shorter.
const FILTER_MOST: usize = 4095;

/// The prefix of the names of all our instances. The process's number follows, and then the
/// instance's own.
const NAME: &str = "ioscape-";
static NUMBER: AtomicU32 = AtomicU32::new(0);
/// The kernel removes no instance while this file is open. Unlike an open pipe, that has no other
/// effect.
const HELD: &str = "tracing_on";

/// A tracing instance; it is removed on drop.
pub(crate) struct Instance {
    root: PathBuf,
    folder: PathBuf,
    /// Keeps other recorders from taking it for an abandoned instance; absent if there is no such
    /// file.
    held: Option<File>,
    /// Keeps tracefs mounted, if it was mounted only for this instance.
    _mount: Option<OwnedFd>,
    /// The events of this kernel from which rows are made.
    events: Vec<&'static str>,
}

impl Instance {
    /// Creates an instance with a unique name.
    pub fn new() -> Result<Self, Error> {
        let (root, mount) = tracefs()?;
        remove_abandoned(&root.join("instances"));
        Self::below(root, mount)
    }

    fn below(root: PathBuf, mount: Option<OwnedFd>) -> Result<Self, Error> {
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!("{NAME}{}-{number}", std::process::id());
            let folder = root.join("instances").join(name);
            match std::fs::create_dir(&folder) {
                Ok(()) => {
                    let held = File::open(folder.join(HELD)).ok();
                    // Another recorder may have removed it before it was held open.
                    if held.is_some() || folder.exists() {
                        let (_mount, events) = (mount, Vec::new());
                        return Ok(Self { root, folder, held, _mount, events });
                    }
                }
                // Instances belong to the whole machine: a process in a container may have, or have
                // had, the same number as ours.
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                Err(e) => return Err(refused(&folder, &e)),
            }
        }
    }

    /// Sets the clock, the buffers and the events, without enabling the events yet: those of these
    /// devices, some of which have no queue. If `also_others`, requests to other devices, such as
    /// those attached later, are recorded from their slots on.
    pub fn set_up(
        &mut self,
        buffer_bytes: u64,
        devices: &[u32],
        also_others: bool,
        without_queue: &[u32],
    ) -> Result<(), Error> {
        self.write("tracing_on", "0")?;
        self.write("trace_clock", "mono")?;
        self.write("buffer_size_kb", &(buffer_bytes / 1024).max(64).to_string())
            .map_err(|error| without_memory(error, buffer_bytes))?;
        let has = |event: &&str| self.folder.join("events/block").join(event).exists();
        let slot = SLOTS.into_iter().find(has);
        let end = (!without_queue.is_empty()).then_some(END_WITHOUT_QUEUE);
        let all = [ISSUE].into_iter().chain(BEFORE).chain(slot).chain(OTHERS).chain(end);
        self.events = all.filter(has).collect();
        for event in &self.events {
            let devices = match *event {
                END_WITHOUT_QUEUE => without_queue,
                // Arrivals at devices whose ends are recorded elsewhere would be kept for nothing.
                event if also_others && !BEFORE.contains(&event) => &[],
                _ => devices,
            };
            self.write(&format!("events/block/{event}/filter"), &filter(devices))?;
        }
        Ok(())
    }

    /// Enables the events, all at one moment: each takes milliseconds, and a request seen in part
    /// would seem to have waited for less, or never to end.
    pub fn enable(&self) -> Result<(), Error> {
        for event in &self.events {
            self.write(&format!("events/block/{event}/enable"), "1")?;
        }
        self.write("tracing_on", "1")
    }

    /// Disables the events: issues and arrivals first, completions a moment later, when the
    /// requests in flight have ended.
    pub fn disable(&self) -> Result<(), Error> {
        for event in self.events.iter().filter(|event| !ENDS.contains(event)) {
            self.write(&format!("events/block/{event}/enable"), "0")?;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
        self.write("events/enable", "0")
    }

    /// The raw pages of each CPU.
    pub fn cpus(&self) -> Result<Vec<PathBuf>, Error> {
        let folder = self.folder.join("per_cpu");
        let entries = std::fs::read_dir(&folder).map_err(|e| Error::io("list", &folder, e))?;
        let names = entries.flatten().map(|entry| entry.path());
        let mut numbered: Vec<(u32, PathBuf)> = names
            .filter_map(|path| {
                let name = path.file_name()?.to_string_lossy().into_owned();
                Some((name.strip_prefix("cpu")?.parse().ok()?, path.join("trace_pipe_raw")))
            })
            .collect();
        numbered.sort_unstable();
        Ok(numbered.into_iter().map(|(_, path)| path).collect())
    }

    /// Events that did not fit into the buffers, by CPU.
    pub fn lost(&self) -> Result<Vec<u64>, Error> {
        let lost = |path: PathBuf| {
            let stats = path.with_file_name("stats");
            let told = text::read(&stats).unwrap_or_default();
            ["overrun", "dropped events"].iter().filter_map(|name| count(&told, name)).sum()
        };
        Ok(self.cpus()?.into_iter().map(lost).collect())
    }

    /// The kernel's own description of its pages and events.
    pub fn formats(&self) -> Result<(String, Vec<String>), Error> {
        let read =
            |path: PathBuf| std::fs::read_to_string(&path).map_err(|e| Error::io("read", &path, e));
        let page = at_once(&self.root.join("events/header_page"))?;
        let format =
            |event: &&str| read(self.folder.join("events/block").join(event).join("format"));
        Ok((page, self.events.iter().map(format).collect::<Result<_, _>>()?))
    }

    /// The folder of the instance.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes one of its files.
    pub fn write(&self, name: &str, value: &str) -> Result<(), Error> {
        let path = self.folder.join(name);
        std::fs::write(&path, value).map_err(|e| refused(&path, &e))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = self.write("events/enable", "0");
        drop(self.held.take());
        let _ = std::fs::remove_dir(&self.folder);
    }
}

/// The filter for the events of these devices. It selects all events if none is given, or if there
/// are more than a filter has room for.
fn filter(devices: &[u32]) -> String {
    let terms: Vec<String> = devices.iter().map(|number| format!("dev == {number}")).collect();
    let text = terms.join(" || ");
    if text.is_empty() || text.len() > FILTER_MOST { "0".to_owned() } else { text }
}

/// Removes the instances of killed recorders. Live recorders hold theirs, and the kernel keeps
/// those. Whether a process with a recorder's number is alive proves nothing: it may be another
/// process by now, or have another number here.
fn remove_abandoned(instances: &Path) {
    for entry in std::fs::read_dir(instances).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(NAME)?.split('-').next());
        let process = number.and_then(|number| number.parse::<u32>().ok());
        if process.is_some_and(|number| number != std::process::id()) {
            let _ = std::fs::remove_dir(entry.path());
        }
    }
}

/// Reads a file whose contents the kernel returns in a single read only: a second one, from where
/// the first ended, finds nothing.
fn at_once(path: &Path) -> Result<String, Error> {
    let mut bytes = vec![0; 1 << 16];
    let read = File::open(path).and_then(|mut file| file.read(&mut bytes));
    bytes.truncate(read.map_err(|e| Error::io("read", path, e))?);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Parses a line such as `overrun: 12`.
pub(super) fn count(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')?.trim().parse().ok())
}

/// Finds tracefs. If it is not mounted anywhere, it exists as long as the returned mount is held.
fn tracefs() -> Result<(PathBuf, Option<OwnedFd>), Error> {
    let has_instances = |place: &Path| place.join("instances").exists();
    if let Some(place) = PLACES.iter().map(Path::new).find(|place| has_instances(place)) {
        return Ok((place.to_path_buf(), None));
    }
    let unsupported = |why| Error::Unsupported { what: "recording block I/O".to_owned(), why };
    let mount = detached().map_err(|error| {
        let (why, advice) = refusal(error);
        unsupported(format!("{why}; {advice}"))
    })?;
    let root = PathBuf::from(format!("/proc/self/fd/{}", mount.as_raw_fd()));
    match (has_instances(&root), Path::new("/proc/self").exists()) {
        (true, _) => Ok((root, Some(mount))),
        (false, true) => Err(unsupported("this kernel's tracefs has no instances".to_owned())),
        (false, false) => Err(unsupported("/proc is not mounted: mount it".to_owned())),
    }
}

/// The error of setting the size of the buffers: if there is no memory for them, it says so.
fn without_memory(error: Error, buffer_bytes: u64) -> Error {
    match error {
        Error::Io { source, .. } if source.kind() == ErrorKind::OutOfMemory => Error::Unsupported {
            what: format!("a trace buffer of {} for each processor", Bytes(buffer_bytes as f64)),
            why: "so much memory is not free: give less with --buffer".to_owned(),
        },
        other => other,
    }
}

fn refused(path: &Path, error: &std::io::Error) -> Error {
    if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::NotFound) {
        let why = format!("{}: {error}; it needs root and a kernel with tracefs", path.display());
        return Error::Unsupported { what: "recording block I/O".to_owned(), why };
    }
    Error::io("write", path, std::io::Error::new(error.kind(), error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_dead_recorder_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        // No process has a number beyond the kernel's largest, 2^22, and number 1 always exists.
        let abandoned = ["4194305", "4194305-3", "1-0"].map(|number| format!("{NAME}{number}"));
        let kept = [format!("{NAME}{}-0", std::process::id()), "other-4194305".to_owned()];
        for name in kept.iter().chain(&abandoned) {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        remove_abandoned(folder.path());
        assert!(abandoned.iter().all(|name| !folder.path().join(name).exists()));
        assert!(kept.iter().all(|name| folder.path().join(name).is_dir()));
        remove_abandoned(&folder.path().join("absent"));
    }

    /// A simulated tracefs.
    fn made_up() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_owned();
        std::fs::create_dir(root.join("instances")).unwrap();
        (folder, root)
    }

    #[test]
    fn buffers_for_which_there_is_no_memory_are_misuse() {
        let path = Path::new("/proc/self/fd/7/instances/ioscape-1-0/buffer_size_kb");
        let of = |number| {
            let error = std::io::Error::from_raw_os_error(number);
            without_memory(refused(path, &error), 8 << 40)
        };
        let error = of(libc::ENOMEM);
        let text = error.to_string();
        assert!(error.is_misuse() && text.starts_with("a trace buffer of 8 TiB"), "{text}");
        assert!(text.ends_with("give less with --buffer"), "{text}");
        assert!(!of(libc::EIO).is_misuse());
    }

    #[test]
    fn an_instance_of_the_same_name_is_left_to_its_recorder() {
        let (_folder, root) = made_up();
        let next = NUMBER.load(Ordering::Relaxed);
        let others: Vec<PathBuf> = (next..next + 50)
            .map(|number| format!("{NAME}{}-{number}", std::process::id()))
            .map(|name| root.join("instances").join(name))
            .collect();
        for other in &others {
            std::fs::create_dir_all(other.join("events")).unwrap();
            std::fs::write(other.join("events/enable"), "1").unwrap();
        }
        let own = Instance::below(root, None).unwrap();
        let folder = own.folder().to_owned();
        assert!(folder.is_dir() && !others.contains(&folder));
        drop(own);
        assert!(!folder.exists());
        for other in others {
            let told = text::read(other.join("events/enable"));
            assert_eq!(told.as_deref(), Some("1"), "another recorder's events were turned off");
        }
    }

    #[test]
    fn the_kernel_keeps_an_instance_that_is_held() {
        let Ok(own) = Instance::new() else {
            return ioscape_machine::testing::skipped("instances of tracefs need root");
        };
        let instances = own.root.join("instances");
        let busy = std::fs::remove_dir(&own.folder);
        // Under this process's own number, it would be left alone without asking the kernel.
        let other = instances.join(format!("{NAME}1-{}", std::process::id()));
        std::fs::create_dir(&other).unwrap();
        let Ok(held) = File::open(other.join(HELD)) else {
            return ioscape_machine::testing::skipped("another recorder removed the instance");
        };
        remove_abandoned(&instances);
        let kept = other.is_dir();
        drop(held);
        // What another test has just started may hold it for a moment.
        let is_gone = (0..500).any(|_| {
            remove_abandoned(&instances);
            std::thread::sleep(std::time::Duration::from_millis(10));
            !other.exists()
        });
        assert!(busy.is_err() && own.folder.is_dir() && kept && is_gone);
    }

    /// Guards against overlapping recordings that leave tracefs mounted for good.
    #[test]
    fn tracefs_is_used_without_a_place() {
        let Ok(mount) = detached() else {
            return ioscape_machine::testing::skipped("tracefs and its mount need root");
        };
        // Others may mount and unmount what they like meanwhile.
        let mounts = || {
            let all = text::read("/proc/self/mountinfo");
            all.map(|all| all.matches(" - tracefs ").count())
        };
        let before = mounts();
        let root = format!("/proc/self/fd/{}", mount.as_raw_fd());
        let own = Instance::below(root.into(), Some(mount)).unwrap();
        let folder = own.folder().to_owned();
        assert!(folder.join("events/block").is_dir() && own.write("trace_clock", "mono").is_ok());
        assert_eq!(mounts(), before, "it shows nowhere");
        drop(own);
        assert!(!folder.exists());
    }

    #[test]
    fn an_instance_that_cannot_be_made_turns_nothing_off() {
        let (_folder, root) = made_up();
        let instances = root.join("instances");
        std::fs::remove_dir(&instances).unwrap();
        assert!(Instance::below(root, None).is_err());
        assert!(!instances.exists());
    }

    #[test]
    fn requests_are_recorded_from_their_arrival_before_they_get_a_slot() {
        let (_folder, root) = made_up();
        let mut own = Instance::below(root, None).unwrap();
        for event in [ISSUE].iter().chain(&BEFORE).chain(&SLOTS).chain(&OTHERS).chain(&ENDS) {
            std::fs::create_dir_all(own.folder().join("events/block").join(event)).unwrap();
        }
        let file = |own: &Instance, event: &str, name: &str| {
            text::read(own.folder().join("events/block").join(event).join(name))
        };
        let both = Some("dev == 7 || dev == 9");
        own.set_up(1 << 20, &[7, 9], false, &[]).unwrap();
        own.enable().unwrap();
        for event in [ISSUE].iter().chain(&BEFORE).chain(&SLOTS[..1]).chain(&OTHERS) {
            assert_eq!(file(&own, event, "filter").as_deref(), both, "{event}");
            assert_eq!(file(&own, event, "enable").as_deref(), Some("1"), "{event}");
        }
        assert!([SLOTS[1], END_WITHOUT_QUEUE].map(|one| file(&own, one, "enable")) == [None, None]);
        own.set_up(1 << 20, &[7, 9], true, &[9]).unwrap();
        own.enable().unwrap();
        let of = |event| file(&own, event, "filter");
        assert_eq!(of("block_bio_queue").as_deref(), both);
        assert_eq!(of("block_io_start").as_deref(), Some("0"), "of all devices");
        assert_eq!(of(END_WITHOUT_QUEUE).as_deref(), Some("dev == 9"));
        own.disable().unwrap();
        let left = ENDS.map(|event| file(&own, event, "enable"));
        assert!(left.iter().all(|text| text.as_deref() == Some("1")), "what is under way ends");
        assert_eq!(file(&own, "block_bio_queue", "enable").as_deref(), Some("0"));
    }

    #[test]
    fn a_filter_that_a_page_cannot_hold_is_none() {
        assert_eq!(filter(&[]), "0");
        assert_eq!(filter(&[8 << 20, 8 << 20 | 16]), "dev == 8388608 || dev == 8388624");
        let many: Vec<u32> = (0..300).map(|disk| (65 << 20) | (disk * 16)).collect();
        assert_eq!(filter(&many), "0");
        assert!((1..300).all(|count| filter(&many[..count]).len() < 4096));
    }

    #[test]
    fn losses_are_read_from_the_statistics() {
        let text = "entries: 5\noverrun: 12\ncommit overrun: 0\nbytes: 9\ndropped events: 3\nread events: 4";
        assert_eq!((count(text, "overrun"), count(text, "dropped events")), (Some(12), Some(3)));
        assert_eq!(count(text, "absent"), None);
    }
}
