//! Legends of standalone pictures, with as many rows as the names need.

use crate::plot::text_width;
use std::fmt::Write as _;

/// The margin of a picture.
pub(super) const EDGE: f64 = 28.0;
/// Height of a row.
pub(super) const ROW: f64 = 20.0;
/// The width of a series' sign and of the gap before its name.
const SWATCH: f64 = 32.0;
/// The gap after a name.
const APART: f64 = 24.0;

/// An escaped name and the sign of its series: the text after `<svg ` in the page's legends.
pub(super) type Entry<'a> = (&'a str, &'a str);

/// The width of all names in a single row.
pub(super) fn width(entries: &[Entry<'_>]) -> f64 {
    entries.iter().map(|(name, _)| of_one(name) + APART).sum::<f64>() - APART
}

fn of_one(name: &str) -> f64 {
    SWATCH + text_width(name) * 1.05
}

/// Lays out the names in rows on a sheet of this width; also returns the number of rows.
///
/// The first row is `top` below the edge of the sheet and starts at `left`.
pub(super) fn rows(entries: &[Entry<'_>], sheet: f64, [left, top]: [f64; 2]) -> (String, usize) {
    let mut out = String::new();
    let (mut at, mut row) = (left, 0);
    for &(name, sign) in entries {
        let wide = of_one(name);
        if at > left && at + wide > sheet - EDGE {
            (at, row) = (left, row + 1);
        }
        let (y, text) = (top + row as f64 * ROW, at + SWATCH);
        let _ = write!(
            out,
            r#"<g class="legend"><svg x="{at:.1}" y="{:.1}" width="26" height="12" {sign}</svg></g><text class="key" x="{text:.1}" y="{y:.1}">{name}</text>"#,
            y - 10.0,
        );
        at += wide + APART;
    }
    (out, if entries.is_empty() { 0 } else { row + 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_do_not_fit_into_one_row_take_more_and_stay_on_the_sheet() {
        let name = "ioscape-20261128-203701";
        let entries = vec![(name, r#"class="r1">"#); 8];
        let (svg, rows) = rows(&entries, 1120.0, [EDGE, 62.0]);
        assert_eq!((rows, svg.matches("class=\"key\"").count()), (2, 8));
        let lefts = svg.split("class=\"key\" x=\"").skip(1);
        let lefts = lefts.map(|rest| rest.split('"').next().unwrap().parse::<f64>().unwrap());
        assert!(lefts.clone().all(|x| x >= EDGE && x + text_width(name) <= 1120.0 - EDGE));
        assert_eq!(self::rows(&[], 1120.0, [EDGE, 62.0]), (String::new(), 0));
    }
}
