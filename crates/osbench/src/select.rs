//! `select`: asks which of some pipes are readable, without waiting (Ousterhout 1990, section 6,
//! Table 4); also `poll` and `epoll`.
#![expect(unsafe_code, reason = "select, poll and epoll on descriptors that this module owns")]

use super::case::{Case, Op, not_here, repeated, wrong};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;

/// Pipes, either all or none of which hold data.
struct Pipes {
    ends: Vec<(OwnedFd, OwnedFd)>,
    full: usize,
}

impl Pipes {
    fn new(count: usize, full: usize) -> io::Result<Self> {
        let mut ends = Vec::with_capacity(count);
        for _ in 0..count {
            ends.push(rustix::pipe::pipe()?);
        }
        for (_, write) in ends.iter().take(full) {
            rustix::io::write(write, b"a")?;
        }
        Ok(Self { ends, full })
    }

    fn readers(&self) -> impl Iterator<Item = i32> + '_ {
        self.ends.iter().map(|(read, _)| read.as_raw_fd())
    }

    /// Refuses an answer other than the number of full pipes: a call that did not do what was asked
    /// is no result.
    fn check(&self, ready: i32) -> io::Result<()> {
        match ready {
            -1 => Err(io::Error::last_os_error()),
            n if n as usize == self.full => Ok(()),
            n => Err(wrong(format!("{n} pipes are reported readable, but {} are", self.full))),
        }
    }
}

/// The cases; the relative speed is computed from `10 full`.
pub(crate) fn cases() -> Vec<Case> {
    let cost =
        "The cost of asking for ten readable pipes; the descriptor set is copied for every call.";
    let empty = "The same when there is nothing to read.";
    let one = "The same for a single pipe: the fixed part of the cost.";
    let listed = "The same with poll, which takes a list instead of a bit set.";
    let remembered = "The same with epoll, which remembers the list; ready descriptors are queued again, so it costs more when all are ready.";
    vec![
        Case::new("select", "1 empty", one, |_| select(Pipes::new(1, 0)?)),
        Case::new("select", "10 empty", empty, |_| select(Pipes::new(10, 0)?)),
        Case::new("select", "10 full", cost, |_| select(Pipes::new(10, 10)?)),
        Case::new("select", "poll, 10 empty", listed, |_| poll(Pipes::new(10, 0)?)),
        Case::new("select", "poll, 10 full", listed, |_| poll(Pipes::new(10, 10)?)),
        Case::new("select", "epoll, 10 empty", remembered, |_| epoll(Pipes::new(10, 0)?)),
        Case::new("select", "epoll, 10 full", remembered, |_| epoll(Pipes::new(10, 10)?)),
    ]
}

fn select(pipes: Pipes) -> io::Result<Op> {
    let highest = pipes.readers().max().unwrap_or(0);
    if highest as usize >= libc::FD_SETSIZE {
        return Err(not_here("this process has too many open files for select"));
    }
    // SAFETY: all-zero is an empty set; every descriptor is below FD_SETSIZE.
    let mask = unsafe {
        let mut mask = MaybeUninit::<libc::fd_set>::zeroed().assume_init();
        for reader in pipes.readers() {
            libc::FD_SET(reader, &mut mask);
        }
        mask
    };
    Ok(repeated(move || {
        // The call overwrites the set, so copying the set is part of using it.
        let mut set = mask;
        let mut at_once = libc::timeval { tv_sec: 0, tv_usec: 0 };
        // SAFETY: both pointers refer to live local values; the others may be null.
        let ready = unsafe {
            libc::select(highest + 1, &mut set, ptr::null_mut(), ptr::null_mut(), &mut at_once)
        };
        pipes.check(ready)
    }))
}

fn poll(pipes: Pipes) -> io::Result<Op> {
    let one = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let mut asked: Vec<libc::pollfd> = pipes.readers().map(one).collect();
    Ok(repeated(move || {
        // SAFETY: the pointer and the number describe a live vector.
        let ready = unsafe { libc::poll(asked.as_mut_ptr(), asked.len() as libc::nfds_t, 0) };
        pipes.check(ready)
    }))
}

fn epoll(pipes: Pipes) -> io::Result<Op> {
    // SAFETY: the call has no preconditions; its result is checked before this process takes it as
    // its own descriptor.
    let set = unsafe {
        let fd = libc::epoll_create1(libc::EPOLL_CLOEXEC);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        OwnedFd::from_raw_fd(fd)
    };
    for reader in pipes.readers() {
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: 0 };
        // SAFETY: the pointer is to a live event, the descriptors are open.
        let done =
            unsafe { libc::epoll_ctl(set.as_raw_fd(), libc::EPOLL_CTL_ADD, reader, &mut event) };
        if done != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    let mut events = vec![libc::epoll_event { events: 0, u64: 0 }; pipes.ends.len()];
    Ok(repeated(move || {
        let room = events.len() as i32;
        // SAFETY: the pointer and the number describe a live vector.
        let ready = unsafe { libc::epoll_wait(set.as_raw_fd(), events.as_mut_ptr(), room, 0) };
        pipes.check(ready)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Make = fn(Pipes) -> io::Result<Op>;

    #[test]
    fn every_way_of_asking_gets_the_right_answer() {
        for make in [select as Make, poll, epoll] {
            for full in [0, 4, 10] {
                make(Pipes::new(10, full).unwrap()).unwrap()(20).unwrap();
            }
        }
    }

    #[test]
    fn an_answer_that_is_wrong_on_purpose_is_refused() {
        for make in [select as Make, poll, epoll] {
            let mut pipes = Pipes::new(10, 3).unwrap();
            pipes.full = 10;
            let error = make(pipes).unwrap()(1).unwrap_err();
            assert!(error.to_string().starts_with("3 pipes"), "{error}");
        }
    }
}
