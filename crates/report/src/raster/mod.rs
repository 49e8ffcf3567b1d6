//! Draws our pictures as PNG, for programs that do not accept SVG: slides, chats, word processors.
//!
//! It draws the elements that `plot` and `document` use (`svg`, `g`, `rect`, `path`, `text`) and
//! refuses all others, so that no picture is drawn in part. A general SVG renderer would need a
//! text shaper and thirty more crates. The font is Roboto (Copyright 2011 Google Inc., Apache-2.0),
//! reduced to Latin, Greek and Cyrillic; it is included because servers have no fonts.

mod outline;
mod png;
mod style;

use crate::text::inert;
use outline::Anchor;
use roxmltree::Node;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use style::{Element, Sheet, Style};
use tiny_skia::{FillRule, LineCap, LineJoin, Paint, Path, Pixmap, Stroke, StrokeDash, Transform};
use ttf_parser::Face;

const FONT: &[u8] = include_bytes!("Roboto-Regular-subset.ttf");
/// Pixels per unit of the picture: enough for print, where a unit is 1/96 of an inch.
const SCALE: f32 = 2.0;
/// Pixels per metre at that scale: 192 per inch.
const PER_METRE: u32 = 7559;
/// The largest number of pixels of a picture; more would take over 512 MB.
const MOST_PIXELS: f32 = 128e6;
/// An error names at most this many of the letters that the font lacks.
const MOST_NAMED: usize = 10;
/// Combining accents, as in file names from macOS. The font lacks them: letters are drawn without.
const ACCENTS: RangeInclusive<char> = '\u{300}'..='\u{36f}';
/// The smallest font weight that is drawn bold.
const BOLD: f32 = 600.0;
/// The extra stroke width of bold letters, as a share of the font size.
const BOLDER: f32 = 0.035;

/// Why a picture could not be drawn.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// It is not XML.
    #[error("the picture is no SVG: {0}")]
    Malformed(String),
    /// It holds an element or value that is not supported; with its name.
    #[error("the picture holds what is not drawn as PNG: {0}")]
    Unknown(String),
    /// It has letters that the font lacks; holds some of them.
    #[error("the font of PNG lacks letters of the picture ({0}): take it as SVG")]
    Letters(String),
    /// It has no size, or too many pixels.
    #[error("the picture has no size for PNG, or too many pixels: take it as SVG")]
    Size,
}

/// Draws a standalone picture of ours (`landscape_svg`, `figure_svg`) as a PNG file.
///
/// It uses the light theme, at twice the picture's size.
///
/// # Errors
/// If it is not a picture of ours, has letters that the font lacks, or has no size or too many
/// pixels.
pub fn png(svg: &str) -> Result<Vec<u8>, PictureError> {
    let pixmap = drawn(svg, SCALE)?;
    let pixels = pixmap.pixels().iter().map(|one| {
        let one = one.demultiply();
        [one.red(), one.green(), one.blue(), one.alpha()]
    });
    let pixels: Vec<[u8; 4]> = pixels.collect();
    Ok(png::encode(&pixels, pixmap.width(), pixmap.height(), PER_METRE))
}

/// Draws the picture with `scale` pixels per unit.
fn drawn(svg: &str, scale: f32) -> Result<Pixmap, PictureError> {
    let parsed =
        roxmltree::Document::parse(svg).map_err(|e| PictureError::Malformed(e.to_string()))?;
    let root = parsed.root_element();
    let text = root.children().find(|child| child.has_tag_name("style"));
    let text = style::plain(text.and_then(|one| one.text()).unwrap_or_default());
    let face = Face::parse(FONT, 0).map_err(|e| PictureError::Unknown(e.to_string()))?;
    let [width, height] = ["width", "height"].map(|name| (scale * number(root, name)).ceil());
    if width * height > MOST_PIXELS {
        return Err(PictureError::Size);
    }
    let pixmap = Pixmap::new(width as u32, height as u32).ok_or(PictureError::Size)?;
    let lacking = BTreeSet::new();
    let mut canvas = Canvas { pixmap, sheet: Sheet::parse(&text), face, lacking };
    let place = Transform::from_scale(scale, scale);
    canvas.draw(root, &Style::default(), &mut Vec::new(), place)?;
    if canvas.lacking.is_empty() {
        return Ok(canvas.pixmap);
    }
    let named: Vec<String> = canvas.lacking.iter().take(MOST_NAMED).map(char::to_string).collect();
    Err(PictureError::Letters(inert(&named.join(", ")).into_owned()))
}

/// An attribute as a number; 0 if it is missing.
fn number(node: Node<'_, '_>, name: &str) -> f32 {
    node.attribute(name).and_then(|text| text.parse().ok()).unwrap_or_default()
}

struct Canvas<'a> {
    pixmap: Pixmap,
    sheet: Sheet<'a>,
    face: Face<'static>,
    /// Letters that the font lacks. Names drawn as rows of boxes could not be told apart; a box for
    /// a symbol does no harm.
    lacking: BTreeSet<char>,
}

impl<'a> Canvas<'a> {
    /// Draws an element and its descendants; `chain` holds its ancestors.
    fn draw(
        &mut self,
        node: Node<'a, 'a>,
        inherited: &Style<'a>,
        chain: &mut Vec<Element<'a>>,
        place: Transform,
    ) -> Result<(), PictureError> {
        let tag = node.tag_name().name();
        chain.push(Element { tag, classes: node.attribute("class").unwrap_or_default() });
        let attributes = node.attributes().map(|one| (one.name(), one.value()));
        let style = self.sheet.style(inherited, attributes, chain);
        let refused = |what: &str| Err(PictureError::Unknown(format!("{tag} {what}")));
        match tag {
            _ if style.get("display") == Some("none") => {}
            "title" | "style" => {}
            "svg" | "g" => {
                let place = if tag == "svg" { inside(node, place) } else { place };
                for child in node.children().filter(Node::is_element) {
                    self.draw(child, &style, chain, place)?;
                }
            }
            "rect" => {
                let [x, y, width, height, radius] =
                    ["x", "y", "width", "height", "rx"].map(|name| number(node, name));
                // As in SVG, a rectangle without width or height is not drawn.
                if let Some(path) = outline::rectangle(x, y, width, height, radius) {
                    self.shape(&path, &style, place);
                }
            }
            "path" => {
                let d = node.attribute("d").unwrap_or_default();
                let Some(path) = outline::path(d) else { return refused(d) };
                // As in SVG, a path without length is not drawn.
                if let Some(path) = path.finish() {
                    self.shape(&path, &style, place);
                }
            }
            "text" => self.text(node, &style, place),
            _ => return refused(""),
        }
        chain.pop();
        Ok(())
    }

    fn shape(&mut self, path: &Path, style: &Style<'_>, place: Transform) {
        // The default fill of SVG is black.
        let fill = if style.get("fill").is_none() { Some([0; 3]) } else { style.colour("fill") };
        if let Some(colour) = fill {
            let paint = paint(colour, style.number("fill-opacity"));
            self.pixmap.fill_path(path, &paint, FillRule::Winding, place, None);
        }
        if let Some(colour) = style.colour("stroke") {
            let paint = paint(colour, style.number("stroke-opacity"));
            self.pixmap.stroke_path(path, &paint, &stroke(style), place, None);
        }
    }

    fn text(&mut self, node: Node<'_, '_>, style: &Style<'_>, place: Transform) {
        let anchor = match style.get("text-anchor") {
            Some("middle") => Anchor::Middle,
            Some("end") => Anchor::End,
            _ => Anchor::Start,
        };
        let size = style.number("font-size").unwrap_or(16.0);
        let at = (number(node, "x"), number(node, "y"));
        let line = node.text().unwrap_or_default();
        let line: String = line.chars().filter(|c| !ACCENTS.contains(c)).collect();
        let lacks = |c: &char| c.is_alphanumeric() && self.face.glyph_index(*c).is_none();
        self.lacking.extend(line.chars().filter(lacks));
        let Some(path) = outline::text(&self.face, &line, size, at, anchor) else { return };
        let paint = paint(style.colour("fill").unwrap_or_default(), None);
        self.pixmap.fill_path(&path, &paint, FillRule::Winding, place, None);
        if style.number("font-weight").is_some_and(|weight| weight >= BOLD) {
            let stroke = Stroke { width: BOLDER * size, ..Stroke::default() };
            self.pixmap.stroke_path(&path, &paint, &stroke, place, None);
        }
    }
}

/// The transform to the units of an inner picture; the outermost one starts at the sheet's origin.
fn inside(node: Node<'_, '_>, place: Transform) -> Transform {
    let sizes = node.attribute("viewBox").map(|text| {
        text.split(' ').map(|one| one.parse().unwrap_or_default()).collect::<Vec<f32>>()
    });
    let (across, down) = match sizes.as_deref() {
        Some([_, _, width, height]) if *width > 0.0 && *height > 0.0 => {
            (number(node, "width") / width, number(node, "height") / height)
        }
        _ => (1.0, 1.0),
    };
    place.pre_translate(number(node, "x"), number(node, "y")).pre_scale(across, down)
}

fn paint([red, green, blue]: [u8; 3], opacity: Option<f32>) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    let opacity = (255.0 * opacity.unwrap_or(1.0)).round() as u8;
    paint.set_color_rgba8(red, green, blue, opacity);
    paint
}

fn stroke(style: &Style<'_>) -> Stroke {
    let dashes = style.get("stroke-dasharray").map(|text| {
        text.split_whitespace().filter_map(|one| one.parse().ok()).collect::<Vec<f32>>()
    });
    let is_round = |name| style.get(name) == Some("round");
    Stroke {
        width: style.number("stroke-width").unwrap_or(1.0),
        dash: dashes.and_then(|dashes| StrokeDash::new(dashes, 0.0)),
        line_cap: if is_round("stroke-linecap") { LineCap::Round } else { LineCap::Butt },
        line_join: if is_round("stroke-linejoin") { LineJoin::Round } else { LineJoin::Miter },
        ..Stroke::default()
    }
}

#[cfg(test)]
mod tests;
