//! `ioscape report`: pages, pictures and tables of existing results.

use crate::args::ReportArgs;
use crate::failure::Failure;
use crate::output;
use crate::outputs::{self};
use ioscape_schema::Document;
use std::path::{Path, PathBuf};

/// The pages by the name of their argument.
const PAGES: &str = "-o";

/// Runs the command.
///
/// # Errors
/// A result that cannot be read or is of another kind, and output that cannot be written.
pub fn main(args: &ReportArgs) -> Result<(), Failure> {
    let documents: Vec<Document> =
        args.results.iter().map(|path| output::read_result(path)).collect::<Result<_, _>>()?;
    let pages = args.output.iter().flat_map(|path| (0..documents.len()).map(|i| numbered(path, i)));
    let names = outputs::names(args.force).reads("the result", &args.results);
    let mut outputs = names.writes(PAGES, pages).open()?;
    for (page, document) in outputs.all(PAGES).zip(&documents) {
        page.text(&ioscape_report::html(document))?;
    }
    for document in &documents {
        if args.csv {
            output::print(&ioscape_report::csv(document))?;
        } else if args.svg {
            output::print(&ioscape_report::landscape_svg(document))?;
        } else if args.json {
            output::print(&output::json(document)?)?;
        } else if args.output.is_none() {
            output::print(&ioscape_report::terminal(document, &output::style()))?;
        }
    }
    Ok(())
}

/// `report.html`, `report-2.html`, ...
fn numbered(path: &Path, index: usize) -> PathBuf {
    if index == 0 {
        return path.to_path_buf();
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let ending = path.extension().map_or(String::new(), |e| format!(".{}", e.to_string_lossy()));
    path.with_file_name(format!("{stem}-{}{ending}", index + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_pages_are_numbered() {
        let path = Path::new("out/page.html");
        assert_eq!(numbered(path, 0), path);
        assert_eq!(numbered(path, 1), Path::new("out/page-2.html"));
    }
}
