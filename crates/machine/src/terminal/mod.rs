//! The terminal: messages on standard error, the progress bar, and the format of summaries.

mod progress;
mod screen;

pub use progress::Progress;
pub use screen::Screen;

use crate::descriptors::standard_error;
use ioscape_schema::text::inert;
use std::io::{self, Write};
use std::sync::OnceLock;

/// Columns of a summary that does not go to a terminal.
const COLUMNS: usize = 100;

/// The user's display options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Display {
    /// Print nothing on standard error except failures.
    pub quiet: bool,
    /// Print every step on its own line, even without a terminal.
    pub verbose: bool,
    /// Whether to use colour; absent: on a terminal, unless NO_COLOR is set.
    pub colour: Option<bool>,
    /// Columns of a summary; absent: those of the terminal.
    pub width: Option<usize>,
}

static DISPLAY: OnceLock<Display> = OnceLock::new();

/// Sets the display options; call it once, before any output.
pub fn set_display(asked: Display) {
    let _ = DISPLAY.set(asked);
}

/// Returns the display options.
pub fn display() -> Display {
    DISPLAY.get().copied().unwrap_or_default()
}

/// Tells the user something on standard error, unless quiet.
pub fn tell(text: &str) {
    if !display().quiet {
        let lines: Vec<_> = text.lines().map(inert).collect();
        // There is no other place to say so.
        let _ = tell_styled(&lines.join("\n"));
    }
}

/// Tells the user a text that contains terminal formatting.
///
/// # Errors
/// Standard error is closed or cannot be written.
pub fn tell_styled(text: &str) -> io::Result<()> {
    standard_error().and_then(|()| writeln!(io::stderr(), "{text}"))
}

/// Returns the columns of a summary; `terminal` says whether it goes to a terminal.
pub fn width(terminal: bool) -> usize {
    display().width.unwrap_or_else(|| if terminal { terminal_width() } else { COLUMNS })
}

fn terminal_width() -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    let columns = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    asked.or(columns).unwrap_or(80).clamp(80, 160)
}

/// Returns whether a summary is coloured; `terminal` says whether it goes to a terminal.
pub fn is_coloured(terminal: bool) -> bool {
    // An empty value counts as unset, as no-color.org says.
    let allowed = || {
        let is_dumb = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
        !is_dumb && std::env::var_os("NO_COLOR").is_none_or(|no| no.is_empty())
    };
    display().colour.unwrap_or_else(|| terminal && allowed())
}

/// Returns whether characters beyond ASCII may be written.
pub fn takes_unicode() -> bool {
    ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty())
        .is_none_or(|value| value.to_ascii_lowercase().replace('-', "").contains("utf8"))
}
