//! An open file description: the state shared by descriptors made by `dup` and `fork`, and by
//! entries of a ring's table of files.

use super::files::Target;
use ioscape_schema::Advice;
use std::cell::RefCell;
use std::rc::Rc;

/// A value that several owners share.
pub(super) type Shared<T> = Rc<RefCell<T>>;

/// An open file description.
#[derive(Debug)]
pub(super) struct Description {
    /// Its number; descriptors that share it have the same.
    pub(super) number: u32,
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
    /// What the kernel was told about future accesses.
    pub(super) advice: Advice,
    /// Shows that its file is open.
    pub(super) keeps_open: Option<Rc<()>>,
}

impl Description {
    /// Creates description number `number`, at the beginning of its file, with no flags set.
    pub(super) fn of(target: Target, number: u32) -> Self {
        Self {
            number,
            target,
            position: 0,
            appends: false,
            is_synchronous: false,
            is_direct: false,
            advice: Advice::Normal,
            keeps_open: None,
        }
    }

    /// Applies advice given by `posix_fadvise(2)`. Advice that says nothing about the order changes
    /// nothing.
    pub(super) fn take_advice(&mut self, advice: i32) {
        self.advice = match advice {
            libc::POSIX_FADV_NORMAL => Advice::Normal,
            libc::POSIX_FADV_RANDOM => Advice::Random,
            libc::POSIX_FADV_SEQUENTIAL => Advice::Sequential,
            _ => self.advice,
        };
    }

    /// Applies the flags with which the file was opened, or that were set later.
    pub(super) fn set_flags(&mut self, flags: i32) {
        self.appends = flags & libc::O_APPEND != 0;
        self.is_synchronous = flags & (libc::O_DSYNC | libc::O_SYNC) != 0;
        self.is_direct = flags & libc::O_DIRECT != 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_holds_until_another_one_of_the_order_is_given() {
        let mut one = Description::of(Target::File(0), 0);
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
