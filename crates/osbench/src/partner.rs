//! The other process of a benchmark that takes two.

use ioscape_machine::crew::Crew;
use std::io;

/// A process that lives as long as this value, or as its parent.
#[derive(Debug)]
pub(crate) struct Partner {
    crew: Crew,
}

impl Partner {
    /// Forks a process that runs `body` and leaves with the code it returns.
    pub(crate) fn fork(body: impl Fn() -> i32) -> io::Result<Self> {
        Ok(Self { crew: Crew::fork(1, |_| body())? })
    }

    /// Its number.
    pub(crate) fn id(&self) -> u32 {
        self.crew.first_id()
    }
}
