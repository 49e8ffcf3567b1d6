//! Charts as SVG: axes, lines with error bars, bands, vertical markers; small, and made for the page.
//!
//! `plotters` and `kuva` were weighed against this module. Both draw good static pictures, but write their
//! colours and fonts into every element. The page needs class names that follow a light and a dark theme, a
//! title on every point for tooltips that work without scripts, groups that a legend can hide, ticks in powers
//! of two for bytes, and text that stays readable on a narrow screen. That is a few hundred lines here and
//! would be a second pass over foreign SVG there.

mod chart;
mod draw;
mod scale;
mod ticks;

pub use chart::{Band, Chart, Drawn, Frame, Mark, Marker, Series, Shape};
pub use scale::{Axis, Scale, Unit};
pub use ticks::{text_width, ticks, title};

impl Chart {
    /// The picture as an `<svg>` element that is styled from outside; `class` is added to its classes.
    pub fn svg(&self, frame: Frame, class: &str) -> String {
        draw::svg(self, frame, class)
    }
}
