//! Evaluations, judgements and predictions of systems whose laws are written down. One binary, so that it is linked once.

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
