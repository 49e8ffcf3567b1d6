//! How much of the files that they mapped processes may have used, where no fault is seen.
//!
//! The call that maps a file tells how much of it may be used: often far more than is. At the end of
//! a process, the kernel shows which pages it has of each file that is still mapped. It may have lost
//! pages before, for lack of memory, but then it read them from storage.

use super::files::Files;
use ioscape_machine::text;
use std::collections::HashMap;

/// Bytes that programs map as they start, such as their locale.
const START_BYTES: u64 = 4 << 20;

/// Bytes of counted files that processes mapped, except programs.
#[derive(Debug, Default)]
pub(super) struct Mappings {
    /// Those that each process mapped since it began its program, by file, and those that it has
    /// from the process that made it.
    of: HashMap<i32, HashMap<u32, [u64; 2]>>,
    /// Bytes that processes whose programs ended may have used, after the first 4 MiB of each.
    pub(super) used_later: u64,
}

impl Mappings {
    /// Notes that a process is about to map `bytes` of a file.
    pub(super) fn add(&mut self, process: i32, file: u32, bytes: u64) {
        let [mapped, _] = self.of.entry(process).or_default().entry(file).or_default();
        *mapped = mapped.saturating_add(bytes);
    }

    /// Notes that `parent` made `child`, which has the same mappings, but pages of its own.
    pub(super) fn fork(&mut self, parent: i32, child: i32) {
        let Some(all) = self.of.get(&parent) else { return };
        let all = all.iter().map(|(&file, [own, before])| (file, [0, own.saturating_add(*before)]));
        let inherited = all.collect();
        self.of.insert(child, inherited);
    }

    /// Counts what a process may have used before it began another program: whole mappings, except
    /// those that it has from its parent, which it hardly used until then.
    pub(super) fn exec(&mut self, process: i32, files: &Files) {
        let all = self.of.get_mut(&process).into_iter().flat_map(HashMap::values_mut);
        all.for_each(|[_, inherited]| *inherited = 0);
        self.end(process, files);
    }

    /// Counts what a process may have used: whole mappings if it is gone already. A file that turned
    /// out to be code does not count: the loader of musl first maps all of it as data.
    pub(super) fn end(&mut self, process: i32, files: &Files) {
        let mapped = self.of.remove(&process).unwrap_or_default();
        let data = |(number, [own, inherited]): (_, [u64; 2])| {
            Some((files.data(number)?, own.saturating_add(inherited)))
        };
        let mapped: Vec<(&str, u64)> = mapped.into_iter().filter_map(data).collect();
        let whole = mapped.iter().fold(0, |sum: u64, (_, bytes)| sum.saturating_add(*bytes));
        if whole <= START_BYTES {
            return;
        }
        let told = |name: &str| text::read(format!("/proc/{process}/{name}"));
        let used = told("smaps").zip(told("io"));
        let used = used.and_then(|(smaps, io)| used_bytes(&mapped, &smaps, &io));
        let later = used.map_or(whole, |used| used.min(whole)).saturating_sub(START_BYTES);
        self.used_later = self.used_later.saturating_add(later);
    }
}

/// Returns how many bytes a process may have used of `mapped` files: their paths, and how much of
/// each was ever mapped. That is all that it unmapped, and its pages of the rest, as in its `smaps`;
/// or what it read from storage beyond its calls, as in its `io` (proc(5)), and beyond its program
/// and libraries, if that is more.
fn used_bytes(mapped: &[(&str, u64)], smaps: &str, io: &str) -> Option<u64> {
    let pages = pages(smaps);
    let used = mapped.iter().map(|&(path, bytes)| {
        let Pages { mapped, resident, .. } = pages.get(path).copied().unwrap_or_default();
        bytes.min(bytes.saturating_sub(mapped).saturating_add(resident))
    });
    let used = used.fold(0, u64::saturating_add);
    let code = pages.values().filter(|file| file.is_code).map(|file| file.mapped);
    let else_read = text::field(io, "rchar")?.saturating_add(code.sum());
    let from_storage = text::field(io, "read_bytes")?.saturating_sub(else_read);
    Some(used.max(from_storage))
}

/// A file in a process's `smaps`.
#[derive(Clone, Copy, Debug, Default)]
struct Pages {
    /// Bytes.
    mapped: u64,
    resident: u64,
    /// Whether any of it may be executed.
    is_code: bool,
}

/// Returns the files in a process's `smaps`.
fn pages(smaps: &str) -> HashMap<&str, Pages> {
    let (mut all, mut file) = (HashMap::<_, Pages>::new(), None);
    for (key, value) in smaps.lines().filter_map(|line| line.split_once(' ')) {
        // The first line of a mapping begins with its addresses.
        if !key.ends_with(':') {
            file = value.find('/').map(|at| &value[at..]);
        }
        let Some(path) = file else { continue };
        let file = all.entry(path).or_default();
        let kib = value.trim_end_matches(" kB").trim().parse::<u64>();
        match (key, kib) {
            ("Size:", Ok(kib)) => file.mapped += kib << 10,
            ("Rss:", Ok(kib)) => file.resident += kib << 10,
            _ => file.is_code |= !key.ends_with(':') && value.as_bytes().get(2) == Some(&b'x'),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::description::Shared;
    use super::super::files::Target;
    use super::super::numbers::Call;
    use super::super::requests::{Caller, Ledger};
    use super::*;
    use ioscape_schema::FileCall;
    use std::os::fd::AsRawFd;

    /// No process can have this number.
    const GONE: i32 = i32::MAX;

    /// Guards against Java programs of which no workload was given, since each maps its library of
    /// 129 MB to read 1 MB there.
    #[test]
    fn of_what_stays_mapped_only_the_pages_that_a_process_has_may_have_been_used() {
        let smaps = "\
7f00-7f10 r--s 00000000 fe:00 17                         /lib/my modules\nSize:   126000 kB\nRss:   900 kB\nTHPeligible:    0\nVmFlags: rd sh mr
7f10-7f20 rw-p 00000000 00:00 0 \nSize:   500000 kB\nRss:   500000 kB
7f20-7f30 rw-p 00000000 fe:00 18                         /a.jsa\nSize:   600 kB\nRss:   500 kB
7f30-7f40 r--p 00001000 fe:00 18                         /a.jsa\nSize:   200 kB\nRss:   100 kB
7f40-7f50 r--p 00000000 fe:00 19                         /jvm.so\nSize:   4000 kB\nRss:   4000 kB
7f50-7f60 r-xp 00001000 fe:00 19                         /jvm.so\nSize:   36000 kB\nRss:   20000 kB\n";
        let used = |mapped: &[(&str, u64)], read_kib: u64| {
            let mapped: Vec<_> = mapped.iter().map(|(path, kib)| (*path, kib << 10)).collect();
            let io = format!("rchar: 1024\nread_bytes: {}\n", (read_kib + 1) << 10);
            used_bytes(&mapped, smaps, &io).map(|bytes| bytes >> 10)
        };
        let java = [("/lib/my modules", 126_000), ("/a.jsa", 800)];
        assert_eq!(used(&java, 0), Some(1500));
        assert_eq!(used(&java, 49_000), Some(9000), "pages may have been lost since");
        assert_eq!(used(&java, 41_000), Some(1500), "the program itself was read");
        assert_eq!(used(&[("/a.jsa", 1400), ("/b", 70)], 0), Some(1200 + 70), "unmapped before");
        assert_eq!(used(&[("/a.jsa", 400)], 0), Some(400), "a parent mapped it, too");
        assert_eq!(used_bytes(&[("/b", 70)], smaps, ""), None, "the kernel does not count that");
    }

    #[test]
    fn mappings_count_beyond_what_programs_map_as_they_start() {
        let (mut mappings, mut files) = (Mappings::default(), Files::new(None));
        let file = tempfile::tempfile().unwrap();
        assert_eq!(files.identify(std::process::id() as i32, file.as_raw_fd()), Target::File(0));
        let mut ended = |mebibytes: &[u64]| {
            mebibytes.iter().for_each(|one| mappings.add(GONE, 0, one << 20));
            mappings.end(GONE, &files);
            mappings.used_later >> 20
        };
        assert_eq!(
            [&[3][..], &[3], &[4], &[3, 3, 3], &[4], &[5]].map(&mut ended),
            [0, 0, 0, 5, 5, 6]
        );
    }

    /// Guards against a command to run the same workload as a pool of readers of one mapped file,
    /// without what they read there.
    #[test]
    fn a_forked_worker_has_pages_of_its_own_of_what_its_parent_mapped() {
        let (mut mappings, mut files) = (Mappings::default(), Files::new(None));
        let file = tempfile::tempfile().unwrap();
        assert_eq!(files.identify(std::process::id() as i32, file.as_raw_fd()), Target::File(0));
        let [parent, child, other] = [GONE - 2, GONE - 1, GONE];
        mappings.add(parent, 0, 20 << 20);
        mappings.fork(parent, child);
        mappings.add(child, 0, 7 << 20);
        mappings.fork(child, other);
        let mut ended = |end: fn(&mut Mappings, i32, &Files), process| {
            end(&mut mappings, process, &files);
            std::mem::take(&mut mappings.used_later) >> 20
        };
        assert_eq!(ended(Mappings::exec, child), 3, "what it mapped itself");
        assert_eq!(ended(Mappings::end, other), 23);
        assert_eq!(ended(Mappings::end, parent), 16);
    }

    /// Guards against libraries of 8 MB that were data on musl, whose loader maps them so at first.
    #[test]
    fn a_library_that_is_mapped_as_data_at_first_is_none() {
        let file = tempfile::tempfile().unwrap();
        let (mut sink, descriptors) = (|_: &FileCall| (), Shared::default());
        let mut ledger = Ledger::new(Files::new(None), &mut sink);
        let caller = Caller { tid: std::process::id() as i32, descriptors: &descriptors };
        let mut mappings = Mappings::default();
        for how in [libc::PROT_READ, libc::PROT_READ | libc::PROT_EXEC] {
            let fd = file.as_raw_fd() as u64;
            let arguments = [0, 8 << 20, how as u64, libc::MAP_PRIVATE as u64, fd, 0];
            ledger.enter(&caller, Call::Map, arguments, 0);
            ledger.mapped.take().into_iter().for_each(|file| mappings.add(GONE, file, 8 << 20));
        }
        assert_eq!(mappings.of[&GONE], HashMap::from([(0, [8 << 20, 0])]), "once");
        mappings.end(GONE, &ledger.files);
        assert_eq!(mappings.used_later, 0);
    }
}
