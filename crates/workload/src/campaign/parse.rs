//! Parses the text of a campaign file and checks that every row can run.

use super::file::{Campaign, CampaignError};
use ioscape_schema::RowPlan;
use std::collections::{BTreeMap, BTreeSet};

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
        let varying: BTreeSet<&str> = campaign.vary.iter().map(|one| &*one.name).collect();
        if varying.len() < campaign.vary.len() {
            return wrong("campaign", "has two [[vary]] of one name: give all its values in one");
        }
        if campaign.x.as_ref().is_some_and(|x| !varying.contains(&**x)) {
            return wrong("x", "does not vary: name a parameter that does");
        }
        let rows = campaign.rows(u64::MAX)?;
        if rows.is_empty() {
            return wrong("files", "is more than files_written in every row: give fewer");
        }
        if let Some(name) = varying.into_iter().find(|name| is_idle(&rows, name)) {
            let message = "makes no difference: every method does the same with all its values";
            return wrong(&format!("vary {name:?}"), message);
        }
        Ok(campaign)
    }
}

/// Whether some rows differ in the parameter `name` alone, and all such rows do the same.
fn is_idle(rows: &[RowPlan], name: &str) -> bool {
    let mut alike: BTreeMap<Vec<&str>, &RowPlan> = BTreeMap::new();
    let differs = rows.iter().any(|row| {
        let others = row.settings.iter().filter(|one| one.name != name).map(|one| &*one.text);
        alike.entry(others.collect()).or_insert(row).cells != row.cells
    });
    !differs && alike.len() < rows.len()
}
