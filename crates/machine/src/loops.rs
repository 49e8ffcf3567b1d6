//! File systems on loop devices, made for a measurement and removed however it ends.
//!
//! Nothing of them outlives this process, even if it is killed. Their files have no names, the
//! devices detach when no process has them open, and the mounts are in our own mount namespace.

use crate::error::Error;
use crate::keeper::end_with_us;
use crate::output::without_links;
use crate::target::{ScratchFolder, guard, locked_by, open_again};
use crate::{attached, interrupt, mounts, namespace};
use rustix::fs::MemfdFlags;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Supported kinds, each with the program that makes it and its arguments.
const KINDS: [(&str, &[&str]); 7] = [
    ("ext4", &["mkfs.ext4", "-q", "-F"]),
    ("xfs", &["mkfs.xfs", "-q", "-f"]),
    ("btrfs", &["mkfs.btrfs", "-q", "-f"]),
    ("f2fs", &["mkfs.f2fs", "-q", "-f"]),
    ("bcachefs", &["mkfs.bcachefs", "-q", "-f"]),
    ("tmpfs", &[]),
    ("raw", &[]),
];

/// Kinds that discard freed space if mounted so, so that the file below a loop device takes no more
/// space than its contents. btrfs does so by itself since Linux 6.2, later than with `discard`.
const DISCARDING: [&str; 3] = ["ext4", "xfs", "f2fs"];

/// Keeps ext4 from initializing its inode tables while mounted, which mkfs leaves out: on a large
/// disk it would disturb the measurement for minutes.
const EXT4_AT_REST: &str = "noinit_itable";

/// Folders of programs for root, which `su` and `cron` leave out of the path.
const FOR_ROOT: &str = "/usr/local/sbin:/usr/sbin:/sbin";

/// Interval between checks on a program that makes a file system.
const LOOK: Duration = Duration::from_millis(20);

/// A file system to make.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recipe {
    /// Name in tables: the kind, or the kind and a word of the user's, as in `ext4-nojournal`.
    pub name: String,
    /// Further arguments for the program that makes it.
    pub mkfs: Vec<String>,
    /// Mount options, separated by commas; empty for the usual ones.
    pub mount: String,
}

impl Recipe {
    /// Returns the kind of file system.
    pub fn kind(&self) -> &str {
        self.name.split_once('-').map_or(self.name.as_str(), |(kind, _)| kind)
    }
}

/// Returns the recipes for file systems of these names, with arguments for mkfs and mount options,
/// each as `NAME=WORDS`.
///
/// # Errors
/// A sentence about an unknown kind, or words for a name that is not listed.
pub fn recipes(names: &[String], mkfs: &[String], mount: &[String]) -> Result<Vec<Recipe>, String> {
    let of = |name: &String| Recipe { name: name.clone(), ..Recipe::default() };
    let mut all: Vec<Recipe> = names.iter().map(of).collect();
    for (option, given) in [("--mkfs", mkfs), ("--mount", mount)] {
        for text in given {
            let named = text.split_once('=').and_then(|(name, words)| {
                let recipe = all.iter_mut().find(|recipe| recipe.name == name)?;
                Some((recipe, words))
            });
            match named {
                Some((recipe, words)) if option == "--mkfs" => {
                    recipe.mkfs.extend(words.split_whitespace().map(str::to_owned));
                }
                Some((recipe, words)) => recipe.mount = words.to_owned(),
                None => {
                    return Err(format!(
                        "{option} {text:?}: give one of the names of --fs, =, and the words, as in {}={}",
                        names.first().map_or("ext4", String::as_str),
                        if option == "--mkfs" { "-I 512" } else { "noatime" }
                    ));
                }
            }
        }
    }
    match all.iter().find(|one| program(one.kind()).is_none()) {
        None => Ok(all),
        Some(unknown) => Err(format!(
            "--fs {}: choose from {}",
            unknown.kind(),
            KINDS.map(|(known, _)| known).join(", ")
        )),
    }
}

/// The place where file systems are made.
#[derive(Clone, Copy, Debug)]
pub enum Ground<'a> {
    /// Loop devices of this many bytes, with files in a directory.
    Loops(&'a Path, u64),
    /// Block devices, one per file system, whose data the user gave up.
    Devices(&'a [PathBuf]),
}

impl<'a> Ground<'a> {
    /// Returns one directory for loop devices of `bytes` bytes, or `wanted` block devices.
    ///
    /// # Errors
    /// The places are of another kind or number, or the data of devices was not given up.
    pub fn of(
        places: &'a [PathBuf],
        wanted: usize,
        bytes: u64,
        destroy_data: bool,
    ) -> Result<Self, Error> {
        let is_device = |place: &PathBuf| {
            std::fs::metadata(place).is_ok_and(|found| found.file_type().is_block_device())
        };
        let refused = |why: &str| Error::Unsupported { what: "--fs here".into(), why: why.into() };
        match places {
            [folder] if !is_device(folder) => Ok(Self::Loops(folder, bytes)),
            all if !all.iter().all(is_device) => Err(refused(
                "name exactly one directory, in which the loop devices' files are made, or a block device for each file system",
            )),
            all if all.len() != wanted => {
                Err(refused("name one block device for each file system"))
            }
            _ if !destroy_data => Err(refused(
                "file systems are made on the named devices, whose data is lost: give --destroy-data",
            )),
            all => Ok(Self::Devices(all)),
        }
    }

    /// Checks every device before the first one is formatted.
    ///
    /// # Errors
    /// One of them is in use.
    pub fn vet(&self) -> Result<(), Error> {
        match self {
            Self::Loops(..) => Ok(()),
            Self::Devices(all) => all.iter().try_for_each(|device| unused(device).map(drop)),
        }
    }
}

/// A loop device with or without a mounted file system, or a mounted memory file system.
pub struct MadeFileSystem {
    device: Option<PathBuf>,
    mount: Option<ScratchFolder>,
    mounted: bool,
    recipe: Recipe,
    // Size of a loop device or of a file system in memory; 0 for a device of the user's.
    bytes: u64,
    // Closing this detaches the loop device from its file; it comes last.
    held: Option<File>,
}

/// Hides the future mounts of this process from all others. Unmounts by others still propagate
/// here, so that their file systems do not stay busy.
///
/// Without the right to do so, the mounts are visible, and are removed on every exit except a kill.
pub fn hide_mounts() {
    if namespace::own_mounts().is_ok() {
        let _ = run("mount", ["--make-rslave", "/"].map(OsStr::new));
    }
}

impl MadeFileSystem {
    /// Returns the mount point, or the device itself.
    pub fn path(&self) -> &Path {
        let device = || self.device.as_deref().unwrap_or(Path::new(""));
        self.mount.as_ref().map_or_else(device, ScratchFolder::path)
    }

    /// Returns the command that makes it, without the device; empty for raw and for memory.
    pub fn made_by(&self) -> String {
        let Some((program, words)) = program(self.recipe.kind()).and_then(<[_]>::split_first)
        else {
            return String::new();
        };
        let further = self.recipe.mkfs.iter().map(String::as_str);
        let words: Vec<&str> = words.iter().copied().chain(further).collect();
        format!("{program} {}", words.join(" "))
    }

    /// Makes it again, empty, at the same mount point; nothing in it may be open.
    ///
    /// # Errors
    /// It is busy, or cannot be made again.
    pub fn renew(&mut self) -> Result<(), Error> {
        let mount = self.mount.as_ref().filter(|_| self.mounted).map(|m| m.path().as_os_str());
        if let Some(mount) = mount {
            run("umount", [mount]).map_err(|why| self.refused(why))?;
        }
        self.mounted = false;
        self.format()
    }

    /// Makes a file system (or none: raw) by one of the [`recipes`], at place `number`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a missing program or right, no space, or a device in use.
    pub fn make(recipe: &Recipe, ground: &Ground<'_>, number: usize) -> Result<Self, Error> {
        let kind = recipe.kind();
        let refused = |why: String| Error::Unsupported { what: format!("--fs {kind}"), why };
        let bytes = if let Ground::Loops(_, bytes) = ground { *bytes } else { 0 };
        let recipe = recipe.clone();
        let mut made =
            Self { device: None, mount: None, mounted: false, recipe, bytes, held: None };
        match ground {
            Ground::Loops(folder, bytes) if kind != "tmpfs" => {
                let (device, held) = attach(folder, *bytes).map_err(refused)?;
                (made.device, made.held) = (Some(device), Some(held));
            }
            Ground::Devices(all) => {
                let device =
                    all.get(number).ok_or_else(|| refused("name a device for it".into()))?;
                made.device = Some(unused(device)?);
            }
            Ground::Loops(..) => {}
        }
        made.format()?;
        Ok(made)
    }

    fn refused(&self, why: String) -> Error {
        Error::Unsupported { what: format!("--fs {}", self.recipe.kind()), why }
    }

    /// Makes the file system and mounts it.
    fn format(&mut self) -> Result<(), Error> {
        let made_by = self.made_by();
        let mut words = made_by.split_whitespace();
        if let (Some(program), Some(device)) = (words.next(), &self.device) {
            let words = words.map(OsStr::new).chain([device.as_os_str()]);
            let ended = watched(&mut command(program, words)).transpose();
            let output = ended.ok_or(Error::Interrupted)?;
            concluded(program, output).map_err(|why| self.refused(why))?;
        }
        match self.recipe.kind() {
            "raw" => Ok(()),
            _ => self.mount().map_err(|why| self.refused(why)),
        }
    }

    /// Returns the mount options: size, discard and ext4's inode tables as needed, and last, so
    /// that they prevail, the user's.
    fn mount_options(&self) -> String {
        let (size, kind) = (format!("size={}", self.bytes), self.recipe.kind());
        let usual = match (&self.device, &self.held) {
            (None, _) => size.as_str(),
            (_, Some(_)) if DISCARDING.contains(&kind) => "discard",
            _ => "",
        };
        let at_rest = if kind == "ext4" { EXT4_AT_REST } else { "" };
        let asked = [usual, at_rest, self.recipe.mount.as_str()].into_iter();
        asked.filter(|one| !one.is_empty()).collect::<Vec<_>>().join(",")
    }

    fn mount(&mut self) -> Result<(), String> {
        let made = || ScratchFolder::new_in(&env::temp_dir()).map_err(|e| e.to_string());
        let mount = self.mount.take().map_or_else(made, Ok)?;
        let kind = self.recipe.kind();
        let asked = self.mount_options();
        let source = self.device.as_deref().unwrap_or(Path::new("tmpfs"));
        let mut words = vec![OsStr::new("-t"), OsStr::new(kind), source.as_os_str()];
        if !asked.is_empty() {
            words.extend(["-o", &asked].map(OsStr::new));
        }
        run("mount", words.into_iter().chain([mount.path().as_os_str()]))
            .map_err(|why| unknown_here(kind, why))?;
        (self.mount, self.mounted) = (Some(mount), true);
        Ok(())
    }
}

impl Drop for MadeFileSystem {
    fn drop(&mut self) {
        let mount = self.mount.as_ref().filter(|_| self.mounted).map(|m| m.path().as_os_str());
        let busy = |mount: &&OsStr| run("umount", [*mount]).is_err();
        if let Some(mount) = mount.filter(busy) {
            // Its files are closed by now; what remains is the kernel's own delay.
            let _ = run("umount", [OsStr::new("-l"), mount]);
        }
    }
}

/// Returns the program that makes this kind, with its arguments; empty for raw and memory.
fn program(kind: &str) -> Option<&'static [&'static str]> {
    KINDS.iter().find(|(known, _)| *known == kind).map(|(_, program)| *program)
}

/// Returns why a file system of this `kind` was not mounted: in plain words if the kernel does not
/// support it, otherwise as `mount` says it.
fn unknown_here(kind: &str, why: String) -> String {
    match why.contains("unknown filesystem type") {
        true => format!("this kernel has no {kind}, and no module of that name"),
        false => why,
    }
}

/// Returns the path without links of an unused block device of the user's: not mounted, and not
/// part of another device, which only an exclusive open detects.
fn unused(device: &Path) -> Result<PathBuf, Error> {
    // Otherwise a changed link could lead to another device before it is formatted.
    let (real, itself) = match without_links(device)? {
        Some(real) => (real, libc::O_NOFOLLOW),
        None => (device.to_owned(), 0),
    };
    let opened = OpenOptions::new().read(true).custom_flags(libc::O_EXCL | itself).open(&real);
    let file = opened.map_err(|e| Error::target(device, format!("cannot be used alone: {e}")))?;
    let found = file.metadata().ok().filter(|found| found.file_type().is_block_device());
    let Some(found) = found else {
        let why = "is no block device: name one, or a directory for loop devices";
        return Err(Error::target(device, why));
    };
    // A loop device on it, or a virtual machine with it open, does not prevent an exclusive open.
    let used = guard::device_in_use(&real, mounts::split(found.rdev()));
    match used.or_else(|| locked_by(&file)) {
        Some(reason) => Err(Error::target(device, reason)),
        None => Ok(real),
    }
}

/// Returns a command for a program that speaks English; programs for root are found too.
fn command<'a>(program: &str, words: impl IntoIterator<Item = &'a OsStr>) -> Command {
    let mut command = Command::new(program);
    let path = with_programs_for_root(env::var_os("PATH"));
    command.args(words).env("LC_ALL", "C").env("PATH", path);
    command
}

/// Returns the path followed by the folders of programs for root.
fn with_programs_for_root(path: Option<OsString>) -> OsString {
    // An empty part would mean the current folder.
    let mut all = path.filter(|path| !path.is_empty()).unwrap_or_else(|| "/usr/bin:/bin".into());
    all.push(":");
    all.push(FOR_ROOT);
    all
}

/// Runs a program and returns its output, without the last line break.
fn run<'a>(program: &str, words: impl IntoIterator<Item = &'a OsStr>) -> Result<String, String> {
    concluded(program, command(program, words).output())
}

/// Runs a program that makes a file system, and returns how it ended and its last words; `None` if
/// the user interrupts. It ends with that and with this process, or it would go on writing to the
/// device.
fn watched(program: &mut Command) -> io::Result<Option<Output>> {
    let mut said = File::from(rustix::fs::memfd_create("said", MemfdFlags::CLOEXEC)?);
    let interrupted = interrupt::flag();
    program.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said.try_clone()?);
    let mut child = end_with_us(program).spawn()?;
    loop {
        if let Some(status) = child.try_wait()? {
            let (stdout, mut stderr) = (Vec::new(), Vec::new());
            said.rewind()?;
            said.read_to_end(&mut stderr)?;
            return Ok(Some(Output { status, stdout, stderr }));
        }
        if interrupted.load(Ordering::Relaxed) {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(LOOK);
    }
}

/// Returns what a program printed, without the last line break, or why it failed.
fn concluded(program: &str, output: io::Result<Output>) -> Result<String, String> {
    let output = output.map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!("the program {program} is not installed"),
        _ => format!("cannot run {program}: {error}"),
    })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().replace('\n', "; ");
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(format!("{program} failed: {}", text(&output.stderr))),
    }
}

/// Returns a loop device of `bytes` on an unnamed file in `folder`, held open.
fn attach(folder: &Path, bytes: u64) -> Result<(PathBuf, File), String> {
    let told = |e: io::Error| format!("{}: {e}", folder.display());
    let backing = tempfile::tempfile_in(folder).map_err(told)?;
    backing.set_len(bytes).map_err(told)?;
    // A file open for direct I/O gives the device the block size of the disk below. Otherwise
    // direct I/O would fail on a disk with larger blocks.
    let backing = open_again(&backing, folder, libc::O_DIRECT, true).unwrap_or(backing);
    attached::attach(&backing).map_err(|e| format!("no loop device can be had: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{build_directory, skipped};

    #[test]
    fn a_device_named_by_a_link_is_formatted_by_its_own_name() {
        let folder = tempfile::tempdir_in(build_directory()).unwrap();
        let file = tempfile::NamedTempFile::new_in(folder.path()).unwrap();
        file.as_file().set_len(1 << 20).unwrap();
        let (device, _held) = match attached::attach(file.as_file()) {
            Ok(made) => made,
            Err(error) => return skipped(&format!("no loop device can be had: {error}")),
        };
        let link = folder.path().join("disk");
        std::os::unix::fs::symlink(&device, &link).unwrap();
        assert_eq!(unused(&link).unwrap(), device);
    }

    #[test]
    fn an_unknown_kind_is_refused_before_anything_is_made() {
        let recipe = |name: &str| Recipe { name: name.to_owned(), ..Recipe::default() };
        let why = |recipe: &Recipe, ground: &Ground<'_>| {
            let refused = MadeFileSystem::make(recipe, ground, 0);
            refused.err().map(|error| error.to_string()).unwrap_or_default()
        };
        let found = recipes(&["fat".to_owned()], &[], &[]).unwrap_err();
        assert!(found.contains("fat") && found.contains("choose from ext4, xfs"), "{found}");
        assert_eq!(recipe("ext4-small-inodes").kind(), "ext4");
        let names = ["ext4".to_owned(), "ext4-b".to_owned()];
        let (mkfs, mount) =
            (["ext4-b=-I 512".to_owned()], ["ext4=noatime,data=ordered".to_owned()]);
        let found = recipes(&names, &mkfs, &mount).unwrap();
        assert_eq!((found[1].mkfs.len(), found[0].mount.as_str()), (2, "noatime,data=ordered"));
        assert!(recipes(&names, &["xfs=-f".to_owned()], &[]).unwrap_err().contains("--mkfs"));
        let places = ["/nowhere".into(), "/nowhere/else".into()];
        assert!(Ground::of(&places, 2, 1 << 30, true).is_err());
        assert!(Ground::of(&places[..1], 2, 1 << 30, false).is_ok());
        let file = tempfile::NamedTempFile::new().unwrap();
        let devices = [file.path().to_owned()];
        let found = why(&recipe("ext4"), &Ground::Devices(&devices));
        assert!(found.contains("is no block device"), "{found}");
        assert!(why(&recipe("xfs"), &Ground::Devices(&[])).contains("name a device"));
    }

    #[test]
    fn programs_for_the_superuser_are_found_whatever_the_path_is() {
        let with = |path: Option<&str>| with_programs_for_root(path.map(OsString::from));
        assert_eq!(with(Some("/opt/bin:/bin")), "/opt/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin");
        for none in [None, Some("")] {
            assert_eq!(with(none), "/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin");
        }
        let told = command("mkfs.ext4", []).get_envs().any(|(name, given)| {
            name == "PATH" && given.is_some_and(|path| path.to_string_lossy().ends_with(FOR_ROOT))
        });
        assert!(told);
    }

    #[test]
    fn a_file_system_does_nothing_of_its_own_and_only_a_loop_device_is_told_what_is_removed() {
        let on = |name: &str, mount: &str, is_loop: bool| {
            let recipe = Recipe { name: name.into(), mount: mount.into(), ..Recipe::default() };
            let device = (name != "tmpfs").then(|| PathBuf::from("/dev/none"));
            let held = is_loop.then(|| tempfile::tempfile().unwrap());
            let (mount, mounted, bytes) = (None, false, 7);
            MadeFileSystem { device, mount, mounted, recipe, bytes, held }.mount_options()
        };
        assert_eq!(on("ext4-small", "", true), "discard,noinit_itable");
        assert_eq!(on("xfs", "nodiscard", true), "discard,nodiscard", "the last one holds");
        assert_eq!(on("bcachefs", "noatime", true), "noatime");
        assert_eq!(on("btrfs", "", true), "", "it has a better way of its own");
        assert_eq!(on("ext4", "", false), "noinit_itable");
        let asked = on("ext4", "init_itable=1", false);
        assert_eq!(asked, "noinit_itable,init_itable=1", "the last one holds");
        assert_eq!(on("xfs", "", false), "");
        assert_eq!(on("tmpfs", "noswap", false), "size=7,noswap");
    }

    #[test]
    fn what_is_lacking_is_said_in_plain_words() {
        let told = "mount failed: mount: /tmp/x: unknown filesystem type 'f2fs'.; dmesg(1) may have more information";
        let plain = unknown_here("f2fs", told.to_owned());
        assert_eq!(plain, "this kernel has no f2fs, and no module of that name");
        let busy = "mount failed: mount: /tmp/x: /dev/loop0 already mounted";
        assert_eq!(unknown_here("f2fs", busy.to_owned()), busy);
        let lacking = run("mkfs.nowhere", []).unwrap_err();
        assert_eq!(lacking, "the program mkfs.nowhere is not installed");
        let maker = |script| {
            let ended = watched(&mut command("sh", ["-c", script].map(OsStr::new)));
            concluded("sh", ended.transpose().unwrap())
        };
        assert_eq!(maker("echo done"), Ok(String::new()));
        assert_eq!(maker("echo no room >&2; exit 1").unwrap_err(), "sh failed: no room");
    }
}
