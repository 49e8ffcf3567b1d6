//! Work shared by threads, whose result does not depend on how many they are.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};

/// Processors that may run threads, at least 1.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Batches that workers may be behind the one who reads.
const AHEAD: usize = 4;

/// Gets batches by `next`, which may use the memory of an earlier one, and has every one of `states` take each of them, in their
/// order; a state whose work answers `false` needs no more of them. The states, in their order, once all batches are taken.
///
/// # Errors
/// As of `next`; and within, the numbers of the states, from 1, on which `work` panicked.
pub fn to_all<B: Default + Send + Sync, S: Send, E>(
    states: Vec<S>,
    threads: usize,
    mut next: impl FnMut(B) -> Result<Option<B>, E>,
    work: impl Fn(&mut S, &B) -> bool + Sync,
) -> Result<Result<Vec<S>, Vec<usize>>, E> {
    let threads = threads.clamp(1, states.len().max(1));
    let (used, spare) = channel::<B>();
    let mut shares: Vec<Vec<(usize, S)>> = (0..threads).map(|_| Vec::new()).collect();
    for (at, state) in states.into_iter().enumerate() {
        shares[at % threads].push((at, state));
    }
    std::thread::scope(|scope| {
        let (mut give, mut workers) = (Vec::new(), Vec::new());
        for share in shares {
            let (to, batches) = sync_channel::<Arc<B>>(AHEAD);
            let (used, work) = (used.clone(), &work);
            give.push(to);
            workers.push(scope.spawn(move || take_all(share, &batches, &used, work)));
        }
        while !give.is_empty() {
            let Some(batch) = next(spare.try_recv().unwrap_or_default())? else { break };
            let batch = Arc::new(batch);
            give.retain(|to| to.send(Arc::clone(&batch)).is_ok());
        }
        drop(give);
        let done = workers.into_iter().filter_map(|worker| worker.join().ok()).flatten();
        let mut done: Vec<(usize, Option<S>)> = done.collect();
        done.sort_by_key(|(at, _)| *at);
        let failed: Vec<usize> =
            done.iter().filter(|(_, one)| one.is_none()).map(|(at, _)| at + 1).collect();
        Ok(match failed.is_empty() {
            true => Ok(done.into_iter().filter_map(|(_, one)| one).collect()),
            false => Err(failed),
        })
    })
}

/// One worker's states, `None` where its work panicked.
fn take_all<B, S>(
    share: Vec<(usize, S)>,
    batches: &Receiver<Arc<B>>,
    used: &Sender<B>,
    work: impl Fn(&mut S, &B) -> bool,
) -> Vec<(usize, Option<S>)> {
    let mut states: Vec<(usize, Option<S>, bool)> =
        share.into_iter().map(|(at, state)| (at, Some(state), true)).collect();
    while states.iter().any(|(_, _, more)| *more) {
        let Ok(batch) = batches.recv() else { break };
        for (_, state, more) in states.iter_mut().filter(|(_, _, more)| *more) {
            let Some(one) = state else { continue };
            match catch_unwind(AssertUnwindSafe(|| work(one, &batch))) {
                Ok(go_on) => *more = go_on,
                Err(_) => (*state, *more) = (None, false),
            }
        }
        if let Some(batch) = Arc::into_inner(batch) {
            // Nobody may read any more.
            let _ = used.send(batch);
        }
    }
    states.into_iter().map(|(at, state, _)| (at, state)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_takes_every_batch_until_it_has_enough() {
        for threads in [1, 2, 8] {
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
        let mut left = 10;
        let next = |()| {
            left -= 1;
            Ok::<_, ()>((left > 0).then_some(()))
        };
        let failed = to_all(vec![1, 0, 2], 2, next, |state, ()| 1 / *state < 9);
        assert_eq!(failed, Ok(Err(vec![2])));
        let broken = to_all(vec![1, 2], 2, |()| Err("broken"), |_, ()| true);
        assert_eq!(broken, Err("broken"));
    }
}
