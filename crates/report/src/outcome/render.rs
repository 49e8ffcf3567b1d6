//! The interface that a kind of outcome implements so that every format can show it.

pub use crate::html::section::Section;
use crate::plot::Chart;
use crate::quantity::Quantity;
use crate::terminal::Style;
use ioscape_schema::Warning;

/// The part of an outcome that a warning is about, and the warning.
pub type PlacedWarning<'a> = (String, &'a Warning);

/// How one kind of outcome is shown in every format.
pub trait Render {
    /// The kind of result, for the top of the page: `self-scaling evaluation`.
    fn kind(&self) -> &'static str;

    /// The subject, such as the evaluated target; `None` if there is nothing to name.
    fn subject(&self) -> Option<String>;

    /// One fact for the line under the title, beside date and machine.
    fn fact(&self) -> Option<String> {
        None
    }

    /// Whether the terminal shows a title and the machine above the outcome.
    fn is_titled(&self) -> bool {
        true
    }

    /// The text for a terminal, beginning with an empty line.
    fn text(&self, style: &Style) -> String;

    /// The sections of the page, in order.
    fn sections(&self) -> Vec<Section>;

    /// Reference material: sections that follow the description of the machine.
    fn appendix(&self) -> Vec<Section> {
        Vec::new()
    }

    /// Comma-separated values under a header; `None` if the outcome has no table of points.
    fn csv(&self) -> Option<String> {
        None
    }

    /// The chart of the standalone picture, for `quantity` if it has several; `None` without a
    /// picture.
    fn chart(&self, _quantity: Quantity) -> Option<Chart> {
        None
    }

    /// The warnings stored with parts of the outcome.
    fn warnings(&self) -> Vec<PlacedWarning<'_>> {
        Vec::new()
    }
}
