//! Client and server: two successive caches, and the two ways of treating writes (Unix I/O paper,
//! figure 6).

use super::{Checks, slow_disk};
use crate::check::{at, between, bytes_near, ends, equal, evaluation, nearest_border, policy};
use crate::lab::storage::FileSystem;
use crate::lab::{Lab, Up};

const MIB: f64 = 1_048_576.0;

/// Two hosts joined by a cable of 0.25 ms each way and 1 Gbit/s.
pub fn hosts(lab: &Lab) -> Result<Up<'_>, String> {
    let mut up = lab.up();
    up.hosts(250, 1000)?;
    Ok(up)
}

/// Two hosts, and sshfs of a directory on the server.
pub fn sshfs<'a>(lab: &'a Lab, options: &str) -> Result<Up<'a>, String> {
    let mut up = hosts(lab)?;
    let export = up.directory("w/srv")?;
    up.sshfs(&export, None, options)?;
    Ok(up)
}

/// sshfs with a client cache of 32 MB, a server cache of 96 MB and a slow disk on the server.
pub fn client_server(lab: &Lab) -> Checks {
    let mut up = lab.up();
    up.disk_with("cs", FileSystem::Ext4, &slow_disk(1024.0))?;
    up.hosts(250, 1000)?;
    let server = up.memory_group("server", 96)?;
    up.sshfs(&lab.path("mnt/cs"), Some(&server), "kernel_cache")?;
    let document = lab.evaluate("mnt/ssh", "--memory 32M --max-unique-bytes 300M --budget 10m")?;
    let found = evaluation(&document)?;
    Ok(vec![
        bytes_near("client cache", 32.0 * MIB, nearest_border(found, 32.0 * MIB), 0.20),
        bytes_near("server cache", 96.0 * MIB, nearest_border(found, 96.0 * MIB), 0.20),
    ])
}

/// sshfs that waits for the server at every write, as NFS did.
pub fn nfs_like(lab: &Lab) -> Checks {
    let _up = sshfs(lab, "kernel_cache,sshfs_sync")?;
    let document = lab.evaluate("mnt/ssh", "--max-unique-bytes 24M --budget 75s")?;
    let found = evaluation(&document)?;
    let curve = &ends(found)?.0.curves.read_frac;
    let share = at(curve, 0.5).zip(at(curve, 1.0)).map(|(mixed, reads)| mixed / reads);
    Ok(vec![
        equal("write policy", "write-through", &policy(found)),
        between("half reads over all reads", 0.0, 0.05, share),
    ])
}

/// A client that keeps writes in its own cache, as DUX did.
pub fn dux_like(lab: &Lab) -> Checks {
    let mut up = hosts(lab)?;
    up.gluster("--kernel-writeback-cache=yes")?;
    let document = lab.evaluate("mnt/gl", "--max-unique-bytes 24M --budget 75s")?;
    let found = evaluation(&document)?;
    let curve = &ends(found)?.0.curves.read_frac;
    let share = at(curve, 0.5).zip(at(curve, 1.0)).map(|(mixed, reads)| mixed / reads);
    Ok(vec![
        equal("write policy", "write-cancelling", &policy(found)),
        between("half reads over all reads", 0.05, 2.0, share),
    ])
}
