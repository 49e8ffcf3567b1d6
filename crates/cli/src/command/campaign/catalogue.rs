//! The campaigns that come with ioscape, one per table of the white paper, with the paper's own numbers.

use crate::failure::Failure;
use ioscape_schema::CampaignReference;
use ioscape_workload::campaign::{Campaign, parse_reference};
use std::path::Path;

/// Name, campaign file and reference numbers.
macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        [$((
            $name,
            include_str!(concat!("../../../../../campaigns/", $name, ".toml")),
            include_str!(concat!("../../../../../reference/vxbench/", $name, ".csv")),
        )),*]
    };
}

const SHIPPED: [(&str, &str, &str); 12] = shipped![
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
    "many-files-writes",
];

/// One line per campaign.
///
/// # Errors
/// A campaign of our own is wrong.
pub fn list() -> Result<String, Failure> {
    let mut out = String::new();
    for (name, _, _) in SHIPPED {
        out += &format!("{name:<34} {}\n", read(name)?.title);
    }
    Ok(out)
}

/// The text of a campaign, by name or from a file.
///
/// # Errors
/// There is neither.
pub fn text(name: &str) -> Result<String, Failure> {
    if let Some((_, text, _)) = SHIPPED.iter().find(|(known, _, _)| *known == name) {
        return Ok((*text).to_owned());
    }
    let names = || SHIPPED.map(|(name, _, _)| name).join(", ");
    std::fs::read_to_string(Path::new(name)).map_err(|error| {
        Failure::Misuse(format!(
            "{name} is neither a campaign nor a campaign file ({error}): choose from {}",
            names()
        ))
    })
}

/// A campaign, by name or from a file.
///
/// # Errors
/// There is none, or it is wrong.
pub fn read(name: &str) -> Result<Campaign, Failure> {
    Campaign::parse(&text(name)?).map_err(|error| Failure::Misuse(format!("{name}: {error}")))
}

/// The paper's numbers of a campaign that comes with ioscape.
pub fn reference(name: &str) -> Option<CampaignReference> {
    let (_, _, csv) = SHIPPED.iter().find(|(known, _, _)| *known == name)?;
    parse_reference(csv).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_campaign_is_sound_and_has_as_many_rows_as_the_paper() {
        for (name, _, csv) in SHIPPED {
            let campaign = read(name).unwrap_or_else(|failure| panic!("{name}: {failure}"));
            let rows = campaign.rows(u64::MAX).unwrap();
            let reference = parse_reference(csv).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(rows.len(), reference.rows.len(), "{name}");
            assert!(reference.source.contains("VERITAS"), "{name}");
        }
        assert!(list().unwrap().lines().count() == SHIPPED.len());
        assert!(text("nowhere").is_err());
    }
}
