//! A chart as data: axes, series of points, shaded bands and vertical lines.

use super::scale::{Axis, Scale};

/// The symbol of a series, so that series differ in more than colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A disc.
    Disc,
    /// A square.
    Square,
    /// A triangle.
    Triangle,
    /// A diamond.
    Diamond,
}

impl Shape {
    /// The shape of the series with this number; shapes repeat.
    pub fn nth(index: usize) -> Self {
        [Self::Disc, Self::Square, Self::Triangle, Self::Diamond][index % 4]
    }
}

/// One point of a series.
#[derive(Clone, Debug)]
pub struct Mark {
    /// Position on the horizontal axis.
    pub x: f64,
    /// Position on the vertical axis.
    pub y: f64,
    /// Ends of the error bar, or of the area around a line without points; equal to `y` if there is
    /// none.
    pub range: [f64; 2],
    /// Whether the point is in doubt; if so, it is drawn hollow.
    pub doubtful: bool,
    /// The text shown when the pointer is over the point; plain text.
    pub title: String,
}

impl Mark {
    /// A point without a range that is not in doubt.
    pub fn plain(x: f64, y: f64, title: impl Into<String>) -> Self {
        Self { x, y, range: [y; 2], doubtful: false, title: title.into() }
    }
}

/// The parts of a series to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    /// The points and a line through them.
    Both,
    /// The points alone.
    Points,
    /// The line alone.
    Line,
}

/// Points that belong together, with or without a line through them.
#[derive(Clone, Debug)]
pub struct Series {
    /// Name in the legend; plain text.
    pub name: String,
    /// CSS class for the colour: `mixed`, `read`, `write`, `r1` to `r5`, `plain`.
    ///
    /// `dashed`, `second` and `long` may follow.
    pub class: String,
    /// Symbol of its points.
    pub shape: Shape,
    /// Points, line or both.
    pub drawn: Drawn,
    /// The points, in order of `x`.
    pub marks: Vec<Mark>,
}

impl Series {
    /// A series of these points.
    pub fn new(
        name: impl Into<String>,
        class: impl Into<String>,
        shape: Shape,
        drawn: Drawn,
        marks: Vec<Mark>,
    ) -> Self {
        Self { name: name.into(), class: class.into(), shape, drawn, marks }
    }
}

/// A shaded range of the horizontal axis, with a name on a ribbon above the plot.
#[derive(Clone, Debug)]
pub struct Band {
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// CSS class that gives the colour.
    pub class: String,
    /// Name on the ribbon; if empty, there is no ribbon.
    pub label: String,
}

/// A vertical line, such as a border.
#[derive(Clone, Debug)]
pub struct Marker {
    /// Where it stands.
    pub at: f64,
    /// Its error range, shaded.
    pub range: [f64; 2],
    /// CSS class that gives the colour.
    pub class: String,
    /// Label above the plot; may be empty.
    pub label: String,
}

impl Marker {
    /// A line without a range and without a label.
    pub fn plain(at: f64, class: &str) -> Self {
        Self { at, range: [at; 2], class: class.to_owned(), label: String::new() }
    }
}

/// A chart to draw, without its size.
#[derive(Clone, Debug)]
pub struct Chart {
    /// One sentence for readers who cannot see the picture; plain text.
    pub label: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
    /// Shaded ranges.
    pub bands: Vec<Band>,
    /// Vertical lines.
    pub markers: Vec<Marker>,
}

/// Size of a picture in user units.
///
/// Text is 12 units high, so it is readable if the frame is about as wide as its place on the
/// screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

impl Frame {
    /// The whole width of a wide page.
    pub const WIDE: Self = Self { width: 1080.0, height: 430.0 };
    /// The whole width of a telephone.
    pub const NARROW: Self = Self { width: 350.0, height: 330.0 };
    /// One of three charts side by side, or the whole width of a telephone.
    pub const MEDIUM: Self = Self { width: 350.0, height: 230.0 };
    /// One of four charts side by side.
    pub const SMALL: Self = Self { width: 262.0, height: 200.0 };
}

impl Chart {
    /// A chart with series but no bands or markers.
    pub fn new(label: impl Into<String>, x: Axis, y: Axis, series: Vec<Series>) -> Self {
        let label = label.into();
        Self { label, x, y, series, bands: Vec::new(), markers: Vec::new() }
    }

    /// Returns the chart with another scale on its vertical axis, fitted to the data.
    #[must_use]
    pub fn with_y_scale(mut self, scale: Scale) -> Self {
        self.y.scale = scale;
        self.y.range = scale.fit(self.y_values(scale));
        self
    }

    /// Returns the chart without the titles of its points.
    #[must_use]
    pub fn without_titles(mut self) -> Self {
        let marks = self.series.iter_mut().flat_map(|series| &mut series.marks);
        marks.for_each(|mark| mark.title.clear());
        self
    }

    /// All values that the vertical axis should cover: points, and the error bars that the scale
    /// can show.
    pub fn y_values(&self, scale: Scale) -> impl Iterator<Item = f64> + '_ {
        self.series
            .iter()
            .flat_map(|series| &series.marks)
            .flat_map(|mark| [mark.y, mark.range[0], mark.range[1]])
            .filter(move |&value| scale.can_show(value))
    }

    /// Whether a point has a place on the axes.
    pub fn can_show(&self, mark: &Mark) -> bool {
        self.x.scale.can_show(mark.x) && self.y.scale.can_show(mark.y)
    }

    /// Whether there is at least one point to draw.
    pub fn has_points(&self) -> bool {
        self.series.iter().any(|series| !series.marks.is_empty())
    }
}
