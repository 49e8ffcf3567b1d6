//! The places of two campaigns. If each has one place, these are compared whatever their names; if
//! there are several, those of the same name are.

use super::row::NamedDocument;
use super::systems::differ;
use crate::mount_options::without_names;
use ioscape_schema::{CampaignColumn, Document, Outcome};
use std::collections::BTreeSet;

/// Gives two campaigns that were measured in one place each a common name for that place if the
/// names differ: columns are named after the type of the file system.
pub(super) fn called_alike(first: &Document, second: &Document) -> Option<[Document; 2]> {
    let (ours, theirs) = (place(first)?, place(second)?);
    let both = format!("{theirs} against {ours}");
    (ours != theirs).then(|| [first, second].map(|one| called(&both, one)))
}

/// The name of the place where a campaign was measured, if it is a single one.
fn place(document: &Document) -> Option<&str> {
    let Some(Outcome::Campaign(campaign)) = &document.outcome else { return None };
    let (first, others) = campaign.columns.split_first()?;
    let is_one = others.iter().all(|one| (&one.place, &one.path) == (&first.place, &first.path));
    is_one.then_some(first.place.as_str())
}

/// Returns the same campaign with this name for its place.
fn called(name: &str, document: &Document) -> Document {
    let mut document = document.clone();
    if let Some(Outcome::Campaign(campaign)) = &mut document.outcome {
        campaign.columns.iter_mut().for_each(|column| column.place = name.to_owned());
    }
    document
}

/// How places of the same name differ in their mount options, if both campaigns report them; one
/// sentence each.
pub(super) fn differences(both: [NamedDocument<'_>; 2]) -> Vec<String> {
    let [ours, theirs] = both.map(|one| columns(one.document));
    let sentence = |one: &CampaignColumn| {
        let other = theirs.iter().find(|other| other.place == one.place)?;
        let [was, is] = [one, other].map(|column| without_names(&column.mount_options));
        let is_told = !one.mount_options.is_empty() && !other.mount_options.is_empty();
        let what = format!("mount options ({})", one.place);
        differ(both.map(|one| one.name), &what, [&was, &is]).filter(|_| is_told)
    };
    // A place has a column for every I/O method.
    let told: BTreeSet<String> = ours.iter().filter_map(sentence).collect();
    told.into_iter().collect()
}

/// The columns of a campaign; none for any other outcome.
fn columns(document: &Document) -> &[CampaignColumn] {
    match &document.outcome {
        Some(Outcome::Campaign(campaign)) => &campaign.columns,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{campaign, compared};
    use super::*;
    use ioscape_schema::OtherPlace;

    /// The campaign in a place of the first name and, if there are two names, also in a second
    /// place.
    fn in_places(names: &[&str]) -> Document {
        let mut document = campaign(1.0, [0.99, 1.0, 1.01]);
        if let Some(Outcome::Campaign(campaign)) = &mut document.outcome {
            let column = campaign.columns[0].clone();
            let place = |name: &&str| {
                let (place, path) = ((*name).to_owned(), format!("/mnt/{name}"));
                CampaignColumn { place, path, ..column.clone() }
            };
            campaign.columns = names.iter().map(place).collect();
            for row in &mut campaign.rows {
                row.cells = vec![row.cells[0].clone(); names.len()];
            }
        }
        document
    }

    /// Guards against a defect: both had been measured in /mnt/test, and the advice was to measure
    /// them in places of the same names.
    #[test]
    fn campaigns_on_two_file_systems_in_one_place_share_their_rows() {
        let found = compared(&in_places(&["ext4"]), &in_places(&["bcachefs"]), None).unwrap();
        assert_eq!((found.rows.len(), found.only_in), (4, [0, 0]));
        let name = found.rows[0].name.as_deref();
        assert_eq!(name, Some("bcachefs against ext4 direct: iosize 8k"));
    }

    #[test]
    fn of_several_places_those_of_one_name_share_their_rows() {
        let (one, two) = (in_places(&["ext4"]), in_places(&["ext4 /mnt/a", "ext4 /mnt/b"]));
        let refused = compared(&one, &two, None).unwrap_err().to_string();
        assert!(refused.contains("called after the type of the file system"), "{refused}");
        let three = in_places(&["ext4 /mnt/b", "xfs"]);
        let found = compared(&two, &three, None).unwrap();
        assert_eq!((found.rows.len(), found.only_in), (4, [4, 4]));
    }

    /// Guards against a defect: a place that was second in both was mounted differently, and
    /// nothing said so.
    #[test]
    fn of_several_places_each_tells_that_it_was_mounted_otherwise() {
        let mounted = |options: [&str; 2]| {
            let mut document = in_places(&["ext4", "xfs"]);
            document.environment.other_places = vec![OtherPlace::default()];
            if let Some(Outcome::Campaign(campaign)) = &mut document.outcome {
                for (column, options) in campaign.columns.iter_mut().zip(options) {
                    column.mount_options = options.to_owned();
                }
            }
            document
        };
        let told = |second| {
            let (base, now) = (mounted(["rw", "rw,noatime"]), mounted(["rw", second]));
            compared(&base, &now, None).unwrap().differences
        };
        assert_eq!(told("rw,sync"), ["mount options (xfs): rw,sync on b, rw,noatime on a"]);
        assert_eq!(told(""), Vec::<String>::new(), "not known");
    }
}
