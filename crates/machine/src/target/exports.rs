//! What this machine gives other machines access to: over NFS, and as NVMe disks.

use crate::text::{self, entries};
use std::path::{Path, PathBuf};

/// Files in which an NFS server lists its exports: to known clients, and to all. Folder locks of
/// its clients are not visible here.
const EXPORTS: [&str; 2] = ["/proc/fs/nfsd/exports", "/var/lib/nfs/etab"];

/// Where the kernel's NVMe target lists what it serves. It opens devices without exclusive use and
/// locks no file.
const NVMET: &str = "/sys/kernel/config/nvmet/subsystems";

/// Returns why the file or device that `is_it` knows by a path is in use, if it is served as an NVMe
/// disk.
pub(super) fn served(is_it: impl Fn(&Path) -> bool) -> Option<String> {
    served_among(Path::new(NVMET), is_it)
}

fn served_among(subsystems: &Path, is_it: impl Fn(&Path) -> bool) -> Option<String> {
    let serves = |space: PathBuf| {
        text::read(space.join("enable")).is_some_and(|on| on == "1")
            && text::read(space.join("device_path")).is_some_and(|path| is_it(Path::new(&path)))
    };
    let mut all = entries(subsystems);
    let subsystem = all.find(|one| entries(one.join("namespaces")).any(serves))?;
    let name = subsystem.file_name()?.to_string_lossy();
    Some(format!(
        "is served to other machines by nvmet (subsystem {name}): disable its namespace there first"
    ))
}

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

    /// Once, such a disk could be overwritten while other machines had it mounted.
    #[test]
    fn what_is_served_as_an_nvme_disk_is_in_use() {
        let home = tempfile::tempdir().unwrap();
        let space = home.path().join("nqn.a/namespaces/1");
        std::fs::create_dir_all(&space).unwrap();
        std::fs::write(space.join("device_path"), "/dev/sdb\n").unwrap();
        let told = |enable: &str, path: &str| {
            std::fs::write(space.join("enable"), enable).unwrap();
            served_among(home.path(), |served| served == Path::new(path))
        };
        assert!(told("1\n", "/dev/sdb").is_some_and(|why| why.contains("(subsystem nqn.a)")));
        assert_eq!([told("0\n", "/dev/sdb"), told("1\n", "/dev/sdc")], [None, None]);
    }

    #[test]
    fn a_list_of_exports_may_be_empty() {
        let empty = "# Version 1.1\n# Path Client(Flags) # IPs\n\n";
        assert!(!has_exports("") && !has_exports(empty));
        assert!(has_exports(&format!("{empty}/srv\t10.0.0.0/8(rw,no_root_squash)\n")));
    }
}
