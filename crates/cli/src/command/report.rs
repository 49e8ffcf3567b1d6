//! `ioscape report`: pages, pictures and tables of existing results.

use crate::failure::Failure;
use crate::output;
use crate::outputs;
use ioscape_arguments::ReportArgs;
use ioscape_schema::Document;
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
    if let Some(name) = &args.figure {
        return output::print(&figure(&page(&args.results, &documents), name)?);
    }
    let joint = args.svg.then(|| joint_picture(&args.results, &documents)).flatten();
    if let Some(picture) = joint {
        return output::print(&picture);
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
            output::print(&ioscape_report::landscape_svg(document, output::quantity()))?;
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

/// A figure of the page as a picture.
fn figure(page: &str, name: &str) -> Result<String, Failure> {
    ioscape_report::figure_svg(page, name, output::quantity()).ok_or_else(|| {
        let names = ioscape_report::figure_names(page).join(", ");
        Failure::Misuse(match names.is_empty() {
            true => "the page of this result has no figures".to_owned(),
            false => format!("the page has no figure {name}: give {names}"),
        })
    })
}

/// The page of one result, or one page of them all, each called after its file.
fn page(paths: &[PathBuf], documents: &[Document]) -> String {
    if let [one] = documents {
        return ioscape_report::html(one, output::quantity());
    }
    let named = named(paths, documents);
    ioscape_report::joint_html(&named, env!("CARGO_PKG_VERSION"), output::quantity())
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
