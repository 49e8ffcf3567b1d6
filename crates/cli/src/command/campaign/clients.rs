//! `ioscape campaign run --clients`: what is different where several clients do every cell together.

use crate::failure::Failure;
use crate::relay::Relay;
use ioscape_arguments::CampaignRunArgs;
use ioscape_measure::vxbench::site::CampaignSite;
use ioscape_schema::RowPlan;
use ioscape_schema::units::Bytes;

/// The clients, where there are any.
///
/// # Errors
/// The place is no directory.
pub fn relay(args: &CampaignRunArgs) -> Result<Option<Relay>, Failure> {
    let relay = Relay::of(args.together.clients, None, 1);
    if relay.is_some() {
        args.places.iter().try_for_each(|place| Relay::check_shared(place))?;
    }
    Ok(relay)
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
