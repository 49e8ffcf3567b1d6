//! Text from outside, made fit for a terminal.

/// Text without control characters: names come from outside.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
