//! Evaluations, judgements and predictions of systems with known laws. It is a single binary, so
//! that it is linked only once.

mod applications;
mod borders;
mod changed;
mod clients;
mod evaluation;
mod exchanges;
mod judge;
mod machines;
mod made_up;
mod prediction;
mod sentences;
mod short;
mod stacking;
#[path = "../../tests/today/mod.rs"]
mod today;
mod unfilled;
