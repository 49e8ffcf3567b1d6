//! The side of a run that stays outside the workers: it waits for them, looks after them and explains their failures.

pub(crate) mod failure;
pub(crate) mod stops;
pub(crate) mod watched;
