//! Draws a chart as an `<svg>` element.

use super::ticks::{LINE, Tick, text_width, ticks, title};
use super::{Chart, Drawn, Frame, Mark, Marker, Scale, Series, Shape};
use crate::text::esc;
use std::fmt::Write as _;

/// The plot area inside the frame, and the room for labels around it.
struct Layout {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    ribbon: bool,
    rows: Vec<usize>,
    x_ticks: Vec<Tick>,
    y_ticks: Vec<Tick>,
}

const RIBBON: f64 = 20.0;

impl Layout {
    fn new(chart: &Chart, frame: Frame) -> Self {
        let bottom = frame.height - LINE * 2.0 - 12.0;
        let ribbon = chart.bands.iter().any(|band| !band.label.is_empty());
        let head = LINE + 8.0 + if ribbon { RIBBON + 4.0 } else { 0.0 };
        // Rows of marker labels push the plot down, but leave it at least a third of the height.
        let guess = ticks(&chart.y, bottom - head, false);
        let widest = guess.iter().map(|tick| text_width(&tick.label)).fold(12.0, f64::max);
        // Wide charts stand one below the other, so their horizontal axes start at the same place.
        let least = if frame.width > 1000.0 { 72.0 } else { 0.0 };
        let (left, right) = ((widest + 12.0).max(least), frame.width - 14.0);
        let mut layout = Self {
            left,
            right,
            top: head,
            bottom,
            ribbon,
            rows: Vec::new(),
            x_ticks: ticks(&chart.x, right - left, true),
            y_ticks: Vec::new(),
        };
        layout.rows = layout.label_rows(chart);
        let rows = layout.rows.iter().max().map_or(0, |most| most + 1);
        layout.top = (head + rows as f64 * LINE).min(bottom - frame.height / 3.0);
        layout.y_ticks = ticks(&chart.y, layout.bottom - layout.top, false);
        layout
    }

    fn x(&self, chart: &Chart, value: f64) -> f64 {
        self.left + chart.x.place(value).clamp(0.0, 1.0) * (self.right - self.left)
    }

    fn y(&self, chart: &Chart, value: f64) -> f64 {
        self.bottom - chart.y.place(value).clamp(0.0, 1.0) * (self.bottom - self.top)
    }

    /// Centre of a marker's label: at the marker, but inside the plot.
    fn label_centre(&self, chart: &Chart, marker: &Marker) -> f64 {
        let half = text_width(&marker.label) / 2.0;
        self.x(chart, marker.at).min(self.right - half).max(self.left + half)
    }

    /// For each marker, the lowest row in which its label touches no other; row 0 is at the bottom.
    fn label_rows(&self, chart: &Chart) -> Vec<usize> {
        let mut taken: Vec<Vec<[f64; 2]>> = Vec::new();
        let mut place = |marker: &Marker| {
            if marker.label.is_empty() {
                return 0;
            }
            let (centre, half) =
                (self.label_centre(chart, marker), text_width(&marker.label) / 2.0 + 5.0);
            let free = |row: &Vec<[f64; 2]>| {
                row.iter().all(|s| centre + half < s[0] || centre - half > s[1])
            };
            let index = taken.iter().position(free).unwrap_or(taken.len());
            if index == taken.len() {
                taken.push(Vec::new());
            }
            taken[index].push([centre - half, centre + half]);
            index
        };
        let labelled = chart.markers.iter().any(|marker| !marker.label.is_empty());
        let rows: Vec<usize> = chart.markers.iter().map(&mut place).collect();
        if labelled { rows } else { Vec::new() }
    }
}

/// The chart in a frame, as an element without colours or fonts of its own.
pub fn svg(chart: &Chart, frame: Frame, class: &str) -> String {
    let layout = Layout::new(chart, frame);
    let mut out = String::with_capacity(4096);
    let Frame { width, height } = frame;
    let _ = write!(
        out,
        r#"<svg class="plot {class}" viewBox="0 0 {width} {height}" role="img" aria-label="{}">"#,
        esc(&chart.label)
    );
    bands(&mut out, chart, &layout);
    axes(&mut out, chart, &layout);
    markers(&mut out, chart, &layout);
    // The first series is the main one, so it is drawn last, on top of the others.
    for one in chart.series.iter().rev() {
        series(&mut out, chart, &layout, one);
    }
    out.push_str("</svg>");
    out
}

fn bands(out: &mut String, chart: &Chart, layout: &Layout) {
    for band in &chart.bands {
        let (from, to) = (layout.x(chart, band.from), layout.x(chart, band.to));
        let (width, height) = ((to - from).max(0.0), layout.bottom - layout.top);
        let class = &band.class;
        let top = layout.top;
        let _ = write!(
            out,
            r#"<rect class="band {class}" x="{from:.1}" y="{top:.1}" width="{width:.1}" height="{height:.1}"/>"#
        );
        if layout.ribbon {
            let y = LINE + 4.0;
            let _ = write!(
                out,
                r#"<rect class="ribbon {class}" x="{from:.1}" y="{y:.1}" width="{width:.1}" height="{RIBBON}" rx="3"/>"#
            );
            ribbon_text(out, &band.label, (from + to) / 2.0, width, y + RIBBON - 5.5);
        }
    }
}

/// Writes the whole name if it fits, else its last word, else nothing.
fn ribbon_text(out: &mut String, label: &str, x: f64, width: f64, y: f64) {
    let short = label.rsplit(' ').next().unwrap_or_default();
    let fitting = [label, short].into_iter().find(|text| text_width(text) + 6.0 <= width);
    if let Some(text) = fitting {
        let _ = write!(
            out,
            r#"<text class="name" x="{x:.1}" y="{y:.1}" text-anchor="middle">{}</text>"#,
            esc(text)
        );
    }
}

fn axes(out: &mut String, chart: &Chart, layout: &Layout) {
    let Layout { left, right, bottom, .. } = *layout;
    for tick in &layout.y_ticks {
        let y = layout.y(chart, tick.value);
        let (x, base, label) = (left - 7.0, y + 4.0, esc(&tick.label));
        let zero = if chart.y.scale == Scale::Linear && tick.value == 0.0 { " zero" } else { "" };
        let _ = write!(
            out,
            r#"<path class="grid{zero}" d="M{left:.1} {y:.1}H{right:.1}"/><text x="{x:.1}" y="{base:.1}" text-anchor="end">{label}</text>"#
        );
    }
    let _ = write!(out, r#"<path class="axis" d="M{left:.1} {bottom:.1}H{right:.1}"/>"#);
    for tick in &layout.x_ticks {
        let x = layout.x(chart, tick.value);
        let (end, base, label) = (bottom + 4.0, bottom + 4.0 + LINE, esc(&tick.label));
        // A label at an end of the axis must not leave the frame.
        let half = text_width(&tick.label) / 2.0;
        let centre = x.min(right + 12.0 - half).max(half);
        let _ = write!(
            out,
            r#"<path class="axis" d="M{x:.1} {bottom:.1}V{end:.1}"/><text x="{centre:.1}" y="{base:.1}" text-anchor="middle">{label}</text>"#
        );
    }
    let (middle, base) = ((left + right) / 2.0, bottom + LINE * 2.0 + 6.0);
    let _ = write!(
        out,
        r#"<text class="title" x="{middle:.1}" y="{base:.1}" text-anchor="middle">{}</text><text class="title" x="0" y="{:.1}">{}</text>"#,
        esc(&chart.x.label),
        LINE - 4.0,
        esc(&title(&chart.y)),
    );
}

fn markers(out: &mut String, chart: &Chart, layout: &Layout) {
    let Layout { top, bottom, .. } = *layout;
    for (index, marker) in chart.markers.iter().enumerate() {
        let class = &marker.class;
        let x = layout.x(chart, marker.at);
        let [from, to] = marker.range.map(|value| layout.x(chart, value));
        let _ = write!(out, r#"<g class="marker {class}">"#);
        if to > from {
            let (width, height) = (to - from, bottom - top);
            let _ = write!(
                out,
                r#"<rect x="{from:.1}" y="{top:.1}" width="{width:.1}" height="{height:.1}"/>"#
            );
        }
        let _ = write!(out, r#"<path d="M{x:.1} {top:.1}V{bottom:.1}"/>"#);
        if let (false, Some(&row)) = (marker.label.is_empty(), layout.rows.get(index)) {
            let (centre, y) = (layout.label_centre(chart, marker), top - 5.0 - row as f64 * LINE);
            let _ = write!(
                out,
                r#"<text x="{centre:.1}" y="{y:.1}" text-anchor="middle">{}</text>"#,
                esc(&marker.label)
            );
        }
        out.push_str("</g>");
    }
}

fn series(out: &mut String, chart: &Chart, layout: &Layout, series: &Series) {
    let marks: Vec<&Mark> = series.marks.iter().filter(|mark| chart.can_show(mark)).collect();
    let _ = write!(out, r#"<g class="series {}" data-name="{}">"#, series.class, esc(&series.name));
    if series.drawn == Drawn::Line {
        area(out, chart, layout, &marks);
    }
    let mut bars = String::new();
    for mark in &marks {
        let x = layout.x(chart, mark.x);
        let [low, high] = mark.range.map(|value| layout.y(chart, value));
        if low - high > 1.5 && series.drawn != Drawn::Line {
            let (a, b) = (x - 2.5, x + 2.5);
            let _ = write!(bars, "M{x:.1} {low:.1}V{high:.1}");
            // A bar that leaves the picture gets no end mark.
            let ends = mark.range.into_iter().zip([low, high]);
            for (_, end) in ends.filter(|(value, _)| chart.y.holds(*value)) {
                let _ = write!(bars, "M{a:.1} {end:.1}H{b:.1}");
            }
        }
    }
    if !bars.is_empty() {
        let _ = write!(out, r#"<path class="bars" d="{bars}"/>"#);
    }
    if !marks.is_empty() && series.drawn != Drawn::Points {
        let line = line(chart, layout, series);
        let _ = write!(out, r#"<path class="line" d="{line}"/>"#);
    }
    for mark in marks.into_iter().filter(|_| series.drawn != Drawn::Line) {
        point(out, series.shape, mark, layout.x(chart, mark.x), layout.y(chart, mark.y));
    }
    out.push_str("</g>");
}

/// The data of the path through the points of a series.
///
/// The path breaks at a point that has no place on the axes, such as 0 on a logarithmic one. A line
/// drawn without points does not break: a single value between two gaps would be invisible.
fn line(chart: &Chart, layout: &Layout, series: &Series) -> String {
    let mut line = String::new();
    let mut begins = true;
    for mark in &series.marks {
        if chart.can_show(mark) {
            let (x, y) = (layout.x(chart, mark.x), layout.y(chart, mark.y));
            let _ = write!(line, "{}{x:.1} {y:.1}", if begins { 'M' } else { 'L' });
            begins = false;
        } else {
            begins |= series.drawn == Drawn::Both;
        }
    }
    line
}

/// Draws the ranges of a line without points as an area around it.
fn area(out: &mut String, chart: &Chart, layout: &Layout, marks: &[&Mark]) {
    if marks.iter().all(|mark| mark.range[0] >= mark.range[1]) {
        return;
    }
    let at = |mark: &&Mark, end: usize| {
        format!("{:.1} {:.1}", layout.x(chart, mark.x), layout.y(chart, mark.range[end]))
    };
    let upper = marks.iter().map(|mark| at(mark, 1));
    let lower = marks.iter().rev().map(|mark| at(mark, 0));
    let around = upper.chain(lower).collect::<Vec<_>>().join("L");
    let _ = write!(out, r#"<path class="area" d="M{around}z"/>"#);
}

impl Shape {
    /// The outline of the symbol around a place, as the data of a path.
    pub fn path(self, x: f64, y: f64) -> String {
        match self {
            Self::Disc => {
                format!("M{:.1} {y:.1}a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0 -6.4 0z", x - 3.2)
            }
            Self::Square => format!("M{:.1} {:.1}h5.6v5.6h-5.6z", x - 2.8, y - 2.8),
            Self::Triangle => format!("M{x:.1} {:.1}l3.8 6.4h-7.6z", y - 4.0),
            Self::Diamond => format!("M{x:.1} {:.1}l4 4l-4 4l-4 -4z", y - 4.0),
        }
    }
}

fn point(out: &mut String, shape: Shape, mark: &Mark, x: f64, y: f64) {
    let class = if mark.doubtful { "pt doubt" } else { "pt" };
    let path = shape.path(x, y);
    let _ = match esc(&mark.title) {
        title if title.is_empty() => write!(out, r#"<path class="{class}" d="{path}"/>"#),
        title => write!(out, r#"<path class="{class}" d="{path}"><title>{title}</title></path>"#),
    };
}

#[cfg(test)]
#[path = "draw_tests.rs"]
mod tests;
