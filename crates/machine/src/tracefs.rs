//! Where the kernel's tracing file system is, and a mount of it that shows nowhere.

use crate::namespace::as_root;
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags};
use rustix::mount::{fsconfig_create, fsmount, fsopen};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// Where it may be mounted.
pub const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// Mounts it without a mount point (Linux 5.2), as long as the descriptor is open. With a mount
/// point, another recorder could keep it from being unmounted, and it would stay.
///
/// # Errors
/// The kernel has none, is too old, or refuses; see [`refusal`].
pub fn detached() -> Result<OwnedFd, Errno> {
    let tracefs = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(tracefs.as_fd())?;
    fsmount(tracefs.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())
}

/// Returns why it cannot be used where no place shows it and [`detached`] failed with `error`, and
/// what helps.
pub fn refusal(error: Errno) -> (String, String) {
    match hidden(&PLACES) {
        Some(place) => {
            (format!("this user may not look for tracefs in {place}"), as_root().to_owned())
        }
        None => (
            format!("tracefs is not mounted, and cannot be: {}", io::Error::from(error)),
            advice(error),
        ),
    }
}

/// The first of these places that does not show this user whether tracefs is there. systemd mounts
/// it for root alone.
fn hidden<'a>(places: &[&'a str]) -> Option<&'a str> {
    let is_hidden = |place: &&&str| {
        let found = Path::new(place).join("instances").try_exists();
        found.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
    };
    places.iter().find(is_hidden).copied()
}

fn advice(error: Errno) -> String {
    let mounted = format!("have root run `mount -t tracefs tracefs {}`", PLACES[0]);
    match error {
        Errno::NODEV => "use a kernel with CONFIG_FTRACE and CONFIG_BLK_DEV_IO_TRACE".to_owned(),
        Errno::NOSYS => format!("{mounted}: before Linux 5.2 ioscape cannot mount it for itself"),
        _ => format!("{}, or {mounted} and run with CAP_DAC_OVERRIDE", as_root()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::in_child;
    use std::fs::{Permissions, create_dir, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    #[expect(unsafe_code, reason = "root may look into everything")]
    fn what_this_user_may_not_look_into_is_not_said_to_be_unmounted() {
        let folder = tempfile::tempdir().unwrap();
        set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let [open, closed] = ["open", "closed"].map(|name| folder.path().join(name));
        create_dir(&open).and_then(|()| create_dir(&closed)).unwrap();
        set_permissions(&open, Permissions::from_mode(0o755)).unwrap();
        set_permissions(&closed, Permissions::from_mode(0o0)).unwrap();
        let places = ["open", "closed"];
        let found = in_child(|| {
            // That user may not pass the folders above if only root may.
            let is_there = std::env::set_current_dir(folder.path()).is_ok();
            // SAFETY: the child is about to end.
            unsafe { libc::setuid(65534) };
            i32::from(
                is_there && hidden(&places) == Some("closed") && hidden(&places[..1]).is_none(),
            )
        });
        assert_eq!(found, Some(1));
    }

    #[test]
    fn only_where_it_was_refused_root_is_asked_for() {
        let asks = |error| advice(error).contains("as root");
        assert_eq!([Errno::PERM, Errno::NOSYS, Errno::NODEV].map(asks), [true, false, false]);
        assert!(advice(Errno::NOSYS).contains("mount -t tracefs tracefs /sys/kernel/tracing"));
    }
}
