//! A replay whose requests come in batches: one thread reads them, and the threads of the replay
//! issue them.

use super::{ReplayOptions, ReplayWatch, Replayed, run, run_verified};
use crate::verify::Ledger;
use ioscape_machine::clock::Clock;
use ioscape_machine::error::Error;
use ioscape_machine::target::Target;
use ioscape_machine::thread::builder;
use ioscape_schema::{Io, Placed, VerifyReport};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

/// The number of batches that may wait to be issued.
const AHEAD: usize = 8;

/// The target of a replay, and how to carry it out.
#[derive(Clone, Copy)]
pub struct ReplayJob<'a> {
    /// The target of the requests.
    pub target: &'a Target,
    /// What its blocks hold, if they are verified.
    pub ledger: Option<&'a Ledger>,
    /// How to replay.
    pub options: &'a ReplayOptions,
    /// The clock.
    pub clock: &'a Clock,
    /// What may stop the replay, and what receives its progress.
    pub watch: &'a ReplayWatch,
}

impl ReplayJob<'_> {
    /// Replays the requests that `next` puts into an empty batch, until it returns `false` or
    /// fails. `next` runs on this thread; its failure is reported beside what was done. `place`
    /// says where each request goes.
    ///
    /// # Errors
    /// The replay could not begin, or `next` failed before anything was done.
    pub fn of_batches<E: From<Error>>(
        &self,
        mut next: impl FnMut(&mut Vec<Io>) -> Result<bool, E>,
        place: impl Fn(&Io) -> Placed + Send,
    ) -> Result<(Replayed, Option<VerifyReport>, Option<E>), E> {
        let (give, take) = sync_channel::<Vec<Io>>(AHEAD);
        let no_thread = |e| E::from(Error::io("start a thread for", self.target.path(), e));
        let (read, done) = thread::scope(|scope| -> Result<_, E> {
            let issue = || self.issue(one_by_one(take, place));
            let issuing = builder().and_then(|one| one.spawn_scoped(scope, issue));
            let issuing = issuing.map_err(no_thread)?;
            let mut read = Ok(());
            loop {
                let mut batch = Vec::new();
                match next(&mut batch) {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(error) => {
                        read = Err(error);
                        break;
                    }
                }
                if give.send(batch).is_err() {
                    break;
                }
            }
            drop(give);
            Ok((read, issuing.join()))
        })?;
        let (done, report) = done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        match read {
            Err(error) if done.kinds.is_empty() => Err(error),
            read => Ok((done, report, read.err())),
        }
    }

    fn issue<S>(&self, source: S) -> Result<(Replayed, Option<VerifyReport>), Error>
    where
        S: FnMut() -> Option<Placed> + Send,
    {
        let Self { target, ledger, options, clock, watch } = *self;
        match ledger {
            None => run(target, options, clock, watch, source).map(|done| (done, None)),
            Some(ledger) => run_verified(target, ledger, options, clock, watch, source)
                .map(|(done, report)| (done, Some(report))),
        }
    }
}

/// The requests of the batches, one by one.
fn one_by_one(
    batches: Receiver<Vec<Io>>,
    place: impl Fn(&Io) -> Placed + Send,
) -> impl FnMut() -> Option<Placed> + Send {
    let mut batch = Vec::new().into_iter();
    move || {
        loop {
            if let Some(io) = batch.next() {
                return Some(place(&io));
            }
            batch = batches.recv().ok()?.into_iter();
        }
    }
}
