//! Switching between two threads that wait for each other on a futex.

use crate::os::case::{Case, Op, Scene};
use crate::os::cswitch::other;
use crate::os::process::pin;
use ioscape_schema::OsRule;
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
    let two = "The same across processors: what locks cost that are passed from one to another.";
    let same = |scene: &Scene| operation(scene.cpu);
    vec![
        Case::new("thread-switch", "futex, same CPU", one, same).by(OsRule::Quartile),
        Case::new("thread-switch", "futex, two CPUs", two, |scene| operation(other(scene)?))
            .by(OsRule::Quartile),
    ]
}

/// The turn, shared by both threads; the second thread ends when it is dropped.
struct Turns {
    turn: Arc<AtomicU32>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Drop for Turns {
    fn drop(&mut self) {
        hand(&self.turn, OVER);
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing more to tell.
            let _ = thread.join();
        }
    }
}

fn hand(turn: &AtomicU32, to: u32) {
    turn.store(to, Ordering::Release);
    // A waiter that is not asleep sees the new value by itself.
    let _ = futex::wake(turn, futex::Flags::PRIVATE, 1);
}

/// Waits while it is `whose` turn; gives the turn then.
fn wait(turn: &AtomicU32, whose: u32) -> u32 {
    loop {
        let now = turn.load(Ordering::Acquire);
        if now != whose {
            return now;
        }
        let _ = futex::wait(turn, futex::Flags::PRIVATE, whose, None);
    }
}

fn operation(cpu: usize) -> io::Result<Op> {
    let turn = Arc::new(AtomicU32::new(MINE));
    let theirs = Arc::clone(&turn);
    let thread = std::thread::spawn(move || {
        // Without the pin the two would still take turns, and only the result would be another.
        let _ = pin(cpu);
        while wait(&theirs, MINE) != OVER {
            hand(&theirs, MINE);
        }
    });
    let turns = Turns { turn, thread: Some(thread) };
    Ok(Box::new(move |count| {
        for _ in 0..count {
            hand(&turns.turn, THEIRS);
            wait(&turns.turn, THEIRS);
        }
        Ok(())
    }))
}
