//! Detects other programs on the device below a case: compares the bytes read and written there
//! with what the case can have caused.
//!
//! Other programs' I/O takes hardly any processor time, so nothing else reveals it. Yet a case that
//! waits for storage also waits for that I/O.

use super::background::Background;
use super::case::Case;
use super::create_delete::BLOCK;
use super::mab;
use ioscape_schema::OsRule;

/// Bytes that a file system writes for one forced operation in addition to the data. An otherwise
/// idle ext4 writes 8 to 33 KB (a descriptor, blocks of names and inodes, a commit); copy-on-write
/// file systems write more.
const FORCED: u64 = 128 << 10;

/// The same for an operation that is not forced: many of them share a transaction, and most of
/// their changes are overwritten before it ends.
const DEFERRED: u64 = 512;

/// Bytes of earlier dirty pages that may be written back during a run of a whole benchmark, beside
/// its own.
const WHOLE: u64 = 4 << 20;

/// Files that a cold run forces to storage so that they can be evicted from the file cache: all of
/// them before each of three phases. A synchronous directory forces those that a run makes.
const COLD: u64 = 256;

/// Any system reads and writes this much on its own, for example for a log: per second, or in all.
const USUAL_PER_S: f64 = (1 << 20) as f64;
const USUAL_LEAST: f64 = (256 << 10) as f64;

/// Whether the device read and wrote more than `operations` of the case can explain.
pub(crate) fn is_there(case: &Case, background: &Background, operations: u64) -> bool {
    let (own, is_synchronous) = (background.own_io_bytes, background.is_synchronous);
    // The system may force each write there too, not only each change of a name.
    let writes = if is_synchronous { own / BLOCK as u64 } else { 0 };
    let forced = |files: u64| own + (files + writes).saturating_mul(FORCED);
    let explained = match case.rule {
        OsRule::Single if mab::is_cold(case) || is_synchronous => WHOLE + forced(COLD),
        OsRule::Single => own + WHOLE,
        OsRule::Mean if case.forces() || is_synchronous => forced(operations),
        // What these cases write and delete never reaches a device, though the kernel counts it as
        // theirs.
        OsRule::Mean => operations.saturating_mul(DEFERRED),
        // The quiet quarter of many short batches does not wait for storage.
        OsRule::CleanQuartile | OsRule::Quartile => return false,
    };
    let explained = explained.saturating_mul(background.copies.max(1));
    let usual = (background.elapsed_s * USUAL_PER_S).max(USUAL_LEAST);
    background.device_bytes.is_some_and(|bytes| bytes as f64 > explained as f64 + usual)
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
    fn a_file_system_of_two_devices_may_write_all_of_it_twice() {
        // btrfs RAID1 with 100 KB per operation: the data, the log's root and a leaf of it, and the
        // superblock, twice each.
        let written = 70 * 2 * (102_400 + 32_768 + 4096);
        let of = |copies, others: u64| Background {
            elapsed_s: 0.1,
            device_bytes: Some(written + others),
            own_io_bytes: 70 * 102_400,
            copies,
            ..Background::default()
        };
        let forced = case("100 KB, fsync");
        assert!(is_there(&forced, &of(1, 0), 70) && !is_there(&forced, &of(2, 0), 70));
        assert!(is_there(&forced, &of(2, 15 << 20), 70), "others' too");
    }

    /// Guards against blaming other programs in a directory with `chattr +S`, where ext4 wrote 30 KB
    /// for a file without data.
    #[test]
    fn a_synchronous_directory_forces_what_a_case_leaves_to_the_system() {
        let of = |kib: u64, own_io_bytes| Background {
            is_synchronous: true,
            own_io_bytes,
            device_bytes: Some(kib << 10),
            ..moved(0)
        };
        let plain = case("no data");
        assert!(!is_there(&plain, &of(3000, 0), 100) && is_there(&plain, &of(14_000, 0), 100));
        let data = case("100 KB");
        assert!(!is_there(&data, &of(50_000, (100 * 112) << 10), 100), "of each, 7 writes wait");
        let whole = case("total").by(OsRule::Single);
        assert!(!is_there(&whole, &of(20 << 10, 1 << 20), 0), "of 200 files");
        assert!(!is_there(&case("x").by(OsRule::CleanQuartile), &of(1 << 20, 0), 1));
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
        let cold = Case::new(mab::NAME, "total, cold", "", |_| Err(not_here("no")));
        let cold = cold.at((0, Locality::Local)).by(OsRule::Single);
        assert!(!is_there(&cold, &moved(36), 0) && is_there(&cold, &moved(40), 0));
        let whole = case("total").by(OsRule::Single);
        assert!(!is_there(&whole, &moved(4), 0) && is_there(&whole, &moved(6), 0));
        assert!(!is_there(&forced, &Background::default(), 0), "not told");
    }
}
