//! What a kind of outcome must provide so that every format can show it.

pub use crate::html::section::Section;
use crate::plot::Chart;
use crate::quantity::Quantity;
use crate::terminal::Style;
use ioscape_schema::Warning;

/// A warning about a part of an outcome, and which part.
pub type PlacedWarning<'a> = (String, &'a Warning);

/// How one kind of outcome is shown in every format.
pub trait Render {
    /// What kind of result it is, for the top of the page: `self-scaling evaluation`.
    fn kind(&self) -> &'static str;

    /// What it is about, such as the evaluated target; `None` when it holds nothing that could be named.
    fn subject(&self) -> Option<String>;

    /// One fact for the line under the title, beside date and machine.
    fn fact(&self) -> Option<String> {
        None
    }

    /// Whether the terminal shows a title and the machine above it.
    fn is_titled(&self) -> bool {
        true
    }

    /// Text for a terminal, beginning with an empty line.
    fn text(&self, style: &Style) -> String;

    /// Sections of the page, in order.
    fn sections(&self) -> Vec<Section>;

    /// Sections that follow the description of the machine: reference material.
    fn appendix(&self) -> Vec<Section> {
        Vec::new()
    }

    /// Comma-separated values under a header; `None` when it has no table of points.
    fn csv(&self) -> Option<String> {
        None
    }

    /// The chart of its stand-alone picture, of this quantity where it has several; `None` when it has none.
    fn chart(&self, _quantity: Quantity) -> Option<Chart> {
        None
    }

    /// Warnings that are stored with its parts.
    fn warnings(&self) -> Vec<PlacedWarning<'_>> {
        Vec::new()
    }
}
