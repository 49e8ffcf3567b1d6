//! What the answers mean: borders, regions, findings and sentences from the points measured.
//!
//! The judge requests no measurement and knows no budget. It is a function of its evidence:
//!
//! ```text
//! log of probes (workload, measurement with its witnesses, purpose), in order
//!    |  points     distinct workloads with their rounds; references between them
//!    |  evidence   which points lie on which curve, and which off all curves
//!    v
//! Evidence --levels--> Levels    how probable each number of levels is; their borders, and the regions between them
//!    |                   |
//!    '------ assemble ---'--> Evaluation   curves of medians, borders, regions, slope, drift
//!                                 |
//!                              findings --> Findings   numbers with bounds; then the sentences that follow from them
//! ```
//!
//! It is called in seven places; another way to judge has to provide these only:
//!
//! - [`levels::borders_of`], and [`levels::judged`] without its probabilities, while a curve is measured: where borders seem to be
//!   by now, by quick rules that only choose the next points;
//! - [`levels::judged`], when the three curves are there: the posterior over the number of levels and their places, and which
//!   measurement would tell more;
//! - [`slowdown::unsure`], then: which sets must be measured again for a border to be told;
//! - [`any_file::rounds_would_tell`], when rounds are repeated for comparisons: which ones they could tell;
//! - [`levels::reconsider`], at the end: the same by all rounds, with the focal vectors that the curves were measured at;
//! - [`assemble::finish`]: the document, findings and sentences included, from evidence and levels;
//! - [`judge()`]: the same from a stored document, whose log is the evidence. What `judge` makes of a finished evaluation is
//!   that evaluation, which is tested; so the log holds all that a judgement may rest on.
//!
//! Witnesses besides throughput (share of the set resident, bytes read from storage, processor time) are fields of every
//! [`Measurement`](ioscape_schema::Measurement) of the evidence: [`evidence::Evidence`] gives each point's rounds with them.

mod absence;
pub mod agreement;
pub(crate) mod any_file;
pub(crate) mod assemble;
mod beyond;
pub(crate) mod borders;
pub(crate) mod curve;
pub(crate) mod document;
mod drift;
pub(crate) mod evidence;
mod findings;
mod flush;
pub(crate) mod focal;
mod in_memory;
mod level_sentences;
pub(crate) mod levels;
mod moved;
pub(crate) mod points;
mod policy;
mod posterior;
mod queue_depth;
pub(crate) mod regions;
mod residency;
mod rivals;
pub(crate) mod segment;
mod sentences;
mod set_size;
pub(crate) mod slowdown;
mod words;

pub use document::judge;
pub use findings::findings;
