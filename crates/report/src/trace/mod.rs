//! A block trace as a page and as text: the tables and figures of Ruemmler & Wilkes 1993, and more.

mod charts;
mod compare;
mod comparison;
mod few;
mod headlines;
mod maps;
mod over_time;
mod page;
mod reference;
mod tables;
mod text;
mod together;
mod traits;

pub use comparison::{comparison_sections, comparison_text};
pub use page::{sections, workloads};
pub use text::{text, workloads_text};
pub use together::side_by_side;
