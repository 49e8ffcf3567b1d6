//! Heat maps of response times and of addresses over time, each with its counts as a table.

use super::over_time::time_unit;
use crate::html::values::Values;
use crate::plot::{Axis, Scale, Unit, text_width, ticks};
use crate::text::esc;
use ioscape_schema::trace_summary::{AddressMap, HeatMap};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const HEIGHT: f64 = 300.0;
const TOP: f64 = 22.0;
const BOTTOM: f64 = 42.0;
/// The number of shades that can be told apart.
const SHADES: f64 = 25.0;

/// A grid of cells: columns by time, rows upwards, shade and class of each cell.
struct Grid {
    label: String,
    columns: f64,
    x: Axis,
    y: Axis,
    /// Column; lower and upper end of the row from 0 to 1; class; shade as a share of the darkest.
    cells: Vec<(f64, [f64; 2], &'static str, f64)>,
}

impl Grid {
    /// The picture in a frame of this width.
    ///
    /// `cells` draws the inside, given the bottom left corner and the width and height.
    fn svg(&self, width: f64, class: &str, cells: impl Fn([f64; 2], [f64; 2]) -> String) -> String {
        let rows = HEIGHT - TOP - BOTTOM;
        let y_ticks = ticks(&self.y, rows, false);
        let widest = y_ticks.iter().map(|tick| text_width(&tick.label)).fold(12.0, f64::max);
        let (left, right, bottom) = (widest + 12.0, width - 14.0, HEIGHT - BOTTOM);
        let mut out = format!(
            r#"<svg class="plot {class}" viewBox="0 0 {width} {HEIGHT}" role="img" aria-label="{}">"#,
            esc(&self.label)
        );
        for tick in &y_ticks {
            let y = bottom - self.y.place(tick.value) * rows;
            let _ = write!(
                out,
                r#"<path class="grid" d="M{left:.1} {y:.1}H{right:.1}"/><text x="{:.1}" y="{:.1}" text-anchor="end">{}</text>"#,
                left - 7.0,
                y + 4.0,
                esc(&tick.label)
            );
        }
        out += &cells([left, bottom], [right - left, rows]);
        for tick in ticks(&self.x, right - left, true) {
            let x = left + self.x.place(tick.value) * (right - left);
            let _ = write!(
                out,
                r#"<text x="{x:.1}" y="{:.1}" text-anchor="middle">{}</text>"#,
                bottom + 18.0,
                esc(&tick.label)
            );
        }
        let _ = write!(
            out,
            r#"<path class="axis" d="M{left:.1} {bottom:.1}H{right:.1}"/><text class="title" x="{:.1}" y="{:.1}" text-anchor="middle">{}</text><text class="title" x="0" y="11">{}</text></svg>"#,
            f64::midpoint(left, right),
            bottom + 37.0,
            esc(&self.x.label),
            esc(&self.y.label)
        );
        out
    }

    /// The cells as paths in a group with this identifier.
    fn cells(&self, id: &str, [left, bottom]: [f64; 2], [wide, high]: [f64; 2]) -> String {
        // Cells of one colour and shade share a path to keep the page small: a map has thousands.
        let mut shades: BTreeMap<(&str, u32), String> = BTreeMap::new();
        let step = wide / self.columns.max(1.0);
        for (column, [from, to], class, share) in &self.cells {
            let (x, y) = (left + column * step, bottom - to * high);
            let (width, height) = (step.max(1.0), ((to - from) * high).max(1.0));
            let path = shades.entry((class, (share * SHADES).round() as u32)).or_default();
            let _ = write!(path, "M{x:.1} {y:.1}h{width:.1}v{height:.1}h-{width:.1}z");
        }
        let path = |((class, shade), path): ((&str, u32), String)| {
            let share = f64::from(shade) / SHADES;
            format!(r#"<path class="cell {class}" fill-opacity="{share:.2}" d="{path}"/>"#)
        };
        format!(r#"<g id="{id}">{}</g>"#, shades.into_iter().map(path).collect::<String>())
    }

    /// The picture in both sizes. The page holds the cells once; the narrow picture shows them
    /// squeezed.
    fn both(&self, name: &str) -> String {
        let id = format!("cells-{name}");
        let place = Cell::new(([0.0; 2], [0.0; 2]));
        let wide = self.svg(1080.0, "wide", |corner, size| {
            place.set((corner, size));
            self.cells(&id, corner, size)
        });
        let ([from, _], [wide_by, _]) = place.get();
        let narrow = self.svg(350.0, "narrow", |[left, _], [width, _]| {
            let squeezed = width / wide_by;
            let moved = left - from * squeezed;
            format!(
                r##"<use href="#{id}" transform="translate({moved:.2} 0) scale({squeezed:.4} 1)"/>"##
            )
        });
        wide + &narrow
    }
}

/// The horizontal axis for `columns` steps.
fn time_axis(step_ns: u64, start_ns: i64, columns: f64) -> Axis {
    let span = step_ns as f64 * columns;
    let (unit, one) = time_unit(span);
    let from = start_ns as f64 / one;
    let label = format!("time from the beginning of the trace, {unit}");
    Axis::new(label, Scale::Linear, Unit::Number, [from, from + span / one])
}

/// The shade by the logarithm of the count, so that single slow requests show beside thousands of
/// fast ones.
fn shade(count: u64, most: u64) -> f64 {
    0.12 + 0.88 * (count as f64).ln_1p() / (most.max(1) as f64).ln_1p()
}

/// A table with a row for each time step: the number of requests in each of its cells.
fn counts(
    x: &Axis,
    columns: f64,
    what: &str,
    cells: impl Iterator<Item = (u32, String)>,
) -> Values {
    let step = (x.range[1] - x.range[0]) / columns.max(1.0);
    let mut rows: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    cells.for_each(|(column, text)| rows.entry(column).or_default().push(text));
    let row = |(column, texts): (u32, Vec<String>)| {
        let from = x.range[0] + f64::from(column) * step;
        vec![Unit::Number.show(from), texts.join("; ")]
    };
    let from = format!("from, {}", x.label.rsplit(' ').next().unwrap_or_default());
    Values::table("words", &[&from, what], rows.into_iter().map(row).collect())
}

/// Response times over time: the picture, and its counts.
pub fn latency(map: &HeatMap) -> (String, Values) {
    let columns =
        map.cells.iter().map(|cell| cell.0).max().map_or(0.0, |last| f64::from(last) + 1.0);
    let most = map.cells.iter().map(|cell| cell.2).max().unwrap_or(0);
    let Some((&first, &last)) = map.rows_to.first().zip(map.rows_to.last()) else {
        return (String::new(), Values::none());
    };
    let known = || map.cells.iter().filter(|cell| (cell.1 as usize) < map.rows_to.len());
    let lowest = known().map(|cell| cell.1).min().unwrap_or(0) as usize;
    let from = if lowest == 0 { first / 2.0 } else { map.rows_to[lowest - 1] };
    let ends = [from, last.max(from * 2.0)];
    let y = Axis::new("elapsed time", Scale::Log10, Unit::Nanos, ends);
    let row = |row: u32| {
        let to = map.rows_to[row as usize];
        let from = if row == 0 { first / 2.0 } else { map.rows_to[row as usize - 1] };
        [y.place(from), y.place(to)]
    };
    let cells = known()
        .map(|&(column, at, count)| (f64::from(column), row(at), "mixed", shade(count, most)))
        .collect();
    let x = time_axis(map.step_ns, map.start_ns, columns);
    let told = known().map(|&(column, at, count)| {
        (column, format!("{}: {count}", Unit::Nanos.show(map.rows_to[at as usize])))
    });
    let values = counts(&x, columns, "requests that took at most", told);
    let label = "Response times over time; a stronger colour is more".to_owned();
    (Grid { label, columns, x, y, cells }.both("latency"), values)
}

/// Addresses over time on one disk: the picture, and its counts.
///
/// A cell has the colour of the prevailing operation; `index` is the disk's number on the page.
pub fn addresses(map: &AddressMap, name: &str, index: usize) -> (String, Values) {
    let columns =
        map.cells.iter().map(|cell| cell.0).max().map_or(0.0, |last| f64::from(last) + 1.0);
    let rows = map.cells.iter().map(|cell| cell.1).max().map_or(1.0, |last| f64::from(last) + 1.0);
    let most = map.cells.iter().map(|cell| cell.2 + cell.3).max().unwrap_or(0);
    let ends = [0.0, rows * map.row_bytes as f64];
    let y = Axis::new("first byte", Scale::Linear, Unit::Bytes, ends);
    let cells = map.cells.iter().map(|&(column, row, reads, writes)| {
        let class = if reads >= writes { "read" } else { "write" };
        let place = [f64::from(row) / rows, (f64::from(row) + 1.0) / rows];
        (f64::from(column), place, class, shade(reads + writes, most))
    });
    let x = time_axis(map.step_ns, map.start_ns, columns);
    let label = format!("Addresses over time on {name}; a stronger colour is more");
    let told = map.cells.iter().map(|&(column, row, reads, writes)| {
        let from = Unit::Bytes.show(f64::from(row) * map.row_bytes as f64);
        (column, format!("{from}: {reads} and {writes}"))
    });
    let values = counts(&x, columns, "reads and writes from", told);
    (
        Grid { label, columns, x, y, cells: cells.collect() }.both(&format!("addresses-{index}")),
        values,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_in_the_page_once_and_shown_in_both_sizes() {
        let map = HeatMap {
            step_ns: 1_000_000_000,
            rows_to: vec![1e3, 1e4, 1e5],
            cells: vec![(0, 1, 5), (1, 2, 9)],
            ..HeatMap::default()
        };
        let (drawn, _) = latency(&map);
        let (wide, narrow) = drawn.split_once("</svg>").expect("two pictures");
        assert_eq!(
            (wide.matches("class=\"cell").count(), narrow.matches("class=\"cell").count()),
            (2, 0)
        );
        assert!(wide.contains(r#"<g id="cells-latency">"#), "{wide}");
        assert!(narrow.contains(r##"<use href="#cells-latency""##), "{narrow}");
    }

    #[test]
    fn cells_beyond_the_rows_of_a_map_are_left_out() {
        let map = HeatMap {
            step_ns: 1_000_000_000,
            rows_to: vec![1e3, 1e4],
            cells: vec![(0, 9, 1)],
            ..HeatMap::default()
        };
        assert!(!latency(&map).0.contains("class=\"cell"));
    }
}
