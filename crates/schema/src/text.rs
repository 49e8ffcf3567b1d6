//! Makes foreign text harmless, and defines the marks by which ioscape recognises its own files.

use std::borrow::Cow;

/// Key and value in the first lines of every result file, written without spaces.
pub const RESULT_MARK: &str = r#""schema":"ioscape/"#;

/// Start of the generator tag in the head of every page; the version follows.
pub const PAGE_MARK: &str = r#"<meta name="generator" content="ioscape "#;

/// First words of a trace written as CSV; its tables follow as JSON.
pub const TRACE_MARK: &str = "# ioscape trace ";
/// First words of a saved analysis state; the version follows.
pub const STATE_MARK: &str = "ioscape-state ";

/// First words of a file of recorded events that are not yet a trace; a description of its layout
/// follows as JSON.
pub const RECORDING_MARK: &str = "ioscape-recording ";

/// Format name in the tables of our own recordings.
pub const RECORDED: &str = "recorded";

/// First words of a job file made from a trace; the name of the trace follows.
pub const JOBS_MARK: &str = "# The workloads of five parameters nearest to ";

/// First words of a drive file fitted to measured times; the command follows.
pub const DRIVE_MARK: &str = "# Fitted by ioscape ";

/// First words of a manual page.
pub const MANUAL_MARK: &str = ".\\\" Made by ioscape man";

/// First words of OpenMetrics text; the name of the first family follows.
pub const METRICS_MARK: &str = "# HELP ioscape_";

/// Returns whether a character can control a terminal or reorder the text around it.
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Returns `text` with every such character escaped: `\u{1b}` instead of the escape character
/// itself.
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
