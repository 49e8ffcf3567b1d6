//! Work shared by threads, whose result does not depend on how many they are.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// Processors that may run threads, at least 1.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What `work` makes of every item, in their order, with memory that each thread keeps between items.
///
/// # Errors
/// The numbers of the items, from 1, on which `work` panicked, once all others are done.
pub fn each<I: Sync, M: Default, T: Send>(
    items: &[I],
    threads: usize,
    work: impl Fn(&I, &mut M) -> T + Sync,
) -> Result<Vec<T>, Vec<usize>> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let (mut done, mut memory) = (Vec::new(), M::default());
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return done };
            done.push((at, catch_unwind(AssertUnwindSafe(|| work(item, &mut memory))).ok()));
        }
    };
    let mut found = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.min(items.len())).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).flatten().collect::<Vec<_>>()
    });
    found.sort_by_key(|(at, _)| *at);
    let failed: Vec<usize> =
        found.iter().filter(|(_, one)| one.is_none()).map(|(at, _)| at + 1).collect();
    match failed.is_empty() {
        true => Ok(found.into_iter().filter_map(|(_, one)| one).collect()),
        false => Err(failed),
    }
}

/// A segment by its number.
type Segment<S> = (usize, S);
/// What was made of it, and its memory to be used again.
type Part<S, P> = (usize, P, S);

/// Gets segments by `next`, which may use the memory of an earlier one, has `workers` threads `work` on them, and gives what
/// they made to `merge` in the order of the segments.
///
/// # Errors
/// As of `next`; nothing more is merged then.
pub fn in_order<S: Default + Send, P: Send, E>(
    workers: usize,
    next: impl FnMut(S) -> Result<Option<S>, E>,
    work: impl Fn(&S) -> P + Sync,
    merge: impl FnMut(P),
) -> Result<(), E> {
    let (give, segments) = sync_channel::<Segment<S>>(workers);
    let segments = Arc::new(Mutex::new(segments));
    let (return_part, parts) = channel::<Part<S, P>>();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let (segments, parts, work) = (Arc::clone(&segments), return_part.clone(), &work);
            scope.spawn(move || take(&segments, &parts, work));
        }
        drop(return_part);
        // Once all workers are gone, giving fails instead of waiting for ever.
        drop(segments);
        let mut order = Order { next: 0, waiting: BTreeMap::new(), spare: Vec::new(), merge };
        hand_out(next, &give, &parts, &mut order)?;
        drop(give);
        for part in parts {
            order.settle(part);
        }
        Ok(())
    })
}

fn take<S, P>(
    segments: &Mutex<Receiver<Segment<S>>>,
    parts: &Sender<Part<S, P>>,
    work: impl Fn(&S) -> P,
) {
    loop {
        let next = segments.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, segment)) = next else { return };
        let part = work(&segment);
        if parts.send((number, part, segment)).is_err() {
            return;
        }
    }
}

fn hand_out<S: Default, P, E>(
    mut next: impl FnMut(S) -> Result<Option<S>, E>,
    give: &std::sync::mpsc::SyncSender<Segment<S>>,
    parts: &Receiver<Part<S, P>>,
    order: &mut Order<S, P, impl FnMut(P)>,
) -> Result<(), E> {
    for number in 0.. {
        let Some(segment) = next(order.spare.pop().unwrap_or_default())? else { break };
        if give.send((number, segment)).is_err() {
            break;
        }
        while let Ok(part) = parts.try_recv() {
            order.settle(part);
        }
    }
    Ok(())
}

/// Parts that came before their turn, and memory to be used again.
struct Order<S, P, M> {
    next: usize,
    waiting: BTreeMap<usize, P>,
    spare: Vec<S>,
    merge: M,
}

impl<S, P, M: FnMut(P)> Order<S, P, M> {
    fn settle(&mut self, (number, part, segment): Part<S, P>) {
        self.waiting.insert(number, part);
        self.spare.push(segment);
        while let Some(part) = self.waiting.remove(&self.next) {
            (self.merge)(part);
            self.next += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_told_by_its_number_and_not_left_out() {
        let items: Vec<usize> = (0..5).collect();
        let all = each(&items, 2, |item, _: &mut ()| item * 2);
        assert_eq!(all, Ok(vec![0, 2, 4, 6, 8]));
        let failed = each(&items, 1, |item, _: &mut ()| assert_ne!(*item, 2));
        assert_eq!(failed, Err(vec![3]));
    }

    #[test]
    fn parts_are_merged_in_order_whatever_the_threads() {
        for workers in [1, 3, 8] {
            let (mut given, mut merged) = (0, Vec::new());
            let next = |mut segment: Vec<u32>| {
                segment.clear();
                given += 1;
                segment.extend(given * 10..given * 10 + 10);
                Ok::<_, ()>((given <= 40).then_some(segment))
            };
            let work = |segment: &Vec<u32>| segment.iter().sum::<u32>();
            assert_eq!(in_order(workers, next, work, |part| merged.push(part)), Ok(()));
            assert_eq!(merged, (1..=40).map(|n| n * 100 + 45).collect::<Vec<_>>());
        }
        let mut merged = 0;
        let failing = |_: ()| Err("broken");
        assert_eq!(in_order(2, failing, |()| 1, |one: u32| merged += one), Err("broken"));
        assert_eq!(merged, 0);
    }
}
