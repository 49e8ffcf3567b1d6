//! Steps before and after the requests: truncation, extent size, reservation, and checking what the
//! file system made of them.

use super::files::{Files, Opened};
use super::worker::takes_dontcache;
use ioscape_machine::cgroup::Traffic;
use ioscape_machine::device::BlockDevice;
use ioscape_machine::error::Error;
use ioscape_machine::extents::{self, fragments};
use ioscape_machine::target::atomic_write_bytes;
use ioscape_machine::traps;
use ioscape_machine::{FileSystemInfo, cache};
use ioscape_schema::units::Bytes;
use ioscape_schema::{Access, VxJob, Warning, WarningKind};
use rustix::fs::FallocateFlags;
use rustix::io::Errno;
use std::os::unix::fs::MetadataExt;
use std::time::Instant;

/// If more than this share of a file is in the file cache after it was dropped, the run is not
/// cold.
const KEPT_MOST: f64 = 0.05;

/// If more than this share of what is read holds no data, the run does not measure the storage.
const UNWRITTEN_MOST: f64 = 0.05;

/// The doubt that data which is cold here, on a file system like `system`, may be warm where it
/// comes from.
pub fn cold_here_alone(system: &FileSystemInfo) -> Option<Warning> {
    let message = format!(
        "{} gets its data from a server or another program: a file that is cold has left the file cache of this machine, and may still be in the memory of that one",
        system.name
    );
    system.is_network_or_fuse.then(|| Warning::new(WarningKind::Trap, message))
}

/// The doubt that reads of a device like `system` may be of unwritten blocks. A device that
/// supports discards answers those by itself.
pub fn blocks_may_be_empty(system: &FileSystemInfo) -> Option<Warning> {
    let takes_discards = BlockDevice::at(system.device)?.queue("discard_max_bytes")? != "0";
    let message = format!(
        "{} takes discards (TRIM): blocks of it that were never written, or were given back, may be read without reaching its storage, and nothing tells which these are; first write the part that is read",
        system.source
    );
    takes_discards.then(|| Warning::new(WarningKind::Trap, message))
}

/// The doubts about what requests to the files pass on their way to a device; `direct` says which
/// files get direct requests.
pub(crate) fn below(files: &[Opened], direct: &[bool], job: &VxJob) -> Vec<Warning> {
    let mut places = Vec::new();
    for place in files.iter().map(|one| &one.file_system).zip(direct) {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let traffic = |direct| Traffic {
        access: match direct {
            true => Access::Direct,
            false if job.is_synced() => Access::Dsync,
            false => Access::Buffered,
        },
        reads: job.workload.reads(),
        writes: job.workload.writes(),
        lays_out: false,
    };
    places.into_iter().flat_map(|(system, &direct)| traps::below(system, traffic(direct))).collect()
}

/// The doubts that reads of the files are not served by storage.
pub(crate) fn read_from_nowhere(files: &[Opened]) -> impl Iterator<Item = Warning> {
    files.iter().filter_map(|one| match one.is_device {
        true => blocks_may_be_empty(&one.file_system),
        false => without_data(one),
    })
}

/// The doubt that much of what is read of a file holds no data.
fn without_data(one: &Opened) -> Option<Warning> {
    let range_bytes = one.extent.range_bytes;
    let share = extents::unwritten_bytes(&one.file, range_bytes) as f64 / range_bytes.max(1) as f64;
    let message = format!(
        "{:.0} % of the part of {} that is read holds no data (holes, space that is only reserved, or zeros that the file system does not store): reads of it are answered with zeros, and reach no storage; write it with data that are not zero",
        share * 100.0,
        one.named.display()
    );
    (share > UNWRITTEN_MOST).then(|| Warning::new(WarningKind::NeverWritten, message))
}

/// Collects doubts along the way, or turns the first of them into an error.
pub(crate) struct Honesty<'a> {
    job: &'a VxJob,
    /// Whether the user could have given `--best-effort`.
    has_best_effort: bool,
    warnings: &'a mut Vec<Warning>,
}

impl<'a> Honesty<'a> {
    /// Collects the doubts about `job` on `files` in `warnings`.
    pub(crate) fn new(files: &Files, job: &'a VxJob, warnings: &'a mut Vec<Warning>) -> Self {
        Self { job, has_best_effort: files.has_best_effort, warnings }
    }

    /// Refuses an option that `one` cannot honour: an error, or with `--best-effort` a warning.
    fn refuse(&mut self, one: &Opened, option: &str, why: &str) -> Result<(), Error> {
        self.refuse_for(one, option, why, "without")
    }

    /// Like [`Self::refuse`], where something else replaces the option: with `--best-effort`, the
    /// run continues with `other`.
    fn refuse_for(
        &mut self,
        one: &Opened,
        option: &str,
        why: &str,
        other: &str,
    ) -> Result<(), Error> {
        let what = format!("{option} on {}", one.named.display());
        if !self.job.best_effort {
            let why = match self.has_best_effort {
                true => format!("{why}; --best-effort goes on {other}"),
                false => why.to_owned(),
            };
            return Err(Error::Unsupported { what, why });
        }
        let message = format!("{what} is not possible here: {why}; the run went on {other}");
        self.warnings.push(Warning::new(WarningKind::Unsupported, message));
        Ok(())
    }

    /// Whether direct I/O is possible on `one`; refuses requests that are not aligned for it.
    pub(crate) fn direct(&mut self, one: &Opened) -> Result<bool, Error> {
        if !self.job.is_direct() {
            return Ok(false);
        }
        let option = if self.job.direct { "-c direct" } else { "--direct-above" };
        let name = &one.file_system.name;
        if let Err(error) = one.again(libc::O_DIRECT, self.job.changes_files()) {
            self.refuse(one, option, &format!("{name} refuses O_DIRECT ({error})"))?;
            return Ok(false);
        }
        let align = u64::from(one.direct_align());
        if !self.job.iosize.is_multiple_of(align) {
            let why = format!(
                "direct I/O on {name} needs offsets and sizes that are multiples of {align} bytes, but iosize is {}",
                self.job.iosize
            );
            let synchronous = self.job.direct && self.job.workload.writes();
            let other = if synchronous { "with synchronous writes (O_DSYNC)" } else { "without" };
            self.refuse_for(one, option, &why, other)?;
            return Ok(false);
        }
        self.atomic(one)?;
        let doubts = traps::judge(&one.file_system, Access::Direct, one.told_align().is_some());
        let doubt = doubts.into_iter().find(|one| one.kind == WarningKind::DirectWithoutDevice);
        self.deviceless(one, option, doubt)
    }

    /// Whether requests are to be direct although `doubt` says that they may reach no device. To a
    /// server, they bypass this machine's file cache, which is all that can be requested from here;
    /// in memory, there is nothing to bypass.
    fn deviceless(
        &mut self,
        one: &Opened,
        option: &str,
        doubt: Option<Warning>,
    ) -> Result<bool, Error> {
        match doubt {
            None => Ok(true),
            Some(doubt) if one.file_system.is_network_or_fuse => {
                if !self.warnings.contains(&doubt) {
                    self.warnings.push(doubt);
                }
                Ok(true)
            }
            Some(doubt) => self.refuse(one, option, &doubt.message).map(|()| false),
        }
    }

    /// Refuses `atomic` where the file supports no atomic writes, or none of this size.
    fn atomic(&mut self, one: &Opened) -> Result<(), Error> {
        let (size, name) = (self.job.iosize, &one.file_system.name);
        let why = match atomic_write_bytes(&one.file) {
            _ if !self.job.atomic => return Ok(()),
            Some([least, most]) if (least..=most).contains(&size) => return Ok(()),
            Some([least, most]) => format!(
                "{name} takes atomic writes of {least} to {most} bytes here, but iosize is {size}"
            ),
            None => format!(
                "{name} takes none here: the kernel has them for XFS (Linux 6.16), and for ext4 and block devices whose device has them"
            ),
        };
        self.refuse(one, "-c atomic", &why)
    }

    /// Prepares the file and its space for the requests; returns the seconds that a reservation
    /// took.
    pub(crate) fn prepare(&mut self, one: &Opened) -> Result<Option<f64>, Error> {
        self.noreuse(one)?;
        self.cold_once(one)?;
        let fail = |verb, error: Errno| Error::io(verb, &one.named, error);
        if self.job.trunc {
            rustix::fs::ftruncate(&one.file, 0).map_err(|e| fail("truncate", e))?;
        }
        if let Some(bytes) = self.job.extsize {
            self.extent_size(one, bytes)?;
        }
        let mut reservation_s = None;
        if let Some(bytes) = self.job.reservation {
            let begun = Instant::now();
            self.reserve(one, bytes)?;
            reservation_s = Some(begun.elapsed().as_secs_f64());
        }
        if self.job.contig || self.job.align {
            self.placed(one)?;
        }
        let size = one.state()?.len();
        if let Some(bytes) = one.extent.grow_to.filter(|bytes| *bytes > size) {
            rustix::fs::ftruncate(&one.file, bytes).map_err(|e| fail("extend", e))?;
        }
        if self.job.cold {
            cache::evict(&one.file)?;
            self.gone_from_cache(one)?;
        }
        Ok(reservation_s)
    }

    /// Refuses `--cold` for several passes, since only the first would be cold.
    fn cold_once(&mut self, one: &Opened) -> Result<(), Error> {
        let job = self.job;
        if !job.cold || job.nrep <= 1 || job.is_direct() || job.noreuse {
            return Ok(());
        }
        let why = format!(
            "the file is dropped from the file cache before the first of {} passes, and the others find what that left there",
            job.nrep
        );
        self.refuse_for(one, "--cold", &why, "cold in the first pass alone")
    }

    /// Checks that nothing of the file stayed in the file cache.
    fn gone_from_cache(&mut self, one: &Opened) -> Result<(), Error> {
        // The metadata of a device does not include its length.
        let size = if one.is_device { one.extent.range_bytes } else { one.state()?.len() };
        if one.file_system.caches_elsewhere() {
            let why = format!(
                "{} keeps files where dropping them from the file cache frees nothing",
                one.file_system.name
            );
            return self.refuse(one, "--cold", &why);
        }
        let Some(kept) = cache::resident_bytes(&one.file, 0, size).filter(|_| size > 0) else {
            return Ok(());
        };
        if kept as f64 <= size as f64 * KEPT_MOST {
            return Ok(());
        }
        let why = format!(
            "{kept} of its {size} bytes stay in the file cache, as on a file system in memory ({}), or where another process has mapped the file",
            one.file_system.name
        );
        self.refuse(one, "--cold", &why)
    }

    /// Refuses `noreuse` where the file cache keeps the data anyway.
    fn noreuse(&mut self, one: &Opened) -> Result<(), Error> {
        if !self.job.noreuse {
            return Ok(());
        }
        if self.job.workload.is_mapped() {
            let why = "loads and stores of a mapping always leave their pages in the file cache";
            return self.refuse(one, "-c noreuse", why);
        }
        if takes_dontcache(&one.file) {
            return Ok(());
        }
        let why = format!(
            "{} on this kernel has no RWF_DONTCACHE, and POSIX_FADV_NOREUSE, which there is, keeps the pages until memory is short",
            one.file_system.name
        );
        self.refuse(one, "-c noreuse", &why)
    }

    fn extent_size(&mut self, one: &Opened, bytes: u64) -> Result<(), Error> {
        let given = u32::try_from(bytes).ok();
        let outcome = given.map(|bytes| extents::set_extent_size(&one.file, bytes));
        match outcome {
            Some(Ok(())) => Ok(()),
            other => {
                let name = &one.file_system.name;
                let why = match other {
                    Some(Err(error)) if error.raw_os_error() == Some(libc::EINVAL) => format!(
                        "{name} takes no extent size of {}: it must be a multiple of the file system's block, on a file without data",
                        Bytes(bytes as f64)
                    ),
                    Some(Err(error)) => {
                        format!("{name} has no extent size of its own per file ({error})")
                    }
                    _ => "an extent size is below 4 GiB".to_owned(),
                };
                self.refuse(one, "-e", &why)
            }
        }
    }

    /// Reserves `bytes` from the beginning of the file.
    fn reserve(&mut self, one: &Opened, bytes: u64) -> Result<(), Error> {
        let keep = match self.job.chgsize {
            true => FallocateFlags::empty(),
            false => FallocateFlags::KEEP_SIZE,
        };
        loop {
            return match rustix::fs::fallocate(&one.file, keep, 0, bytes) {
                Ok(()) => Ok(()),
                Err(Errno::INTR) => continue,
                Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
                    let name = &one.file_system.name;
                    let why = match self.job.chgsize {
                        true => format!("{name} has no fallocate"),
                        // NFS 4.2 can reserve space, but not with FALLOC_FL_KEEP_SIZE.
                        false => format!(
                            "{name} reserves no space behind the end of a file (with -f chgsize, which moves the end, it may)"
                        ),
                    };
                    self.refuse(one, "-r", &why)
                }
                Err(error) => Err(Error::io("reserve space for", &one.named, error)),
            };
        }
    }

    /// Checks whether the space is a single extent, and whether extents are aligned, as requested.
    fn placed(&mut self, one: &Opened) -> Result<(), Error> {
        let found = match extents::extents(&one.file) {
            Ok(found) => found,
            Err(error) => {
                let why = format!("{} does not tell its extents ({error})", one.file_system.name);
                return self.refuse(one, "-f align, contig", &why);
            }
        };
        if let Some(pieces) = fragments(&found).filter(|&pieces| self.job.contig && pieces > 1) {
            self.refuse(one, "-f contig", &format!("the space came in {pieces} pieces"))?;
        }
        let unit = self.job.extsize.unwrap_or_else(|| one.state().map_or(4096, |s| s.blksize()));
        let astray = found.iter().find(|extent| !extent.physical.is_multiple_of(unit.max(1)));
        match astray.filter(|_| self.job.align) {
            Some(extent) => {
                let why = format!(
                    "an extent begins at byte {} of the device, no multiple of {unit}",
                    extent.physical
                );
                self.refuse(one, "-f align", &why)
            }
            None => Ok(()),
        }
    }

    /// Gives back the space that the file does not use, if requested, and checks that it was freed.
    pub(crate) fn finish(&mut self, one: &Opened) -> Result<(), Error> {
        // Without a reservation, the extents were allocated with the data.
        if self.job.align && self.job.reservation.is_none() {
            self.placed(one)?;
        }
        if !self.job.trim && !self.job.noreserve {
            return Ok(());
        }
        let size = one.state()?.len();
        rustix::fs::ftruncate(&one.file, size)
            .map_err(|error| Error::io("trim", &one.named, error))?;
        let end = self.job.reservation.unwrap_or(0);
        if end > size {
            let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            // A file system that has already trimmed needs no hole, and one that cannot punch holes
            // is detected below.
            let _ = rustix::fs::fallocate(&one.file, punch, size, end - size);
        }
        let beyond = extents::extents(&one.file).is_ok_and(|found| {
            let block = one.state().map_or(4096, |state| state.blksize());
            found.last().is_some_and(|e| e.logical + e.len > size.next_multiple_of(block.max(1)))
        });
        let option = if self.job.trim { "-f trim" } else { "-f noreserve" };
        match beyond {
            true => self.refuse(one, option, "the reservation behind the end of the file stayed"),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cold_is_doubted_where_a_server_has_memory_of_its_own() {
        let system = |is_network_or_fuse| FileSystemInfo {
            name: "nfs4".into(),
            is_network_or_fuse,
            ..FileSystemInfo::default()
        };
        let doubt = cold_here_alone(&system(true)).unwrap();
        assert!(doubt.message.starts_with("nfs4 gets") && doubt.kind == WarningKind::Trap);
        assert_eq!(cold_here_alone(&system(false)), None);
    }

    #[test]
    fn of_what_is_no_device_no_block_is_said_to_be_empty() {
        assert_eq!(blocks_may_be_empty(&FileSystemInfo::default()), None);
    }
}
