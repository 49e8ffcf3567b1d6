//! Whether an NFS server of this machine lets other machines into its directories.

use crate::text;

/// Where an NFS server tells what it exports, to clients whose locks of folders do not come here: to those that it knows, and to all.
const EXPORTS: [&str; 2] = ["/proc/fs/nfsd/exports", "/var/lib/nfs/etab"];

/// Whether an NFS server of this machine exports anything.
pub(super) fn is_exported() -> bool {
    EXPORTS.iter().any(|file| text::read(file).is_some_and(|told| has_exports(&told)))
}

/// Whether a list of exports (exports(5)) has one.
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
