//! From the five-parameter workload to deterministic request streams, and back from requests to the parameters.
//!
//! The model is that of Chen and Patterson (self-scaling paper, section 5; Unix I/O paper, section 5). Every
//! function depends on its arguments alone: the same [`Workload`](ioscape_schema::Workload) and seed give the
//! same requests on every machine, because random numbers come from a fixed generator and size tables from
//! software arithmetic.
//!
//! ```
//! use ioscape_schema::Workload;
//! use ioscape_workload::{Characterizer, streams};
//!
//! let workload = Workload { seq_frac: 1.0, read_frac: 0.0, ..Workload::default() };
//! let mut seen = Characterizer::for_workload(&workload);
//! for (process, stream) in streams(&workload, 1).into_iter().enumerate() {
//!     for request in stream.take(10_000) {
//!         seen.record(process as u32, &request);
//!     }
//! }
//! let found = seen.finish();
//! assert_eq!((found.seq_frac, found.read_frac, found.process_num), (1.0, 0.0, 1));
//! ```

mod alias;
pub mod campaign;
pub mod characterize;
pub mod iolog;
pub mod jobs;
pub mod sizes;
pub mod stream;
pub mod vxbench;

pub use characterize::{Application, Characterized, Characterizer, Portrait};
pub use iolog::write_fio_iolog;
pub use jobs::{Job, JobError, parse_jobs};
pub use sizes::{largest_request, set_bytes, size_cv};
pub use stream::{Stream, streams};
pub use vxbench::{VxError, VxPlan, VxRequests, VxWords};
