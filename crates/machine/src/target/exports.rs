//! Whether an NFS server on this machine gives other machines access to its directories.

use crate::text;

/// Files in which an NFS server lists its exports: to known clients, and to all. Folder locks of
/// its clients are not visible here.
const EXPORTS: [&str; 2] = ["/proc/fs/nfsd/exports", "/var/lib/nfs/etab"];

/// Returns whether an NFS server on this machine exports anything.
pub(super) fn is_exported() -> bool {
    EXPORTS.iter().any(|file| text::read(file).is_some_and(|told| has_exports(&told)))
}

/// Returns whether a list of exports (exports(5)) has an entry.
fn has_exports(list: &str) -> bool {
    list.lines().map(str::trim).any(|line| !line.is_empty() && !line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_exports_may_be_empty() {
        let empty = "# Version 1.1\n# Path Client(Flags) # IPs\n\n";
        assert!(!has_exports("") && !has_exports(empty));
        assert!(has_exports(&format!("{empty}/srv\t10.0.0.0/8(rw,no_root_squash)\n")));
    }
}
