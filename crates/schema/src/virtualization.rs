//! What a result says about the hypervisor or container below the machine.

/// Says that something is known not to be there.
pub const NONE: &str = "none";

/// Reported in place of a hypervisor where its absence cannot be told.
pub const UNKNOWN: &str = "unknown";

/// Separator between a hypervisor and a container.
pub const AND: &str = ", ";

/// A container of any manager.
pub const CONTAINER: &str = "container";

/// Containers, by the words that their managers leave in control-group names and elsewhere; the
/// first match counts. The last word stands for any manager.
pub const CONTAINERS: [&str; 7] =
    ["kubepods", "docker", "lxc", "containerd", "podman", "systemd-nspawn", CONTAINER];
