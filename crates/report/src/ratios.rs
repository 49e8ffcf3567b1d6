//! One picture of systems compared on several workloads (self-scaling figure 17).
//!
//! A bar runs from 1 to each ratio, with its interval.

use crate::bars::Picture;
use crate::figures::{system_class, system_shape};
use crate::plot::{Axis, Drawn, Scale, Series, Shape, Unit};
use crate::text::{between, esc, figure, inert, label, ratio, row_name, verdict};
use ioscape_schema::units::Rate;
use ioscape_schema::{Comparison, MeasuredComparison, MeasuredRow, Verdict, is_wide};
use std::fmt::Write as _;

const EDGE: f64 = 12.0;

/// The systems that are compared with the base system, as series without marks for the legend.
///
/// The legend shows the line too, since dashes tell systems of one colour and symbol apart.
pub fn key(all: &[Comparison]) -> Vec<Series> {
    let series = |(number, name): (usize, &str)| {
        Series::new(name, system_class(number), system_shape(number), Drawn::Both, Vec::new())
    };
    systems(all).into_iter().enumerate().map(series).collect()
}

/// The systems that are compared with the base system, in order.
fn systems(all: &[Comparison]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for one in all {
        if !names.contains(&one.systems[0].as_str()) {
            names.push(&one.systems[0]);
        }
    }
    names
}

/// One bar: a system's ratio with its interval.
struct Bar {
    system: String,
    class: String,
    shape: Shape,
    ratio: f64,
    interval: [f64; 2],
    /// The part of the interval that the axis must cover.
    held: [f64; 2],
    /// The interval in words.
    ends: String,
    is_told: bool,
    /// The text shown when the pointer is over the bar.
    title: String,
}

/// Bars under their names.
type Groups = Vec<(String, Vec<Bar>)>;

/// Groups the comparisons by workload: its name, and a bar per system compared with the base
/// system.
fn groups(all: &[Comparison]) -> Groups {
    let systems = systems(all);
    let mut groups = Groups::new();
    for pair in all.chunk_by(|a, b| a.systems == b.systems) {
        for (index, one) in pair.iter().enumerate() {
            let name = label(one.name.as_ref(), index);
            let number = systems.iter().position(|name| *name == one.systems[0]).unwrap_or(0);
            let bar = predicted(one, number);
            match groups.get_mut(index).filter(|(known, _)| *known == name) {
                Some((_, rows)) => rows.push(bar),
                None => groups.push((name, vec![bar])),
            }
        }
    }
    groups
}

/// The column heads of the table behind a picture.
pub const HEAD: [&str; 5] = ["Row", "System", "Ratio", "Interval", "Told apart"];

/// The table behind the picture of predicted ratios: a row for each bar.
pub fn rows(all: &[Comparison]) -> Vec<Vec<String>> {
    cells(&groups(all))
}

/// The table behind the picture of measured ratios: a row for each bar.
pub fn measured_rows(one: &MeasuredComparison, rows: &[MeasuredRow]) -> Vec<Vec<String>> {
    cells(&measured_groups(one, rows))
}

fn cells(groups: &Groups) -> Vec<Vec<String>> {
    let row = |name: &String, bar: &Bar| {
        let is_told = if bar.is_told { "yes" } else { "no" }.to_owned();
        vec![name.clone(), bar.system.clone(), ratio(bar.ratio), bar.ends.clone(), is_told]
    };
    let of_group = |(name, bars): &(String, Vec<Bar>)| {
        bars.iter().map(|bar| row(name, bar)).collect::<Vec<_>>()
    };
    groups.iter().flat_map(of_group).collect()
}

fn predicted(one: &Comparison, system: usize) -> Bar {
    let [this, other] = one.throughput_bytes_per_s.map(Rate);
    let note = if one.extrapolated { " \u{b7} extrapolated" } else { "" };
    let [low, high] = one.interval90;
    let title = format!(
        "{} \u{b7} {} ({} to {}) \u{b7} {this} against {other} \u{b7} {}{note}",
        inert(&one.systems[0]),
        ratio(one.ratio),
        ratio(low),
        ratio(high),
        verdict(one)
    );
    Bar {
        system: one.systems[0].clone(),
        class: system_class(system),
        shape: system_shape(system),
        ratio: one.ratio,
        interval: one.interval90,
        held: one.interval90,
        ends: format!("{} to {}", ratio(low), ratio(high)),
        is_told: one.significant,
        title,
    }
}

fn axis(groups: &Groups, label: String) -> Axis {
    let bars = groups.iter().flat_map(|(_, bars)| bars);
    let ends = bars.flat_map(|bar| [bar.ratio, bar.held[0], bar.held[1]]);
    Axis::fitted(label, Scale::Log10, Unit::Number, ends.chain([0.8, 1.25]))
}

/// The picture of predicted ratios, `width` units wide; empty without comparisons.
pub fn svg(all: &[Comparison], width: f64, class: &str) -> String {
    let Some(first) = all.first() else { return String::new() };
    let label = format!("times as fast as {}", inert(&first.systems[1]));
    drawn(&groups(all), label, width, class)
}

/// The picture of these measured rows, `width` units wide; empty without rows.
pub fn measured(one: &MeasuredComparison, rows: &[MeasuredRow], width: f64, class: &str) -> String {
    let label = format!("times the figure of {}", inert(&one.systems[1]));
    drawn(&measured_groups(one, rows), label, width, class)
}

fn measured_groups(one: &MeasuredComparison, rows: &[MeasuredRow]) -> Groups {
    let bar = |row: &MeasuredRow| {
        let [this, other] = row.values.map(|value| figure(row.metric, value));
        let title = format!(
            "{} ({}) \u{b7} {this} against {other} \u{b7} {}",
            ratio(row.ratio),
            between(row.ci95),
            row.verdict.word()
        );
        Bar {
            system: one.systems[0].clone(),
            class: system_class(0),
            shape: system_shape(0),
            ratio: row.ratio,
            interval: row.ci95,
            held: if is_wide(row.ci95) { [row.ratio; 2] } else { row.ci95 },
            ends: between(row.ci95),
            is_told: matches!(row.verdict, Verdict::Faster | Verdict::Slower),
            title,
        }
    };
    rows.iter().map(|row| (row_name(row), vec![bar(row)])).collect()
}

fn drawn(groups: &Groups, label: String, width: f64, class: &str) -> String {
    let picture = Picture {
        label: "Ratios, logarithmic",
        class,
        width,
        ends: [EDGE, width - EDGE],
        axis: axis(groups, label),
        rule: Some(1.0),
    };
    picture.svg(groups, |out, one, y| bar(out, one, &picture, y))
}

fn bar(out: &mut String, one: &Bar, picture: &Picture<'_>, y: f64) {
    let x = |value: f64| picture.x(value);
    let [low, high] = one.interval;
    let [base, at, from, to] = [1.0, one.ratio, low, high].map(x);
    // A line that leaves the picture gets no end mark.
    let inside = one.interval.into_iter().filter(|end| picture.axis.holds(*end));
    let ends: String = inside.map(|end| format!("M{:.1} {:.1}v8", x(end), y - 4.0)).collect();
    let (point, path) = (if one.is_told { "pt" } else { "pt doubt" }, one.shape.path(at, y));
    let _ = write!(
        out,
        r#"<g class="series {}" data-name="{}"><path class="thick" d="M{base:.1} {y:.1}H{at:.1}"/><path class="thin" d="M{from:.1} {y:.1}H{to:.1}{ends}"/><path class="{point}" d="{path}"><title>{}</title></path></g>"#,
        one.class,
        esc(&one.system),
        esc(&one.title)
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use std::collections::BTreeSet;

    #[test]
    fn every_comparison_has_a_bar_and_every_workload_a_name() {
        let mut all = sample::comparison().comparison;
        let third = all.iter().map(|one| Comparison {
            systems: ["<third>".into(), one.systems[1].clone()],
            ..one.clone()
        });
        let third: Vec<Comparison> = third.collect();
        all.extend(third);
        let svg = svg(&all, 350.0, "narrow");
        let tree = roxmltree::Document::parse(&svg).unwrap();
        let count = |class: &str| {
            tree.descendants().filter(|n| n.attribute("class") == Some(class)).count()
        };
        assert_eq!((count("series r1"), count("series r2"), count("job")), (3, 3, 3));
        assert_eq!((count("pt"), count("pt doubt")), (2, 4));
        assert_eq!(systems(&all), ["/mnt/there", "<third>"]);
        assert_eq!(super::svg(&[], 350.0, ""), "");
    }

    /// Once, the second and seventh systems looked alike, as did the first and the 21st.
    #[test]
    fn eighty_systems_are_told_apart_in_picture_and_legend() {
        let first = sample::comparison().comparison.swap_remove(0);
        let of = |number: usize| Comparison {
            systems: [format!("system {number}"), first.systems[1].clone()],
            ..first.clone()
        };
        let all: Vec<Comparison> = (0..80).map(of).collect();
        let svg = svg(&all, 350.0, "narrow");
        let tree = roxmltree::Document::parse(&svg).unwrap();
        let series = tree.descendants().filter(|n| n.has_attribute("data-name"));
        let look = |node: roxmltree::Node| {
            let point = node.children().find(|n| n.attribute("class").is_some_and(is_point))?;
            // The outline without its starting point, which differs from symbol to symbol.
            let (_, outline) = point.attribute("d")?.split_once(['a', 'h', 'l'])?;
            Some((node.attribute("class")?.to_owned(), outline.to_owned()))
        };
        let looks: BTreeSet<_> = series.filter_map(look).collect();
        assert_eq!(looks.len(), 80, "{looks:?}");
        let key = key(&all);
        assert!(key.iter().all(|one| one.drawn == Drawn::Both), "dashes are of lines");
        let keys = key.iter().map(|one| format!("{} {:?}", one.class, one.shape));
        assert_eq!(keys.collect::<BTreeSet<_>>().len(), 80, "{key:?}");
    }

    fn is_point(class: &str) -> bool {
        class.starts_with("pt")
    }

    #[test]
    fn a_measured_ratio_of_which_nothing_is_known_has_a_line_from_edge_to_edge() {
        let one = sample::comparison().measured.swap_remove(0);
        let known = MeasuredRow { ci95: [0.9, 1.3], ratio: 1.1, ..one.rows[0].clone() };
        let unknown = MeasuredRow { ci95: [1e-44, 1e43], ratio: 2.0, ..known.clone() };
        let least = MeasuredRow { ci95: [1.5, 1e4], ratio: 2.0, ..known.clone() };
        let svg = measured(&one, &[known, unknown, least], 350.0, "narrow");
        let tree = roxmltree::Document::parse(&svg).unwrap();
        let thin = tree.descendants().filter(|n| n.attribute("class") == Some("thin"));
        let lines: Vec<&str> = thin.filter_map(|n| n.attribute("d")).collect();
        let whiskers = lines.iter().map(|line| line.matches("v8").count());
        assert_eq!(whiskers.collect::<Vec<_>>(), [2, 0, 1]);
        assert!(lines[1].starts_with("M12.0 ") && lines[1].ends_with("H338.0"), "{}", lines[1]);
        assert!(lines[2].contains("H338.0M"), "{}", lines[2]);
    }
}
