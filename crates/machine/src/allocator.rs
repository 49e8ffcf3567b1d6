//! The program's allocator: where no more memory can be had, the work ends, what was measured is kept, and one sentence says why.
//!
//! Rust would abort the program (signal 6), and forget what was measured. So some memory is held in reserve for the end.
#![expect(unsafe_code, reason = "an allocator, and memory from the kernel")]

use crate::error::EXHAUSTED;
use crate::{crew, interrupt, target};
use rustix::mm::{MapFlags, ProtFlags};
use rustix::process::{Resource, getrlimit};
use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt;
use std::io::Write;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// Exit code of a failure.
const FAILED: i32 = 1;
/// What is held in reserve, in bytes: more than it takes to write a result.
const RESERVE: usize = 16 << 20;
/// What the stack of the first thread may take without asking the kernel, in bytes: where it cannot grow, the kernel kills the program.
const STACK: usize = 1 << 20;
/// How much of the stack is taken at a time.
const STEP: usize = 32 << 10;
/// How often memory is asked for again, which another thread may be giving back.
const TRIES: u32 = 100;

static HELD: AtomicPtr<std::ffi::c_void> = AtomicPtr::new(null_mut());
/// How many bytes could not be had; 0 as long as there was enough.
static LACKING: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator; a failure asks the work to end as an interruption does, and ends the program if there is none to ask.
#[derive(Debug)]
pub struct Allocator;

// SAFETY: all calls go to the system's allocator with what they were given; it is asked again where it had nothing.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as promised by who calls; here and below.
        or_else(layout.size(), || unsafe { System.alloc(layout) })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        or_else(layout.size(), || unsafe { System.alloc_zeroed(layout) })
    }

    #[inline]
    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above; where it fails the old memory stays as it is.
        or_else(size, || unsafe { System.realloc(old, layout, size) })
    }

    #[inline]
    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(old, layout) }
    }
}

#[inline]
fn or_else(bytes: usize, ask: impl Fn() -> *mut u8) -> *mut u8 {
    let got = ask();
    if got.is_null() { lacking(bytes, &ask) } else { got }
}

/// Gives the reserve back, asks the work to end, and tries again. No memory is asked for but by `ask`.
#[cold]
#[inline(never)]
fn lacking(bytes: usize, ask: &dyn Fn() -> *mut u8) -> *mut u8 {
    let is_first = LACKING.compare_exchange(0, bytes.max(1), Ordering::Relaxed, Ordering::Relaxed);
    let held = HELD.swap(null_mut(), Ordering::Relaxed);
    if !held.is_null() {
        // SAFETY: it was mapped with this length, and nothing ever pointed into it.
        let _ = unsafe { rustix::mm::munmap(held, RESERVE) };
    }
    if !crew::is_worker() && (is_first.is_err() || interrupt::ask_to_end()) {
        for _ in 0..TRIES {
            let got = ask();
            if !got.is_null() {
                return got;
            }
            std::thread::yield_now();
        }
    }
    end()
}

/// Says why, and ends the program; a worker leaves it to its conductor to say so.
fn end() -> ! {
    if crew::is_worker() {
        crew::leave(EXHAUSTED);
    }
    let mut text = [0; 400];
    let mut rest = &mut text[..];
    let _ = writeln!(rest, "ioscape: {Lacking}");
    let left = rest.len();
    let _ = rustix::io::write(rustix::stdio::stderr(), &text[..text.len() - left]);
    target::remove_scratch();
    crew::leave(FAILED)
}

/// The sentence that memory ran out.
struct Lacking;

impl fmt::Display for Lacking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = LACKING.load(Ordering::Relaxed);
        write!(f, "memory ran out: {bytes} more bytes could not be had")?;
        if let Some(limit) = getrlimit(Resource::As).current {
            write!(
                f,
                ", since a process may take no more than {limit} (ulimit -v): raise this limit"
            )?;
        }
        f.write_str("; give it less to do, or a machine with more memory")
    }
}

/// Holds memory in reserve from now on, for the end after more cannot be had. Where there is not even so much, it says so and ends the
/// program, before anything is begun. Call it first, in the first thread.
pub fn reserve() {
    let readable = ProtFlags::READ | ProtFlags::WRITE;
    let all = RESERVE + STACK;
    // SAFETY: a new mapping, at a place that the kernel chooses; its end is given back before anything points into it.
    let held = unsafe {
        rustix::mm::mmap_anonymous(null_mut(), all, readable, MapFlags::PRIVATE)
            .and_then(|held| rustix::mm::munmap(held.byte_add(RESERVE), STACK).map(|()| held))
    };
    let Ok(held) = held else {
        LACKING.store(all, Ordering::Relaxed);
        end()
    };
    HELD.store(held, Ordering::Relaxed);
    let limit = getrlimit(Resource::Stack).current.map_or(STACK, |bytes| bytes as usize / 4);
    deepen(STACK.min(limit) / STEP);
}

/// Has the kernel give the stack so many more steps: one that is used for the first time later is one that may not be had.
#[inline(never)]
fn deepen(steps: usize) {
    let step = MaybeUninit::<[u8; STEP]>::uninit();
    std::hint::black_box(&step);
    if steps > 0 {
        deepen(steps - 1);
    }
    // The call above is not the last thing done, or the steps would lie in one place.
    std::hint::black_box(&step);
}

/// Why the work was asked to end, if memory ran out.
pub fn exhausted() -> Option<String> {
    (LACKING.load(Ordering::Relaxed) > 0).then(|| Lacking.to_string())
}
