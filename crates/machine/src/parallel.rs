//! Work shared by threads, with a result that does not depend on their number.

use crate::affinity;
use crate::thread::builder;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread;

/// Returns the number of processors that may run threads, at least 1; a CPU quota limits it.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns the number of processors that this thread may be placed on, at least 1; a quota does not
/// reduce it.
pub fn allowed() -> usize {
    match affinity::allowed().len() {
        0 => processors(),
        count => count,
    }
}

/// Number of batches that workers may lag behind the reader.
const AHEAD: usize = 4;

/// Gets batches from `next`, which may reuse the memory of an earlier one, and passes each of them
/// in order to every one of `states`. A state whose work returns false gets no more. Returns the
/// states, in their order, once all batches are processed. If no thread can be started, or none is
/// requested, this one does the work.
///
/// # Errors
/// As for `next`; and, inside the result, the numbers of the states, from 1, on which `work`
/// panicked.
pub fn to_all<B: Default + Send + Sync, S: Send, E>(
    states: Vec<S>,
    threads: usize,
    mut next: impl FnMut(B) -> Result<Option<B>, E>,
    work: impl Fn(&mut S, &B) -> bool + Sync,
) -> Result<Result<Vec<S>, Vec<usize>>, E> {
    let (used, spare) = channel::<B>();
    let count = states.len();
    thread::scope(|scope| {
        let (mut give, mut workers, mut shares) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..threads.min(count) {
            let (to, batches) = sync_channel::<Arc<B>>(AHEAD);
            let (share, own) = channel();
            let (used, work) = (used.clone(), &work);
            let whole = move || take_all(own.into_iter().collect(), &batches, &used, work);
            // With fewer threads than requested it takes longer.
            let worker = builder().and_then(|one| one.spawn_scoped(scope, whole));
            let Ok(worker) = worker else { break };
            give.push(to);
            workers.push(worker);
            shares.push(share);
        }
        let mut states = states.into_iter().enumerate();
        for (share, state) in shares.iter().cycle().zip(states.by_ref()) {
            // Each worker waits for its share first.
            let _ = share.send(state);
        }
        drop(shares);
        let mut here = beginning(states);
        while !give.is_empty() || wants_more(&here) {
            let Some(batch) = next(spare.try_recv().unwrap_or_default())? else { break };
            take(&mut here, &batch, &work);
            let batch = Arc::new(batch);
            give.retain(|to| to.send(Arc::clone(&batch)).is_ok());
        }
        drop(give);
        let done = workers.into_iter().filter_map(|worker| worker.join().ok()).flatten();
        let mut done: Vec<(usize, Option<S>)> = done.chain(ended(here)).collect();
        done.sort_by_key(|(at, _)| *at);
        let is_done = |at: &usize| done.iter().any(|(one, state)| one == at && state.is_some());
        let failed: Vec<usize> = (0..count).filter(|at| !is_done(at)).map(|at| at + 1).collect();
        Ok(match failed.is_empty() {
            true => Ok(done.into_iter().filter_map(|(_, one)| one).collect()),
            false => Err(failed),
        })
    })
}

/// Does `work` on every job in its own thread, and `meanwhile` in this one. The threads begin when
/// all of them exist. Returns their results, in the order of the jobs, and this thread's.
///
/// # Errors
/// The threads cannot all be started: none has begun.
pub fn on_threads<J: Send, T: Send, M>(
    jobs: impl IntoIterator<Item = J>,
    work: impl Fn(J) -> T + Sync,
    meanwhile: impl FnOnce() -> M,
) -> io::Result<(Vec<thread::Result<T>>, M)> {
    let work = &work;
    thread::scope(|scope| {
        let (mut gates, mut threads) = (Vec::new(), Vec::new());
        for job in jobs {
            let (open, gate) = channel::<()>();
            // If a thread cannot be started, the gates are dropped unopened.
            let begun = move || gate.recv().ok().map(|()| work(job));
            threads.push(builder()?.spawn_scoped(scope, begun)?);
            gates.push(open);
        }
        for gate in gates {
            // Its thread waits only for this.
            let _ = gate.send(());
        }
        let here = meanwhile();
        let all = threads.into_iter().filter_map(|one| {
            one.join().map_or_else(|panic| Some(Err(panic)), |done| done.map(Ok))
        });
        Ok((all.collect(), here))
    })
}

/// Returns one worker's states, `None` for those on which `work` panicked.
fn take_all<B, S>(
    share: Vec<(usize, S)>,
    batches: &Receiver<Arc<B>>,
    used: &Sender<B>,
    work: impl Fn(&mut S, &B) -> bool,
) -> Vec<(usize, Option<S>)> {
    let mut states = beginning(share);
    while wants_more(&states) {
        let Ok(batch) = batches.recv() else { break };
        take(&mut states, &*batch, &work);
        if let Some(batch) = Arc::into_inner(batch) {
            // Nobody else holds the batch any more.
            let _ = used.send(batch);
        }
    }
    ended(states).collect()
}

/// A state with its place; `None` after `work` panicked on it. And whether it takes more batches.
type Place<S> = (usize, Option<S>, bool);

fn beginning<S>(share: impl IntoIterator<Item = (usize, S)>) -> Vec<Place<S>> {
    share.into_iter().map(|(at, state)| (at, Some(state), true)).collect()
}

fn wants_more<S>(states: &[Place<S>]) -> bool {
    states.iter().any(|(_, _, more)| *more)
}

fn take<B, S>(states: &mut [Place<S>], batch: &B, work: impl Fn(&mut S, &B) -> bool) {
    for (_, state, more) in states.iter_mut().filter(|(_, _, more)| *more) {
        let Some(one) = state else { continue };
        match catch_unwind(AssertUnwindSafe(|| work(one, batch))) {
            Ok(go_on) => *more = go_on,
            Err(_) => (*state, *more) = (None, false),
        }
    }
}

fn ended<S>(states: Vec<Place<S>>) -> impl Iterator<Item = (usize, Option<S>)> {
    states.into_iter().map(|(at, state, _)| (at, state))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn processors_are_allowed_by_the_mask_alone() {
        let all = affinity::allowed();
        assert_eq!(allowed(), all.len());
        let of_first = |()| affinity::pin(all[0]).map(|()| allowed()).unwrap();
        let (found, ()) = on_threads([()], of_first, || ()).unwrap();
        assert!(matches!(found[..], [Ok(1)]));
    }

    #[test]
    fn threads_begin_together_and_keep_their_order() {
        let all = Barrier::new(5);
        let work = |job: usize| {
            all.wait();
            assert!(job != 3, "on purpose");
            job * 2
        };
        let (done, here) = on_threads(0..5, work, || 7).unwrap();
        let done: Vec<Option<usize>> = done.into_iter().map(Result::ok).collect();
        assert_eq!((done, here), (vec![Some(0), Some(2), Some(4), None, Some(8)], 7));
    }

    #[test]
    fn every_state_takes_every_batch_until_it_has_enough() {
        // With none, as where no thread can be started, the calling one does it.
        for threads in [0, 1, 2, 8] {
            let mut given = 0;
            let next = |_: u64| {
                given += 1;
                Ok::<_, ()>((given <= 100).then_some(given))
            };
            let work = |(left, sum): &mut (u64, u64), batch: &u64| {
                *sum = *sum * 3 % 1_000_003 + batch;
                *left -= 1;
                *left > 0
            };
            let states = vec![(1000, 0), (10, 0), (1, 0)];
            let told = |count: u64| (1..=count).fold(0, |sum, batch| sum * 3 % 1_000_003 + batch);
            let found = to_all(states, threads, next, work);
            assert_eq!(found, Ok(Ok(vec![(900, told(100)), (0, told(10)), (0, 1)])));
        }
        for threads in [0, 2] {
            let mut left = 10;
            let next = |()| {
                left -= 1;
                Ok::<_, ()>((left > 0).then_some(()))
            };
            let failed = to_all(vec![1, 0, 2], threads, next, |state, ()| 1 / *state < 9);
            assert_eq!(failed, Ok(Err(vec![2])));
        }
        let broken = to_all(vec![1, 2], 2, |()| Err("broken"), |_, ()| true);
        assert_eq!(broken, Err("broken"));
    }
}
