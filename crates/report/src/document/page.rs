//! Renders the document as one self-contained page, readable without network, files or scripts.

use super::switch::Switch;
use crate::html::tables;
use crate::outcome::{
    self,
    render::{Render, Section},
};
use crate::quantity::Quantity;
use crate::text::{esc, short_time};
use ioscape_schema::text::PAGE_MARK;
use ioscape_schema::units::Bytes;
use ioscape_schema::{Document, Environment};
use std::fmt::Write as _;

const STYLE: &str = concat!(include_str!("../plot/chart.css"), include_str!("page.css"));
const SCRIPT: &str = include_str!("page.js");

/// SHA-256 of the script in base 64. The page's policy lets no other script run, even if escaping
/// fails.
const SCRIPT_HASH: &str = "Q/+K7Zbz2ZmmadIGqPiUEdi6vIS+jacfweSwWk1nLPA=";

/// The notice before an interrupted result.
pub const INTERRUPTED: &str = r#"<p class="notice"><b>Interrupted.</b> This result holds only what was finished by then.</p>"#;

/// The document as a page of HTML.
///
/// The page holds its style, charts and script; a content security policy forbids every other
/// resource. It shows everything without scripts; the script adds values on hover and a legend that
/// hides lines.
///
/// Figures of evaluations show `quantity` first; a switch at the top of the page changes it in all.
pub fn html(document: &Document, quantity: Quantity) -> String {
    let mut out = String::with_capacity(1 << 20);
    head(&mut out, &outcome::subject(document), &document.tool.version);
    let sections = sections(document);
    let switch = Switch::of(document.evaluation().is_some(), quantity);
    switch.begin(&mut out);
    header(&mut out, document, &sections, &switch);
    out.push_str("<main>");
    out.extend(sections.iter().map(Section::html));
    out.push_str("</main>");
    footer(&mut out, document);
    end(&mut out);
    out
}

/// The script and the end of the page.
pub fn end(out: &mut String) {
    let _ = writeln!(out, "<script>{SCRIPT}</script></body></html>");
}

fn sections(document: &Document) -> Vec<Section> {
    let outcome = outcome::of(document);
    let mut all = outcome.map(Render::sections).unwrap_or_default();
    all.push(Section::new("warnings", "Warnings", warnings(document)));
    all.push(Section::new("machine", "Machine", machine(document)));
    all.extend(outcome.map(Render::appendix).unwrap_or_default());
    all.retain(|section| !section.body.is_empty());
    all
}

/// The machine of a document.
pub fn machine(document: &Document) -> String {
    if document.environment == Environment::default() {
        return String::new();
    }
    tables::machine(&document.environment)
}

/// All warnings of a document: those of the whole, then those of parts of the outcome.
pub fn warnings(document: &Document) -> String {
    let whole = document.warnings.iter().map(|warning| (warning.place.clone(), warning));
    let parts = outcome::of(document).map(Render::warnings).unwrap_or_default();
    tables::warnings(whole.chain(parts))
}

/// The beginning of a page with this title, written by this version of ioscape.
pub fn head(out: &mut String, title: &str, version: &str) {
    let title = esc(title);
    let policy =
        format!("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{SCRIPT_HASH}'");
    let _ = write!(
        out,
        r#"<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">{PAGE_MARK}{}">
<title>{title} - ioscape</title><style>{STYLE}</style></head><body>"#,
        esc(version)
    );
}

fn header(out: &mut String, document: &Document, sections: &[Section], switch: &Switch) {
    let kind = outcome::of(document).map_or("result", Render::kind);
    let _ = write!(
        out,
        r#"<header><p class="brand">ioscape {kind}</p><h1>{}</h1><p class="facts">"#,
        esc(&outcome::subject(document))
    );
    for fact in facts(document) {
        let _ = write!(out, "<span>{}</span>", esc(&fact));
    }
    out.push_str("</p><nav>");
    for section in sections {
        let _ = write!(out, r##"<a href="#{}">{}</a>"##, section.id, section.name);
    }
    out.push_str("</nav>");
    switch.labels(out);
    if document.interrupted {
        out.push_str(INTERRUPTED);
    }
    out.push_str("</header>");
}

fn facts(document: &Document) -> Vec<String> {
    let Environment { file_system, device, kernel, memory_bytes, memory_limit_bytes, .. } =
        &document.environment;
    let mut facts = vec![short_time(&document.started_at)];
    facts.extend(document.host.clone());
    facts.extend(outcome::of(document).and_then(Render::fact));
    match (file_system, device) {
        (Some(file_system), Some(device)) => facts.push(format!("{file_system} on {device}")),
        (Some(one), None) | (None, Some(one)) => facts.push(one.clone()),
        (None, None) => {}
    }
    facts.extend(kernel.clone());
    facts.extend(memory_bytes.map(|bytes| format!("{} memory", Bytes(bytes as f64))));
    facts.extend(memory_limit_bytes.map(|bytes| format!("limited to {}", Bytes(bytes as f64))));
    facts.retain(|fact| !fact.is_empty());
    facts
}

/// The version and, if known, the commit of the program that wrote the document.
fn version(document: &Document) -> String {
    let commit = document.tool.commit.as_ref();
    commit.map_or_else(
        || document.tool.version.clone(),
        |c| format!("{} ({c})", document.tool.version),
    )
}

fn footer(out: &mut String, document: &Document) {
    let _ = write!(
        out,
        "<footer><p>ioscape {} &middot; {} &middot; seed {}</p><p><code>{}</code></p></footer>",
        esc(&version(document)),
        esc(&document.schema),
        document.seed,
        esc(&crate::text::command(&document.command))
    );
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
