//! Client and server: two caches in a row, and the two ways to treat writes (Unix I/O paper, figure 6).

use super::{Checks, DISK};
use crate::check::{at, between, bytes_near, ends, equal, evaluation, nearest_border, policy};
use crate::lab::{Lab, Up};

const MIB: f64 = 1_048_576.0;

/// Two hosts joined by a cable of 0.25 ms each way and 1 Gbit/s.
pub fn hosts(lab: &Lab) -> Result<Up<'_>, String> {
    lab.up("./netwire.sh up 250 1000 && sleep .5", "./netwire.sh down")
}

/// sshfs with a client cache of 32 MB, a server cache of 96 MB and a slow disk on the server.
pub fn client_server(lab: &Lab) -> Checks {
    let mut up =
        lab.up(&format!("./simdisk.sh upfs cs ext4 size=1024 {DISK}"), "./simdisk.sh down cs")?;
    up.and("./netwire.sh up 250 1000 && sleep .5", "./netwire.sh down")?;
    let serve = "SRV=/tmp/ioscape-lab/mnt/cs SRVWRAP='./memcg.sh 96' ./sshfs.sh up kernel_cache && sleep .5";
    up.and(serve, "./sshfs.sh down")?;
    let document =
        lab.evaluate("", "mnt/ssh", "--memory 32M --max-unique-bytes 300M --budget 10m")?;
    let found = evaluation(&document)?;
    Ok(vec![
        bytes_near("client cache", 32.0 * MIB, nearest_border(found, 32.0 * MIB), 0.20),
        bytes_near("server cache", 96.0 * MIB, nearest_border(found, 96.0 * MIB), 0.20),
    ])
}

/// sshfs that waits for the server at every write, as NFS did.
pub fn nfs_like(lab: &Lab) -> Checks {
    let mut up = hosts(lab)?;
    up.and(
        "mkdir -p w/srv && ./sshfs.sh up kernel_cache,sshfs_sync && sleep .5",
        "./sshfs.sh down; rm -rf w/srv",
    )?;
    let document = lab.evaluate("", "mnt/ssh", "--max-unique-bytes 24M --budget 75s")?;
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
    up.and("./gluster.sh up --kernel-writeback-cache=yes", "./gluster.sh down")?;
    let document = lab.evaluate("", "mnt/gl", "--max-unique-bytes 24M --budget 75s")?;
    let found = evaluation(&document)?;
    let curve = &ends(found)?.0.curves.read_frac;
    let share = at(curve, 0.5).zip(at(curve, 1.0)).map(|(mixed, reads)| mixed / reads);
    Ok(vec![
        equal("write policy", "write-cancelling", &policy(found)),
        between("half reads over all reads", 0.05, 2.0, share),
    ])
}
