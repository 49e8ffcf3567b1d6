//! Renders a document as terminal text, one self-contained page, SVG, PNG, JSON or CSV.
//!
//! Every renderer is a function of the document alone: it computes no statistic, opens no file and
//! prints nothing. It treats names from outside (targets, commands, file systems, warnings) as
//! data, so that they cannot act on a terminal or a browser.

mod accuracy;
mod application;
mod bars;
mod campaign;
mod clients;
mod columns;
mod csv;
mod curve;
mod document;
mod figures;
mod html;
mod levels;
mod measured;
mod openmetrics;
mod os;
mod outcome;
mod overlay;
mod plot;
mod quantity;
mod ranges;
mod raster;
mod ratios;
mod regional;
mod replay;
mod simulation;
mod sustained;
mod terminal;
mod text;
mod top;
mod trace;
mod verify;
mod witnesses;

#[cfg(test)]
#[path = "../tests/sample/mod.rs"]
mod sample;

pub use document::{
    NotFinite, ReadError, csv, from_json, html, joint_html, joint_svg, json, landscape,
    landscape_svg, named_figure, named_table, terminal, with_unique_names,
};
pub use openmetrics::openmetrics;
pub use quantity::Quantity;
pub use raster::{PictureError, png};
pub use terminal::Style;
pub use terminal::os::of_several as os_side_by_side;
pub use top::{TOP_PAGE, draw_top, top_openmetrics, top_text};
