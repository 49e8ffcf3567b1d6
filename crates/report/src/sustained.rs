//! The course of a long-running workload, for every format: sentences, and the rate against time.

use crate::html::figure::{Figure, legend, two_sizes};
use crate::html::values::Values;
use crate::plot::{Axis, Chart, Drawn, Frame, Mark, Marker, Scale, Series, Shape, Unit};
use crate::terminal::Style;
use crate::text::esc;
use ioscape_schema::units::{Nanos, Rate};
use ioscape_schema::{Measurement, Sustained};
use std::fmt::Write as _;

/// The size of the picture on a wide page.
const LOW: Frame = Frame { width: 1080.0, height: 300.0 };

/// The course as text, under `name` if there are several; empty if none was recorded.
pub fn text(run: &Measurement, name: &str, style: &Style) -> String {
    let Some(course) = run.sustained.as_deref() else { return String::new() };
    let heading = format!("Course{name}:");
    let mut out = format!("\n{}", style.paragraph("", "  ", &heading));
    for sentence in &course.sentences {
        out += &style.paragraph(&format!("  {} ", style.bullet().trim()), "    ", sentence);
    }
    out
}

/// The course as part of the page; empty if none was recorded.
pub fn html(run: &Measurement, name: &str, number: usize) -> String {
    let Some(course) = run.sustained.as_deref() else { return String::new() };
    let mut out = format!("<h3>Course{}</h3><ul>", esc(name));
    for sentence in &course.sentences {
        let _ = write!(out, "<li>{}</li>", esc(sentence));
    }
    out += "</ul>";
    let chart = chart(run, course);
    if !chart.has_points() {
        return out;
    }
    let figure = Figure {
        id: &format!("course-{number}"),
        title: "Throughput against time",
        caption: "One point for every step of time. Level lines are the rates that were told apart, vertical ones the time from which \
                  the next held.",
        scales: &[Scale::Linear, Scale::Log10],
    };
    let draw = |scale| two_sizes(&chart.clone().with_y_scale(scale), LOW);
    out + &figure.html(draw, &legend(&chart.series, ""), &Values::of(&[&chart]))
}

fn mark(s: f64, rate: f64, range: [f64; 2]) -> Mark {
    let ns = s * 1e9;
    let title = format!("{} at {}", Rate(rate), Nanos(ns));
    Mark { x: ns, y: rate, range, doubtful: false, title }
}

/// The rate against time.
fn chart(run: &Measurement, course: &Sustained) -> Chart {
    let class = match run.workload.read_frac {
        0.0 => "write",
        1.0 => "read",
        _ => "mixed",
    };
    let middle = |step: usize| (step as f64 + 0.5) * course.step_s;
    let rates = course.bytes_per_s.iter().enumerate();
    let measured = rates.map(|(step, &rate)| mark(middle(step), rate, [rate; 2])).collect();
    let levels = course.phases.iter().flat_map(|phase| {
        let level = phase.bytes_per_s;
        [phase.from_s, phase.until_s].map(|s| mark(s, level.value, [level.low, level.high]))
    });
    let line =
        |name: &str, class: &str, marks| Series::new(name, class, Shape::Disc, Drawn::Line, marks);
    let series = vec![
        line("measured", class, measured),
        line("level, with its 95 % interval", "plain dashed", levels.collect()),
    ];
    let end = course.bytes_per_s.len() as f64 * course.step_s * 1e9;
    let x = Axis::new("time", Scale::Linear, Unit::Nanos, [0.0, end]);
    let values = series.iter().flat_map(|one| &one.marks).map(|mark| mark.y);
    let y = Axis::fitted("throughput", Scale::Linear, Unit::Rate, values);
    let phases = course.phases.iter().skip(1);
    let markers = phases.map(|phase| Marker::plain(phase.from_s * 1e9, "plain")).collect();
    Chart { markers, ..Chart::new("Throughput against time", x, y, series) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{Bounded, CourseKind, CoursePhase, Stop, Workload};

    fn run() -> Measurement {
        let level = |value: f64| Bounded { value, low: 0.9 * value, high: 1.1 * value };
        let phase = |[from_s, until_s]: [f64; 2], value| CoursePhase {
            from_s,
            until_s,
            bytes_per_s: level(value),
        };
        let course = Sustained {
            step_s: 0.5,
            bytes_per_s: [vec![9e6; 40], vec![1e6; 60]].concat(),
            kind: CourseKind::Burst,
            phases: vec![phase([0.0, 20.0], 9e6), phase([20.0, 50.0], 1e6)],
            disturbed_s: Vec::new(),
            credit_bytes: Some(level(1.6e8)),
            burst_bytes: None,
            recovered_bytes_per_s: None,
            sentences: vec!["a <burst> that ended".into()],
        };
        let workload = Workload { read_frac: 0.0, ..Workload::default() };
        Measurement {
            sustained: Some(Box::new(course)),
            ..Measurement::empty(workload, Stop::TimeCap)
        }
    }

    #[test]
    fn a_course_is_told_and_drawn_and_none_is_nothing() {
        let style = Style::default();
        let told = text(&run(), " of run 2", &style);
        assert!(told.contains("of run 2") && told.contains("a <burst> that ended"), "{told}");
        let page = html(&run(), "", 2);
        assert!(page.contains("a &lt;burst&gt; that ended") && page.contains("figure-course-2"));
        assert!(page.contains("10 MB/s") || page.contains("throughput, MB/s"), "{page}");
        let plain = Measurement { sustained: None, ..run() };
        assert!(text(&plain, "", &style).is_empty() && html(&plain, "", 1).is_empty());
    }

    #[test]
    fn levels_are_drawn_over_the_time_for_which_they_held() {
        let run = run();
        let drawn = chart(&run, run.sustained.as_deref().unwrap());
        let places: Vec<f64> = drawn.series[1].marks.iter().map(|mark| mark.x / 1e9).collect();
        assert_eq!(places, [0.0, 20.0, 20.0, 50.0]);
        assert_eq!((drawn.series[0].marks.len(), drawn.markers.len()), (100, 1));
        assert_eq!(drawn.series[0].class, "write");
    }
}
