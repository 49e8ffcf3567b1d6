//! What the answers mean: borders, regions, findings and sentences from the points measured.
//!
//! The judge requests no measurement and knows no budget. It is a function of its evidence:
//!
//! ```text
//! log of probes (workload, measurement with its witnesses, purpose), in order
//!    |  points     distinct workloads with their rounds; references between them
//!    |  evidence   which points lie on which curve, and which off all curves
//!    v
//! Evidence --levels--> Levels    borders of the three set-size curves, and the regions between those of storage
//!    |                   |
//!    '------ assemble ---'--> Evaluation   curves of medians, borders, regions, slope, drift
//!                                 |
//!                              findings --> Findings   numbers with bounds; then the sentences that follow from them
//! ```
//!
//! It is called in four places; another way to judge has to provide these only:
//!
//! - [`levels::found`] and [`levels::borders_of`], while an evaluation runs: where the borders are by now, so that the next
//!   points can be put where they are most informative;
//! - [`levels::reconsider`], at its end: the levels by all rounds, with the focal vectors that the curves were measured at;
//! - [`assemble::finish`]: the document, findings and sentences included, from evidence and levels; here alone the posterior
//!   over the number of levels is asked, which can only withhold that number;
//! - [`judge()`]: the same from a stored document, whose log is the evidence. What `judge` makes of a finished evaluation is
//!   that evaluation, which is tested; so the log holds all that a judgement may rest on.
//!
//! Witnesses beside throughput (share of the set resident, bytes read from storage, processor time) are fields of every
//! [`Measurement`](ioscape_schema::Measurement) of the evidence: [`evidence::Evidence`] gives each point's rounds with them.

pub(crate) mod assemble;
pub(crate) mod borders;
pub(crate) mod curve;
pub(crate) mod document;
mod drift;
pub(crate) mod evidence;
mod findings;
mod flush;
pub(crate) mod focal;
mod in_memory;
pub(crate) mod levels;
pub(crate) mod points;
mod policy;
mod posterior;
pub(crate) mod regions;
mod residency;
pub(crate) mod segment;
mod sentences;
mod words;

pub use document::judge;
pub use findings::findings;
