//! Descriptors of traced processes, and what `open`, `dup`, `fork` and `close` do to them.

use super::asynchronous::Asynchronous;
use super::description::{Description, Shared};
use super::files::{self, Files, UNIDENTIFIED};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// The descriptors of one process.
#[derive(Clone, Debug, Default)]
pub(super) struct Descriptors {
    known: HashMap<i32, Shared<Description>>,
    /// The process's requests in flight.
    pub(super) asynchronous: Asynchronous,
}

impl Descriptors {
    /// The description behind `fd` of thread `tid`: the known one, or else the one that `/proc`
    /// shows now.
    pub(super) fn get(&mut self, files: &mut Files, tid: i32, fd: i32) -> Shared<Description> {
        if let Some(known) = self.known.get(&fd) {
            return Rc::clone(known);
        }
        files.descriptions = files.descriptions.wrapping_add(1);
        let mut description = Description::of(files.identify(tid, fd), files.descriptions);
        description.keeps_open = files.keep_open(description.target);
        if description.keeps_open.is_some() {
            let (position, flags) = files.told(files::position_and_flags(tid, fd));
            description.position = position;
            description.set_flags(flags);
        }
        // A descriptor that was not open may be by the next call.
        let is_identified = description.target != UNIDENTIFIED;
        let shared = Rc::new(RefCell::new(description));
        if is_identified {
            self.known.insert(fd, Rc::clone(&shared));
        }
        shared
    }

    /// Forgets `fd`: it is closed, or about to refer to something else.
    pub(super) fn remove(&mut self, fd: i32) {
        self.known.remove(&fd);
    }

    /// Forgets all descriptors from `first` to `last`.
    pub(super) fn remove_range(&mut self, first: u32, last: u32) {
        self.known.retain(|&fd, _| !(first..=last).contains(&(fd as u32)));
    }

    /// Whether `fd` still refers to this description.
    pub(super) fn are_of(&self, fd: i32, description: &Shared<Description>) -> bool {
        self.known.get(&fd).is_some_and(|known| Rc::ptr_eq(known, description))
    }

    /// Makes `copy` refer to a description.
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

    /// After an exec, keeps the descriptors that are still open and learns about new ones. Rings
    /// are gone, along with their memory.
    pub(super) fn settle(&mut self, files: &mut Files, tid: i32) {
        self.asynchronous = Asynchronous::default();
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
    use super::super::files::Target;
    use super::*;
    use std::os::fd::AsRawFd;

    /// Guards against a defect: to find out whether a deleted file was open, the descriptors of
    /// every thread were looked through, which took 34 ms for 1000 threads with 1000 files.
    #[test]
    fn a_file_is_open_until_all_copies_of_its_descriptors_are_closed() {
        let (me, file) = (std::process::id() as i32, tempfile::tempfile().unwrap());
        let (mut files, mut parent) = (Files::new(None), Descriptors::default());
        let fd = file.as_raw_fd();
        let description = parent.get(&mut files, me, fd);
        assert_eq!(description.borrow().target, Target::File(0));
        parent.set(fd + 1, description);
        let mut child = parent.clone();
        parent.remove_range(0, u32::MAX);
        child.remove(fd);
        assert!(files.is_open(0), "as the child's copy");
        child.remove(fd + 1);
        assert!(!files.is_open(0));
        drop(parent.get(&mut files, me, fd));
        assert!(files.is_open(0), "again");
    }
}
