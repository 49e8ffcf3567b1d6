//! Two hosts on one machine, joined by a cable of known length and speed, and the file systems
//! between them.

use super::Up;
use super::memory::Group;
use super::undo::{self, Undo};
use crate::wire;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The client host; with several clients, the prefix of their names.
pub const CLIENT: &str = "ioscape-client";
/// The server host.
pub const SERVER: &str = "ioscape-server";
const SERVER_ADDRESS: &str = "10.78.0.2";
/// The port of the SFTP server, in its own network.
const PORT: u16 = 7777;
/// Path of the SFTP server on Debian.
pub const SFTP_SERVER: &str = "/usr/lib/openssh/sftp-server";

/// The name of a client around the server.
fn client(number: u32) -> String {
    format!("{CLIENT}-{number}")
}

/// The address of one end of the link between a client and the server: the client's end is 1, the
/// server's 2.
pub fn address(number: u32, end: u32) -> String {
    format!("10.78.{}.{end}", number + 1)
}

/// The words that run a program on a host. They keep the machine's mounts, which `ip netns exec`
/// would hide.
fn on(host: &str) -> [String; 2] {
    ["nsenter".to_owned(), format!("--net=/var/run/netns/{host}")]
}

impl Up<'_> {
    /// Creates two hosts joined by a cable of `delay_us` each way and `mbit_per_s`.
    ///
    /// # Errors
    /// One sentence from the programs that create them.
    pub fn hosts(&mut self, delay_us: u64, mbit_per_s: u64) -> Result<(), String> {
        for host in [CLIENT, SERVER] {
            self.note(Undo::RemoveNamespace(host.to_owned()))?;
            self.shell(&format!("ip netns add {host} && ip -n {host} link set lo up"))?;
        }
        let own = std::env::current_exe().map_err(|e| format!("where am I: {e}"))?;
        let (own, delay, speed) =
            (own.to_string_lossy(), delay_us.to_string(), mbit_per_s.to_string());
        self.start("cable", &[&*own, "cable", CLIENT, SERVER, &delay, &speed])?;
        let device = wire::NAME;
        let ends = [(CLIENT, "10.78.0.1"), (SERVER, SERVER_ADDRESS)];
        let is_there = |host: &str| self.shell(&format!("ip -n {host} link show {device}")).is_ok();
        self.wait_for("cable", || ends.iter().all(|(host, _)| is_there(host)))?;
        for (host, address) in ends {
            self.shell(&format!(
                "ip -n {host} addr add {address}/24 dev {device} && ip -n {host} link set {device} mtu 1500 up"
            ))?;
        }
        Ok(())
    }

    /// Creates a server and `clients` clients, each on its own host with a link to the server.
    ///
    /// # Errors
    /// One sentence from the programs that create them.
    pub fn hosts_around_server(&mut self, clients: u32) -> Result<(), String> {
        for host in (0..clients).map(client).chain([SERVER.to_owned()]) {
            self.note(Undo::RemoveNamespace(host.clone()))?;
            self.shell(&format!("ip netns add {host} && ip -n {host} link set lo up"))?;
        }
        for number in 0..clients {
            let (host, link) = (client(number), format!("link{number}"));
            let [own, server] = [1, 2].map(|end| address(number, end));
            self.shell(&format!(
                "ip link add {link} netns {host} type veth peer name {link} netns {SERVER} \
                 && ip -n {host} addr add {own}/24 dev {link} && ip -n {host} link set {link} up \
                 && ip -n {SERVER} addr add {server}/24 dev {link} && ip -n {SERVER} link set {link} up \
                 && ip -n {host} route add default via {server}"
            ))?;
        }
        Ok(())
    }

    /// Mounts a directory of the server on `mnt/ssh` by sshfs, without ssh; the server may be in a
    /// memory group.
    ///
    /// # Errors
    /// One sentence from the programs.
    pub fn sshfs(
        &mut self,
        export: &Path,
        server: Option<&Group>,
        options: &str,
    ) -> Result<PathBuf, String> {
        self.serve_sftp(server)?;
        self.mount_sshfs("ssh", CLIENT, &format!("{SERVER_ADDRESS}:{}", export.display()), options)
    }

    /// Does the same for each of several clients around the server, on `mnt/client0` and so on.
    ///
    /// # Errors
    /// One sentence from the programs.
    pub fn sshfs_around_server(
        &mut self,
        export: &Path,
        server: &Group,
        clients: u32,
    ) -> Result<(), String> {
        self.serve_sftp(Some(server))?;
        for number in 0..clients {
            let source = format!("{}:{}", address(number, 2), export.display());
            self.mount_sshfs(&format!("client{number}"), &client(number), &source, "kernel_cache")?;
        }
        Ok(())
    }

    /// Makes the server offer files by SFTP to everybody.
    fn serve_sftp(&mut self, server: Option<&Group>) -> Result<(), String> {
        let [enter, namespace] = on(SERVER);
        let join = server.map_or_else(|| ":".to_owned(), Group::join);
        let listen = format!(
            "{join}; exec {enter} {namespace} socat TCP-LISTEN:{PORT},reuseaddr,fork,nodelay EXEC:{SFTP_SERVER}"
        );
        self.start("sftp", &["bash", "-c", &listen])?;
        let listens =
            || self.shell(&format!("{enter} {namespace} ss -Hltn | grep -q :{PORT}")).is_ok();
        self.wait_for("sftp", listens)
    }

    /// Mounts `source`, `ADDRESS:DIRECTORY`, on `mnt/NAME` by sshfs, as the host `client`.
    fn mount_sshfs(
        &mut self,
        name: &str,
        client: &str,
        source: &str,
        options: &str,
    ) -> Result<PathBuf, String> {
        let target = self.mount_point(&format!("mnt/{name}"))?;
        let [enter, namespace] = on(client);
        let options = format!("directport={PORT},allow_other,{options}");
        let words = [
            &*enter,
            &*namespace,
            "sshfs",
            "-f",
            "-o",
            &options,
            source,
            &target.to_string_lossy(),
        ];
        self.start(name, &words)?;
        self.wait_for(name, || undo::is_mounted(&target))?;
        Ok(target)
    }

    /// Mounts the new directory `export` on `mnt/NAME` by sshfs, without ssh or a network.
    ///
    /// # Errors
    /// One sentence from the programs.
    pub fn sshfs_alone(&mut self, name: &str, export: &str) -> Result<PathBuf, String> {
        let export = self.directory(export)?;
        let target = self.mount_point(&format!("mnt/{name}"))?;
        let server = self.lab.path(&format!("w/{name}.sh"));
        let fails = |e: std::io::Error| format!("{}: {e}", server.display());
        fs::write(&server, format!("#!/bin/sh\nexec {SFTP_SERVER}\n")).map_err(fails)?;
        fs::set_permissions(&server, fs::Permissions::from_mode(0o700)).map_err(fails)?;
        let serve = format!(
            "echo $$ > w/{name}.pid; exec sshfs -f -o ssh_command='{}',cache=no here:'{}' '{}'",
            server.display(),
            export.display(),
            target.display()
        );
        self.start(name, &["bash", "-c", &serve])?;
        self.wait_for(name, || undo::is_mounted(&target))?;
        Ok(target)
    }

    /// Makes such an sshfs stop answering until it is taken down.
    ///
    /// # Errors
    /// It is not running.
    pub fn stop_sshfs(&mut self, name: &str) -> Result<(), String> {
        let pid = self.shell(&format!("cat w/{name}.pid"))?;
        // Undone first, so that whatever is mounted on it can be taken down.
        self.note(Undo::Run(["kill", "-CONT", &pid].map(str::to_owned).to_vec()))?;
        self.shell(&format!("kill -STOP {pid}")).map(drop)
    }

    /// Mounts a GlusterFS volume of the server on `mnt/gl`, with client options.
    ///
    /// # Errors
    /// One sentence from the programs.
    pub fn gluster(&mut self, options: &str) -> Result<PathBuf, String> {
        if self.shell("gluster --mode=script pool list").is_ok() {
            return Err("a GlusterFS server runs on this machine already".to_owned());
        }
        let brick = self.directory("w/brick")?;
        self.note(Undo::RemoveTree("/var/lib/glusterd/vols/ioscape".into()))?;
        fs::create_dir_all("/var/log/glusterfs").map_err(|e| format!("/var/log/glusterfs: {e}"))?;
        let [enter, namespace] = on(SERVER);
        let log = format!("--log-file={}", self.log("glusterd").display());
        self.start("glusterd", &[&*enter, &*namespace, "glusterd", "-N", &log])?;
        self.wait_for("glusterd", || self.shell("gluster --mode=script pool list").is_ok())?;
        self.note(gluster_undo("delete ioscape"))?;
        self.note(gluster_undo("stop ioscape force"))?;
        self.shell(&format!(
            "gluster --mode=script volume create ioscape transport tcp {SERVER_ADDRESS}:{} force \
             && gluster --mode=script volume start ioscape",
            brick.display()
        ))?;
        let target = self.mount_point("mnt/gl")?;
        let [enter, namespace] = on(CLIENT);
        let (server, log) = (
            format!("--volfile-server={SERVER_ADDRESS}"),
            format!("--log-file={}", self.log("gluster").display()),
        );
        let target_text = target.to_string_lossy().into_owned();
        let mut words =
            vec![&*enter, &*namespace, "glusterfs", "-N", &*server, "--volfile-id=ioscape", &*log];
        words.extend(options.split_whitespace());
        words.push(&target_text);
        self.start("gluster-client", &words)?;
        self.wait_for("gluster-client", || {
            undo::is_mounted(&target) && fs::read_dir(&target).is_ok()
        })?;
        Ok(target)
    }
}

fn gluster_undo(what: &str) -> Undo {
    let words = format!("gluster --mode=script volume {what}");
    Undo::Run(words.split(' ').map(str::to_owned).collect())
}
