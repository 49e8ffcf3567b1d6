//! Memory latency by working-set size: each load's address is the result of the previous load.
#![expect(unsafe_code, reason = "follows pointers within one mapping")]

use super::region::{HUGE, Region, faults, in_huge_pages};
use crate::case::{Case, Op, not_here};
use crate::sizes::Sizes;
use ioscape_schema::units::Bytes;
use rustix::mm::Advice;
use std::hint::black_box;
use std::io;

/// Distance between loads in bytes: a cache line.
const LINE: usize = 64;

/// The smallest size, and the factor from one size to the next.
const LEAST: u64 = 16 << 10;
const FACTOR: u64 = 4;

/// Cases for increasing sizes up to twice the last cache, and for that size in huge pages.
pub(crate) fn cases(sizes: &Sizes) -> Vec<Case> {
    let past = sizes.block_past_caches().map(|len| 2 * len);
    let steps = std::iter::successors(Some(LEAST), |bytes| bytes.checked_mul(FACTOR));
    let all = steps.take_while(|&bytes| bytes < 2 * sizes.piece());
    let within = "A load that waits for the one before, among so many bytes in random order: the latency of the cache that holds them.";
    let mut cases: Vec<Case> = all
        .map(|bytes| {
            let len = sizes.fits(bytes, "these loads").map(|()| bytes);
            case(Bytes(bytes as f64).to_string(), len, Advice::LinuxNoHugepage, within)
        })
        .collect();
    let memory = "The same among twice the bytes of the last cache: the latency of memory, and of finding its pages.";
    let huge = "The same in transparent huge pages: what is left when pages are found at once.";
    cases.push(case("memory".to_owned(), past.clone(), Advice::LinuxNoHugepage, memory));
    cases.push(case("memory, huge pages".to_owned(), past, Advice::LinuxHugepage, huge));
    // The last cache is shared between cores.
    cases.into_iter().map(Case::sharing).collect()
}

fn case(name: String, len: Result<u64, String>, advice: Advice, teaches: &'static str) -> Case {
    Case::new("memory-latency", name, teaches, move |_| {
        let len = len.clone().map_err(not_here)?;
        operation(usize::try_from(len).map_err(|_| not_here("the block is too large"))?, advice)
    })
}

/// Returns loads along a cycle through all lines in random order (Sattolo 1986); each line holds
/// the address of the next.
fn operation(len: usize, advice: Advice) -> io::Result<Op> {
    // The last huge page must be complete.
    let region = Region::new(len.next_multiple_of(HUGE), HUGE, advice)?;
    let lines = len / LINE;
    let mut order: Vec<u32> = (0..u32::try_from(lines).map_err(io::Error::other)?).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for last in (1..lines).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        order.swap(last, (state >> 33) as usize % last);
    }
    let start = region.start();
    let is_huge = matches!(advice, Advice::LinuxHugepage);
    let before = faults();
    for (at, &next) in order.iter().enumerate() {
        // SAFETY: both lines lie within the region, and its start is aligned.
        unsafe { start.add(at * LINE).cast::<*mut u8>().write(start.add(next as usize * LINE)) };
    }
    if is_huge {
        // A kernel that is configured to provide none accepts the advice all the same.
        let first = len.div_ceil(HUGE) as u64;
        in_huge_pages((faults() - before).saturating_sub(first), len)?;
    }
    let mut at = start;
    Ok(Box::new(move |count| {
        let _mapped = &region;
        for _ in 0..count {
            // SAFETY: every line holds the address of another one.
            at = unsafe { at.cast::<*mut u8>().read_volatile() };
        }
        black_box(at);
        Ok(())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Scene;
    use crate::process::{Ended, ran};

    #[test]
    fn sizes_go_up_to_memory() {
        let caches = vec![48 << 10, 1 << 20];
        let sizes = Sizes { caches, memory: 1 << 30, ..Sizes::default() };
        let names: Vec<String> = cases(&sizes).into_iter().map(|case| case.case).collect();
        assert_eq!(names.len(), 8, "{names:?}");
        assert_eq!(names[6..], ["memory", "memory, huge pages"]);
        operation(64 * LINE, Advice::LinuxNoHugepage).unwrap()(1000).unwrap();
    }

    #[test]
    fn sizes_that_memory_is_too_small_for_say_so() {
        let of = |memory| {
            let caches = vec![48 << 10, 1 << 20, 32 << 20];
            cases(&Sizes { caches, memory, ..Sizes::default() })
        };
        let names = |cases: &[Case]| -> Vec<String> {
            cases.iter().map(|case| case.case.clone()).collect()
        };
        let (few, many) = (of(40 << 20), of(8 << 30));
        assert_eq!((names(&few), few[0].case.as_str()), (names(&many), "16 KiB"));
        assert_eq!((few[5].case.as_str(), few.len()), ("16 MiB", 8));
        let why = (few[5].ready)(&Scene::default()).err().unwrap().to_string();
        assert!(why.contains("these loads take 16 MiB, more than a quarter"), "{why}");
        assert!((few[0].ready)(&Scene::default()).is_ok());
    }

    #[test]
    fn ordinary_pages_are_not_taken_for_huge_ones() {
        let case = Case::new("x", "", "", |_| {
            let (on, none): (libc::c_ulong, libc::c_ulong) = (1, 0);
            // SAFETY: it concerns this process alone, which was forked for the case.
            unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, on, none, none, none) };
            operation(8 << 20, Advice::LinuxHugepage)
        });
        let ended = ran(case, &Scene::default(), 1_000_000);
        let Ended::Refused(why) = ended else { panic!("{ended:?}") };
        assert!(why.contains("no transparent huge pages"), "{why}");
    }
}
