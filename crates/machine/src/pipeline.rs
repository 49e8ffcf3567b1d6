//! A pipeline in which several units each process all items in order. Threads take whichever unit
//! has work.

use crate::thread::builder;
use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Maximum number of items held until the first of them has passed all units.
const HELD: usize = 8;

/// The items in the pipeline.
struct Course<I> {
    items: VecDeque<Arc<I>>,
    /// Number of the first of these items.
    begin: usize,
    /// For each unit, the item it takes next, and whether it is busy.
    next: Vec<(usize, bool)>,
    /// No more items will come.
    ended: bool,
    failed: bool,
    spare: Vec<I>,
}

impl<I> Course<I> {
    fn end(&self) -> usize {
        self.begin + self.items.len()
    }

    /// Returns the unit that is furthest behind and has work, with its item.
    fn choose(&mut self) -> Option<(usize, Arc<I>)> {
        let end = self.end();
        let ready = self.next.iter().enumerate().filter(|(_, (next, busy))| !busy && *next < end);
        let (unit, &(next, _)) = ready.min_by_key(|(_, (next, _))| *next)?;
        self.next[unit].1 = true;
        Some((unit, Arc::clone(&self.items[next - self.begin])))
    }

    fn done(&mut self, unit: usize, item: Arc<I>) {
        let (next, busy) = &mut self.next[unit];
        (*next, *busy) = (*next + 1, false);
        drop(item);
        let least = self.next.iter().map(|(next, _)| *next).min().unwrap_or(self.begin);
        while self.begin < least {
            self.begin += 1;
            self.spare.extend(self.items.pop_front().and_then(Arc::into_inner));
        }
    }

    fn is_over(&self) -> bool {
        self.failed || (self.ended && self.items.is_empty())
    }
}

struct Shared<I> {
    course: Mutex<Course<I>>,
    changed: Condvar,
}

impl<I> Shared<I> {
    fn lock(&self) -> MutexGuard<'_, Course<I>> {
        self.course.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, course: MutexGuard<'a, Course<I>>) -> MutexGuard<'a, Course<I>> {
        self.changed.wait(course).unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the pipeline if its thread panics, since the others would wait for it.
struct Alarm<'a, I>(&'a Shared<I>);

impl<I> Drop for Alarm<'_, I> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().failed = true;
            self.0.changed.notify_all();
        }
    }
}

/// Gets items from `next`, which may reuse the memory of an earlier one, on this thread. Every unit
/// does `work` on each of them, in order, on `threads` threads including this one.
///
/// # Errors
/// As for `next`; items in the pipeline then may or may not be processed.
///
/// # Panics
/// If `work` panics.
pub fn pipeline<I: Default + Send + Sync, U: Send, E>(
    threads: usize,
    units: Vec<U>,
    mut next: impl FnMut(I) -> Result<Option<I>, E>,
    work: impl Fn(&mut U, &I) + Sync,
) -> Result<(), E> {
    let course = Course {
        items: VecDeque::new(),
        begin: 0,
        next: vec![(0, false); units.len()],
        ended: false,
        failed: false,
        spare: Vec::new(),
    };
    let shared = Shared { course: Mutex::new(course), changed: Condvar::new() };
    let units: Vec<Mutex<U>> = units.into_iter().map(Mutex::new).collect();
    let work = |(unit, item): (usize, Arc<I>)| {
        work(&mut units[unit].lock().unwrap_or_else(PoisonError::into_inner), &item);
        shared.lock().done(unit, item);
        shared.changed.notify_all();
    };
    std::thread::scope(|scope| {
        // With fewer threads than requested it takes longer.
        let spawn =
            |_| builder().and_then(|one| one.spawn_scoped(scope, || follow(&shared, work))).ok();
        let workers: Vec<_> = (1..threads).map_while(spawn).collect();
        let _alarm = Alarm(&shared);
        let found = lead(&shared, &mut next, work);
        let failed = workers.into_iter().filter_map(|worker| worker.join().err()).next();
        if let Some(panic) = failed {
            resume_unwind(panic);
        }
        found
    })
}

/// Processes items as they become available.
fn follow<I>(shared: &Shared<I>, work: impl Fn((usize, Arc<I>))) {
    let _alarm = Alarm(shared);
    let mut course = shared.lock();
    while !course.is_over() {
        match course.choose() {
            Some(chosen) => {
                drop(course);
                work(chosen);
                course = shared.lock();
            }
            None => course = shared.wait(course),
        }
    }
}

/// Gets the items, and processes some itself when enough are waiting.
fn lead<I: Default, E>(
    shared: &Shared<I>,
    next: &mut impl FnMut(I) -> Result<Option<I>, E>,
    work: impl Fn((usize, Arc<I>)),
) -> Result<(), E> {
    let mut course = shared.lock();
    while !course.is_over() {
        if !course.ended && course.items.len() < HELD {
            let spare = course.spare.pop().unwrap_or_default();
            drop(course);
            let item = next(spare);
            course = shared.lock();
            match item {
                Ok(Some(item)) => course.items.push_back(Arc::new(item)),
                Ok(None) => course.ended = true,
                Err(error) => {
                    course.failed = true;
                    shared.changed.notify_all();
                    return Err(error);
                }
            }
            shared.changed.notify_all();
        } else if let Some(chosen) = course.choose() {
            drop(course);
            work(chosen);
            course = shared.lock();
        } else {
            course = shared.wait(course);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units that record the items they are given.
    fn seen(threads: usize, items: u32) -> Result<Vec<Vec<u32>>, &'static str> {
        let mut seen: Vec<Vec<u32>> = vec![Vec::new(); 5];
        let mut given = 0;
        let next = |mut item: Vec<u32>| {
            item.clear();
            given += 1;
            item.push(given);
            if given > 1000 { Err("broken") } else { Ok((given <= items).then_some(item)) }
        };
        let units = seen.iter_mut().collect();
        pipeline(threads, units, next, |unit: &mut &mut Vec<u32>, item| unit.extend(item))?;
        Ok(seen)
    }

    #[test]
    fn every_unit_has_every_item_in_order_whatever_the_threads() {
        for threads in [1, 2, 7] {
            assert_eq!(seen(threads, 100), Ok(vec![(1..=100).collect(); 5]));
            assert_eq!(seen(threads, 0), Ok(vec![Vec::new(); 5]));
            assert_eq!(seen(threads, u32::MAX), Err("broken"));
        }
    }

    #[test]
    fn a_panic_ends_it() {
        let mut given = 0;
        let next = |()| {
            given += 1;
            Ok::<_, ()>((given < 50).then_some(()))
        };
        let work = |unit: &mut usize, (): &()| assert_ne!(*unit, 1);
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            pipeline(2, vec![0, 1, 2], next, work)
        }));
        assert!(ended.is_err());
    }
}
