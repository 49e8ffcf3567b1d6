//! Comparisons of systems: ratios of their measurements and predictions, the cheapest that is fast
//! enough, and how the systems differ.

mod choice;
mod differences;
pub mod measured;
pub mod price;
mod ratio;

pub use choice::choose;
pub use differences::{EvaluatedSystem, differences, other_pages, other_way};
pub use ratio::compare;
