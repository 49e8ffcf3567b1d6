//! Verification of a `vxbench` run: which jobs can be verified, and what is known of the blocks of
//! each file.

use super::files::Opened;
use crate::engine::buffer::new_number;
use crate::verify::block::Owner;
use crate::verify::ledger::{LESS, PIECE, check_memory, memory_of};
use crate::verify::{Ledger, NoteBook, block_bytes};
use ioscape_machine::error::Error;
use ioscape_schema::{VerifyReport, VxJob};

/// What the files of a run must hold, and what was found.
pub(super) struct Verified {
    ledgers: Vec<Ledger>,
    notes: NoteBook,
}

impl Verified {
    /// Creates the ledgers for the files of `job`, if it is to be verified; nothing is known of
    /// them yet.
    ///
    /// # Errors
    /// The job cannot be verified, or there is not enough memory.
    pub(super) fn of(files: &[Opened], job: &VxJob) -> Result<Option<Self>, Error> {
        if !job.verify {
            return Ok(None);
        }
        let reason = match job {
            _ if !job.workload.writes() || job.reserve_only => {
                Some("it writes nothing, and what others wrote carries no checksums")
            }
            _ if job.append => Some("with -o append the kernel chooses the place of each write"),
            _ => None,
        };
        if let Some(why) = reason {
            let what = format!("--verify with -w {}", job.workload);
            return Err(Error::Unsupported { what, why: why.into() });
        }
        let (block, run) = (block_bytes(job.iosize)?, new_number());
        let needed = |one: &Opened| memory_of(one.extent.range_bytes, block, pieces(job));
        check_memory(files.iter().map(needed).fold(0, u64::saturating_add), None, LESS)?;
        let ledger = |(file, one): (u32, &Opened)| {
            Ledger::new(one.extent.range_bytes, block, Owner { run, file })
                .map_err(|e| Error::io("get shared memory for", &one.named, e))
        };
        let ledgers = (0..).zip(files).map(ledger).collect::<Result<_, _>>()?;
        let notes = NoteBook::new(files.len() * job.nthreads.max(1) as usize);
        let path = files.first().map(|one| one.named.clone()).unwrap_or_default();
        let notes = notes.map_err(|e| Error::io("get shared memory for", &path, e))?;
        Ok(Some(Self { ledgers, notes }))
    }

    /// The parts that the workers need.
    pub(super) fn parts(&self) -> (&[Ledger], &NoteBook) {
        (&self.ledgers, &self.notes)
    }

    /// All that was found.
    pub(super) fn report(&self, files: &[Opened]) -> VerifyReport {
        let block = self.ledgers.first().map_or(0, |ledger| ledger.block_bytes);
        let name = |file: usize| {
            files.get(file).map_or_else(String::new, |one| one.named.display().to_string())
        };
        self.notes.report(block, name)
    }
}

/// The most pieces of one file that the requests of `job` can lie in, wherever they go, if
/// `iocount` limits the requests.
fn pieces(job: &VxJob) -> Option<u64> {
    let requests = job.iocount?.saturating_mul(u64::from(job.nthreads.max(1)));
    // Requests that do not divide a piece may begin in one piece and end in the next.
    let each = job.iosize.div_ceil(PIECE) + u64::from(!PIECE.is_multiple_of(job.iosize));
    Some(requests.saturating_mul(each))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against taking memory for the blocks of a whole terabyte where ten requests need
    /// little: 16 GiB.
    #[test]
    fn memory_is_needed_for_the_requests_of_a_job_and_not_for_all_of_its_file() {
        let job = VxJob { iosize: 512, iocount: Some(10), nthreads: 2, ..VxJob::default() };
        assert_eq!(pieces(&job), Some(20));
        assert!(memory_of(1 << 40, 512, pieces(&job)) < 1 << 22);
        assert_eq!(pieces(&VxJob { iosize: 3 << 19, ..job.clone() }), Some(60));
        assert_eq!(pieces(&VxJob { iocount: None, ..job }), None);
    }
}
