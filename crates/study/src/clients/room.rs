//! Whether the files of several clients fit into the directory that they share.

use ioscape_schema::RowPlan;
use ioscape_schema::units::Bytes;

/// Refuses a `target` that has room only for sets of `each_bytes`, one for each client, if they may
/// reach `most_bytes`.
pub fn check_sets(
    target: &str,
    clients: u32,
    most_bytes: u64,
    each_bytes: u64,
) -> Result<(), String> {
    match most_bytes <= each_bytes {
        true => Ok(()),
        false => Err(format!(
            "{target} has no room for {clients} sets of {most_bytes} bytes: at most {each_bytes} bytes each, of what is free"
        )),
    }
}

/// Refuses rows of a campaign whose files, once for each client, do not fit into the `free_bytes`
/// of `place`.
pub fn check_files(
    place: &str,
    clients: u32,
    rows: &[RowPlan],
    free_bytes: u64,
) -> Result<(), String> {
    let needed = rows.iter().map(RowPlan::space_bytes).max().unwrap_or(0);
    match needed <= free_bytes / u64::from(clients) {
        true => Ok(()),
        false => Err(format!(
            "{place} has no room for the files of {clients} clients, {} each: give a smaller --max-file-size",
            Bytes(needed as f64)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_that_fit_are_taken_and_others_refused() {
        assert_eq!(check_sets("/a", 2, 4096, 4096), Ok(()));
        let why = check_sets("/a", 2, 4097, 4096).unwrap_err();
        assert!(why.contains("2 sets of 4097 bytes: at most 4096 bytes each"), "{why}");
        assert_eq!(check_files("/a", 3, &[], 0), Ok(()));
    }
}
