//! The values of a figure as a collapsed table behind it.
//!
//! It is for readers who cannot see the picture, and for copying.

use super::tables::table;
use crate::plot::{Chart, Mark, Series, Unit};
use crate::text::esc;
use ioscape_schema::units::counted;

/// The table behind a figure.
pub struct Values {
    html: String,
    /// The number of its rows.
    rows: usize,
}

impl Values {
    /// No values, for a figure that draws nothing.
    pub fn none() -> Self {
        Self { html: String::new(), rows: 0 }
    }

    /// All values that these charts show.
    pub fn of(charts: &[&Chart]) -> Self {
        match charts {
            [chart] if is_shared(&chart.series) => by_place(chart),
            _ => by_line(charts),
        }
    }

    /// The table of a figure that is not a chart.
    pub fn table(class: &str, head: &[&str], rows: Vec<Vec<String>>) -> Self {
        Self { rows: rows.len(), html: table(class, head, rows.into_iter()) }
    }

    /// The collapsed table; empty without rows.
    pub fn html(&self) -> String {
        if self.rows == 0 {
            return String::new();
        }
        format!(
            r#"<details class="values"><summary>Values<small>{}</small></summary>{}</details>"#,
            counted(self.rows as u64, "row"),
            self.html
        )
    }
}

/// Whether all lines have their points at the same places, so that each line can be a column.
fn is_shared(series: &[Series]) -> bool {
    let places = |one: &Series| one.marks.iter().map(|mark| mark.x.to_bits()).collect::<Vec<_>>();
    series.windows(2).all(|pair| places(&pair[0]) == places(&pair[1]))
}

/// A value with the ends of its bar, and whether it is in doubt.
fn shown(unit: Unit, mark: &Mark) -> String {
    let value = unit.show(mark.y);
    let [low, high] = mark.range.map(|end| unit.show(end));
    let bounded = if low == high { value } else { format!("{value} ({low} to {high})") };
    if mark.doubtful { bounded + ", disturbed" } else { bounded }
}

/// A table with a row for each place and a column for each line.
fn by_place(chart: &Chart) -> Values {
    let own = chart.y.label.clone();
    let names: Vec<String> = match &chart.series[..] {
        [_] => vec![own],
        all => all.iter().map(|one| one.name.clone()).collect(),
    };
    let head: Vec<&str> =
        [&*chart.x.label].into_iter().chain(names.iter().map(String::as_str)).collect();
    let places = chart.series.first().map_or(&[][..], |one| &one.marks);
    let row = |(at, mark): (usize, &Mark)| {
        let cells = chart.series.iter().map(|one| shown(chart.y.unit, &one.marks[at]));
        [chart.x.unit.show(mark.x)].into_iter().chain(cells).collect()
    };
    Values::table("", &head, places.iter().enumerate().map(row).collect())
}

/// A table with a row for each point. If the charts' axes differ, columns name the axes.
fn by_line(charts: &[&Chart]) -> Values {
    let Some(first) = charts.first() else { return Values::none() };
    let is_one = charts.iter().all(|chart| chart.x.label == first.x.label);
    let is_one_value = charts.iter().all(|chart| chart.y.label == first.y.label);
    let rows = charts.iter().flat_map(|chart| {
        chart.series.iter().flat_map(move |series| {
            series.marks.iter().map(move |mark| {
                let at = chart.x.unit.show(mark.x);
                let at = if is_one { at } else { format!("{} {at}", chart.x.label) };
                let value = shown(chart.y.unit, mark);
                let own = if is_one_value { None } else { Some(chart.y.label.clone()) };
                [series.name.clone(), at].into_iter().chain(own).chain([value]).collect()
            })
        })
    });
    let at = if is_one { &*first.x.label } else { "At" };
    let value: &[&str] = if is_one_value { &[&first.y.label] } else { &["Of", "Value"] };
    Values::table("", &[&["Line", at], value].concat(), rows.collect())
}

/// A list of sentences, numbered as in the result, each with an identifier and a link to itself.
pub fn sentences<'a>(kind: &str, all: impl Iterator<Item = (usize, &'a str)>) -> String {
    let item = |(number, text): (usize, &str)| {
        let id = format!("{kind}-{number}");
        format!(r#"<li id="{id}">{}{}</li>"#, esc(text), anchor(&id, "sentence"))
    };
    format!(r#"<ul class="sentences">{}</ul>"#, all.map(item).collect::<String>())
}

/// A link to the part of the page that holds it; `what` is the kind of part.
pub fn anchor(id: &str, what: &str) -> String {
    format!(r##" <a class="anchor" href="#{id}" aria-label="link to this {what}">#</a>"##)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{chart, plain_series};
    use ioscape_schema::Parameter;

    fn mark(x: f64, y: f64) -> Mark {
        Mark::plain(x, y, "")
    }

    fn cells(html: &str) -> Vec<&str> {
        let cells = html.split("<td>").skip(1);
        cells.filter_map(|cell| cell.split("</td>").next()).collect()
    }

    #[test]
    fn lines_with_the_same_places_are_columns_and_others_are_rows() {
        let fast = plain_series("fast", "read", vec![mark(1.0, 2e6), mark(2.0, 4e6)]);
        let doubtful = Mark { range: [1e6, 3e6], doubtful: true, ..mark(2.0, 2e6) };
        let mut slow = plain_series("slow", "write", vec![mark(1.0, 1e6), doubtful]);
        let drawn = |slow: &Series| {
            let series = vec![fast.clone(), slow.clone()];
            let chart = chart("two".to_owned(), Parameter::ProcessNum, series);
            Values::of(&[&chart]).html()
        };
        let wide = drawn(&slow);
        assert!(wide.contains("<small>2 rows</small>"), "{wide}");
        let meant =
            ["1", "2 MB/s", "1 MB/s", "2", "4 MB/s", "2 MB/s (1 MB/s to 3 MB/s), disturbed"];
        assert_eq!(cells(&wide), meant);
        slow.marks.pop();
        let long = drawn(&slow);
        assert_eq!(
            cells(&long),
            ["fast", "1", "2 MB/s", "fast", "2", "4 MB/s", "slow", "1", "1 MB/s"]
        );
        assert_eq!(Values::of(&[]).html(), "");
    }

    #[test]
    fn charts_that_show_different_things_say_which_beside_every_value() {
        let drawn = |label: &str| {
            let series = vec![plain_series("pure reads", "read", vec![mark(1.0, 2e6)])];
            let mut chart = chart(String::new(), Parameter::ProcessNum, series);
            chart.y.label = label.to_owned();
            chart
        };
        let (rate, share) = (drawn("throughput"), drawn("resident share"));
        let table = Values::of(&[&rate, &share]).html();
        let meant = ["throughput", "2 MB/s", "resident share", "2 MB/s"];
        let shown = cells(&table);
        let shown: Vec<&str> = shown.chunks(4).flat_map(|row| row[2..].to_vec()).collect();
        assert_eq!(shown, meant, "{table}");
    }

    #[test]
    fn a_sentence_links_to_itself_and_does_nothing_else() {
        let list = sentences("finding", [(3, "<b>fast</b>")].into_iter());
        assert!(list.contains(r#"<li id="finding-3">&lt;b&gt;fast"#), "{list}");
        assert!(list.contains(r##"href="#finding-3""##), "{list}");
    }
}
