//! Renders a whole document in every format: the common parts, and those of its outcome.

mod csv;
mod figure_svg;
mod finite;
mod joint;
mod json;
mod key;
mod page;
mod part;
mod place;
mod svg;
mod switch;
mod table_csv;
mod terminal;

pub use csv::csv;
#[cfg(test)]
pub use figure_svg::{figure_names, figure_svg};
pub use finite::NotFinite;
pub use joint::{joint_html, with_unique_names};
pub use json::{ReadError, from_json, json};
pub use page::html;
pub use part::{landscape, named_figure, named_table};
pub use svg::{joint_svg, landscape_svg};
pub use terminal::terminal;

#[cfg(test)]
mod trace_tests;
