//! Tests that a drawing is well formed and stays inside its frame, and that no two labels touch.

use super::super::{Axis, Band, Unit};
use super::*;
use proptest::prelude::*;

fn mark(x: f64, y: f64) -> Mark {
    Mark { x, y, range: [y * 0.9, y * 1.1], doubtful: false, title: format!("<{x}> & {y}") }
}

fn chart(marks: Vec<Mark>, markers: Vec<Marker>) -> Chart {
    let x = Axis::fitted("size", Scale::Log2, Unit::Bytes, marks.iter().map(|mark| mark.x));
    let y = Axis::new("throughput", Scale::Log10, Unit::Rate, [1.0, 10.0]);
    let [from, to] = x.range;
    let bands = vec![Band { from, to, class: "r1".into(), label: "region 1".into() }];
    let series = vec![Series::new("<mixed>", "mixed", Shape::Disc, Drawn::Both, marks)];
    let chart = Chart::new("a <chart> & \"more\"", x, y, series);
    Chart { bands, markers, ..chart }.with_y_scale(Scale::Log10)
}

fn marker(at: f64, label: &str) -> Marker {
    Marker { at, range: [at * 0.9, at * 1.1], class: "read".into(), label: label.into() }
}

/// Estimated boxes of all texts: left, right, top, bottom.
fn boxes(svg: &str) -> Vec<([f64; 4], String)> {
    let tree = roxmltree::Document::parse(svg).unwrap();
    let number =
        |node: &roxmltree::Node, name| node.attribute(name).unwrap().parse::<f64>().unwrap();
    let shape = |node: roxmltree::Node| {
        let text = node.text().unwrap_or_default().to_owned();
        // Real fonts are narrower than the estimate that the layout uses.
        let (x, y, width) = (number(&node, "x"), number(&node, "y"), text_width(&text) * 0.9);
        let left = match node.attribute("text-anchor") {
            Some("middle") => x - width / 2.0,
            Some("end") => x - width,
            _ => x,
        };
        ([left, left + width, y - 10.0, y + 2.0], text)
    };
    tree.descendants().filter(|node| node.has_tag_name("text")).map(shape).collect()
}

fn assert_legible(svg: &str, frame: Frame) -> Result<(), TestCaseError> {
    let boxes = boxes(svg);
    for (index, (a, text)) in boxes.iter().enumerate() {
        prop_assert!(a[0] >= -1.0 && a[1] <= frame.width + 1.0, "{text:?} leaves the frame: {a:?}");
        prop_assert!(
            a[2] >= -1.0 && a[3] <= frame.height + 1.0,
            "{text:?} leaves the frame: {a:?}"
        );
        for (b, other) in &boxes[..index] {
            let apart = a[1] <= b[0] || b[1] <= a[0] || a[3] <= b[2] || b[3] <= a[2];
            prop_assert!(apart, "{text:?} touches {other:?}");
        }
    }
    Ok(())
}

#[test]
fn a_small_chart_is_drawn() {
    let chart = chart(
        vec![mark(65536.0, 6.9e9), mark(1e8, 1.4e7)],
        vec![marker(2e7, "write 19 MiB"), marker(2.1e7, "mixed 20 MiB")],
    );
    insta::assert_snapshot!(chart.svg(Frame::SMALL, "log").replace("><", ">\n<"), @r##"
<svg class="plot log" viewBox="0 0 262 200" role="img" aria-label="a &lt;chart&gt; &amp; &quot;more&quot;">
<rect class="band r1" x="67.2" y="77.0" width="180.8" height="81.0"/>
<rect class="ribbon r1" x="67.2" y="19.0" width="180.8" height="20" rx="3"/>
<text class="name" x="157.6" y="33.5" text-anchor="middle">region 1</text>
<path class="grid" d="M67.2 156.3H248.0"/>
<text x="60.2" y="160.3" text-anchor="end">10 MB/s</text>
<path class="grid" d="M67.2 130.3H248.0"/>
<text x="60.2" y="134.3" text-anchor="end">100 MB/s</text>
<path class="grid" d="M67.2 104.2H248.0"/>
<text x="60.2" y="108.2" text-anchor="end">1 GB/s</text>
<path class="grid" d="M67.2 78.2H248.0"/>
<text x="60.2" y="82.2" text-anchor="end">10 GB/s</text>
<path class="axis" d="M67.2 158.0H248.0"/>
<path class="axis" d="M76.9 158.0V162.0"/>
<text x="76.9" y="177.0" text-anchor="middle">64 KiB</text>
<path class="axis" d="M137.9 158.0V162.0"/>
<text x="137.9" y="177.0" text-anchor="middle">1 MiB</text>
<path class="axis" d="M199.0 158.0V162.0"/>
<text x="199.0" y="177.0" text-anchor="middle">16 MiB</text>
<text class="title" x="157.6" y="194.0" text-anchor="middle">size</text>
<text class="title" x="0" y="11.0">throughput</text>
<g class="marker read">
<rect x="200.6" y="77.0" width="4.4" height="81.0"/>
<path d="M202.9 77.0V158.0"/>
<text x="202.9" y="72.0" text-anchor="middle">write 19 MiB</text>
</g>
<g class="marker read">
<rect x="201.6" y="77.0" width="4.4" height="81.0"/>
<path d="M203.9 77.0V158.0"/>
<text x="203.9" y="57.0" text-anchor="middle">mixed 20 MiB</text>
</g>
<g class="series mixed" data-name="&lt;mixed&gt;">
<path class="bars" d="M76.9 83.6V81.3M74.4 83.6H79.4M74.4 81.3H79.4M238.3 153.7V151.4M235.8 153.7H240.8M235.8 151.4H240.8"/>
<path class="line" d="M76.9 82.4L238.3 152.5"/>
<path class="pt" d="M73.7 82.4a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0 -6.4 0z">
<title>&lt;65536&gt; &amp; 6900000000</title>
</path>
<path class="pt" d="M235.1 152.5a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0 -6.4 0z">
<title>&lt;100000000&gt; &amp; 14000000</title>
</path>
</g>
</svg>
"##);
}

#[test]
fn a_bar_that_leaves_the_picture_has_no_end_in_it() {
    let nothing = Mark { range: [0.0, 2e7], ..mark(1e6, 1e7) };
    let far = Mark { range: [5e7, 1e12], ..mark(4e6, 1e8) };
    let mut chart = chart(vec![nothing, far], vec![]);
    chart.y.range = [5e6, 5e8];
    let svg = chart.svg(Frame::WIDE, "");
    let bars = svg.split(r#"class="bars" d=""#).nth(1).and_then(|rest| rest.split('"').next());
    let bars = bars.expect("two bars");
    assert_eq!((bars.matches('V').count(), bars.matches('H').count()), (2, 2), "{bars}");
}

/// Once, the line ran straight across a set size at which no data was moved.
#[test]
fn a_line_ends_where_a_point_has_no_place() {
    let rates = [(65536.0, 4e8), (131_072.0, 0.0), (262_144.0, 3.8e8)];
    let chart = chart(rates.map(|(x, y)| mark(x, y)).into(), vec![]);
    let drawn = [Scale::Log10, Scale::Linear].map(|scale| {
        let svg = chart.clone().with_y_scale(scale).svg(Frame::WIDE, "");
        let line = svg.split(r#"class="line" d=""#).nth(1).and_then(|rest| rest.split('"').next());
        ['M', 'L'].map(|to| line.expect("a line").matches(to).count())
    });
    assert_eq!(drawn, [[2, 0], [1, 2]]);
}

#[test]
fn values_that_an_axis_cannot_show_are_left_out() {
    let chart =
        chart(vec![mark(65536.0, 0.0), mark(f64::NAN, 5e6), mark(1e6, f64::INFINITY)], vec![]);
    for scale in [Scale::Log10, Scale::Linear] {
        let svg = chart.clone().with_y_scale(scale).svg(Frame::WIDE, "");
        roxmltree::Document::parse(&svg).unwrap();
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}

proptest! {
    #[test]
    fn text_is_inside_and_apart(
        points in prop::collection::vec((9.0..45.0f64, 3.0..11.0f64), 1..12),
        at in prop::collection::vec(9.0..45.0f64, 0..4),
        linear in any::<bool>(),
    ) {
        let marks = points.iter().map(|(x, y)| mark(x.exp2(), 10f64.powf(*y))).collect();
        let markers = at.iter().map(|x| marker(x.exp2(), "mixed 123 MiB")).collect();
        let scale = if linear { Scale::Linear } else { Scale::Log10 };
        let chart = chart(marks, markers).with_y_scale(scale);
        for frame in [Frame::WIDE, Frame::NARROW] {
            assert_legible(&chart.svg(frame, ""), frame)?;
        }
    }
}
