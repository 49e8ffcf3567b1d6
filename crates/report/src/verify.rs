//! The result of verification, for every format: a sentence, and the blocks that are wrong.

use crate::html::tables::table as html_table;
use crate::terminal::Style;
use crate::terminal::tables::of_rows;
use crate::text::esc;
use ioscape_schema::{VerifyFinding, VerifyReport};

/// The column heads of the table of findings.
const HEAD: [&str; 4] = ["Found", "File", "Byte", "What"];

fn cells(finding: &VerifyFinding) -> Vec<String> {
    let what = finding.sentence();
    vec![finding.kind.word().to_owned(), finding.file.clone(), finding.offset.to_string(), what]
}

/// The result as text, under `name` if there are several; empty if nothing was verified.
pub fn text(report: Option<&VerifyReport>, name: &str, style: &Style) -> String {
    let Some(report) = report else { return String::new() };
    let sentence = format!("Verification{name}: {}", report.sentence());
    let mut out = format!("\n{}", style.paragraph("", "  ", &sentence));
    if !report.findings.is_empty() {
        let rows: Vec<_> = report.findings.iter().map(cells).collect();
        out += &of_rows(&HEAD, &rows, |at| at != 2, style);
    }
    out
}

/// The result as part of the page; empty if nothing was verified.
pub fn html(report: Option<&VerifyReport>, name: &str) -> String {
    let Some(report) = report else { return String::new() };
    let sentence = esc(&report.sentence());
    let mut out = format!("<h3>Verification{}</h3><p>{sentence}</p>", esc(name));
    if !report.findings.is_empty() {
        out += &html_table("", &HEAD, report.findings.iter().map(cells));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::VerifyKind;

    #[test]
    fn findings_are_located_in_both_formats_and_names_do_nothing() {
        let finding = VerifyFinding {
            kind: VerifyKind::Misplaced,
            file: "/a<b>\u{1b}".into(),
            offset: 4096,
            expected_write: 3,
            found_write: Some(2),
            found_offset: Some(8192),
            found_file: None,
            at_end: false,
        };
        let mut report =
            VerifyReport { checked_blocks: 9, misplaced: 1, ..VerifyReport::default() };
        report.findings.push(finding);
        let text = text(Some(&report), " of run 1", &Style::default());
        assert!(text.contains("Verification of run 1:") && text.contains("4096"), "{text}");
        assert!(!text.contains('\u{1b}') && text.contains("byte 8192"), "{text}");
        let page = html(Some(&report), "");
        assert!(page.contains("misplaced") && !page.contains("<b>"), "{page}");
        assert_eq!(html(None, ""), "");
    }
}
