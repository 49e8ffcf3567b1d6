//! Judges what the measured points mean: borders, regions, findings and sentences.
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
//! It has seven entry points; another way to judge need provide only these:
//!
//! - [`levels::borders_of`], and [`levels::judged`] without probabilities, while a curve is being
//!   measured: estimates the borders so far, by quick rules that only choose the next points;
//! - [`levels::judged`], once the three curves are complete: computes the posterior over the number
//!   of levels and their places, and which measurements would tell more;
//! - [`slowdown::unsure`], next: lists the sets to measure again before a border can be reported;
//! - [`any_file::rounds_would_tell`], when rounds are repeated for comparisons: says which
//!   comparisons more rounds could settle;
//! - [`levels::reconsider`], at the end: judges the levels again from all rounds, with the focal
//!   vectors at which the curves were measured;
//! - [`assemble::finish`]: builds the document, including findings and sentences, from evidence and
//!   levels;
//! - [`judge()`]: does the same for a stored document, whose log is the evidence. Judging a
//!   finished evaluation must reproduce that evaluation (a test checks this), so the log holds
//!   everything that a judgement may rest on.
//!
//! Witnesses other than throughput (resident share of the set, bytes read from storage, processor
//! time) are fields of every [`Measurement`](ioscape_schema::Measurement) in the evidence:
//! [`evidence::Evidence`] gives each point's rounds with them.

mod absence;
pub(crate) mod any_file;
pub(crate) mod assemble;
mod beyond;
pub(crate) mod borders;
pub(crate) mod curve;
mod dirty;
pub(crate) mod document;
mod drift;
pub(crate) mod evidence;
mod findings;
mod flush;
pub(crate) mod focal;
mod in_memory;
pub(crate) mod lasting;
mod level_sentences;
pub(crate) mod levels;
mod moved;
pub(crate) mod points;
pub(crate) mod policy;
mod posterior;
mod queue_depth;
mod reached;
pub(crate) mod regions;
mod residency;
mod rivals;
pub(crate) mod segment;
mod sentences;
mod set_size;
pub(crate) mod sides;
pub(crate) mod slowdown;
pub(crate) mod steadiness;
#[doc(hidden)]
pub mod testing_agreement;
mod words;

pub use document::judge;
pub use findings::findings;
