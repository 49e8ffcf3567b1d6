//! Bars under their names over one axis, shared by the pictures of response times and of ratios.

use crate::plot::{Axis, text_width, ticks};
use crate::text::{esc, shortened};
use std::fmt::Write as _;

const STEP: f64 = 18.0;
const FOOT: f64 = 44.0;

/// The frame and axis around the bars.
pub struct Picture<'a> {
    /// One sentence for readers who cannot see the picture.
    pub label: &'a str,
    /// CSS class.
    pub class: &'a str,
    /// Width of the picture.
    pub width: f64,
    /// Where the axis begins and ends in the picture.
    pub ends: [f64; 2],
    /// The horizontal axis.
    pub axis: Axis,
    /// A value to mark with a vertical line.
    pub rule: Option<f64>,
}

impl Picture<'_> {
    /// The horizontal position of a value; a value beyond the axis is placed at its end.
    pub fn x(&self, value: f64) -> f64 {
        let [left, right] = self.ends;
        left + self.axis.place(value).clamp(0.0, 1.0) * (right - left)
    }

    /// Returns the picture of the bars under their names; empty without bars.
    ///
    /// `bar` draws a bar centred on a given height.
    pub fn svg<N: AsRef<str>, B>(
        &self,
        groups: &[(N, Vec<B>)],
        bar: impl Fn(&mut String, &B, f64),
    ) -> String {
        if groups.is_empty() {
            return String::new();
        }
        let count: usize = groups.iter().map(|(_, bars)| bars.len() + 1).sum();
        let body = count as f64 * STEP + 6.0;
        let Self { label, class, width, .. } = self;
        let mut out = format!(
            r#"<svg class="plot ranges {class}" viewBox="0 0 {width} {:.1}" role="img" aria-label="{label}">"#,
            body + FOOT
        );
        self.foot(&mut out, body);
        let mut y = STEP;
        for (name, bars) in groups {
            let (short, base) = (shortened(name.as_ref(), (width / 6.9) as usize), y - 4.0);
            let _ = write!(out, r#"<text class="job" x="0" y="{base:.1}">{}</text>"#, esc(&short));
            y += STEP;
            for one in bars {
                bar(&mut out, one, y - STEP / 2.0);
                y += STEP;
            }
        }
        out + "</svg>"
    }

    fn foot(&self, out: &mut String, body: f64) {
        let ([left, right], width) = (self.ends, self.width);
        for tick in ticks(&self.axis, right - left, true) {
            let x = left + self.axis.place(tick.value) * (right - left);
            // A label at an end of the axis must not leave the picture.
            let half = text_width(&tick.label) / 2.0;
            let centre = x.min(width - half).max(half);
            let _ = write!(
                out,
                r#"<path class="grid" d="M{x:.1} 0V{body:.1}"/><text x="{centre:.1}" y="{:.1}" text-anchor="middle">{}</text>"#,
                body + 16.0,
                esc(&tick.label)
            );
        }
        if let Some(at) = self.rule.map(|value| self.x(value)) {
            let _ = write!(out, r#"<path class="grid zero" d="M{at:.1} 0V{body:.1}"/>"#);
        }
        let _ = write!(
            out,
            r#"<text class="title" x="{:.1}" y="{:.1}" text-anchor="middle">{}</text>"#,
            f64::midpoint(left, right),
            body + 36.0,
            esc(&shortened(&self.axis.label, (width / 6.9) as usize))
        );
    }
}
