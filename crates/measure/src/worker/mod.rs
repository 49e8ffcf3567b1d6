//! The work of a worker process: its streams, its meter, its report.

pub(crate) mod meter;
mod pages;
pub(crate) mod pauses;
pub(crate) mod report;
pub(crate) mod rows;
pub(crate) mod run;
pub(crate) mod stream;
pub(crate) mod task;
