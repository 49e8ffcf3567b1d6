//! The program's allocator. If memory runs out, the work ends, the results so far are kept, and one
//! sentence says why.
//!
//! By default Rust would abort the program (signal 6) and lose what was measured. So some memory is
//! held in reserve for the end.
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
/// Bytes held in reserve: more than writing a result takes.
const RESERVE: usize = 16 << 20;
/// Bytes of the main thread's stack that are touched in advance: if it cannot grow later, the
/// kernel kills the program.
const STACK: usize = 1 << 20;
/// Bytes of the stack touched at a time.
const STEP: usize = 32 << 10;
/// Number of retries, since another thread may be freeing memory.
const TRIES: u32 = 100;

static HELD: AtomicPtr<std::ffi::c_void> = AtomicPtr::new(null_mut());
/// Size of the first allocation that failed, in bytes; 0 while there is enough memory.
static LACKING: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator. On failure it asks the work to end, as an interruption does, or ends the
/// program if no work can be asked.
#[derive(Debug)]
pub struct Allocator;

// SAFETY: all calls pass their arguments to the system's allocator, which is retried on failure.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as promised by the caller; here and below.
        or_else(layout.size(), || unsafe { System.alloc(layout) })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        or_else(layout.size(), || unsafe { System.alloc_zeroed(layout) })
    }

    #[inline]
    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above; on failure the old memory stays unchanged.
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

/// Releases the reserve, asks the work to end, and retries. Only `ask` allocates here.
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

/// Reports the failure and ends the program. A worker leaves the report to its conductor.
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

/// The message that memory ran out.
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

/// Reserves memory for the end after an allocation failed. If even that much is unavailable, it
/// reports this and ends the program before anything starts. Call it first, in the main thread.
pub fn reserve() {
    let readable = ProtFlags::READ | ProtFlags::WRITE;
    let all = RESERVE + STACK;
    // SAFETY: a new mapping at an address chosen by the kernel; its end is unmapped before anything
    // points into it.
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

/// Makes the kernel back this many more steps of the stack now, since they may be unavailable
/// later.
#[inline(never)]
fn deepen(steps: usize) {
    let step = MaybeUninit::<[u8; STEP]>::uninit();
    std::hint::black_box(&step);
    if steps > 0 {
        deepen(steps - 1);
    }
    // Using `step` again prevents a tail call, with which all steps would share one stack frame.
    std::hint::black_box(&step);
}

/// Returns why the work was asked to end, if memory ran out.
pub fn exhausted() -> Option<String> {
    (LACKING.load(Ordering::Relaxed) > 0).then(|| Lacking.to_string())
}
