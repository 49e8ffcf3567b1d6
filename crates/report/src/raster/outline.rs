//! The outlines of a picture: SVG paths, rectangles, and lines of text.

use tiny_skia::{Path, PathBuilder, Rect};
use ttf_parser::{Face, OutlineBuilder};

/// The distance of the control points from the ends of a quarter circle with radius 1, drawn as a
/// cubic curve.
const QUARTER: f32 = 0.552_284_8;

/// A rectangle with corners of this radius.
pub fn rectangle(x: f32, y: f32, width: f32, height: f32, radius: f32) -> Option<Path> {
    if radius <= 0.0 {
        return Rect::from_xywh(x, y, width, height).map(PathBuilder::from_rect);
    }
    let (r, k) = (radius, radius * (1.0 - QUARTER));
    let (right, bottom) = (x + width, y + height);
    let mut path = PathBuilder::new();
    path.move_to(x + r, y);
    path.line_to(right - r, y);
    path.cubic_to(right - k, y, right, y + k, right, y + r);
    path.line_to(right, bottom - r);
    path.cubic_to(right, bottom - k, right - k, bottom, right - r, bottom);
    path.line_to(x + r, bottom);
    path.cubic_to(x + k, bottom, x, bottom - k, x, bottom - r);
    path.line_to(x, y + r);
    path.cubic_to(x, y + k, x + k, y, x + r, y);
    path.close();
    path.finish()
}

/// Reads the `d` of a path: lines, and arcs that are half circles, with which our charts draw
/// points.
///
/// `None` if it holds anything else.
pub fn path(d: &str) -> Option<PathBuilder> {
    let mut path = PathBuilder::new();
    let (mut at, mut start) = ((0.0, 0.0), (0.0, 0.0));
    let mut rest = d.trim_start();
    let mut command = ' ';
    while let Some(first) = rest.chars().next() {
        if first.is_ascii_alphabetic() {
            command = first;
            rest = &rest[1..];
        }
        let from = if command.is_ascii_lowercase() { at } else { (0.0, 0.0) };
        match command.to_ascii_uppercase() {
            'Z' => {
                path.close();
                at = start;
                // A command must follow: a number would repeat the `z` for ever, unconsumed.
                if rest.trim_start().starts_with(|c: char| !c.is_ascii_alphabetic()) {
                    return None;
                }
            }
            'H' => at = (from.0 + number(&mut rest)?, at.1),
            'V' => at = (at.0, from.1 + number(&mut rest)?),
            'M' | 'L' => at = (from.0 + number(&mut rest)?, from.1 + number(&mut rest)?),
            'A' => {
                let [across, down, turned, _large, sweep] = numbers(&mut rest)?;
                let to = (from.0 + number(&mut rest)?, from.1 + number(&mut rest)?);
                (across == down && turned == 0.0).then_some(())?;
                half_circle(&mut path, at, to, across, sweep != 0.0)?;
                at = to;
            }
            _ => return None,
        }
        match command {
            'M' | 'm' => {
                path.move_to(at.0, at.1);
                start = at;
                command = if command == 'M' { 'L' } else { 'l' };
            }
            'Z' | 'z' | 'A' | 'a' => {}
            _ => path.line_to(at.0, at.1),
        }
        rest = rest.trim_start();
    }
    Some(path)
}

/// Takes a number off the text, with the white space or comma before it.
fn number(text: &mut &str) -> Option<f32> {
    let rest = text.trim_start_matches([' ', ',', '\n', '\t']);
    let is_part = |(at, c): (usize, char)| c.is_ascii_digit() || c == '.' || c == '-' && at == 0;
    let end = rest.char_indices().find(|&one| !is_part(one)).map_or(rest.len(), |(at, _)| at);
    let (digits, after) = rest.split_at(end);
    *text = after;
    digits.parse().ok()
}

fn numbers<const N: usize>(text: &mut &str) -> Option<[f32; N]> {
    let mut out = [0.0; N];
    for one in &mut out {
        *one = number(text)?;
    }
    Some(out)
}

/// Half a circle between the two ends of a diameter; `None` if the ends do not span one.
fn half_circle(
    path: &mut PathBuilder,
    from: (f32, f32),
    to: (f32, f32),
    radius: f32,
    sweep: bool,
) -> Option<()> {
    let centre = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0);
    let (x, y) = (from.0 - centre.0, from.1 - centre.1);
    ((x.hypot(y) - radius).abs() < 0.01 * radius).then_some(())?;
    let (u, v) = if sweep { (-y, x) } else { (y, -x) };
    let top = (centre.0 + u, centre.1 + v);
    let k = QUARTER;
    path.cubic_to(from.0 + k * u, from.1 + k * v, top.0 + k * x, top.1 + k * y, top.0, top.1);
    path.cubic_to(top.0 - k * x, top.1 - k * y, to.0 + k * u, to.1 + k * v, to.0, to.1);
    Some(())
}

/// How a line of text is aligned to its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// A line of text with its baseline at `place`, and an empty box for each character that the font
/// lacks. `None` for blanks alone.
pub fn text(
    face: &Face<'_>,
    line: &str,
    size: f32,
    place: (f32, f32),
    anchor: Anchor,
) -> Option<Path> {
    let scale = size / f32::from(face.units_per_em());
    let glyphs = line.chars().map(|c| face.glyph_index(c).unwrap_or_default());
    let glyphs: Vec<_> = glyphs
        .map(|glyph| (glyph, scale * f32::from(face.glyph_hor_advance(glyph).unwrap_or_default())))
        .collect();
    let width: f32 = glyphs.iter().map(|(_, advance)| advance).sum();
    let share = match anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => 0.5,
        Anchor::End => 1.0,
    };
    let mut pen = Pen { path: PathBuilder::new(), x: place.0 - share * width, y: place.1, scale };
    for (glyph, advance) in glyphs {
        face.outline_glyph(glyph, &mut pen);
        pen.x += advance;
    }
    pen.path.finish()
}

/// Draws glyphs, whose vertical axis points up, at the place of the text.
struct Pen {
    path: PathBuilder,
    x: f32,
    y: f32,
    scale: f32,
}

impl Pen {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + self.scale * x, self.y - self.scale * y)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(d: &str) -> [f32; 4] {
        bounds(&path(d).and_then(PathBuilder::finish).expect("a path"))
    }

    fn bounds(path: &Path) -> [f32; 4] {
        let bounds = path.compute_tight_bounds().expect("bounds");
        [bounds.left(), bounds.top(), bounds.right(), bounds.bottom()]
    }

    #[test]
    fn lines_go_where_they_say() {
        assert_eq!(drawn("M1 2H5V-3"), [1.0, -3.0, 5.0, 2.0]);
        assert_eq!(drawn("M1 2h22l-3-4.5 1 0z"), [1.0, -2.5, 23.0, 2.0]);
        assert_eq!(drawn("M0 0L4 4M10 10 20 20"), [0.0, 0.0, 20.0, 20.0]);
    }

    #[test]
    fn two_half_circles_are_a_point() {
        let found = drawn("M6.8 10a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0 -6.4 0z");
        for (found, wanted) in found.iter().zip([6.8, 6.8, 13.2, 13.2]) {
            assert!((found - wanted).abs() < 0.01, "{found} is not {wanted}");
        }
    }

    #[test]
    fn what_is_not_drawn_is_refused_and_not_guessed() {
        for d in ["M0 0C1 1 2 2 3 3", "M0 0a5 5 0 0 1 1 1", "M0", "M0 0L4", "M0 0z5", "5 5", "M- 1"]
        {
            assert!(path(d).is_none(), "{d}");
        }
    }

    #[test]
    fn a_rounded_rectangle_fills_its_bounds() {
        assert_eq!(bounds(&rectangle(1.0, 2.0, 30.0, 20.0, 5.0).unwrap()), [1.0, 2.0, 31.0, 22.0]);
        assert_eq!(bounds(&rectangle(1.0, 2.0, 3.0, 4.0, 0.0).unwrap()), [1.0, 2.0, 4.0, 6.0]);
    }
}
