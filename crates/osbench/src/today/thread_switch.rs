//! The cost of switching between two threads that wait for each other on a futex.

use crate::case::{Case, Op, Scene, repeated};
use crate::cswitch::other;
use ioscape_machine::affinity::pin;
use ioscape_machine::thread::builder;
use rustix::thread::futex;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Whose turn it is.
const MINE: u32 = 0;
const THEIRS: u32 = 1;
const OVER: u32 = 2;

/// The cases.
pub(crate) fn cases() -> Vec<Case> {
    let one =
        "Handing over to another thread and back: two switches without a change of address space.";
    let two =
        "The same across processors: the cost of passing a lock from one processor to another.";
    // On one processor, the process's own clock covers both threads.
    let same = |scene: &Scene| Ok(operation(scene.cpu)?.0);
    let apart = |scene: &Scene| {
        let (op, thread) = operation(other(scene)?)?;
        scene.partner.set(Some(thread));
        Ok(op)
    };
    vec![
        Case::new("thread-switch", "futex, same CPU", one, same),
        Case::new("thread-switch", "futex, two CPUs", two, apart).across_two(),
    ]
}

/// The turn, shared by both threads; the second thread ends when this is dropped.
struct Turns {
    turn: Arc<AtomicU32>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Drop for Turns {
    fn drop(&mut self) {
        hand(&self.turn, OVER);
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing more to report.
            let _ = thread.join();
        }
    }
}

fn hand(turn: &AtomicU32, to: u32) {
    turn.store(to, Ordering::Release);
    // A waiter that is not asleep notices the new value by itself.
    let _ = futex::wake(turn, futex::Flags::PRIVATE, 1);
}

/// Waits while it is `whose` turn; returns the turn after that.
fn wait(turn: &AtomicU32, whose: u32) -> u32 {
    loop {
        let now = turn.load(Ordering::Acquire);
        if now != whose {
            return now;
        }
        let _ = futex::wait(turn, futex::Flags::PRIVATE, whose, None);
    }
}

/// Returns the operation, and the other thread's number.
fn operation(cpu: usize) -> io::Result<(Op, u32)> {
    let turn = Arc::new(AtomicU32::new(MINE));
    let theirs = Arc::clone(&turn);
    let (tell, told) = std::sync::mpsc::channel();
    let thread = builder()?.spawn(move || {
        // The receiver waits for this, so it exists.
        let _ = tell.send(rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs());
        // Without the pin the two still take turns; only the result differs.
        let _ = pin(cpu);
        while wait(&theirs, MINE) != OVER {
            hand(&theirs, MINE);
        }
    })?;
    let turns = Turns { turn, thread: Some(thread) };
    let number = told.recv().map_err(io::Error::other)?;
    let op = repeated(move || {
        hand(&turns.turn, THEIRS);
        wait(&turns.turn, THEIRS);
        Ok(())
    });
    Ok((op, number))
}
