//! The tables of the terminal.

use super::ink::Style;
use crate::clients::{borders::whose_cache, measured::number};
use crate::figures;
use crate::levels::{self, CacheEnd, Standing};
use crate::regional;
use crate::text::{bounded, cached, described, percent, ratio, run_name, told_time};
use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width,
};
use ioscape_schema::units::{Bytes, Count, Nanos, Rate};
use ioscape_schema::{Border, BorderOperation, Evaluation, Measurement, Region, Slower};

/// A table from its columns: a heading, whether it holds numbers, and its cells.
#[derive(Clone)]
pub struct Column {
    head: String,
    numbers: bool,
    cells: Vec<String>,
}

impl Column {
    /// A column of words, aligned to the left.
    pub fn words(head: impl Into<String>, cells: impl Iterator<Item = String>) -> Self {
        Self { head: head.into(), numbers: false, cells: cells.collect() }
    }

    /// A column of numbers, aligned to the right.
    pub fn numbers(head: impl Into<String>, cells: impl Iterator<Item = String>) -> Self {
        Self { head: head.into(), numbers: true, cells: cells.collect() }
    }

    /// The length in characters of the longest part of its cells between separators.
    fn longest(&self, separator: char, style: &Style) -> usize {
        self.cells.iter().map(|cell| longest(&style.clean(cell), separator)).max().unwrap_or(0)
    }

    /// The width below which its head or a number would be broken; two columns always fit side by
    /// side.
    fn narrowest(&self, style: &Style) -> usize {
        let word = self.longest(' ', style).max(longest(&style.clean(&self.head), ' '));
        let word = if self.numbers { word } else { word.min(WORD_LEAST) };
        word.min(style.columns() / 2 - AIR)
    }

    /// The width below which a cell of a column of numbers, or a word of its head, would be broken.
    fn unbroken(&self, style: &Style) -> usize {
        match self.numbers {
            true => self.longest('\n', style).max(longest(&style.clean(&self.head), ' ')),
            false => self.narrowest(style),
        }
    }

    /// The width at which nothing is broken.
    fn widest(&self, style: &Style) -> usize {
        self.longest('\n', style).max(self.head.chars().count())
    }
}

/// The length in characters of the longest part of a text between separators.
fn longest(text: &str, separator: char) -> usize {
    text.split(separator).map(|part| part.chars().count()).max().unwrap_or(0)
}

/// Rules above the table, below its head and at its end; none between rows and columns.
fn lines(style: &Style) -> TableStyle {
    let rule = |c: char| LineStyle::none().fill(c).junction(c);
    let (thin, thick) = if style.unicode { ('\u{2500}', '\u{2501}') } else { ('-', '=') };
    TableStyle::new().top_border(rule(thin)).header_separator(rule(thick)).bottom_border(rule(thin))
}

/// Spaces after a column, one of which belongs to it.
const AIR: usize = 2;
/// Shorter words in a column of words are not broken, in letters.
const WORD_LEAST: usize = 10;

/// The columns as text that fits the style's width, or as a Markdown table.
///
/// Too many columns become several tables that all begin with the first column, so that no number
/// is broken.
pub fn table(columns: &[Column], style: &Style) -> String {
    if style.markdown {
        return markdown(columns, style);
    }
    let tables: Vec<String> =
        parts(columns, style).iter().map(|part| one_table(part, style)).collect();
    tables.join("\n")
}

/// Rows as a table; `is_words` tells whether a column, counted from 0, holds words.
pub fn of_rows<H: AsRef<str>>(
    head: &[H],
    rows: &[Vec<String>],
    is_words: impl Fn(usize) -> bool,
    style: &Style,
) -> String {
    let column = |(at, head): (usize, &H)| {
        let cells = rows.iter().map(|row| row.get(at).cloned().unwrap_or_default());
        match is_words(at) {
            true => Column::words(head.as_ref(), cells),
            false => Column::numbers(head.as_ref(), cells),
        }
    };
    let columns: Vec<Column> = head.iter().enumerate().map(column).collect();
    table(&columns, style)
}

/// The columns of each table.
fn parts<'a>(columns: &'a [Column], style: &Style) -> Vec<Vec<&'a Column>> {
    let Some((first, others)) = columns.split_first() else { return vec![Vec::new()] };
    let takes = |column: &Column| column.narrowest(style) + AIR;
    let (mut parts, mut part, mut used) = (Vec::new(), vec![first], takes(first));
    for column in others {
        if part.len() > 1 && used + takes(column) > style.columns() {
            parts.push(std::mem::replace(&mut part, vec![first]));
            used = takes(first);
        }
        used += takes(column);
        part.push(column);
    }
    parts.push(part);
    parts
}

fn one_table(columns: &[&Column], style: &Style) -> String {
    let widest: usize = columns.iter().map(|column| column.widest(style) + AIR).sum();
    let is_tight = widest > style.columns() + AIR;
    let unbroken: usize = columns.iter().map(|column| column.unbroken(style) + AIR).sum();
    let is_roomy = unbroken <= style.columns();
    let mut table = Table::new();
    table
        .load_style(lines(style))
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(style.columns()).unwrap_or(u16::MAX))
        .set_header(columns.iter().map(|column| style.clean(&column.head)));
    let rows = columns.iter().map(|column| column.cells.len()).max().unwrap_or(0);
    for row in 0..rows {
        table.add_row(
            columns.iter().map(|column| style.clean(column.cells.get(row).map_or("", |c| c))),
        );
    }
    for (index, column) in columns.iter().enumerate() {
        if let Some(target) = table.column_mut(index) {
            target.set_padding((0, 1));
            if column.numbers {
                target.set_cell_alignment(CellAlignment::Right);
            }
            if column.numbers && is_tight {
                let least = match is_roomy {
                    true => column.unbroken(style),
                    false => column.longest(' ', style).min(style.columns() / 2 - AIR),
                };
                let least = u16::try_from(least + 1).unwrap_or(u16::MAX);
                target.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least)));
            }
        }
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n") + "\n"
}

fn markdown(columns: &[Column], style: &Style) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let rule = |column: &Column| if column.numbers { "---:" } else { "---" }.to_owned();
    let mut out = line(columns.iter().map(|column| style.clean(&column.head)).collect());
    out += &line(columns.iter().map(rule).collect());
    let rows = columns.iter().map(|column| column.cells.len()).max().unwrap_or(0);
    for row in 0..rows {
        let cell = |column: &Column| style.clean(column.cells.get(row).map_or("", |c| c));
        out += &line(columns.iter().map(cell).collect());
    }
    out
}

/// The three headline findings, one line each.
pub fn headlines(evaluation: &Evaluation, style: &Style) -> String {
    let findings = &evaluation.findings;
    let size = |of: BorderOperation| match CacheEnd::of(evaluation, of) {
        CacheEnd::At(one) => {
            let [value, low, high] =
                [one.value, one.low, one.high].map(|bytes| Bytes(bytes).to_string());
            bounded(&value, &low, &high)
        }
        other => {
            let (value, under) = other.words();
            format!("{value} ({under})")
        }
    };
    let mut out = String::new();
    for (name, value) in [
        ("cache for reads ", Some(size(BorderOperation::Read))),
        ("cache for writes", Some(size(BorderOperation::Write))),
        ("write policy    ", findings.write_policy.map(|found| found.word().to_owned())),
    ] {
        if let Some(value) = value {
            out += &style.paragraph("  ", "      ", &format!("{name}  {value}"));
        }
    }
    out
}

/// The findings that differ from region to region, with a column for each; empty without any.
pub fn by_region(evaluation: &Evaluation, style: &Style) -> String {
    let rows = regional::rows(evaluation);
    if rows.is_empty() {
        return String::new();
    }
    let regions = evaluation.regions.iter().map(|region| &*region.name);
    let head: Vec<&str> = ["Finding"].into_iter().chain(regions).collect();
    format!("\n{}", of_rows(&head, &rows, |_| true, style))
}

/// One row per region.
pub fn regions(evaluation: &Evaluation, style: &Style) -> String {
    let regions = &evaluation.regions;
    let each = |cell: fn(&Region) -> String| regions.iter().map(cell);
    let range = |region: &Region| {
        let [from, to] = evaluation.seen_range(region).map(Bytes);
        format!("{from} to {to}")
    };
    let there = |region: &Region| {
        figures::focal_point(region)
            .map_or_else(|| "-".to_owned(), |point| Rate(point.throughput()).to_string())
    };
    let columns = [
        Column::words("Region", each(|region| region.name.clone())),
        Column::words("Set", regions.iter().map(range)),
        Column::numbers(
            "Focal",
            each(|region| Bytes(region.focal.unique_bytes as f64).to_string()),
        ),
        Column::numbers("Size", each(|region| Bytes(region.focal.size_mean as f64).to_string())),
        Column::numbers("Reads", each(|region| percent(region.focal.read_frac))),
        Column::numbers("Seq.", each(|region| percent(region.focal.seq_frac))),
        Column::numbers("Proc.", each(|region| region.focal.process_num.to_string())),
        Column::numbers("There", each(there)),
    ];
    table(&columns, style)
}

/// The fastest point of a region in words; empty if nothing was measured.
pub fn best(region: &Region) -> String {
    figures::best_point(region).map_or_else(String::new, |(parameter, point)| {
        let value = crate::text::value_of(parameter, point.value);
        format!(", best {} ({parameter} {value})", Rate(point.throughput()))
    })
}

/// The borders, in order of `unique_bytes`.
pub fn borders(evaluation: &Evaluation, style: &Style) -> String {
    let borders = levels::borders(evaluation);
    let bytes = |value: f64| Bytes(value).to_string();
    let if_there = |one: &Border, known| Standing::of(evaluation, one).if_there(known);
    let mut columns = vec![
        Column::words("Border", borders.iter().map(|one| one.operation.word().to_owned())),
        Column::numbers("At", borders.iter().map(|one| bytes(one.unique_bytes))),
        Column::numbers("At least", borders.iter().map(|one| if_there(one, bytes(one.low)))),
        Column::numbers("At most", borders.iter().map(|one| if_there(one, bytes(one.high)))),
        Column::words("Slower beyond", borders.iter().map(|one| if_there(one, slower(one)))),
        Column::words(
            "What",
            borders.iter().map(|one| Standing::of(evaluation, one).words().to_owned()),
        ),
    ];
    if let Some(clients) = number(evaluation) {
        let all = borders.iter().map(|one| bytes(one.unique_bytes * clients as f64));
        columns.push(Column::numbers("All clients", all));
        let whose = |one: &&Border| whose_cache(evaluation, one).to_owned();
        columns.push(Column::words("Whose cache", borders.iter().map(whose)));
    }
    table(&columns, style)
}

/// How much slower sets beyond the border are, if the bounds are conclusive.
fn slower(border: &Border) -> String {
    match border.slower {
        Some(Slower { times, unique_bytes }) if times.low > 1.0 => {
            let [value, low, high] = [times.value, times.low, times.high].map(ratio);
            format!("{} at {}", bounded(&value, &low, &high), Bytes(unique_bytes))
        }
        Some(_) => "cannot be told".into(),
        None => "-".into(),
    }
}

/// One row per run; split into two tables if one would not fit.
///
/// A run in which no request completed has no times.
pub fn runs(measurements: &[Measurement], style: &Style) -> String {
    let columns = run_columns(measurements, style);
    if style.markdown || style.columns() >= 150 {
        return table(&columns, style);
    }
    let (first, second) = columns.split_at(4);
    let second: Vec<Column> = [&columns[0]].into_iter().chain(second).cloned().collect();
    format!("{}\n{}", table(first, style), table(&second, style))
}

fn run_columns(measurements: &[Measurement], style: &Style) -> Vec<Column> {
    let each = |cell: fn(&Measurement) -> String| measurements.iter().map(cell);
    let sign = style.pick("\u{b1}", "+-");
    let throughput = measurements.iter().map(|one| {
        let error = one.relative_error();
        let error =
            if error.is_finite() { format!(" {sign}{}", percent(error)) } else { String::new() };
        format!("{}{error}", Rate(one.throughput_bytes_per_s))
    });
    let time = |of: fn(&Measurement) -> f64| {
        measurements.iter().map(move |one| match one.ios {
            0 => "-".to_owned(),
            _ => Nanos(of(one)).to_string(),
        })
    };
    let names = (1..).zip(measurements).map(|(number, one)| run_name(number, one));
    vec![
        Column::words("Run", names),
        Column::words("Workload", each(|one| described(&one.workload))),
        Column::numbers("Throughput", throughput),
        Column::numbers("IOPS", each(|one| Count(one.iops()).to_string())),
        Column::numbers("Mean", time(|one| one.response_time_ns.mean)),
        Column::numbers("Median", time(|one| one.response_time_ns.p50 as f64)),
        Column::numbers("99 %", each(|one| told_time(one.response_time_ns.p99_of(one.ios)))),
        Column::numbers("Longest", time(|one| one.response_time_ns.max as f64)),
        Column::numbers("CPU per I/O", time(|one| one.cpu_ns_per_io)),
        Column::numbers("Cached", each(|one| cached(one, "-"))),
        Column::words("Stop", each(|one| one.stop.word().to_owned())),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_tight_table_breaks_no_head_and_no_cell_of_numbers() {
        let heads = [
            "reads adjacent",
            "or interleaved",
            "writes adjacent",
            "or interleaved",
            "interleave",
            "most frequent distance",
        ];
        for cell in ["12.5 %", "2.52 GB/s"] {
            let numbers = |head: &str| Column::numbers(head, [cell.to_owned()].into_iter());
            let disk = Column::words("Disk", ["sda".to_owned()].into_iter());
            let columns: Vec<Column> = [disk].into_iter().chain(heads.map(numbers)).collect();
            let text = table(&columns, &Style::default());
            let shown: Vec<&str> = text.split_whitespace().collect();
            for word in heads.iter().flat_map(|head| head.split(' ')) {
                assert!(shown.contains(&word), "{word}: {text}");
            }
            assert_eq!(text.matches(cell).count(), heads.len(), "{text}");
        }
    }

    #[test]
    fn a_narrow_table_breaks_no_number_and_says_of_what_it_speaks() {
        let style = Style { width: 40, ..Style::default() };
        let columns = run_columns(&sample::runs(), &style);
        let text = runs(&sample::runs(), &style);
        let shown: Vec<&str> = text.split_whitespace().collect();
        for column in columns.iter().filter(|column| column.numbers) {
            let words = column.cells.iter().flat_map(|cell| cell.split_whitespace());
            assert!(words.clone().all(|word| shown.contains(&word)), "{}: {text}", column.head);
        }
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
        let heads = text.lines().filter(|line| line.starts_with("Run")).count();
        let tables = text.lines().filter(|line| line.starts_with('=')).count();
        assert!(heads > 2 && heads == tables, "{text}");
    }
}
