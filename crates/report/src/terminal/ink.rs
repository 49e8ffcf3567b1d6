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
    /// Whether the text is Markdown (GitHub's, whose tables most readers of Markdown know) instead of text for a terminal.
    pub markdown: bool,
}

impl Style {
    /// Markdown, whatever the terminal is.
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

/// The ASCII that stands for a character; `?` where none does.
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
    /// The columns in use.
    pub fn columns(&self) -> usize {
        self.width.clamp(40, 1000)
    }

    /// Text from outside with nothing left in it that could act, and nothing that cannot be shown.
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

    /// A heading that may have names in it: as many lines as it takes.
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

    /// The same for lines that stand in a block of code, where nothing is Markdown.
    pub fn plain(&self) -> Self {
        Self { markdown: false, ..*self }
    }

    /// Lines that are set out by columns of characters, such as a chart.
    pub fn drawing(&self, lines: &str) -> String {
        if self.markdown && !lines.is_empty() {
            format!("```text\n{lines}```\n")
        } else {
            lines.to_owned()
        }
    }

    /// A paragraph with a first and a further indent, cleaned and wrapped; ends in a newline. In Markdown it is an item of a list
    /// where the indent has more than spaces, and is not wrapped.
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

    /// One of two spellings, by what can be shown.
    pub fn pick<'a>(&self, unicode: &'a str, ascii: &'a str) -> &'a str {
        if self.unicode { unicode } else { ascii }
    }
}

/// Text in which nothing is taken for Markdown or HTML.
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

/// Whether a character between these two could be taken for Markdown or HTML: in GitHub's a `_` within a word is one of its letters.
fn is_markup(before: Option<char>, c: char, next: Option<char>) -> bool {
    match c {
        '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '|' | '~' => true,
        '_' => ![before, next].iter().all(|one| one.is_some_and(char::is_alphanumeric)),
        '&' => next.is_some_and(|next| next == '#' || next.is_ascii_alphabetic()),
        _ => false,
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
