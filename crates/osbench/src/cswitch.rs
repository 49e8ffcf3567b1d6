//! `cswitch`: the round trip of one byte to another process and back through two pipes (Ousterhout
//! 1990, section 5, Table 3).

use super::case::{Case, Op, Scene, not_here, repeated, wrong};
use ioscape_machine::affinity::pin;
use ioscape_machine::crew::Crew;
use ioscape_schema::OsRule;
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;

/// The cases: both processes on one processor, as on the machines of 1990; on two; and wherever the
/// scheduler puts them. The relative speed is computed from the first, the only one with two
/// context switches.
pub(crate) fn cases() -> Vec<Case> {
    let one = Case::new(
        "cswitch",
        "same CPU",
        "Two context switches and four calls on pipes: the cost of handing over to another process.",
        |scene| operation(scene, Some(scene.cpu), Some(scene.cpu)),
    );
    let two = Case::new(
        "cswitch",
        "two CPUs",
        "The same across processors: an interrupt and a wake-up from idle instead of a switch.",
        |scene| operation(scene, Some(scene.cpu), Some(other(scene)?)),
    );
    let free = Case::new(
        "cswitch",
        "unpinned",
        "Both where the scheduler places them: often the more expensive way.",
        |scene| {
            other(scene)?;
            scene.unrestricted(usize::MAX)?;
            operation(scene, None, None)
        },
    );
    vec![one, two.across_two(), free.sleeping().by(OsRule::Quartile).unpinned()]
}

/// Returns another processor than the scene's.
pub(crate) fn other(scene: &Scene) -> io::Result<usize> {
    scene.other_cpu().ok_or_else(|| not_here("this process may run on one processor only"))
}

/// Sends one byte to the partner and receives it back.
pub(crate) fn round_trip(to: &OwnedFd, from: &OwnedFd) -> io::Result<()> {
    let mut byte = [b'a'];
    match rustix::io::write(to, &byte) {
        Ok(1) if rustix::io::read(from, &mut byte)? == 1 => Ok(()),
        Ok(_) | Err(Errno::PIPE) => Err(wrong("the other process ended")),
        Err(error) => Err(error.into()),
    }
}

/// Echoes bytes until the input ends.
pub(crate) fn echo(from: &OwnedFd, to: &OwnedFd) -> i32 {
    let mut byte = [0];
    while rustix::io::read(from, &mut byte) == Ok(1) && rustix::io::write(to, &byte) == Ok(1) {}
    0
}

fn operation(scene: &Scene, mine: Option<usize>, partners: Option<usize>) -> io::Result<Op> {
    let (there_read, there_write) = rustix::pipe::pipe()?;
    let (back_read, back_write) = rustix::pipe::pipe()?;
    let partner = Crew::fork(1, |_| {
        if partners.is_some_and(|cpu| pin(cpu).is_err()) {
            return 1;
        }
        // The first bytes report where this process runs.
        let here = rustix::thread::sched_getcpu().to_ne_bytes();
        if rustix::io::write(&back_write, &here) != Ok(here.len()) {
            return 1;
        }
        echo(&there_read, &back_write)
    })?;
    scene.partner.set(Some(partner.first_id()));
    // As long as the partner's ends are open here, its death would go unnoticed.
    drop((there_read, back_write));
    let mut there = [0; size_of::<usize>()];
    if rustix::io::read(&back_read, &mut there)? != there.len() {
        return Err(wrong("the other process could not start"));
    }
    if mine.is_some() {
        let there = usize::from_ne_bytes(there);
        as_meant(rustix::thread::sched_getcpu(), there, mine == partners)?;
    }
    Ok(repeated(move || {
        let _alive = &partner;
        round_trip(&there_write, &back_read)
    }))
}

/// Refuses processors that are not the same, or not different, as intended.
fn as_meant(mine: usize, partners: usize, same: bool) -> io::Result<()> {
    if (mine == partners) == same {
        return Ok(());
    }
    let wanted = if same { "one processor" } else { "two processors" };
    Err(wrong(format!("pinned to {wanted}, but the processes run on {mine} and {partners}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alone() -> Scene {
        Scene::default()
    }

    #[test]
    fn the_byte_comes_back() {
        let mut op = operation(&alone(), None, None).unwrap();
        op(100).unwrap();
    }

    #[test]
    fn a_partner_that_ends_is_seen() {
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            // No machine has this processor, so the partner ends before its first byte.
            let why = operation(&alone(), None, Some(usize::MAX)).err();
            let _ = tell.send(why.map(|error| error.to_string()));
        });
        let why =
            told.recv_timeout(std::time::Duration::from_secs(300)).expect("it waits for ever");
        assert!(why.unwrap().contains("could not start"));
        let (to, from) = (rustix::pipe::pipe().unwrap(), rustix::pipe::pipe().unwrap());
        drop(to.0);
        assert!(round_trip(&to.1, &from.0).unwrap_err().to_string().contains("process ended"));
    }

    #[test]
    fn processes_on_the_wrong_processors_are_found_out() {
        assert!(as_meant(1, 1, true).is_ok() && as_meant(0, 1, false).is_ok());
        assert!(as_meant(0, 1, true).unwrap_err().to_string().contains("0 and 1"));
        assert!(as_meant(1, 1, false).is_err());
        assert!(as_meant(0, 256, false).is_ok() && as_meant(0, 256, true).is_err());
        let cpus = crate::machine::processors();
        if cpus.len() < 2 {
            ioscape_machine::testing::skipped("one processor only");
            return;
        }
        // Injected fault: the partner runs elsewhere than the case says.
        let spread = std::thread::spawn(move || {
            pin(cpus[0]).unwrap();
            as_meant(rustix::thread::sched_getcpu(), cpus[1], true).is_err()
        });
        assert!(spread.join().unwrap());
    }

    #[test]
    fn one_processor_is_a_marked_cell() {
        assert_eq!(other(&alone()).unwrap_err().kind(), io::ErrorKind::Unsupported);
    }
}
