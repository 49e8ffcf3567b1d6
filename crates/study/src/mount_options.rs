//! Mount options that are not properties of a file system but differ from mount to mount.

/// Mount options that name a place, an address, an owner or a security label, or set a space limit:
/// they differ from mount to mount, and no figure depends on them.
const NAMES: [&str; 26] = [
    "addr",
    "clientaddr",
    "context",
    "datadir+",
    "defcontext",
    "fd",
    "fscontext",
    "gid",
    "group_id",
    "lowerdir",
    "lowerdir+",
    "mon_addr",
    "mountaddr",
    "mountport",
    "nr_inodes",
    "rfdno",
    "rootcontext",
    "size",
    "subvol",
    "subvolid",
    "uid",
    "upperdir",
    "user_id",
    "username",
    "wfdno",
    "workdir",
];

/// Removes the mount options in [`NAMES`].
pub(crate) fn without_names(options: &str) -> String {
    let is_name = |one: &&str| NAMES.contains(&one.split('=').next().unwrap_or(one));
    // The kernel quotes a value that contains commas: context="...:c560,c898".
    let mut is_quoted = false;
    let ends = |c: char| {
        is_quoted ^= c == '"';
        c == ',' && !is_quoted
    };
    options.split(ends).filter(|one| !is_name(one)).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_the_moment_is_no_property_of_a_mount() {
        let lease = |address| without_names(&format!("rw,hard,clientaddr={address},sync"));
        assert_eq!(lease("192.168.1.17"), "rw,hard,sync");
        assert_eq!(lease("192.168.1.17"), lease("192.168.1.23"));
        assert_ne!(lease("192.168.1.17"), without_names("rw,hard,async"));
    }
}
