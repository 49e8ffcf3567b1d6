//! Work shared by threads, whose result does not depend on how many they are.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

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
}
