//! Text from outside made harmless, and the words by which the files that ioscape writes are recognised.

use std::borrow::Cow;

/// Key and value in the first lines of every result file, written without spaces.
pub const RESULT_MARK: &str = r#""schema":"ioscape/"#;

/// What every page says in its head; the version follows.
pub const PAGE_MARK: &str = r#"<meta name="generator" content="ioscape "#;

/// First words of a trace written as CSV; its tables follow as JSON.
pub const TRACE_MARK: &str = "# ioscape trace ";
/// First words of the state of an analysis, which tells the version next.
pub const STATE_MARK: &str = "ioscape-state ";

/// First words of a file of recorded events that are not yet a trace; how to read them follows as JSON.
pub const RECORDING_MARK: &str = "ioscape-recording ";

/// What the tables of our own recordings name as their format.
pub const RECORDED: &str = "recorded";

/// First words of a job file that was made from a trace; the name of the trace follows.
pub const JOBS_MARK: &str = "# The workloads of five parameters nearest to ";

/// First words of a drive that was fitted to measured times; the command follows.
pub const DRIVE_MARK: &str = "# Fitted by ioscape ";

/// First words of a manual page.
pub const MANUAL_MARK: &str = ".\\\" Made by ioscape man";

/// First words of OpenMetrics text; the name of the first family follows.
pub const METRICS_MARK: &str = "# HELP ioscape_";

/// Whether a character can act on a terminal or change the order of what is shown around it.
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// `text` with every character that could act written as its escape: `\u{1b}` instead of the escape itself.
pub fn inert(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if acts(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_act_are_written_as_escapes() {
        assert_eq!(inert("a\u{1b}[31m\n\u{202e}b"), r"a\u{1b}[31m\n\u{202e}b");
        assert_eq!(inert("größe"), "größe");
    }
}
