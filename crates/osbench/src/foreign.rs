//! Whether other programs used the device below a case: what was read and written there, against what the case can have caused.
//!
//! Others' I/O costs hardly any processor time, so that no other witness sees it; a case that waits for storage waits for it as well.
#![expect(unsafe_code, reason = "what this process and its children read and wrote")]

use super::background::Background;
use super::case::Case;
use ioscape_schema::OsRule;
use std::mem::MaybeUninit;

/// Bytes that a file system writes for one forced operation beside the data: ext4 without other load writes 8 to 33 KB (a descriptor, blocks of
/// names and inodes, a commit); those that copy on write write more.
const FORCED: u64 = 128 << 10;

/// The same for one that is not forced: many of them share a transaction, and most of what they change is changed again before it ends.
const DEFERRED: u64 = 512;

/// Bytes that a run of a whole benchmark may have written back of what it found there, beside its own.
const WHOLE: u64 = 4 << 20;

/// So little in a second, or in all, is what any system does on its own, as to write a log.
const USUAL_PER_S: f64 = (1 << 20) as f64;
const USUAL_LEAST: f64 = (256 << 10) as f64;

/// Whether more was read and written on the device than `operations` of the case can explain.
pub(crate) fn is_there(case: &Case, background: &Background, operations: u64) -> bool {
    let own = background.own_io_bytes;
    let explained = match case.rule {
        OsRule::Single => own + WHOLE,
        _ if case.forces() => own + operations.saturating_mul(FORCED),
        // What these write and delete reaches no device, though the kernel counts it as theirs.
        OsRule::Mean => operations.saturating_mul(DEFERRED),
        // The quiet quarter of many short batches does not wait for storage.
        OsRule::CleanQuartile | OsRule::Quartile => return false,
    };
    let usual = (background.elapsed_s * USUAL_PER_S).max(USUAL_LEAST);
    background.device_bytes.is_some_and(|bytes| bytes as f64 > explained as f64 + usual)
}

/// Bytes that this process and its children that were waited for have read from devices, or changed in the file cache (getrusage(2)).
pub(crate) fn own_bytes() -> u64 {
    let of = |whose| {
        let mut usage = MaybeUninit::<libc::rusage>::uninit();
        // SAFETY: the call fills the structure, or fails and it is not looked at.
        let usage = unsafe {
            if libc::getrusage(whose, usage.as_mut_ptr()) != 0 {
                return 0;
            }
            usage.assume_init()
        };
        u64::try_from(usage.ru_inblock + usage.ru_oublock).unwrap_or(0) * 512
    };
    of(libc::RUSAGE_SELF) + of(libc::RUSAGE_CHILDREN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::not_here;
    use ioscape_schema::Locality;

    fn case(name: &str) -> Case {
        let case = Case::new("create-delete", name, "", |_| Err(not_here("no")));
        case.at((0, Locality::Local)).by(OsRule::Mean)
    }

    fn moved(mib: u64) -> Background {
        Background { elapsed_s: 0.1, device_bytes: Some(mib << 20), ..Background::default() }
    }

    #[test]
    fn what_a_case_forces_is_its_own() {
        let forced = case("no data, fsync");
        assert!(!is_there(&forced, &moved(12), 100), "120 KB each");
        assert!(is_there(&forced, &moved(20), 100));
        let own = Background { own_io_bytes: 10 << 20, ..moved(20) };
        assert!(!is_there(&forced, &own, 100));
        let deferred = case("no data");
        assert!(is_there(&deferred, &moved(1), 1000) && !is_there(&deferred, &moved(1), 10_000));
        assert!(is_there(&deferred, &own, 1000), "deleted before it was written");
        assert!(!is_there(&case("x").by(OsRule::CleanQuartile), &moved(100), 1));
        let whole = case("total").by(OsRule::Single);
        assert!(!is_there(&whole, &moved(4), 0) && is_there(&whole, &moved(6), 0));
        assert!(!is_there(&forced, &Background::default(), 0), "not told");
    }

    #[test]
    fn what_this_process_wrote_is_counted() {
        let before = own_bytes();
        let file = tempfile::NamedTempFile::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        std::fs::write(file.path(), vec![1; 1 << 20]).unwrap();
        // Kernels built without the count leave it at 0.
        let counted = own_bytes() - before;
        assert!(counted == 0 || counted >= 1 << 20, "{counted}");
    }
}
