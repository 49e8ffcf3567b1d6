//! Verification of a run: what the blocks of the set must hold, and reading all of them back at the
//! end.

use super::options::RunOptions;
use super::state::Session;
use crate::engine::buffer::new_number;
use crate::verify::block::Owner;
use crate::verify::ledger::{LESS, check_memory, memory_of};
use crate::verify::{Ledger, NoteBook, block_bytes};
use crate::worker::task::Task;
use ioscape_machine::error::Error;
use ioscape_schema::{Engine, Measurement, VerifyReport, Workload};

/// Returns the size of the blocks in which `workload` is verified, in bytes.
pub(super) fn verified_block(workload: &Workload) -> Result<u64, Error> {
    if workload.engine == Engine::Null {
        let why = "it moves no bytes; choose another engine".into();
        return Err(Error::Unsupported { what: "verifying the null engine".into(), why });
    }
    let block = block_bytes(workload.align())?;
    if workload.direct_above_bytes.is_some() && block < 4096 {
        // Direct and buffered writes to the same page corrupt each other: open(2), NOTES.
        let why = "requests need multiples of 4096 bytes then; give --align 4k".into();
        let what = "verifying discovered direct I/O".into();
        return Err(Error::Unsupported { what, why });
    }
    Ok(block)
}

impl Session {
    /// Before a run that is to be verified, learns what every block of its set holds. Existing data
    /// that was not written for checking is laid out anew.
    pub(super) fn begin_verify(&mut self, workload: &Workload, verify: bool) -> Result<(), Error> {
        self.notes = None;
        if !verify {
            // Writes without a ledger would make it wrong.
            let writes = workload.read_frac < 1.0 && workload.engine != Engine::Null;
            self.ledger = self.ledger.take().filter(|_| !writes);
            return Ok(());
        }
        let block = verified_block(workload)?;
        self.keep_ledger(workload.unique_bytes, block, None, LESS)?;
        let notes = NoteBook::new(workload.process_num as usize);
        self.notes = Some(notes.map_err(|e| self.no_memory(e))?);
        Ok(())
    }

    /// From now on, keeps track of what each block of the first `bytes` of the target holds. Only
    /// `mebibytes` of these, each aligned to a mebibyte, are written to; absent: any block may be.
    ///
    /// # Errors
    /// There is not enough memory: each block that is written takes 8 bytes. `advice` says what to
    /// do.
    pub fn keep_ledger(
        &mut self,
        bytes: u64,
        block_bytes: u64,
        mebibytes: Option<u64>,
        advice: &str,
    ) -> Result<(), Error> {
        let fits = |l: &Ledger| l.block_bytes == block_bytes && l.bytes() + block_bytes > bytes;
        if self.ledger.as_ref().is_some_and(fits) {
            return Ok(());
        }
        // Freed first, so that the old ledger and the new one never take memory at the same time.
        self.ledger = None;
        let needed = memory_of(bytes, block_bytes, mebibytes);
        check_memory(needed, self.options.memory_limit, advice)?;
        let owner = Owner { run: new_number(), file: 0 };
        let ledger = Ledger::new(bytes, block_bytes, owner).map_err(|e| self.no_memory(e))?;
        self.ledger = Some(ledger);
        (self.laid_out, self.touched) = (0, 0);
        Ok(())
    }

    fn no_memory(&self, error: std::io::Error) -> Error {
        Error::io("get shared memory for", self.target.path(), error)
    }

    /// After a verified run: drops the set from the file cache, reads it back, and reports all
    /// findings.
    pub(super) fn end_verify(
        &mut self,
        options: &RunOptions,
    ) -> Result<Option<VerifyReport>, Error> {
        let Some(bytes) = self.ledger.as_ref().filter(|_| self.notes.is_some()).map(Ledger::bytes)
        else {
            return Ok(None);
        };
        self.evict(options)?;
        let cached = self.resident_frac(bytes);
        self.do_task(&Task::ReadBack, options, None).1?;
        let from_storage_frac = cached.map(|frac| 1.0 - frac);
        let report = self.report().map(|report| VerifyReport { from_storage_frac, ..report });
        self.notes = None;
        Ok(report)
    }

    /// What was found so far.
    fn report(&self) -> Option<VerifyReport> {
        let name = |_| self.target.path().display().to_string();
        let (ledger, notes) = self.ledger.as_ref().zip(self.notes.as_ref())?;
        Some(notes.report(ledger.block_bytes, name))
    }

    /// What was found wrong so far. Until everything is read back, a report without findings would
    /// claim that all is well.
    pub(super) fn finding(&self) -> Option<VerifyReport> {
        self.report().filter(|report| report.failure().is_some())
    }

    /// Returns the measurement with what was `found` in the blocks at the end. If that failed,
    /// keeps the measurement with what was found before.
    pub(super) fn with_report(
        &mut self,
        measurement: Measurement,
        found: Result<Option<VerifyReport>, Error>,
    ) -> Result<Measurement, Error> {
        match found {
            Ok(verify) => Ok(Measurement { verify, ..measurement }),
            Err(error) => {
                self.unread = Some(Measurement { verify: self.finding(), ..measurement });
                Err(error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::Stop;
    use std::io::ErrorKind;

    #[test]
    fn what_was_measured_is_kept_where_its_blocks_cannot_be_read_back() {
        let mut session = Session::of_build();
        let empty = Measurement::empty(Workload::default(), Stop::TimeCap);
        let measured = Measurement { ios: 7, ..empty };
        let error = Error::io("read", session.target.path(), ErrorKind::Other);
        for error in [error, Error::Interrupted] {
            assert!(session.with_report(measured.clone(), Err(error)).is_err());
            assert_eq!(session.take_unread(), Some(measured.clone()));
        }
        assert_eq!(session.with_report(measured.clone(), Ok(None)).ok(), Some(measured));
    }
}
