//! A figure of the page: charts with heading and legend, in several sizes and scales.

use super::values::{Values, anchor};
use crate::plot::{Chart, Drawn, Frame, Scale, Series};
use crate::quantity::Quantity;
use crate::text::esc;
use std::fmt::Write as _;

/// The frame around the charts of a figure.
pub struct Figure<'a> {
    /// Identifier, unique in the page, of letters, digits and dashes.
    pub id: &'a str,
    /// Heading, as HTML.
    pub title: &'a str,
    /// Text under the heading, as HTML.
    pub caption: &'a str,
    /// Scales of the vertical axis that the reader can choose from; the first is shown initially.
    pub scales: &'a [Scale],
}

impl Figure<'_> {
    /// The figure; `draw` returns its charts for one scale, `legend` is HTML, `values` holds their
    /// values.
    pub fn html(&self, draw: impl Fn(Scale) -> String, legend: &str, values: &Values) -> String {
        let mut out = self.head();
        for &scale in self.scales {
            out += &in_scale(scale, &draw(scale));
        }
        out + legend + &values.html() + "</figure>"
    }

    /// The figure with a view for each quantity, of which the page shows the selected one.
    ///
    /// Throughput has the figure's scales; the other quantities are logarithmic. `draw` returns the
    /// charts, `legend` the HTML below them, and `values` their values.
    pub fn by_quantity(
        &self,
        draw: impl Fn(Quantity, Scale) -> String,
        legend: impl Fn(Quantity) -> String,
        values: impl Fn(Quantity) -> Values,
    ) -> String {
        let mut out = self.head();
        for quantity in Quantity::ALL {
            let _ = write!(out, r#"<div class="view {}">"#, class_of(quantity));
            if quantity == Quantity::Throughput {
                for &scale in self.scales {
                    out += &in_scale(scale, &draw(quantity, scale));
                }
            } else {
                out += &draw(quantity, Scale::Log10);
            }
            out += &legend(quantity);
            out += &values(quantity).html();
            out += "</div>";
        }
        out + "</figure>"
    }

    /// The figure of one chart per quantity, in two sizes; empty without a chart of throughput.
    pub fn of_curve(&self, chart: impl Fn(Quantity) -> Option<Chart>, wide: Frame) -> String {
        if chart(Quantity::Throughput).is_none() {
            return String::new();
        }
        self.by_quantity(
            |quantity, scale| {
                let drawn = |chart: Chart| two_sizes(&chart.with_y_scale(scale), wide);
                chart(quantity).map(drawn).unwrap_or_default()
            },
            |quantity| chart(quantity).as_ref().map(below).unwrap_or_default(),
            |quantity| chart(quantity).map_or_else(Values::none, |chart| Values::of(&[&chart])),
        )
    }

    /// The beginning of the figure: the choice of scales, heading and caption.
    fn head(&self) -> String {
        let id = self.id;
        let mut out = format!(r#"<figure id="figure-{id}">"#);
        let choice = self.scales.len() > 1;
        for (index, &scale) in self.scales.iter().enumerate().filter(|_| choice) {
            let (class, checked) = (word(scale), if index == 0 { " checked" } else { "" });
            let _ = write!(
                out,
                r#"<input type="radio" name="{id}" id="{id}-{class}" class="{class}" aria-label="{class} scale"{checked}>"#
            );
        }
        let _ = write!(
            out,
            r#"<div class="bar"><figcaption><h3>{}{}</h3><p>{}</p></figcaption>"#,
            self.title,
            anchor(&format!("figure-{id}"), "figure"),
            self.caption
        );
        if choice {
            let _ = write!(
                out,
                r#"<div class="scale"><label class="for-log" for="{id}-log">log</label><label class="for-lin" for="{id}-lin">linear</label></div>"#
            );
        }
        out + "</div>"
    }
}

fn in_scale(scale: Scale, drawn: &str) -> String {
    format!(r#"<div class="y-{}">{drawn}</div>"#, word(scale))
}

/// The CSS class of elements shown for one quantity only.
pub fn class_of(quantity: Quantity) -> String {
    format!("m-{}", quantity.word())
}

/// The name of the selected quantity, for the beginning of a title.
pub fn chosen() -> String {
    let name = |quantity: Quantity| {
        format!(r#"<span class="{}">{}</span>"#, class_of(quantity), quantity.heading())
    };
    Quantity::ALL.map(name).concat()
}

fn word(scale: Scale) -> &'static str {
    if scale == Scale::Linear { "lin" } else { "log" }
}

/// A chart in two sizes, of which the style sheet shows the one that fits the screen.
///
/// To keep the page small, only the wide chart holds the titles of its points. The script copies
/// them to the narrow one, where pointers seldom hover.
pub fn two_sizes(chart: &Chart, wide: Frame) -> String {
    in_sizes(chart, wide, Frame::NARROW)
}

/// Like [`two_sizes`], with the given narrow frame.
pub fn in_sizes(chart: &Chart, wide: Frame, narrow: Frame) -> String {
    chart.svg(wide, "wide") + &chart.clone().without_titles().svg(narrow, "narrow")
}

/// The legend of a chart's series, followed by the HTML items in `more`.
pub fn legend(series: &[Series], more: &str) -> String {
    let mut out = r#"<ul class="legend">"#.to_owned();
    for one in series {
        let (name, class) = (esc(&one.name), &one.class);
        let _ = write!(
            out,
            r#"<li data-name="{name}" data-class="{class}"><svg {}</svg>{name}</li>"#,
            swatch(one)
        );
    }
    out.push_str(more);
    out.push_str("</ul>");
    out
}

/// The legend of a single chart.
pub fn below(chart: &Chart) -> String {
    legend(&chart.series, hollow(&[chart]))
}

/// The text after `<svg ` in the sign of a series, 26 wide and 12 high: its line, its symbol, or
/// both.
pub fn swatch(series: &Series) -> String {
    let path = series.shape.path(13.0, 6.0);
    let class = &series.class;
    let line =
        if series.drawn == Drawn::Points { "" } else { r#"<path class="line" d="M0 6H26"/>"# };
    let point = match series.drawn {
        Drawn::Line => String::new(),
        Drawn::Both | Drawn::Points => format!(r#"<path class="pt" d="{path}"/>"#),
    };
    format!(r#"class="{class}" viewBox="0 0 26 12" aria-hidden="true">{line}{point}"#)
}

/// The legend item for hollow points, if a chart has any.
pub fn hollow(charts: &[&Chart]) -> &'static str {
    let doubtful = |chart: &&Chart| {
        chart.series.iter().flat_map(|series| &series.marks).any(|mark| mark.doubtful)
    };
    if charts.iter().any(doubtful) {
        r#"<li><span class="series plain"><svg viewBox="0 0 12 12" style="width:12px" aria-hidden="true"><path class="pt doubt" d="M2.5 6a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z"/></svg></span>hollow: disturbed</li>"#
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{figures, sample};

    #[test]
    fn points_say_what_they_are_in_one_of_the_sizes() {
        let chart = figures::landscape(&sample::evaluation(), Quantity::Throughput);
        let points: usize = chart.series.iter().map(|one| one.marks.len()).sum();
        let drawn = two_sizes(&chart, Frame::WIDE);
        let count = |what: &str| drawn.matches(what).count();
        assert_eq!((count("class=\"pt"), count("<title>")), (2 * points, points));
    }
}
