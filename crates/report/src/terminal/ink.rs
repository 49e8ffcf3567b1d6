//! Adapts text to a terminal: its width, its colours and the characters that it can show.

use crate::quantity::Quantity;
use crate::text::inert;

/// The abilities of the terminal, and the form of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Width in columns; a value below 40 is treated as 40.
    pub width: usize,
    /// Whether escape sequences for colour may be written.
    pub colour: bool,
    /// Whether characters beyond ASCII may be written.
    pub unicode: bool,
    /// The quantity in the charts of an evaluation.
    pub quantity: Quantity,
    /// Whether the text is Markdown instead of text for a terminal.
    ///
    /// This is GitHub's Markdown, whose tables most programs support.
    pub markdown: bool,
}

impl Style {
    /// The style for Markdown, independent of the terminal.
    pub fn markdown(quantity: Quantity) -> Self {
        Self { width: 100, unicode: true, markdown: true, quantity, ..Self::default() }
    }
}

impl Default for Style {
    /// 80 columns of ASCII without colour: right for any file or pipe.
    fn default() -> Self {
        Self {
            width: 80,
            colour: false,
            unicode: false,
            quantity: Quantity::Throughput,
            markdown: false,
        }
    }
}

/// The ASCII substitute for a character; `?` if there is none.
fn plain(c: char) -> char {
    match c {
        _ if c.is_ascii() => c,
        '\u{b5}' | '\u{3bc}' => 'u',
        '\u{2212}' | '\u{2013}' | '\u{2014}' => '-',
        '\u{d7}' => 'x',
        _ => '?',
    }
}

impl Style {
    /// The number of columns in use.
    pub fn columns(&self) -> usize {
        self.width.clamp(40, 1000)
    }

    /// Makes text from outside harmless, and replaces characters that the terminal cannot show.
    pub fn clean(&self, text: &str) -> String {
        let text = inert(text);
        let text = match self.unicode {
            true => text.into_owned(),
            false => text.chars().map(plain).collect(),
        };
        if self.markdown { escaped(&text) } else { text }
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
        if self.markdown { format!("### {text}\n") } else { self.ink("1", text) }
    }

    /// A heading that may contain names, wrapped to as many lines as needed.
    pub fn long_heading(&self, text: &str) -> String {
        self.heading(self.paragraph("", "  ", text).trim_end())
    }

    /// A bullet, with its indent.
    pub fn bullet(&self) -> &'static str {
        match (self.markdown, self.unicode) {
            (true, _) => "- ",
            (false, true) => "  \u{2022} ",
            (false, false) => "  * ",
        }
    }

    /// This style for lines in a code block, in which Markdown is not interpreted.
    pub fn plain(&self) -> Self {
        Self { markdown: false, ..*self }
    }

    /// Lines that need a fixed-width font, such as a chart.
    pub fn drawing(&self, lines: &str) -> String {
        if self.markdown && !lines.is_empty() {
            format!("```text\n{lines}```\n")
        } else {
            lines.to_owned()
        }
    }

    /// A paragraph with an indent for the first line and one for the others; it ends in a newline.
    ///
    /// The text is cleaned and wrapped. In Markdown it is not wrapped, and is a list item if the
    /// first indent has a bullet.
    pub fn paragraph(&self, first: &str, further: &str, text: &str) -> String {
        if self.markdown {
            return match first.trim() {
                "" => format!("{}\n\n", self.clean(text).trim()),
                "-" | "*" | "!" => format!("- {}\n", self.clean(text)),
                mark => format!("- {mark} {}\n", self.clean(text)),
            };
        }
        let options = textwrap::Options::new(self.columns().min(100))
            .initial_indent(first)
            .subsequent_indent(further);
        textwrap::fill(&self.clean(text), options) + "\n"
    }

    /// The spelling that the terminal can show.
    pub fn pick<'a>(&self, unicode: &'a str, ascii: &'a str) -> &'a str {
        if self.unicode { unicode } else { ascii }
    }
}

/// Escapes text so that nothing in it is taken for Markdown or HTML.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut before, mut rest) = (None, text.chars().peekable());
    while let Some(c) = rest.next() {
        if is_markup(before, c, rest.peek().copied()) {
            out.push('\\');
        }
        out.push(c);
        before = Some(c);
    }
    out
}

/// Whether a character between these two could be taken for Markdown or HTML.
///
/// In GitHub's Markdown a `_` within a word is an ordinary letter.
fn is_markup(before: Option<char>, c: char, next: Option<char>) -> bool {
    match c {
        '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '|' | '~' => true,
        '_' => ![before, next].iter().all(|one| one.is_some_and(char::is_alphanumeric)),
        '&' => next.is_some_and(|next| next == '#' || next.is_ascii_alphabetic()),
        _ => false,
    }
}

/// The ANSI colour for a chart's class.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_name_is_markdown() {
        let style = Style::markdown(Quantity::Throughput);
        assert_eq!(style.clean("size_mean & _a_ &lt; *b*"), r"size_mean & \_a\_ \&lt; \*b\*");
    }

    #[test]
    fn units_and_signs_stay_what_they_are_without_unicode() {
        let style = Style::default();
        assert_eq!(
            style.clean("30 \u{b5}s, \u{2212}2 \u{d7} 3 \u{2013} 4 \u{e9}"),
            "30 us, -2 x 3 - 4 ?"
        );
    }
}
