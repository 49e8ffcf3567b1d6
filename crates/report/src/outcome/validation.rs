//! A validation: its verdict, or its runs if there is no verdict yet.

use super::render::{PlacedWarning, Render, Section};
use crate::terminal::{Style, models as terminal};
use crate::text::listed;
use crate::{csv::models as csv, html::models as html};
use ioscape_schema::ValidationRun;

impl Render for ValidationRun {
    fn kind(&self) -> &'static str {
        "validation"
    }

    fn subject(&self) -> Option<String> {
        let Some(validation) = &self.validation else { return self.measurements.subject() };
        let systems = listed(validation.points.iter().map(|one| one.prediction.system.as_str()));
        let on = match validation.target.as_str() {
            "" => String::new(),
            target => format!(" on {target}"),
        };
        Some(format!("predictions for {systems}, validated{on}"))
    }

    fn text(&self, style: &Style) -> String {
        match &self.validation {
            Some(validation) => terminal::validation(validation, style),
            None => self.measurements.text(style),
        }
    }

    fn sections(&self) -> Vec<Section> {
        match &self.validation {
            Some(one) => vec![Section::new("validation", "Validation", html::validation(one))],
            None => self.measurements.sections(),
        }
    }

    fn csv(&self) -> Option<String> {
        self.validation.as_ref().map(csv::validation).or_else(|| self.measurements.csv())
    }

    fn warnings(&self) -> Vec<PlacedWarning<'_>> {
        match &self.validation {
            Some(_) => Vec::new(),
            None => self.measurements.warnings(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use ioscape_schema::Validation;

    #[test]
    fn the_title_says_where_it_was_measured_unless_the_result_is_older() {
        let title = |target: &str| {
            let validation = Some(Validation { target: target.into(), ..sample::validation() });
            ValidationRun { validation, ..ValidationRun::default() }.subject().unwrap()
        };
        assert_eq!(title("sim:nas"), "predictions for /data, validated on sim:nas");
        assert_eq!(title(""), "predictions for /data, validated");
    }
}
