//! File systems that a campaign makes: their programs are found outside `PATH`, they are idle while
//! measured, and they are left as they should be; and devices whose blocks may hold nothing.

use super::{Loop, entries, folder, possible, says, unmount};
use crate::common::{Ran, ioscape, path, read, run, skipped};
use ioscape_schema::Document;
use std::path::{Path, PathBuf};

/// Directories of programs for the superuser.
const FOR_ROOT: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

#[test]
fn file_systems_are_made_without_a_path_to_the_programs_for_it_and_do_nothing_of_their_own() {
    if !possible(&["mkfs.ext4", "losetup"]) {
        return;
    }
    if !FOR_ROOT.iter().any(|folder| Path::new(folder).join("mkfs.ext4").exists()) {
        return skipped("mkfs.ext4 lies elsewhere");
    }
    let [place, elsewhere] = [(); 2].map(|()| folder());
    let file = elsewhere.path().join("tiny.toml");
    let text = "title = \"tiny\"\nrounds = 1\n[base]\nfile_size = \"16k\"\niosize = \"4k\"\n\
                [[vary]]\nname = \"files\"\nvalues = [1]\n[[method]]\nname = \"plain\"\n";
    std::fs::write(&file, text).expect("a campaign");
    let made = ["--fs", "ext4", "--fs-size", "128M", "--as-root-make", "--json"];
    let words = ["campaign", "run", path(&file), path(place.path())];
    let mut command = ioscape(&[&words[..], &made].concat());
    command.env("PATH", "/usr/bin:/bin");
    let ran = Ran::of(command).ended(0);
    let found: Document = serde_json::from_str(&ran.out).expect("a document");
    let options = &found.campaign().expect("a campaign").columns[0].mount_options;
    assert!(options.contains("noinit_itable"), "its tables are written meanwhile: {options}");
}

/// Once, measured files that stayed were written back by the unmount, which may take longer than an
/// interrupted process is given.
#[test]
fn what_is_measured_in_a_file_system_that_was_made_is_removed_and_what_fills_it_stays() {
    if !possible(&["mkfs.ext4", "losetup", "mount"]) {
        return;
    }
    let [place, elsewhere, seen] = [(); 3].map(|()| folder());
    let disk = Loop::make(place.path(), 128 << 20);
    let file = elsewhere.path().join("full.toml");
    let text = "title = \"full\"\nrounds = 1\n[base]\nfile_size = \"4M\"\n[[vary]]\nname = \"fill_percent\"\n\
                values = [50]\n[[method]]\nname = \"plain\"\n";
    std::fs::write(&file, text).expect("a campaign");
    let words = ["campaign", "run", path(&file), path(&disk.device), "--json"];
    run(&[&words[..], &["--fs", "ext4", "--as-root-make", "--destroy-data"]].concat()).ended(0);
    says("mount", &[path(&disk.device), path(seen.path())]).expect("it can be mounted");
    let is_ours = |entry: &PathBuf| path(entry).contains(".ioscape-folder-");
    let ours: Vec<PathBuf> = entries(seen.path()).into_iter().filter(is_ours).collect();
    let is_measured = ours.iter().any(|folder| folder.join("file-0").exists());
    unmount(seen.path());
    assert!(ours.len() == 1 && !is_measured, "{ours:?}");
}

#[test]
fn reads_of_a_device_whose_blocks_may_hold_nothing_are_doubted() {
    if !possible(&["losetup"]) {
        return;
    }
    let folder = folder();
    let disk = Loop::make(folder.path(), 1 << 20);
    let name = disk.device.file_name().expect("a name");
    let most = read(&Path::new("/sys/block").join(name).join("queue/discard_max_bytes"));
    let times = |words: &[&str]| run(words).ended(0).out.matches("takes discards").count();
    let is_doubted = usize::from(most.trim() != "0");
    // One warning for the run, and one for the document.
    assert_eq!(times(&["vxbench", "-w", "read", "--json", path(&disk.device)]), 2 * is_doubted);
    let file = folder.path().join("reads.toml");
    let text = "title = \"reads\"\nrounds = 1\n[base]\nfile_size = \"1M\"\n[[vary]]\nname = \"iosize\"\n\
                values = [\"64k\", \"256k\"]\n[[method]]\nname = \"plain\"\n[[method]]\nname = \"raw\"\nraw = true\n";
    std::fs::write(&file, text).expect("a campaign");
    let words = ["campaign", "run", "--json", path(&file), path(folder.path())];
    assert_eq!(times(&[&words[..], &[path(&disk.device)]].concat()), is_doubted, "told once");
    // A device that the campaign made is laid out.
    let made = ["--fs", "raw", "--fs-size", "128M", "--as-root-make"];
    assert_eq!(times(&[&words[..], &made].concat()), 0);
}
