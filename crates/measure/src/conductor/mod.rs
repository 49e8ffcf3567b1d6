//! The parent's side of a run: it waits for the workers, watches them and explains their failures.

pub(crate) mod failure;
pub(crate) mod stops;
pub(crate) mod watched;
