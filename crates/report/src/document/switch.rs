//! The switch of a page: which quantity its figures show.

use crate::quantity::Quantity;
use std::fmt::Write as _;

/// The choice of a quantity for all figures of a page; without figures to switch it is not there.
pub struct Switch {
    first: Option<Quantity>,
}

impl Switch {
    /// The switch of a page with or without figures of several quantities, which shows `first`.
    pub fn of(has_figures: bool, first: Quantity) -> Self {
        Self { first: has_figures.then_some(first) }
    }

    /// What must stand before everything that it switches: style sheets reach what follows a chosen element.
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

    /// What is clicked.
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
