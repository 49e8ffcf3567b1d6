//! Descriptors of traced processes: what `open`, `dup`, `fork` and `close` do to them, and who shares a file position.

use super::asynchronous::Asynchronous;
use super::files::{self, Files, Target};
use ioscape_schema::Advice;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Something that several owners see the same of.
pub(super) type Shared<T> = Rc<RefCell<T>>;

/// An open file description: what descriptors made by `dup` and `fork` have in common.
#[derive(Debug)]
pub(super) struct Description {
    /// What it refers to.
    pub(super) target: Target,
    /// Where the next call without an offset begins.
    pub(super) position: u64,
    /// Whether writes go to the end of the file.
    pub(super) appends: bool,
    /// Whether writes reach storage before they return.
    pub(super) is_synchronous: bool,
    /// Whether it bypasses the file cache.
    pub(super) is_direct: bool,
    /// What the kernel was told about the accesses to come.
    pub(super) advice: Advice,
}

impl Description {
    /// Takes over an advice of `posix_fadvise(2)`; those that say nothing of the order change nothing.
    pub(super) fn take_advice(&mut self, advice: i32) {
        self.advice = match advice {
            libc::POSIX_FADV_NORMAL => Advice::Normal,
            libc::POSIX_FADV_RANDOM => Advice::Random,
            libc::POSIX_FADV_SEQUENTIAL => Advice::Sequential,
            _ => self.advice,
        };
    }

    /// Takes over the flags that the file was opened with, or that were set later.
    fn set_flags(&mut self, flags: i32) {
        self.appends = flags & libc::O_APPEND != 0;
        self.is_synchronous = flags & (libc::O_DSYNC | libc::O_SYNC) != 0;
        self.is_direct = flags & libc::O_DIRECT != 0;
    }
}

/// The descriptors of one process.
#[derive(Clone, Debug, Default)]
pub(super) struct Descriptors {
    known: HashMap<i32, Shared<Description>>,
    /// The requests that the process has in flight.
    pub(super) asynchronous: Asynchronous,
}

impl Descriptors {
    /// The description behind `fd` of thread `tid`: as known, or as `/proc` says now.
    pub(super) fn get(&mut self, files: &mut Files, tid: i32, fd: i32) -> Shared<Description> {
        if let Some(known) = self.known.get(&fd) {
            return Rc::clone(known);
        }
        let mut description = Description {
            target: files.identify(tid, fd),
            position: 0,
            appends: false,
            is_synchronous: false,
            is_direct: false,
            advice: Advice::Normal,
        };
        if matches!(description.target, Target::File(_))
            && let Some((position, flags)) = files::position_and_flags(tid, fd)
        {
            description.position = position;
            description.set_flags(flags);
        }
        let shared = Rc::new(RefCell::new(description));
        self.known.insert(fd, Rc::clone(&shared));
        shared
    }

    /// Forgets `fd`: it is closed, or about to stand for something else.
    pub(super) fn remove(&mut self, fd: i32) {
        self.known.remove(&fd);
    }

    /// Forgets all from `first` to `last`.
    pub(super) fn remove_range(&mut self, first: u32, last: u32) {
        self.known.retain(|&fd, _| !(first..=last).contains(&(fd as u32)));
    }

    /// Whether one of them refers to file number `file`.
    pub(super) fn hold(&self, file: u32) -> bool {
        self.known.values().any(|known| known.borrow().target == Target::File(file))
    }

    /// Makes `copy` stand for the same as a description.
    pub(super) fn set(&mut self, copy: i32, description: Shared<Description>) {
        self.known.insert(copy, description);
    }

    /// Reads the flags of `fd` again.
    pub(super) fn refresh_flags(&mut self, tid: i32, fd: i32) {
        if let (Some(known), Some((_, flags))) =
            (self.known.get(&fd), files::position_and_flags(tid, fd))
        {
            known.borrow_mut().set_flags(flags);
        }
    }

    /// After an exec: keeps what is still open, and learns what is.
    pub(super) fn settle(&mut self, files: &mut Files, tid: i32) {
        let Some(open) = files::open_descriptors(tid) else {
            self.known.clear();
            return;
        };
        self.known.retain(|fd, _| open.contains(fd));
        for fd in open {
            self.get(files, tid, fd);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_holds_until_another_one_of_the_order_is_given() {
        let mut one = Description {
            target: Target::File(0),
            position: 0,
            appends: false,
            is_synchronous: false,
            is_direct: false,
            advice: Advice::Normal,
        };
        let advised = [
            (libc::POSIX_FADV_SEQUENTIAL, Advice::Sequential),
            (libc::POSIX_FADV_DONTNEED, Advice::Sequential),
            (libc::POSIX_FADV_RANDOM, Advice::Random),
            (libc::POSIX_FADV_NORMAL, Advice::Normal),
        ];
        for (told, wanted) in advised {
            one.take_advice(told);
            assert_eq!(one.advice, wanted);
        }
    }
}
