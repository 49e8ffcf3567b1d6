//! `ioscape report`: pages, pictures and tables of existing results.

use crate::failure::Failure;
use crate::output;
use crate::outputs;
use ioscape_arguments::ReportArgs;
use ioscape_schema::{Document, MeasuredComparison, Outcome};
use ioscape_study::comparison::measured::{NamedDocument, compare_measured};
use std::mem::discriminant;
use std::path::PathBuf;

/// The page by the name of its argument.
const PAGE: &str = "-o";

/// Runs the command.
///
/// # Errors
/// A result that cannot be read or is of another kind, and output that cannot be written.
pub fn main(args: &ReportArgs) -> Result<(), Failure> {
    let documents: Vec<Document> =
        args.results.iter().map(|path| output::read_result(path)).collect::<Result<_, _>>()?;
    let names = outputs::names(args.force).reads("the result", &args.results);
    let mut outputs = names.writes(PAGE, args.output.as_deref()).open()?;
    if let Some(place) = outputs.get(PAGE) {
        place.text(&page(&args.results, &documents))?;
    }
    if let Some(name) = &args.table {
        return output::print(&table(&page(&args.results, &documents), name)?);
    }
    if args.png {
        let picture = picture(args, &documents)?;
        let png = ioscape_report::png(&picture).map_err(|e| Failure::Failed(e.to_string()))?;
        return output::print_picture(&png);
    }
    if args.svg && (args.figure.is_some() || documents.len() == 1) {
        return output::print(&picture(args, &documents)?);
    }
    let joint = args.svg.then(|| joint_picture(&args.results, &documents)).flatten();
    if let Some(picture) = joint {
        return output::print(&picture);
    }
    let in_turn = args.csv || args.svg || args.json || args.output.is_some();
    if let Some(text) = (!in_turn).then(|| side_by_side(args, &documents)).flatten() {
        return output::print(&text);
    }
    for document in &documents {
        if args.csv {
            let rows = ioscape_report::csv(document).ok_or_else(|| {
                Failure::Misuse(
                    "this kind of result has no rows for --csv: --json has all its numbers"
                        .to_owned(),
                )
            })?;
            output::print(&rows)?;
        } else if args.svg {
            output::print(&landscape(document)?)?;
        } else if args.json {
            output::print(&output::json(document)?)?;
        } else if args.markdown {
            output::print(&ioscape_report::terminal(document, &output::markdown()))?;
        } else if args.output.is_none() {
            output::print(&ioscape_report::terminal(document, &output::style()))?;
        }
    }
    Ok(())
}

/// The one picture that is asked for: a figure of the page, or the landscape.
fn picture(args: &ReportArgs, documents: &[Document]) -> Result<String, Failure> {
    if let Some(name) = &args.figure {
        return figure(&page(&args.results, documents), name);
    }
    if let [one] = documents {
        return landscape(one);
    }
    joint_picture(&args.results, documents).ok_or_else(|| {
        let what = "only evaluations share one picture: give one result, or --figure NAME";
        Failure::Misuse(what.to_owned())
    })
}

/// The landscape of an evaluation, or the speeds of rated micro-benchmarks.
fn landscape(document: &Document) -> Result<String, Failure> {
    ioscape_report::landscape_svg(document, output::quantity()).ok_or_else(|| {
        let page = ioscape_report::html(document, output::quantity());
        let names = ioscape_report::figure_names(&page).join(", ");
        Failure::Misuse(match names.is_empty() {
            true => "this result has nothing to draw: --json has all its numbers".to_owned(),
            false => format!(
                "this result has no picture of the whole: add --figure NAME for one of its page ({names})"
            ),
        })
    })
}

/// That the page has no such part, and which it has.
fn absent(part: &str, name: &str, names: &[impl AsRef<str>]) -> Failure {
    let names = names.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    Failure::Misuse(match names.is_empty() {
        true => format!("the page of this result has no {part}s"),
        false => format!("the page has no {part} {name}: give {names}"),
    })
}

/// A table of the page as comma-separated values.
fn table(page: &str, name: &str) -> Result<String, Failure> {
    ioscape_report::table_csv(page, name)
        .ok_or_else(|| absent("table", name, &ioscape_report::table_names(page)))
}

/// A figure of the page as a picture.
fn figure(page: &str, name: &str) -> Result<String, Failure> {
    ioscape_report::figure_svg(page, name, output::quantity())
        .ok_or_else(|| absent("figure", name, &ioscape_report::figure_names(page)))
}

/// The page of one result, or one page of them all, each called after its file.
fn page(paths: &[PathBuf], documents: &[Document]) -> String {
    if let [one] = documents {
        return ioscape_report::html(one, output::quantity());
    }
    let named = ioscape_report::with_unique_names(&named(paths, documents));
    let measured = measured(&named);
    ioscape_report::joint_html(&named, &measured, env!("CARGO_PKG_VERSION"), output::quantity())
}

/// Every result of runs, `vxbench`, a campaign or micro-benchmarks compared with the first of its kind, as far as they did the same work.
fn measured(named: &[(String, &Document)]) -> Vec<MeasuredComparison> {
    let mut firsts: Vec<NamedDocument> = Vec::new();
    let mut all = Vec::new();
    for (name, document) in named {
        let Some(kind) = document.outcome.as_ref().filter(|one| has_rows(one)) else { continue };
        let is_alike = |one: &&NamedDocument| {
            let first = one.document.outcome.as_ref();
            first.is_some_and(|first| discriminant(first) == discriminant(kind))
        };
        let this = NamedDocument { name, document };
        match firsts.iter().find(is_alike) {
            // What is no comparison is shown without one.
            Some(first) => all.extend(compare_measured(*first, this, None)),
            None => firsts.push(this),
        }
    }
    all
}

fn has_rows(outcome: &Outcome) -> bool {
    use Outcome::{Campaign, Measurements, Os, Vxbench};
    matches!(outcome, Measurements(_) | Vxbench(_) | Campaign(_) | Os(_))
}

/// Several results of micro-benchmarks in one table; `None` of anything else.
fn side_by_side(args: &ReportArgs, documents: &[Document]) -> Option<String> {
    if documents.iter().any(|document| document.os().is_none()) {
        return None;
    }
    let named = ioscape_report::with_unique_names(&named(&args.results, documents));
    let style = if args.markdown { output::markdown() } else { output::style() };
    ioscape_report::os_side_by_side(&named, &measured(&named), &style)
}

/// Several evaluations in one picture, each called after its file.
fn joint_picture(paths: &[PathBuf], documents: &[Document]) -> Option<String> {
    ioscape_report::joint_svg(&named(paths, documents), output::quantity())
}

/// The documents by the names of their files.
fn named<'a>(paths: &[PathBuf], documents: &'a [Document]) -> Vec<(String, &'a Document)> {
    let names = paths.iter().map(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.strip_suffix(".json")
            .map_or(name.clone(), |n| n.trim_end_matches(".ioscape").to_owned())
    });
    names.zip(documents).collect()
}
