//! Extracts any table of a page as comma-separated values, as the page shows it.

use crate::csv::line;
use crate::text::NONE;
use std::collections::BTreeMap;

/// Tables take their name from the section or figure that holds them.
const SECTION: &str = r#"<section id=""#;
const FIGURE: &str = r#"<figure id="figure-"#;
const TABLE: &str = "<table ";

/// The tables of a page of ours with their names, in order.
///
/// The name is that of the section or figure that holds the table. From the second table there on,
/// a number follows, as in `points-2`.
fn tables(page: &str) -> Vec<(String, &str)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut section, mut place) = ("page", "page");
    let mut found = Vec::new();
    for (at, _) in page.match_indices('<') {
        let tag = &page[at..];
        if let Some(rest) = tag.strip_prefix(SECTION) {
            section = rest.split('"').next().unwrap_or_default();
            place = section;
        } else if let Some(rest) = tag.strip_prefix(FIGURE) {
            place = rest.split('"').next().unwrap_or_default();
        } else if tag.starts_with("</figure>") {
            place = section;
        } else if tag.starts_with(TABLE) {
            let count = counts.entry(place).or_default();
            *count += 1;
            let name = if *count == 1 { place.to_owned() } else { format!("{place}-{count}") };
            found.push((name, tag.split("</table>").next().unwrap_or_default()));
        }
    }
    found
}

/// The names of the tables on a page of ours, in order.
pub fn table_names(page: &str) -> Vec<String> {
    tables(page).into_iter().map(|(name, _)| name).collect()
}

/// The table with this name on a page of ours: its header, then a line for each row; `None` if
/// there is none.
///
/// Numbers are as on the page, with their units, except that a minus is ASCII and a field without a
/// figure is empty, for other programs. `csv` has the numbers of points in full precision.
pub fn table_csv(page: &str, name: &str) -> Option<String> {
    let (_, table) = tables(page).into_iter().find(|(own, _)| own == name)?;
    Some(table.split("<tr").skip(1).map(|row| line(cells(row).map(plain))).collect())
}

/// The contents of the cells of a row.
fn cells(row: &str) -> impl Iterator<Item = &str> {
    let opened = row.split("<t").skip(1).filter(|rest| rest.starts_with(['d', 'h']));
    opened.filter_map(|rest| Some(rest.split_once('>')?.1.split("</t").next().unwrap_or_default()))
}

/// The text of HTML without tags, with escapes resolved and an ASCII minus; empty for a lone dash.
fn plain(html: &str) -> String {
    let text = super::figure_svg::without_tags(html);
    if text == NONE {
        return String::new();
    }
    let escapes = [
        ("\u{2212}", "-"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ];
    escapes.iter().fold(text, |text, (escape, c)| text.replace(escape, c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::html;
    use crate::quantity::Quantity;
    use crate::sample;

    #[test]
    fn every_table_of_every_kind_has_rows_as_wide_as_its_header() {
        let mut seen = 0;
        for document in sample::hostile() {
            let page = html(&document, Quantity::default());
            let names = table_names(&page);
            assert_eq!(names.len(), page.matches("<table").count());
            for name in names {
                let text = table_csv(&page, &name).unwrap();
                let width = |line: &str| {
                    let quotes = line.split('"').step_by(2);
                    quotes.map(|part| part.matches(',').count()).sum::<usize>()
                };
                let mut lines = text.lines().map(width);
                let head = lines.next().expect("a header");
                assert!(lines.all(|row| row == head), "{name}:\n{text}");
                seen += 1;
            }
        }
        assert!(seen > 20, "only {seen} tables");
    }

    #[test]
    fn tables_are_called_after_their_place_and_hold_what_is_shown() {
        let table = |cell: &str| {
            format!(
                "<table class=\"\"><thead><tr><th scope=\"col\">a</th><th>b, c</th></tr></thead><tbody><tr><td data-label=\"x\">{cell}</td><td>2</td></tr></tbody></table>"
            )
        };
        let page = format!(
            "<section id=\"points\">{}{}<figure id=\"figure-times\">{}</figure>{}</section>",
            table("1"),
            table("<b>&lt;1&gt; &amp;amp; \"q\"</b>"),
            table("3"),
            table("4")
        );
        assert_eq!(table_names(&page), ["points", "points-2", "times", "points-3"]);
        assert_eq!(table_csv(&page, "points").unwrap(), "a,\"b, c\"\n1,2\n");
        assert_eq!(
            table_csv(&page, "points-2").unwrap(),
            "a,\"b, c\"\n\"<1> &amp; \"\"q\"\"\",2\n"
        );
        assert_eq!(table_csv(&page, "no-such"), None);
        for (cell, field) in
            [("\u{2212}3.2", "-3.2"), ("\u{2013}", ""), ("1\u{2013}2", "1\u{2013}2")]
        {
            let page = format!("<section id=\"points\">{}</section>", table(cell));
            let found = table_csv(&page, "points").unwrap();
            assert_eq!(found, format!("a,\"b, c\"\n{field},2\n"));
        }
    }
}
