//! The campaigns that come with ioscape: one per table of the white paper, with the paper's own
//! numbers, and others.

use super::{Campaign, CampaignError, parse_reference};
use ioscape_schema::{CampaignReference, CampaignResult};

/// A campaign that comes with ioscape.
#[derive(Clone, Copy, Debug)]
pub struct Shipped {
    /// Its name.
    pub name: &'static str,
    /// The campaign file.
    pub text: &'static str,
    reference: &'static str,
}

impl Shipped {
    /// Returns the campaign of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        SHIPPED.iter().find(|one| one.name == name)
    }

    /// Lists name and title of each, one per line.
    pub fn list() -> Result<String, CampaignError> {
        let line = |one: &Self| Ok(format!("{:<34} {}\n", one.name, one.campaign()?.title));
        SHIPPED.iter().map(line).collect()
    }

    /// Returns the paper's numbers.
    ///
    /// # Errors
    /// The numbers cannot be parsed; a test shows that they can.
    pub fn reference(&self) -> Result<CampaignReference, CampaignError> {
        parse_reference(self.reference)
    }

    /// Returns the campaign.
    ///
    /// # Errors
    /// The file cannot be used; a test shows that it can.
    pub fn campaign(&self) -> Result<Campaign, CampaignError> {
        Campaign::parse(self.text)
    }
}

impl Campaign {
    /// Returns its table under this name, still without columns and rows; it includes the paper's
    /// numbers if the paper has them.
    pub fn table(&self, name: &str) -> CampaignResult {
        CampaignResult {
            name: name.to_owned(),
            title: self.title.clone(),
            source: self.source.clone(),
            x: self.x(),
            rounds: self.rounds,
            reference: Shipped::find(name).and_then(|one| one.reference().ok()),
            ..CampaignResult::default()
        }
    }
}

/// Name, campaign file and reference numbers, if there are any.
macro_rules! shipped {
    ($($name:literal),*; $($own:literal),*) => {
        [$(Shipped {
            name: $name,
            text: include_str!(concat!("../../campaigns/", $name, ".toml")),
            reference: include_str!(concat!("../../reference/", $name, ".csv")),
        }),*, $(Shipped {
            name: $own,
            text: include_str!(concat!("../../campaigns/", $own, ".toml")),
            reference: "",
        }),*]
    };
}

/// All campaigns, in the order of the white paper, followed by those without a table in it.
pub static SHIPPED: [Shipped; 14] = shipped![
    "buffered-reads",
    "buffered-writes",
    "aged-reads",
    "controller-limited-reads",
    "disk-limited-reads",
    "multiple-application-reads",
    "multiple-application-reads-tuned",
    "gigabyte-per-second",
    "random-reads",
    "random-writes",
    "one-file-writes",
    "many-files-writes";
    "metadata",
    "filling"
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_campaign_is_sound_and_has_as_many_rows_as_the_paper() {
        for shipped in SHIPPED.iter().filter(|one| !one.reference.is_empty()) {
            let name = shipped.name;
            let campaign = shipped.campaign().unwrap_or_else(|error| panic!("{name}: {error}"));
            let rows = campaign.rows(u64::MAX).unwrap();
            let reference = shipped.reference().unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(rows.len(), reference.rows.len(), "{name}");
            assert!(reference.source.contains("VERITAS"), "{name}");
            assert!(Shipped::find(name).is_some_and(|found| found.name == name));
        }
        assert!(Shipped::find("nowhere").is_none());
    }

    /// Pages show the source above the published numbers.
    #[test]
    fn the_tables_of_random_requests_say_that_the_papers_are_of_more_streams() {
        for name in ["random-reads", "random-writes"] {
            let campaign = Shipped::find(name).and_then(|one| one.campaign().ok()).unwrap();
            assert!(campaign.source.contains("each of twenty files"), "{name}");
        }
    }
}
