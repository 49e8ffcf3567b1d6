//! A whole document in every format: what all outcomes share, around what the outcome's renderer says.

mod csv;
mod figure_svg;
mod finite;
mod joint;
mod json;
mod page;
mod place;
mod svg;
mod switch;
mod table_csv;
mod terminal;

pub use csv::csv;
pub use figure_svg::{figure_names, figure_svg};
pub use joint::{joint_html, with_unique_names};
pub use json::{NotFinite, ReadError, from_json, json};
pub use page::html;
pub use svg::{joint_svg, landscape_svg};
pub use table_csv::{table_csv, table_names};
pub use terminal::terminal;

#[cfg(test)]
mod trace_tests;
