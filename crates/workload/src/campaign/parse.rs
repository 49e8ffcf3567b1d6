//! Parses the text of a campaign file and checks that every row can run.

use super::file::{Campaign, CampaignError};
use std::collections::BTreeSet;

impl Campaign {
    /// Parses a campaign file, and plans every row with every method.
    ///
    /// # Errors
    /// The text is no campaign, or a row or method does not describe a valid run.
    pub fn parse(text: &str) -> Result<Self, CampaignError> {
        let campaign: Self = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let line = 1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count();
            CampaignError::Text { line, message: error.message().replace('\n', "; ") }
        })?;
        let wrong = |place: &str, message: &str| {
            Err(CampaignError::Meaning { place: place.to_owned(), message: message.to_owned() })
        };
        if campaign.method.is_empty() {
            return wrong("campaign", "has no [[method]]: give at least one, with a name");
        }
        let names: BTreeSet<&str> = campaign.method.iter().map(|one| &*one.name).collect();
        if names.len() < campaign.method.len() {
            let message = "has two [[method]] of one name, whose columns nobody could tell apart: give each its own";
            return wrong("campaign", message);
        }
        if !(1..=1000).contains(&campaign.rounds) {
            return wrong("rounds", "is from 1 to 1000");
        }
        campaign.rows(u64::MAX)?;
        Ok(campaign)
    }
}
