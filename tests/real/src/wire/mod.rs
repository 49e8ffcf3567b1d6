//! An Ethernet cable of known length and speed between two network namespaces, as a process: not
//! every kernel has netem.

mod link;
mod tap;

pub use tap::NAME;

use link::Link;
use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

/// Frames that a direction holds; more are dropped, as in any switch.
const QUEUE: usize = 1000;
/// The largest frame in bytes.
const FRAME_MOST: usize = 2048;

/// A frame and its arrival time.
struct Frame {
    arrives_ns: u64,
    data: Vec<u8>,
}

/// Joins two namespaces until killed: `delay_us` each way, `mbit_per_s` each way (0 for no limit).
///
/// # Errors
/// One sentence about what the kernel refused.
pub fn serve(namespaces: [&str; 2], delay_us: u64, mbit_per_s: u64) -> Result<(), String> {
    let open = |name: &str| tap::open(name).map_err(|e| format!("namespace {name}: {e}"));
    let [first, second] = [open(namespaces[0])?, open(namespaces[1])?];
    let copy = |file: &File| file.try_clone().map_err(|e| format!("cable: {e}"));
    let begun = Instant::now();
    let link = Link::new(delay_us, mbit_per_s);
    let mut threads = Vec::new();
    for (from, to) in [(copy(&first)?, copy(&second)?), (second, first)] {
        let (sender, receiver) = sync_channel(QUEUE);
        threads.push(std::thread::spawn(move || take(from, link, begun, &sender)));
        threads.push(std::thread::spawn(move || give(to, begun, &receiver)));
    }
    threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "cable broke".to_owned()))
}

fn take(mut from: File, mut link: Link, begun: Instant, sender: &SyncSender<Frame>) {
    let mut buffer = [0; FRAME_MOST];
    // A device that is not up yet gives errors; once it is gone, so is the namespace, and this process is killed.
    loop {
        let Ok(length) = from.read(&mut buffer) else {
            std::thread::sleep(Duration::from_millis(1));
            continue;
        };
        let arrives_ns = link.send(length as u64, begun.elapsed().as_nanos() as u64);
        let frame = Frame { arrives_ns, data: buffer[..length].to_vec() };
        if let Err(TrySendError::Disconnected(_)) = sender.try_send(frame) {
            return;
        }
    }
}

fn give(mut to: File, begun: Instant, receiver: &Receiver<Frame>) {
    // By default the kernel wakes sleepers up to 50 us late.
    let _ = rustix::thread::set_current_timer_slack(NonZero::new(1));
    for frame in receiver {
        let left = Duration::from_nanos(frame.arrives_ns).saturating_sub(begun.elapsed());
        if !left.is_zero() {
            std::thread::sleep(left);
        }
        // A frame to a device that is down is lost, as on any cable.
        let _ = to.write_all(&frame.data);
    }
}
