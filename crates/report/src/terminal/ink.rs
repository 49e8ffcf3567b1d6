//! How text reaches a terminal: width, colours and characters that it can show.

use crate::quantity::Quantity;
use crate::text::inert;

/// What the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns; below 40 it is treated as 40.
    pub width: usize,
    /// Whether escape sequences for colour may be written.
    pub colour: bool,
    /// Whether characters beyond ASCII may be written.
    pub unicode: bool,
    /// What the charts of an evaluation show.
    pub quantity: Quantity,
}

impl Default for Style {
    /// 80 columns of ASCII without colour: right for any file or pipe.
    fn default() -> Self {
        Self { width: 80, colour: false, unicode: false, quantity: Quantity::Throughput }
    }
}

impl Style {
    /// The columns in use.
    pub fn columns(&self) -> usize {
        self.width.clamp(40, 1000)
    }

    /// Text from outside with nothing left in it that could act, and nothing that cannot be shown.
    pub fn clean(&self, text: &str) -> String {
        let text = inert(text);
        if self.unicode {
            return text.into_owned();
        }
        text.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect()
    }

    /// `text` in an ANSI rendition such as `1` for bold, if colours are on.
    pub fn ink(&self, code: &str, text: &str) -> String {
        if self.colour && !text.is_empty() && !code.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    /// A heading.
    pub fn heading(&self, text: &str) -> String {
        self.ink("1", text)
    }

    /// A paragraph with a first and a further indent, cleaned and wrapped; ends in a newline.
    pub fn paragraph(&self, first: &str, further: &str, text: &str) -> String {
        let options = textwrap::Options::new(self.columns().min(100))
            .initial_indent(first)
            .subsequent_indent(further);
        textwrap::fill(&self.clean(text), options) + "\n"
    }

    /// One of two spellings, by what can be shown.
    pub fn pick<'a>(&self, unicode: &'a str, ascii: &'a str) -> &'a str {
        if self.unicode { unicode } else { ascii }
    }
}

/// ANSI colour of a chart's class.
pub fn colour(class: &str) -> &'static str {
    match class.split(' ').next().unwrap_or_default() {
        "mixed" => "94",
        "read" | "r4" => "32",
        "write" | "r5" => "33",
        "r1" => "35",
        "r2" => "93",
        "r3" => "36",
        _ => "2",
    }
}
