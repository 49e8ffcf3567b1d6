//! Messages among many tasks: every sender sends to every receiver, as in hackbench (Zhang, 2004).

use crate::case::{Case, Op, Scene, wrong};
use crate::team::{Team, TeamPlan};
use crate::waiting::Waiting;
use ioscape_schema::{OsRule, OsTasks};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// Senders and receivers: one group, half as large as hackbench's.
const SENDERS: u32 = 10;
const RECEIVERS: u32 = 10;

/// Bytes of a message, as in hackbench.
const BYTES: usize = 100;

/// Duration of a batch. Start and end take about a millisecond in which not all tasks work:
/// hackbench's own time per message is a fifth longer in runs of 5 ms than in runs of 100 ms.
const BATCH_NS: u64 = 50_000_000;

/// The cases.
pub(crate) fn cases() -> Vec<Case> {
    let all = [
        (
            OsTasks::Processes,
            "Ten processes send to ten others through sockets, where the scheduler places them: wake-ups and switches under load, per message.",
        ),
        (OsTasks::Threads, "The same among twenty threads."),
    ];
    let case = |(kind, teaches): (OsTasks, &'static str)| {
        let name = format!("10 to 10 {}", kind.word(2));
        let mut case = Case::new("messages", name, teaches, move |scene| operation(scene, kind));
        case.tasks = Some((SENDERS + RECEIVERS, kind));
        let case = case.sleeping().by(OsRule::Quartile).unpinned();
        case.of_each(f64::from(SENDERS * RECEIVERS)).batches_of(BATCH_NS)
    };
    all.map(case).into()
}

fn operation(scene: &Scene, kind: OsTasks) -> io::Result<Op> {
    scene.unrestricted(usize::MAX)?;
    let pairs = (0..RECEIVERS).map(|_| UnixStream::pair()).collect::<io::Result<Vec<_>>>()?;
    let pairs = Arc::new(pairs);
    let (count, waiting) = (SENDERS + RECEIVERS, Waiting::Queued);
    let (cpus, slower) = (Vec::new(), Vec::new());
    let plan = TeamPlan { kind, count, cpus, slower, waiting };
    let mut team = Team::start(&plan, move |number| {
        let pairs = Arc::clone(&pairs);
        Ok(match number.checked_sub(RECEIVERS) {
            None => Box::new(move |count| receive(&pairs[number as usize].1, count)),
            Some(_) => Box::new(move |count| send(&pairs, count)),
        })
    })?;
    let timing = scene.timed_by_itself();
    Ok(Box::new(move |count| {
        // Tasks waiting for each other's processors are what is measured, not a disturbance.
        timing.set(crate::case::Timing { waited_ns: None, ..team.run(count)? });
        Ok(())
    }))
}

fn send(pairs: &[(UnixStream, UnixStream)], count: u64) -> io::Result<()> {
    for _ in 0..count {
        pairs.iter().try_for_each(|pair| (&pair.0).write_all(&[7; BYTES]))?;
    }
    Ok(())
}

fn receive(mut from: &UnixStream, count: u64) -> io::Result<()> {
    let mut message = [0; BYTES];
    for _ in 0..count * u64::from(SENDERS) {
        from.read_exact(&mut message)?;
        if message[BYTES - 1] != 7 {
            return Err(wrong("a message arrived that nobody sent"));
        }
    }
    Ok(())
}
