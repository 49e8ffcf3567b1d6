//! `ioscape report`: pages, pictures and tables of existing results.

use crate::failure::Failure;
use crate::output;
use crate::outputs;
use ioscape_arguments::ReportArgs;
use ioscape_machine::output::Content;
use ioscape_report::{Quantity, Style};
use ioscape_scaling::system::names;
use ioscape_schema::{Document, MeasuredComparison};
use ioscape_study::comparison::measured::{NamedDocument, compare_with_firsts};
use std::path::PathBuf;

/// The argument for the page.
const PAGE: &str = "-o";

/// Runs the command.
///
/// # Errors
/// A result cannot be read or is of another kind than the options need, or the output cannot be
/// written.
pub fn main(args: &ReportArgs) -> Result<(), Failure> {
    let mut documents = output::read_results(&args.results)?;
    if args.metric != Quantity::default() && documents.iter().all(|one| one.evaluation().is_none())
    {
        let why = "--metric is for the figures of evaluations, and no result is one: leave it out";
        return Err(Failure::misuse(why));
    }
    if output::is_anonymous() {
        documents.iter_mut().for_each(|one| one.host = None);
    }
    let names = outputs::names(args.force).reads("the result", &args.results);
    let names = names.holding(PAGE, Content::Page);
    let mut outputs = names.writes(PAGE, args.output.as_deref()).open()?;
    // What is printed is made first, so that it can be refused before the page is written.
    let printed = printed(args, &documents)?;
    if let Some(place) = outputs.get(PAGE) {
        place.text(&page(&args.results, &documents))?;
    }
    match printed {
        Printed::Nothing => Ok(()),
        Printed::Text(text) => output::print(&text),
        Printed::Png(picture) => output::print_picture(&picture),
    }
}

/// What goes to standard output.
enum Printed {
    Nothing,
    Text(String),
    Png(Vec<u8>),
}

/// What the options request of the results on standard output.
fn printed(args: &ReportArgs, documents: &[Document]) -> Result<Printed, Failure> {
    if let Some(name) = &args.table {
        let table = ioscape_report::named_table(&page(&args.results, documents), name);
        return table.map(Printed::Text).map_err(Failure::Misuse);
    }
    if args.png {
        let png = ioscape_report::png(&picture(args, documents)?);
        return png.map(Printed::Png).map_err(|e| Failure::Failed(e.to_string()));
    }
    if args.svg {
        return picture(args, documents).map(Printed::Text);
    }
    let is_printed = args.csv || args.json || args.markdown;
    if args.output.is_some() && !is_printed {
        return Ok(Printed::Nothing);
    }
    let in_turn = args.csv || args.json || args.output.is_some();
    if let Some(text) = (!in_turn).then(|| side_by_side(args, documents)).flatten() {
        return Ok(Printed::Text(text));
    }
    let texts = documents.iter().map(|document| text(args, document));
    let texts = texts.collect::<Result<Vec<_>, Failure>>()?;
    Ok(Printed::Text(match (args.json, &texts[..]) {
        (true, [_, _, ..]) => array(&texts),
        _ => texts.concat(),
    }))
}

/// Several documents as one JSON value.
fn array(documents: &[String]) -> String {
    let each: Vec<&str> = documents.iter().map(|text| text.trim_end()).collect();
    format!("[\n{}\n]\n", each.join(",\n"))
}

/// One result in the requested format.
fn text(args: &ReportArgs, document: &Document) -> Result<String, Failure> {
    if args.csv {
        let none = "this kind of result has no rows for --csv: add --table NAME for a table of its page, or take --json";
        return ioscape_report::csv(document).ok_or_else(|| Failure::misuse(none));
    }
    if args.json {
        return output::json(document);
    }
    Ok(ioscape_report::terminal(document, &style(args)))
}

fn style(args: &ReportArgs) -> Style {
    if args.markdown { Style::markdown(output::quantity()) } else { output::style() }
}

/// The one requested picture: a figure of the page, or the landscape.
fn picture(args: &ReportArgs, documents: &[Document]) -> Result<String, Failure> {
    let quantity = output::quantity();
    match (&args.figure, documents) {
        (Some(name), _) => {
            ioscape_report::named_figure(&page(&args.results, documents), name, quantity)
        }
        (None, [one]) => ioscape_report::landscape(one, quantity),
        (None, _) => joint_picture(&args.results, documents).ok_or_else(|| {
            "only evaluations share one picture: give one result, or --figure NAME".to_owned()
        }),
    }
    .map_err(Failure::Misuse)
}

/// The page of one result, or one page of all results, each named after its file.
fn page(paths: &[PathBuf], documents: &[Document]) -> String {
    if let [one] = documents {
        return ioscape_report::html(one, output::quantity());
    }
    let named = ioscape_report::with_unique_names(&named(paths, documents));
    let measured = measured(&named);
    ioscape_report::joint_html(&named, &measured, env!("CARGO_PKG_VERSION"), output::quantity())
}

/// Compares each result with the first of its kind.
fn measured(named: &[(String, &Document)]) -> Vec<MeasuredComparison> {
    let all = named.iter().map(|(name, document)| NamedDocument { name, document });
    compare_with_firsts(&all.collect::<Vec<_>>())
}

/// Several results of micro-benchmarks in one table; `None` for anything else.
fn side_by_side(args: &ReportArgs, documents: &[Document]) -> Option<String> {
    if documents.iter().any(|document| document.os().is_none()) {
        return None;
    }
    let named = ioscape_report::with_unique_names(&named(&args.results, documents));
    ioscape_report::os_side_by_side(&named, &measured(&named), &style(args))
}

/// Several evaluations in one picture, each named after its file.
fn joint_picture(paths: &[PathBuf], documents: &[Document]) -> Option<String> {
    ioscape_report::joint_svg(&named(paths, documents), output::quantity())
}

/// The documents with the names of their files, as `compare` has them.
fn named<'a>(paths: &[PathBuf], documents: &'a [Document]) -> Vec<(String, &'a Document)> {
    names(paths).into_iter().zip(documents).collect()
}
