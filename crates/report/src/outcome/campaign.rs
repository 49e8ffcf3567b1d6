//! A table of `vxbench` runs.

use super::render::{Render, Section};
use crate::csv;
use crate::html::campaign as html;
use crate::terminal::{Style, campaign as terminal};
use ioscape_schema::CampaignResult;

impl Render for CampaignResult {
    fn kind(&self) -> &'static str {
        "campaign"
    }

    fn subject(&self) -> Option<String> {
        Some(self.title.clone())
    }

    fn text(&self, style: &Style) -> String {
        terminal::text(self, style)
    }

    fn csv(&self) -> Option<String> {
        Some(csv::campaign::runs(self))
    }

    fn sections(&self) -> Vec<Section> {
        vec![Section::new("campaign", "Campaign", html::campaign(self))]
    }
}
