//! The switch of a page that selects the quantity shown in its figures.

use crate::quantity::Quantity;
use std::fmt::Write as _;

/// The choice of a quantity for all figures of a page; absent without figures to switch.
pub struct Switch {
    first: Option<Quantity>,
}

impl Switch {
    /// The switch of a page, set to `first`; absent if the page has no figures of several
    /// quantities.
    pub fn of(has_figures: bool, first: Quantity) -> Self {
        Self { first: has_figures.then_some(first) }
    }

    /// Writes the inputs, which must precede all that they switch: CSS selects only what follows
    /// them.
    pub fn begin(&self, out: &mut String) {
        let Some(first) = self.first else { return };
        for quantity in Quantity::ALL {
            let (word, name) = (quantity.word(), quantity.heading());
            let checked = if quantity == first { " checked" } else { "" };
            let _ = write!(
                out,
                r#"<input type="radio" name="metric" class="metric" id="metric-{word}" aria-label="show {name}"{checked}>"#
            );
        }
    }

    /// Writes the labels to click on.
    pub fn labels(&self, out: &mut String) {
        if self.first.is_none() {
            return;
        }
        out.push_str(r#"<p class="metrics"><span>Figures show</span>"#);
        for quantity in Quantity::ALL {
            let (word, name) = (quantity.word(), quantity.heading());
            let _ = write!(out, r#"<label class="for-{word}" for="metric-{word}">{name}</label>"#);
        }
        out.push_str("</p>");
    }
}
