//! Renders the document as text for a terminal: title, outcome, warnings.

use crate::outcome::{self, render::Render};
use crate::terminal::Style;
use crate::text::{kind, short_time};
use ioscape_schema::units::Bytes;
use ioscape_schema::{Document, Environment};

/// Renders the document as text.
///
/// Every line fits `style.width` columns, if there are at least 40. Exceptions are lines with a
/// fixed form: those of `vxbench`, which follow its white paper, and commands to type.
///
/// An evaluation shows its findings, regions, borders, the curve over the size of the set and small
/// charts of every region; single runs show a table. Warnings come last. Strings from outside
/// cannot act on the terminal.
pub fn terminal(document: &Document, style: &Style) -> String {
    let outcome = outcome::of(document);
    let mut out = String::new();
    if outcome.is_none_or(Render::is_titled) {
        out += &header(document, style);
    }
    if let Some(outcome) = outcome {
        out += &outcome.text(style);
    }
    out + &warnings(document, style)
}

fn header(document: &Document, style: &Style) -> String {
    let mut facts = vec![short_time(&document.started_at)];
    facts.extend(document.host.clone());
    facts.extend(outcome::of(document).and_then(Render::fact));
    let Environment { file_system, device, kernel, memory_limit_bytes, .. } = &document.environment;
    facts.extend(file_system.clone());
    facts.extend(device.clone());
    facts.extend(kernel.clone());
    facts.extend(memory_limit_bytes.map(|bytes| format!("limit {}", Bytes(bytes as f64))));
    facts.retain(|fact| !fact.is_empty());
    let title = style.paragraph("", "", &format!("ioscape: {}", outcome::subject(document)));
    let mut out = style.heading(title.trim_end()) + "\n";
    out += &style.paragraph("", "", &facts.join(", "));
    if document.interrupted {
        out += &style.paragraph("", "", "Interrupted: this result holds only what was finished.");
    }
    out
}

fn warnings(document: &Document, style: &Style) -> String {
    let whole =
        document.warnings.iter().map(|warning| format!("{warning} ({})", kind(warning.kind)));
    let parts = outcome::of(document).map(Render::warnings).unwrap_or_default().into_iter();
    let parts = parts.map(|(place, w)| format!("{place}: {} ({})", w.message, kind(w.kind)));
    let lines: Vec<String> = whole.chain(parts).collect();
    if lines.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}\n", style.ink("1;33", "Warnings"));
    for line in lines {
        out += &style.paragraph("  ! ", "    ", &line);
    }
    out
}

#[cfg(test)]
#[path = "terminal_tests.rs"]
mod tests;
