//! Workers under watch: every wait notices at once when a worker dies or the user wants to stop.

use super::failure;
use ioscape_machine::crew::{Crew, DONE};
use ioscape_machine::error::{Death, Error};
use ioscape_machine::shared::{Shared, phase};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Longest time that workers may take to get ready.
pub(crate) const READY: Duration = Duration::from_secs(120);

/// The workers of a run, the memory shared with them, and the flag that stops them.
pub(crate) struct Watched<'a> {
    /// The workers.
    pub(crate) crew: Crew,
    /// The memory that they share with the conductor.
    pub(crate) shared: &'a Shared,
    /// Set when the user wants to stop.
    pub(crate) interrupt: &'a AtomicBool,
    /// Time that interrupted workers get to finish the requests in flight.
    pub(crate) grace: Duration,
    /// Returns the file of a stream.
    pub(crate) path_of: &'a dyn Fn(usize) -> &'a Path,
}

impl Watched<'_> {
    /// Fails if the user interrupts or a worker failed. A worker that has finished is no failure.
    pub(crate) fn look_after(&mut self) -> Result<(), Error> {
        match self.first_gone()? {
            Some((process, death)) if death != Death::Exit(DONE) => Err(self.error(process, death)),
            _ => Ok(()),
        }
    }

    /// Like [`Self::look_after`], but for phases in which no worker may have finished yet.
    pub(crate) fn look_after_all(&mut self) -> Result<(), Error> {
        match self.first_gone()? {
            Some((process, death)) => Err(self.error(process, death)),
            None => Ok(()),
        }
    }

    fn first_gone(&mut self) -> Result<Option<(u32, Death)>, Error> {
        if self.interrupt.load(Ordering::Relaxed) {
            self.shared.set_phase(phase::STOP);
            if self.grace.is_zero() || !self.crew.wait(self.grace, || false) {
                self.crew.kill();
            }
            return Err(Error::Interrupted);
        }
        self.crew.poll();
        if self.crew.is_held() {
            let process = self.crew.first_alive().unwrap_or(0);
            self.crew.kill();
            return Err(Error::Worker { process, death: Death::Hung });
        }
        Ok(self.crew.first_dead())
    }

    /// The error that the death of a worker amounts to.
    fn error(&self, process: u32, death: Death) -> Error {
        failure::from_death(process, death, self.shared, self.path_of)
    }

    /// Waits until `condition` holds for all streams. If that takes too long, the first worker
    /// counts as hung.
    pub(crate) fn await_all(
        &mut self,
        condition: fn(&Shared) -> bool,
        patience: Duration,
    ) -> Result<(), Error> {
        let begin = Instant::now();
        let mut pause = Duration::from_micros(50);
        while !condition(self.shared) {
            self.look_after_all()?;
            if begin.elapsed() > patience {
                let (process, death) = self.crew.first_silent();
                return Err(Error::Worker { process, death });
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(5));
        }
        Ok(())
    }
}
