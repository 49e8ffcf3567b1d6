//! The terminal: what the user is told on standard error, the progress bar, and what a summary may use.

mod progress;
mod screen;

pub use progress::Progress;
pub use screen::Screen;

use ioscape_schema::text::inert;
use std::io::{self, Write};
use std::sync::OnceLock;

/// Columns of a summary that goes to no terminal.
const COLUMNS: usize = 100;

/// How the user wants output to look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Display {
    /// Nothing on standard error but why it failed.
    pub quiet: bool,
    /// Every step in a line of its own, also without a terminal.
    pub verbose: bool,
    /// Coloured or not; absent: on a terminal, unless NO_COLOR is set.
    pub colour: Option<bool>,
    /// Columns of a summary; absent: those of the terminal.
    pub width: Option<usize>,
}

static DISPLAY: OnceLock<Display> = OnceLock::new();

/// Sets how output looks; once, before anything is written.
pub fn set_display(asked: Display) {
    let _ = DISPLAY.set(asked);
}

/// How output looks.
pub fn display() -> Display {
    DISPLAY.get().copied().unwrap_or_default()
}

/// Tells the user something on standard error, unless nothing but results and failures is wanted.
pub fn tell(text: &str) {
    if !display().quiet {
        let lines: Vec<_> = text.lines().map(inert).collect();
        tell_styled(&lines.join("\n"));
    }
}

/// Tells the user a text that was made for a terminal.
pub fn tell_styled(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Columns of a summary; `terminal` says whether it goes to one.
pub fn width(terminal: bool) -> usize {
    display().width.unwrap_or_else(|| if terminal { terminal_width() } else { COLUMNS })
}

fn terminal_width() -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    let columns = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    asked.or(columns).unwrap_or(80).clamp(80, 160)
}

/// Whether a summary is coloured; `terminal` says whether it goes to one.
pub fn is_coloured(terminal: bool) -> bool {
    // An empty value counts as none, as no-color.org says.
    let allowed = || {
        let is_dumb = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
        !is_dumb && std::env::var_os("NO_COLOR").is_none_or(|no| no.is_empty())
    };
    display().colour.unwrap_or_else(|| terminal && allowed())
}

/// Whether characters beyond ASCII may be written.
pub fn takes_unicode() -> bool {
    ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty())
        .is_none_or(|value| value.to_ascii_lowercase().replace('-', "").contains("utf8"))
}
