//! Whether a process is frozen with its control group (cgroups(7)).

use super::hierarchy::{Hierarchy, Version};
use crate::mounts::{self, Mount};
use crate::text;
use std::path::Path;
use std::sync::OnceLock;

/// Returns whether the process or thread at `place` below `/proc` is in a group that is frozen, or
/// about to be.
///
/// The process's own state does not show this: it sleeps where it was, in version 1 even
/// uninterruptibly.
pub fn is_frozen(place: &Path) -> bool {
    static TABLE: OnceLock<Vec<Mount>> = OnceLock::new();
    let is_group = |mount: &Mount| mount.kind.starts_with("cgroup");
    let table = TABLE.get_or_init(|| mounts::table().into_iter().filter(is_group).collect());
    let Some(groups) = text::read(place.join("cgroup")) else { return false };
    let says = |version, file: &str, is: fn(&str) -> bool| {
        let found = Hierarchy::parse(version, "freezer", table, &groups);
        found.and_then(|found| text::read(found.own.join(file))).is_some_and(|text| is(&text))
    };
    says(Version::V2, "cgroup.events", |events| events.lines().any(|line| line == "frozen 1"))
        || says(Version::V1, "freezer.state", |state| state.trim().starts_with("FR"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_reads_this_is_not_frozen() {
        assert!(!is_frozen(Path::new("/proc/self")));
        assert!(!is_frozen(Path::new("/proc/0")), "no such process");
    }
}
