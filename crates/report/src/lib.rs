//! A document as terminal text, one self-contained page, SVG, JSON and CSV.
//!
//! Every renderer is a function of the document alone: it computes no statistic, opens no file and prints
//! nothing. Names from outside (targets, commands, file systems, warnings) are data: no renderer lets them
//! act on a terminal or a browser.

mod accuracy;
mod application;
mod csv;
mod figures;
mod finite;
mod html;
mod json;
mod landscape;
mod os;
mod plot;
mod ranges;
mod ratios;
mod simulation;
mod terminal;
mod text;
mod trace;

#[cfg(test)]
#[path = "../tests/sample/mod.rs"]
mod sample;

pub use csv::csv;
pub use html::html;
pub use json::{NotFinite, ReadError, from_json, json};
pub use landscape::landscape_svg;
pub use terminal::{Style, terminal};
