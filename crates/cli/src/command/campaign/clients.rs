//! `ioscape campaign run --clients`: what is different where several clients do every cell together.

use crate::failure::Failure;
use crate::relay::Relay;
use ioscape_arguments::CampaignRunArgs;
use ioscape_measure::vxbench::site::CampaignSite;
use ioscape_schema::RowPlan;
use ioscape_schema::units::Bytes;

/// The clients, where there are any; refuses what is for one machine alone.
///
/// # Errors
/// Misuse, with the sentence for the user.
pub fn relay(args: &CampaignRunArgs) -> Result<Option<Relay>, Failure> {
    let Some(clients) = args.together.clients else { return Ok(None) };
    let alone = [
        ("--dry-run", args.dry_run),
        ("--fs", !args.fs.is_empty()),
        ("--destroy-data", args.destroy_data),
        ("more than one directory", args.places.len() > 1),
    ];
    args.places.iter().try_for_each(|place| Relay::refuse(place, &alone))?;
    Ok(Some(Relay { clients, memory: None, seed: 1 }))
}

/// Refuses rows whose files have no room once for each client.
///
/// # Errors
/// Misuse, with the sentence for the user.
pub fn check_room(
    relay: Option<Relay>,
    rows: &[RowPlan],
    sites: &[CampaignSite],
) -> Result<(), Failure> {
    let Some(Relay { clients, .. }) = relay else { return Ok(()) };
    let needed = rows.iter().map(RowPlan::space_bytes).max().unwrap_or(0);
    let full = sites.iter().find(|site| needed > site.free_bytes / u64::from(clients));
    full.map_or(Ok(()), |site| {
        Err(Failure::Misuse(format!(
            "{} has no room for the files of {clients} clients, {} each: give a smaller --max-file-size",
            site.path.display(),
            Bytes(needed as f64)
        )))
    })
}
