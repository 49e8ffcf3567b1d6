//! Turns a workload of five parameters into deterministic request streams, and requests back into
//! the parameters.
//!
//! The model is that of Chen and Patterson (self-scaling paper, section 5; Unix I/O paper, section 5). Every
//! function depends on its arguments alone: the same [`Workload`](ioscape_schema::Workload) and seed give the
//! same requests on every machine, because random numbers come from a fixed generator and size tables from
//! software arithmetic.
//!
//! ```
//! use ioscape_schema::{FileCall, Workload};
//! use ioscape_workload::{Application, streams};
//!
//! let workload = Workload { unique_bytes: 1 << 30, seq_frac: 1.0, read_frac: 0.0, ..Workload::default() };
//! let mut seen = Application::new(4096);
//! for (process, stream) in (0..).zip(streams(&workload, 1)) {
//!     for request in stream.take(10_000) {
//!         seen.record(&FileCall { process, request, ..FileCall::default() });
//!     }
//! }
//! let found = seen.finish().overall;
//! assert_eq!((found.seq_frac, found.read_frac, found.process_num), (1.0, 0.0, 1));
//! ```

mod alias;
pub mod campaign;
pub mod characterize;
pub mod command_line;
pub mod fio;
pub mod iolog;
pub mod jobs;
pub mod sizes;
pub mod stream;
pub mod vdbench;
pub mod vxbench;

pub use characterize::Application;
pub use iolog::write_fio_iolog;
pub use jobs::{Job, JobError, parse_jobs};
pub use sizes::largest_request;
pub use stream::{Stream, seed_of_round, streams};
pub use vxbench::{VxError, VxPlan, VxRequests, VxWords};
