//! A replay whose requests come in batches: one thread reads them, and the threads of the replay
//! issue them.

use super::{ReplayOptions, ReplayWatch, Replayed, run, run_verified};
use crate::verify::Ledger;
use ioscape_machine::clock::Clock;
use ioscape_machine::error::Error;
use ioscape_machine::target::Target;
use ioscape_machine::thread::builder;
use ioscape_schema::{Io, Placed, VerifyReport};
use std::sync::mpsc::sync_channel;
use std::{iter, thread};

/// The number of batches that are read before the first request is issued, and that may wait later.
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
        let mut unread = None;
        let batches = iter::from_fn(|| {
            let mut batch = Vec::new();
            match next(&mut batch) {
                Ok(more) => more.then_some(batch),
                Err(error) => {
                    unread = Some(error);
                    None
                }
            }
        });
        let mut batches = batches.fuse().filter(|batch| !batch.is_empty());
        // Reading up to a part of the trace may take long; its requests are not late for that.
        let ahead: Vec<_> = batches.by_ref().take(AHEAD).collect();
        let done = thread::scope(|scope| -> Result<_, E> {
            let mut ios = ahead.into_iter().chain(take).flatten();
            let issue = move || self.issue(move || ios.next().map(|io| place(&io)));
            let issuing = builder().and_then(|one| one.spawn_scoped(scope, issue));
            let issuing = issuing.map_err(no_thread)?;
            // It fails where issuing ended early.
            let _ = batches.try_for_each(|batch| give.send(batch));
            drop(give);
            Ok(issuing.join())
        })?;
        let (done, report) = done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        match unread {
            Some(error) if done.kinds.is_empty() => Err(error),
            unread => Ok((done, report, unread)),
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
