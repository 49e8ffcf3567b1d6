//! Draws a chart in characters: braille lines if the terminal has them, otherwise dots.

use super::ink::{Style, colour};
use crate::curve::TAIL;
use crate::plot::{Chart, Drawn, Mark, Series, Shape, text_width, ticks, title};

/// A block of lines of equal width, so that blocks can stand side by side.
struct Block {
    /// The lines, with colours if the style has them.
    lines: Vec<String>,
    /// Visible width of every line.
    width: usize,
}

/// A cell: its dots or character, and the colour class drawn last.
#[derive(Clone)]
struct Cell {
    dots: u8,
    /// A symbol; it covers lines, and lines cover a vertical rule.
    mark: Option<char>,
    rule: bool,
    class: String,
}

/// The plot area. In braille every cell has two by four dots, otherwise a single one.
struct Canvas {
    width: usize,
    height: usize,
    cells: Vec<Cell>,
    fine: bool,
}

impl Canvas {
    fn new(width: usize, height: usize, fine: bool) -> Self {
        let empty = Cell { dots: 0, mark: None, rule: false, class: String::new() };
        Self { width, height, cells: vec![empty; width * height], fine }
    }

    /// The number of dots across and down.
    fn size(&self) -> (usize, usize) {
        if self.fine { (self.width * 2, self.height * 4) } else { (self.width, self.height) }
    }

    /// The dot at a place; `x` and `y` run from 0 to 1, rightwards and upwards.
    fn dot_at(&self, x: f64, y: f64) -> (i64, i64) {
        let (width, height) = self.size();
        let place = |share: f64, count: usize| {
            (share.clamp(0.0, 1.0) * (count.max(1) - 1) as f64).round() as i64
        };
        (place(x, width), place(1.0 - y, height))
    }

    fn cell_of(&self, (x, y): (i64, i64)) -> usize {
        let (x, y) = (x.max(0) as usize, y.max(0) as usize);
        if self.fine { y / 4 * self.width + x / 2 } else { y * self.width + x }
    }

    fn dot(&mut self, at: (i64, i64), class: &str) {
        const BITS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
        let index = self.cell_of(at);
        let bit = if self.fine { BITS[at.0 as usize % 2][at.1 as usize % 4] } else { 1 };
        self.cells[index].dots |= bit;
        class.clone_into(&mut self.cells[index].class);
    }

    fn mark(&mut self, at: (i64, i64), mark: char, class: &str) {
        let index = self.cell_of(at);
        self.cells[index].mark = Some(mark);
        class.clone_into(&mut self.cells[index].class);
    }

    fn rule(&mut self, at: (i64, i64), class: &str) {
        let index = self.cell_of(at);
        self.cells[index].rule = true;
        class.clone_into(&mut self.cells[index].class);
    }

    /// Draws a straight line of dots.
    fn line(&mut self, from: (i64, i64), to: (i64, i64), class: &str) {
        let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs()).max(1);
        for step in 0..=steps {
            let between =
                |a: i64, b: i64| a + ((b - a) * step + (b - a).signum() * steps / 2) / steps;
            self.dot((between(from.0, to.0), between(from.1, to.1)), class);
        }
    }

    fn row(&self, row: usize, style: &Style) -> String {
        let cells = &self.cells[row * self.width..(row + 1) * self.width];
        let mut out = String::new();
        for cell in cells {
            let c = match (cell.mark, cell.dots) {
                (Some(mark), _) => mark,
                (None, 0) if cell.rule && style.unicode => '\u{250a}',
                (None, 0) if cell.rule => ':',
                (None, 0) => ' ',
                (None, dots) if self.fine => {
                    char::from_u32(0x2800 + u32::from(dots)).unwrap_or('.')
                }
                (None, _) => '.',
            };
            let code = if c == ' ' { "" } else { colour(&cell.class) };
            out.push_str(&style.ink(code, c.encode_utf8(&mut [0; 4])));
        }
        out
    }
}

/// The symbol of a series.
fn symbol(series: &Series, style: &Style) -> char {
    if series.class.ends_with(TAIL) {
        return match (series.shape, style.unicode) {
            (Shape::Disc, true) => '\u{25cb}',
            (Shape::Square, true) => '\u{25a1}',
            (Shape::Triangle, true) => '\u{25b3}',
            (Shape::Diamond, true) => '\u{25c7}',
            (Shape::Disc, false) => 'O',
            (Shape::Square, false) => '%',
            (Shape::Triangle, false) => 'A',
            (Shape::Diamond, false) => 'x',
        };
    }
    match (series.shape, style.unicode) {
        (_, true) if series.drawn == Drawn::Line => '\u{2500}',
        (_, false) if series.drawn == Drawn::Line => '.',
        (Shape::Disc, true) => '\u{25cf}',
        (Shape::Square, true) => '\u{25a0}',
        (Shape::Triangle, true) => '\u{25b2}',
        (Shape::Diamond, true) => '\u{25c6}',
        (Shape::Disc, false) => 'o',
        (Shape::Square, false) => '#',
        (Shape::Triangle, false) => '^',
        (Shape::Diamond, false) => '+',
    }
}

/// A chart with its legend: `width` columns wide, with a plot of `height` rows.
pub fn picture(chart: &Chart, width: usize, height: usize, style: &Style) -> String {
    let plain = style.plain();
    let drawn = side_by_side(&[block(chart, width, height, &plain)], width);
    style.drawing(&(drawn + &legend(chart, &plain)))
}

/// Small charts side by side, at least `count` in a row; empty without any.
pub fn small<T>(charts: &[(T, Chart)], count: usize, style: &Style) -> String {
    let (columns, plain) = (style.columns(), style.plain());
    let width = ((columns + 2) / count - 2).min(60);
    let blocks: Vec<Block> =
        charts.iter().map(|(_, chart)| block(chart, width, 6, &plain)).collect();
    style.drawing(&side_by_side(&blocks, columns))
}

/// The chart with axes and titles: `width` columns wide, with a plot of `height` rows.
fn block(chart: &Chart, width: usize, height: usize, style: &Style) -> Block {
    // Tick labels are spaced in units of pictures, where a character is as wide as a column here.
    let y_ticks = ticks(&chart.y, height as f64 * 12.0, false);
    let labels = y_ticks.iter().map(|tick| tick.label.chars().count()).max().unwrap_or(0);
    let plot_width = width.saturating_sub(labels + 3).max(8);
    let canvas = draw(chart, plot_width, height, style);
    let mut lines = vec![pad(&style.clean(&title(&chart.y)), width)];
    for row in 0..height {
        let here =
            |value: f64| canvas.cell_of(canvas.dot_at(0.0, chart.y.place(value))) / plot_width;
        let label = y_ticks.iter().find(|tick| here(tick.value) == row).map(|tick| &tick.label);
        let edge =
            if label.is_some() { style.pick("\u{2524}", "+") } else { style.pick("\u{2502}", "|") };
        let label = style.clean(label.map_or("", String::as_str));
        lines.push(format!("{label:>labels$} {edge}{} ", canvas.row(row, style)));
    }
    lines.extend(foot(chart, labels, plot_width, width, style));
    Block { lines, width: (labels + 3 + plot_width).max(width) }
}

fn draw(chart: &Chart, width: usize, height: usize, style: &Style) -> Canvas {
    let mut canvas = Canvas::new(width, height, style.unicode);
    for marker in &chart.markers {
        for row in 0..height {
            let y = 1.0 - (row as f64 + 0.5) / height as f64;
            let at = canvas.dot_at(chart.x.place(marker.at), y);
            canvas.rule(at, &marker.class);
        }
    }
    let several = chart.series.len() > 1;
    // The first series is the main one, so it is drawn last, on top of the others.
    for series in chart.series.iter().rev() {
        let parts = parts(chart, series, &canvas);
        for pair in parts.iter().flat_map(|part| part.windows(2)) {
            canvas.line(pair[0], pair[1], &series.class);
        }
        let has_single = parts.iter().any(|part| part.len() == 1);
        let marked = several || !style.unicode || has_single;
        for &place in parts.iter().flatten().filter(|_| marked && series.drawn != Drawn::Line) {
            canvas.mark(place, symbol(series, style), &series.class);
        }
    }
    canvas
}

/// The places of a series' points, split into the parts that a line connects.
///
/// As in the other pictures, the line breaks at a point that has no place on the axes.
fn parts(chart: &Chart, series: &Series, canvas: &Canvas) -> Vec<Vec<(i64, i64)>> {
    let place = |mark: &Mark| canvas.dot_at(chart.x.place(mark.x), chart.y.place(mark.y));
    let shown = series.marks.iter().filter(|mark| chart.can_show(mark)).map(place);
    let mut parts: Vec<Vec<(i64, i64)>> = match series.drawn {
        Drawn::Both => {
            let parts = series.marks.split(|mark| !chart.can_show(mark));
            parts.map(|part| part.iter().map(place).collect()).collect()
        }
        Drawn::Line => vec![shown.collect()],
        Drawn::Points => shown.map(|at| vec![at]).collect(),
    };
    parts.retain(|part| !part.is_empty());
    parts
}

/// The horizontal axis, its tick labels and its name.
fn foot(chart: &Chart, labels: usize, plot: usize, width: usize, style: &Style) -> Vec<String> {
    let ticks = ticks(&chart.x, text_width("x") * plot as f64, true);
    let mut axis: Vec<&str> = vec![style.pick("\u{2500}", "-"); plot];
    let mut names = vec![' '; labels + 3 + plot];
    for tick in &ticks {
        let column =
            (chart.x.place(tick.value).clamp(0.0, 1.0) * (plot - 1) as f64).round() as usize;
        axis[column] = style.pick("\u{252c}", "+");
        let label: Vec<char> = style.clean(&tick.label).chars().collect();
        let start = (labels + 2 + column).saturating_sub(label.len() / 2);
        let start = start.min(names.len().saturating_sub(label.len()));
        for (place, c) in names[start..].iter_mut().zip(label) {
            *place = c;
        }
    }
    let corner = style.pick("\u{2514}", "+");
    let name = style.clean(&chart.x.label);
    let centre = (labels + 2 + plot / 2).saturating_sub(name.chars().count() / 2);
    let indent = " ".repeat(centre.min(width.saturating_sub(name.chars().count())));
    vec![
        pad(&format!("{} {corner}{} ", " ".repeat(labels), axis.concat()), width),
        pad(&names.into_iter().collect::<String>(), width),
        pad(&format!("{indent}{name}"), width),
    ]
}

fn pad(text: &str, width: usize) -> String {
    let short: String = text.chars().take(width).collect();
    format!("{short:<width$}")
}

/// Arranges blocks in rows, with as many side by side as fit.
fn side_by_side(blocks: &[Block], columns: usize) -> String {
    let Some(widest) = blocks.iter().map(|block| block.width).max() else { return String::new() };
    let count = ((columns + 2) / (widest + 2)).max(1);
    let mut out = String::new();
    for row in blocks.chunks(count) {
        let height = row.iter().map(|block| block.lines.len()).max().unwrap_or(0);
        for line in 0..height {
            let parts: Vec<&str> =
                row.iter().map(|block| block.lines.get(line).map_or("", String::as_str)).collect();
            out.push_str(parts.join("  ").trim_end());
            out.push('\n');
        }
    }
    out
}

/// The symbols and names of a chart's series, as many per line as fit.
fn legend(chart: &Chart, style: &Style) -> String {
    let mut entries: Vec<(&str, String, String)> = chart
        .series
        .iter()
        .map(|one| (&*one.class, symbol(one, style).to_string(), style.clean(&one.name)))
        .collect();
    if !chart.markers.is_empty() {
        entries.push(("", style.pick("\u{250a}", ":").to_owned(), "border".to_owned()));
    }
    let mut out = String::new();
    let mut used = 0;
    for (class, symbol, name) in entries {
        let width = name.chars().count() + 5;
        if used > 0 && used + width > style.columns() {
            out.push('\n');
            used = 0;
        }
        out += &format!(
            "{}{} {name}",
            if used == 0 { "  " } else { "   " },
            style.ink(colour(class), &symbol)
        );
        used += width;
    }
    out + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Axis, Scale, Unit};

    /// Once, the line ran straight across a set at which a server hung.
    #[test]
    fn a_line_ends_where_a_point_has_no_place() {
        let marks = [(1.0, 1e8), (2.0, 0.0), (3.0, 1e8)].map(|(x, y)| Mark::plain(x, y, ""));
        let series = Series::new("mixed", "mixed", Shape::Disc, Drawn::Both, marks.into());
        let x = Axis::new("x", Scale::Linear, Unit::Number, [0.0, 4.0]);
        let y = Axis::new("y", Scale::Log10, Unit::Rate, [1e7, 1e9]);
        let mut chart = Chart::new("", x, y, vec![series]);
        let style = Style { unicode: true, ..Style::default() };
        let discs = |chart: &Chart| picture(chart, 40, 5, &style).matches('\u{25cf}').count();
        let canvas = Canvas::new(20, 5, true);
        let lengths = |chart: &Chart| -> Vec<usize> {
            parts(chart, &chart.series[0], &canvas).iter().map(Vec::len).collect()
        };
        assert_eq!((lengths(&chart), discs(&chart)), (vec![1, 1], 3), "two points and the key");
        chart.y.scale = Scale::Linear;
        assert_eq!((lengths(&chart), discs(&chart)), (vec![3], 1));
    }
}
