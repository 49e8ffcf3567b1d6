//! A block trace as a page and as text: every table and figure of Ruemmler & Wilkes 1993, and today's beside them.

mod charts;
mod compare;
mod maps;
mod page;
mod reference;
mod tables;
mod text;
mod traits;

pub use page::{sections, workloads};
pub use text::{text, workloads_text};
