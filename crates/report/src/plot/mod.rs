//! Draws charts as SVG: axes, lines with error bars, bands, vertical markers.
//!
//! `plotters` and `kuva` draw good static pictures, but write colours and fonts into every element.
//! The page needs class names that follow a light and a dark theme, tooltips that work without
//! scripts, groups that a legend can hide, byte ticks at powers of two, and text that is readable
//! on a narrow screen. That takes a few hundred lines here; with those crates it would take a
//! second pass over SVG.

mod chart;
mod draw;
mod scale;
mod ticks;

pub use chart::{Band, Chart, Drawn, Frame, Mark, Marker, Series, Shape};
pub use scale::{Axis, Scale, Unit};
pub use ticks::{text_width, ticks, title};

impl Chart {
    /// Returns the picture as an `<svg>` element to be styled from outside; `class` is added to its
    /// classes.
    pub fn svg(&self, frame: Frame, class: &str) -> String {
        draw::svg(self, frame, class)
    }
}
