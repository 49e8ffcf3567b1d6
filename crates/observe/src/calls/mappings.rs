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
    /// Those that each process mapped since it began its program, by file.
    of: HashMap<i32, HashMap<u32, u64>>,
    /// Bytes that processes whose programs ended may have used, after the first 4 MiB of each.
    pub(super) used_later: u64,
}

impl Mappings {
    /// Notes that a process is about to map `bytes` of a file.
    pub(super) fn add(&mut self, process: i32, file: u32, bytes: u64) {
        let mapped = self.of.entry(process).or_default().entry(file).or_default();
        *mapped = mapped.saturating_add(bytes);
    }

    /// Counts what a process may have used: whole mappings if it is gone already. A file that turned
    /// out to be code does not count: the loader of musl first maps all of it as data.
    pub(super) fn end(&mut self, process: i32, files: &Files) {
        let mapped = self.of.remove(&process).unwrap_or_default();
        let data = |(number, bytes)| Some((files.data(number)?, bytes));
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
/// or what it read from storage beyond its calls, as in its `io` (proc(5)), if that is more.
fn used_bytes(mapped: &[(&str, u64)], smaps: &str, io: &str) -> Option<u64> {
    let pages = pages(smaps);
    let used = mapped.iter().map(|&(path, bytes)| {
        let [mapped, resident] = pages.get(path).copied().unwrap_or_default();
        bytes.min(bytes.saturating_sub(mapped).saturating_add(resident))
    });
    let used = used.fold(0, u64::saturating_add);
    let from_storage = text::field(io, "read_bytes")?.saturating_sub(text::field(io, "rchar")?);
    Some(used.max(from_storage))
}

/// Returns the bytes of each file in a process's `smaps`: mapped, and resident.
fn pages(smaps: &str) -> HashMap<&str, [u64; 2]> {
    let (mut all, mut file) = (HashMap::<_, [u64; 2]>::new(), None);
    for (key, value) in smaps.lines().filter_map(|line| line.split_once(' ')) {
        let which = match key {
            "Size:" => 0,
            "Rss:" => 1,
            _ => {
                // The first line of a mapping begins with its addresses.
                if !key.ends_with(':') {
                    file = value.find('/').map(|at| &value[at..]);
                }
                continue;
            }
        };
        let kib = value.trim_end_matches(" kB").trim().parse::<u64>();
        if let (Some(path), Ok(kib)) = (file, kib) {
            all.entry(path).or_default()[which] += kib << 10;
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
7f30-7f40 r--p 00001000 fe:00 18                         /a.jsa\nSize:   200 kB\nRss:   100 kB\n";
        let used = |mapped: &[(&str, u64)], read_kib: u64| {
            let mapped: Vec<_> = mapped.iter().map(|(path, kib)| (*path, kib << 10)).collect();
            let io = format!("rchar: 1024\nread_bytes: {}\n", (read_kib + 1) << 10);
            used_bytes(&mapped, smaps, &io).map(|bytes| bytes >> 10)
        };
        let java = [("/lib/my modules", 126_000), ("/a.jsa", 800)];
        assert_eq!(used(&java, 0), Some(1500));
        assert_eq!(used(&java, 9000), Some(9000), "pages may have been lost since");
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
        assert_eq!(mappings.of[&GONE], HashMap::from([(0, 8 << 20)]), "once");
        mappings.end(GONE, &ledger.files);
        assert_eq!(mappings.used_later, 0);
    }
}
