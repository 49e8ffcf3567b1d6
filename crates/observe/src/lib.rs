//! Watching the I/O of other programs: the kernel's block events ([`record`]) and the calls of a
//! command ([`calls`]).

pub mod calls;
mod namespace;
pub mod record;
