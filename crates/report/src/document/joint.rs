//! Renders several documents as one page: first the systems side by side, then each result.

use super::page;
use super::switch::Switch;
use crate::html::section::{Section, nested};
use crate::html::{self, alike, joint, measured as html_measured, simulations};
use crate::os::side;
use crate::outcome::{self, render::Render};
use crate::overlay::EvaluatedSystem;
use crate::quantity::Quantity;
use crate::text::{esc, inert};
use crate::trace;
use ioscape_schema::{Document, MeasuredComparison, Outcome, Simulation, TraceSummary};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

/// Renders several documents, each with its name, as one self-contained page of HTML.
///
/// `version` is that of the program that writes the page; `measured` are comparisons of documents
/// that measured the same rows.
///
/// A figure has a line for each result of the same kind, and a table of the values behind it.
/// Figures of evaluations show `quantity` first; a switch at the top of the page selects another
/// one.
pub fn joint_html(
    named: &[(String, &Document)],
    measured: &[MeasuredComparison],
    version: &str,
    quantity: Quantity,
) -> String {
    let named = with_unique_names(named);
    let (of_systems, measured) = match side::all_of(&named) {
        Some(all) => (html::os::side_by_side(&all, measured), &[][..]),
        None => (String::new(), measured),
    };
    let evaluated = named.iter().filter_map(|(name, document)| EvaluatedSystem::of(name, document));
    let evaluated: Vec<EvaluatedSystem> = evaluated.collect();
    let mut sections = vec![
        Section::new("systems", "Systems", joint::systems(&named)),
        Section::new("side-by-side", "Side by side", of_systems),
        Section::new(
            "findings",
            "Findings",
            joint::findings(&evaluated) + &joint::firsts(&evaluated),
        ),
        Section::new("memory", "Share of memory", joint::memory(&evaluated)),
        Section::new("landscapes", "Landscapes", joint::landscapes(&evaluated)),
        Section::new("parameters", "Parameters", joint::parameters(&evaluated)),
        Section::new("runs", "Runs", alike::runs(&named)),
        Section::new("vxbench", "vxbench", alike::vxbench(&named)),
        Section::new("ratios", "Ratios", html_measured::section(measured)),
        Section::new("traces", "Traces", trace::side_by_side(&of_kind(&named, summary))),
        Section::new(
            "simulations",
            "Simulations",
            simulations::section(&of_kind(&named, simulation)),
        ),
        Section::new("validations", "Validations", alike::validations(&named)),
    ];
    sections.retain(|section| !section.body.is_empty());
    let title = format!("{} results", named.len());
    let mut out = String::with_capacity(1 << 20);
    page::head(&mut out, &title, version);
    let switch = Switch::of(!evaluated.is_empty(), quantity);
    switch.begin(&mut out);
    header(&mut out, &title, &sections, &named);
    switch.labels(&mut out);
    out.push_str("</header>");
    out.push_str("<main>");
    out.extend(sections.iter().map(Section::html));
    for (index, (name, document)) in named.iter().enumerate() {
        out += &result(index, name, document);
    }
    let _ = write!(out, "</main><footer><p>ioscape {}</p></footer>", esc(version));
    page::end(&mut out);
    out
}

/// The outcomes of one kind, each with its name.
fn of_kind<'a, T>(
    named: &'a [(String, &'a Document)],
    kind: fn(&'a Outcome) -> Option<&'a T>,
) -> Vec<(&'a str, &'a T)> {
    let one = |(name, document): &'a (String, &'a Document)| {
        Some((name.as_str(), kind(document.outcome.as_ref()?)?))
    };
    named.iter().filter_map(one).collect()
}

fn summary(outcome: &Outcome) -> Option<&TraceSummary> {
    if let Outcome::TraceSummary(one) = outcome { Some(one) } else { None }
}

fn simulation(outcome: &Outcome) -> Option<&Simulation> {
    if let Outcome::Simulation(one) = outcome { Some(one) } else { None }
}

/// The same documents, with names made unique.
pub fn with_unique_names<'a>(named: &[(String, &'a Document)]) -> Vec<(String, &'a Document)> {
    let (mut taken, mut tried) = (HashSet::new(), HashMap::<String, u64>::new());
    let mut free = |name: &str| {
        let name = inert(name).into_owned();
        let number = tried.entry(name.clone()).or_default();
        loop {
            *number += 1;
            let next = if *number > 1 { format!("{name} ({number})") } else { name.clone() };
            if taken.insert(next.clone()) {
                return next;
            }
        }
    };
    named.iter().map(|(name, document)| (free(name), *document)).collect()
}

fn header(out: &mut String, title: &str, sections: &[Section], named: &[(String, &Document)]) {
    let _ = write!(
        out,
        r#"<header><p class="brand">ioscape, side by side</p><h1>{}</h1><nav>"#,
        esc(title)
    );
    for section in sections {
        let _ = write!(out, r##"<a href="#{}">{}</a>"##, section.id, section.name);
    }
    for (index, (name, _)) in named.iter().enumerate() {
        let _ = write!(out, r##"<a href="#result-{}">{}</a>"##, index + 1, esc(name));
    }
    out.push_str("</nav>");
}

/// A single result without its reference material; its identifiers begin with `result-N-`.
fn result(index: usize, name: &str, document: &Document) -> String {
    let number = index + 1;
    let mut out = format!(
        r#"<section class="result" id="result-{number}"><h2>{}: {}</h2>"#,
        esc(name),
        esc(&outcome::subject(document))
    );
    if document.interrupted {
        out.push_str(page::INTERRUPTED);
    }
    let mut bodies = outcome::of(document).map(Render::sections).unwrap_or_default();
    bodies.push(Section::new("warnings", "Warnings", page::warnings(document)));
    bodies.push(Section::new("machine", "Machine", page::machine(document)));
    out += &nested(&bodies, &format!("result-{number}-"));
    let command = crate::text::command(&document.command);
    let _ = write!(out, "<p><code>{}</code></p></section>", esc(&command));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_are_told_apart() {
        let document = Document::default();
        let named = ["a", "a (2)", "a", "a"].map(|name| (name.to_owned(), &document));
        let names: Vec<String> =
            with_unique_names(&named).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a", "a (2)", "a (3)", "a (4)"]);
    }

    /// Guards against a defect: the time grew with the third power of the results of one name, to
    /// 17 s for 3000.
    #[test]
    fn results_of_one_name_may_be_many() {
        const MANY: usize = 20_000;
        let document = Document::default();
        let named = vec![("result".to_owned(), &document); MANY];
        let unique = with_unique_names(&named);
        assert_eq!(unique[MANY - 1].0, format!("result ({MANY})"));
    }
}
