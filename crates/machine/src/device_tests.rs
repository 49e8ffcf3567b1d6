//! Tests of what the kernel shows of devices, on invented ones.

use super::*;
use crate::testing::skipped;
use std::fs;

/// An invented `/sys` with disk 8:0 `sda`, its partitions 8:1 and 8:2, and `dm-0` built on the
/// second.
fn fake() -> tempfile::TempDir {
    let sys = tempfile::tempdir().unwrap();
    let disk = sys.path().join("devices/pci/block/sda");
    fs::create_dir_all(disk.join("holders")).unwrap();
    fs::create_dir_all(disk.join("queue")).unwrap();
    fs::create_dir_all(sys.path().join("dev/block")).unwrap();
    fs::write(disk.join("dev"), "8:0\n").unwrap();
    fs::write(disk.join("queue/scheduler"), "none [bfq]\n").unwrap();
    for (name, minor) in [("sda1", 1), ("sda2", 2)] {
        let part = disk.join(name);
        fs::create_dir_all(part.join("holders")).unwrap();
        fs::write(part.join("dev"), format!("8:{minor}\n")).unwrap();
        fs::write(part.join("partition"), format!("{minor}\n")).unwrap();
        let link = sys.path().join(format!("dev/block/8:{minor}"));
        std::os::unix::fs::symlink(part, link).unwrap();
    }
    std::os::unix::fs::symlink(&disk, sys.path().join("dev/block/8:0")).unwrap();
    fs::write(disk.join("sda2/holders/dm-0"), "").unwrap();
    sys
}

#[test]
fn a_disk_is_related_to_its_partitions_but_they_not_to_each_other() {
    let sys = fake();
    let related = |minor| {
        let device = BlockDevice::below(sys.path(), (8, minor)).unwrap();
        let mut all: Vec<u32> = device.related().iter().map(|d| d.number.1).collect();
        all.sort_unstable();
        all
    };
    assert_eq!(related(0), [0, 1, 2]);
    assert_eq!(related(1), [0, 1]);
    assert!(BlockDevice::below(sys.path(), (8, 9)).is_none());
}

#[test]
fn drives_say_who_they_are() {
    let sys = tempfile::tempdir().unwrap();
    let make = |path: &str, files: &[(&str, &str)]| {
        let folder = sys.path().join(path);
        fs::create_dir_all(&folder).unwrap();
        files.iter().for_each(|(name, text)| fs::write(folder.join(name), text).unwrap());
    };
    make("pci0/nvme0/nvme0n1/device", &[("model", "Fast 1 \n"), ("firmware_rev", "F1\n")]);
    let link = [("current_link_speed", "16.0 GT/s PCIe\n"), ("current_link_width", "4\n")];
    make("pci0/nvme0/nvme0n1/device/device", &link);
    let drive = |path: &str| BlockDevice { number: (1, 0), directory: sys.path().join(path) };
    let fast = drive("pci0/nvme0/nvme0n1");
    assert_eq!(fast.model().as_deref(), Some("Fast 1"));
    assert_eq!(fast.firmware().as_deref(), Some("F1"));
    assert_eq!(fast.link().as_deref(), Some("16.0 GT/s PCIe x4"));
    make("ata7/host6/block/sda/device", &[("vendor", "ATA"), ("model", "Disk 2"), ("rev", "A0")]);
    make("ata7/link7/ata_link/link7", &[("sata_spd", "6.0 Gbps\n")]);
    let disk = drive("ata7/host6/block/sda");
    assert_eq!((disk.model().as_deref(), disk.firmware().as_deref()), (Some("Disk 2"), Some("A0")));
    assert_eq!(disk.link().as_deref(), Some("6.0 Gbps"));
    let stick = "pci0/usb2/2-1/2-1:1.0/host7/block/sdb";
    make(&format!("{stick}/device"), &[("model", "Stick")]);
    assert_eq!(drive(stick).link().as_deref(), Some("USB"));
    make("virtio/vda", &[]);
    let none = drive("virtio/vda");
    assert_eq!((none.model(), none.firmware(), none.link()), (None, None, None));
}

/// Guards against a defect: on an encrypted laptop the drive had no model, a change of drives was
/// not told, and a USB stick surely rotated.
#[test]
fn a_drive_is_known_through_volumes_and_encryption() {
    let sys = fake();
    let make = |name: &str, below: &[&str]| {
        let folder = sys.path().join("devices/virtual/block").join(name);
        fs::create_dir_all(folder.join("slaves")).unwrap();
        fs::write(folder.join("dev"), "253:0\n").unwrap();
        for one in below {
            let link = folder.join("slaves").join(Path::new(one).file_name().unwrap());
            std::os::unix::fs::symlink(sys.path().join("devices").join(one), link).unwrap();
        }
        BlockDevice::in_directory(folder).unwrap()
    };
    let disk = sys.path().join("devices/pci/block/sda");
    fs::create_dir(disk.join("device")).unwrap();
    fs::write(disk.join("device/model"), "Stick\n").unwrap();
    make("dm-0", &["pci/block/sda/sda2"]);
    let volume = make("dm-1", &["virtual/block/dm-0"]);
    assert_eq!((volume.name(), volume.drive().name()), ("dm-1".to_owned(), "sda".to_owned()));
    assert_eq!(volume.model().as_deref(), Some("Stick"));
    assert_eq!(volume.drive().queue("scheduler").as_deref(), Some("none [bfq]"));
    let striped = make("dm-2", &["pci/block/sda/sda1", "virtual/block/dm-0"]);
    assert_eq!((striped.drive().name(), striped.model()), ("dm-2".to_owned(), None));
}

#[test]
fn holders_and_queue_are_read() {
    let sys = fake();
    let part = BlockDevice::below(sys.path(), (8, 2)).unwrap();
    assert_eq!(part.holders(), ["dm-0"]);
    assert_eq!(part.name(), "sda2");
    assert_eq!(part.queue("scheduler").as_deref(), Some("none [bfq]"));
    assert!(part.disk().holders().is_empty());
}

/// Once, such a disk was given up for writing, and its refusals were told as those of a dying disk.
#[test]
fn a_disk_that_takes_writes_only_in_sequence_is_known() {
    let sys = fake();
    let is_sequential = |kind: &str| {
        fs::write(sys.path().join("devices/pci/block/sda/queue/zoned"), kind).unwrap();
        BlockDevice::below(sys.path(), (8, 1)).unwrap().takes_writes_in_sequence()
    };
    let kinds = ["none\n", "host-aware\n", "host-managed\n"];
    assert_eq!(kinds.map(is_sequential), [false, false, true]);
}

/// Guards against a defect: a locked card could be opened for writing, and the first write failed
/// with the advice to check its owner.
#[test]
fn a_device_whose_disk_is_locked_is_protected() {
    let sys = fake();
    let told = |minor| BlockDevice::below(sys.path(), (8, minor)).unwrap().is_protected();
    let set = |file: &str, ro| fs::write(sys.path().join("devices/pci/block").join(file), ro);
    assert!(!told(0) && !told(1), "the kernel does not tell");
    set("sda/sda1/ro", "1\n").unwrap();
    assert_eq!([told(0), told(1), told(2)], [false, true, false]);
    set("sda/sda1/ro", "0\n").unwrap();
    set("sda/ro", "1\n").unwrap();
    assert_eq!([told(0), told(1), told(2)], [true; 3]);
}

/// Guards against taking the zeros of an uncounted disk for a disk without I/O.
#[test]
fn a_disk_whose_counters_are_off_is_not_counted() {
    let sys = fake();
    let is_counted = |minor| BlockDevice::below(sys.path(), (8, minor)).unwrap().is_counted();
    let disk = sys.path().join("devices/pci/block/sda");
    assert!(is_counted(0) && is_counted(1), "the kernel does not say");
    fs::write(disk.join("queue/iostats"), "0\n").unwrap();
    assert!(is_counted(0), "it has no queues of its own, and may be counted even so");
    fs::create_dir(disk.join("mq")).unwrap();
    assert!(!is_counted(0) && !is_counted(1));
    fs::write(disk.join("queue/iostats"), "1\n").unwrap();
    assert!(is_counted(0) && is_counted(1));
}

#[test]
fn a_disk_is_known_again_under_another_number_and_its_partitions_apart() {
    let sys = fake();
    let known = |minor| BlockDevice::below(sys.path(), (8, minor)).unwrap().identifier();
    assert_eq!((known(0), known(1)), (None, None));
    fs::write(sys.path().join("devices/pci/block/sda/serial"), "\n").unwrap();
    assert_eq!(known(0), None, "an empty name is none");
    fs::write(sys.path().join("devices/pci/block/sda/wwid"), "naa.5000c500\n").unwrap();
    let all = [0, 1, 2].map(|minor| known(minor).unwrap());
    assert_eq!(all, ["naa.5000c500 ", "naa.5000c500 1", "naa.5000c500 2"]);
}

/// Once, a disk that was mounted as `sda` could be overwritten as `sdb`.
#[test]
fn a_disk_that_is_reached_in_two_ways_has_a_twin() {
    let sys = fake();
    let class = sys.path().join("class/block");
    fs::create_dir_all(&class).unwrap();
    let make = |name: &str, number: &str, wwid: &str| {
        let folder = sys.path().join("devices/pci/block").join(name);
        fs::create_dir_all(folder.join("device")).unwrap();
        fs::write(folder.join("dev"), number).unwrap();
        fs::write(folder.join("device/wwid"), wwid).unwrap();
        fs::write(folder.join("device/serial"), "1").unwrap();
        std::os::unix::fs::symlink(&folder, class.join(folder.file_name().unwrap())).unwrap();
    };
    make("sda", "8:0", "naa.5000c500\n");
    make("sda/sda1", "8:1", "");
    make("sdb", "8:16", "naa.5000c500\n");
    make("sdb/sdb1", "8:17", "");
    fs::write(sys.path().join("devices/pci/block/sdb/sdb1/partition"), "1\n").unwrap();
    make("sdc", "8:32", "naa.5000c501\n");
    make("sdd", "8:48", "\n");
    make("sde", "8:64", "\n");
    let twins = |path: &str| {
        let folder = sys.path().join("devices/pci/block").join(path);
        let twins = BlockDevice::in_directory(folder).unwrap().twins(sys.path());
        twins.iter().map(BlockDevice::name).collect::<Vec<_>>()
    };
    assert_eq!((twins("sdb"), twins("sda")), (vec!["sda".to_owned()], vec!["sdb".to_owned()]));
    assert_eq!(twins("sdb/sdb1"), ["sda1"], "the same partition");
    assert!(twins("sdc").is_empty() && twins("sdd").is_empty());
}

/// Once, work went on in silence on another card in the same slot.
#[test]
fn a_card_is_known_by_its_own_number() {
    let sys = fake();
    let card = sys.path().join("devices/pci/block/sda/device");
    fs::create_dir(&card).unwrap();
    fs::write(card.join("cid"), "035344534431364780\n").unwrap();
    let known = BlockDevice::below(sys.path(), (8, 1)).unwrap().identifier();
    assert_eq!(known.as_deref(), Some("035344534431364780 1"));
}

#[test]
fn a_disk_from_a_server_tells_its_client_for_its_partitions_too() {
    let sys = fake();
    let client = |minor| BlockDevice::below(sys.path(), (8, minor)).unwrap().client();
    assert_eq!((client(0), client(1)), (None, None));
    fs::write(sys.path().join("devices/pci/block/sda/pid"), "4711\n").unwrap();
    assert_eq!((client(0), client(1)), (Some(4711), Some(4711)));
}

#[test]
fn data_in_memory_is_found_below_devices() {
    let sys = tempfile::tempdir().unwrap();
    let table = mounts::parse(
        "27 1 254:0 / / rw - ext4 /dev/vda rw\n28 27 0:30 / /dev/shm rw - tmpfs none rw\n\
         29 27 7:1 / /mnt rw - ext4 /dev/loop0 rw",
    );
    let shown = Shown { sys: sys.path(), table: &table };
    fs::create_dir_all(sys.path().join("dev/block")).unwrap();
    let make = |name: &str, minor: u32, file: Option<&str>, below: &[&str]| {
        let directory = sys.path().join("block").join(name);
        fs::create_dir_all(directory.join("slaves")).unwrap();
        fs::create_dir_all(directory.join("loop")).unwrap();
        fs::write(directory.join("dev"), format!("7:{minor}\n")).unwrap();
        let number = sys.path().join(format!("dev/block/7:{minor}"));
        std::os::unix::fs::symlink(&directory, number).unwrap();
        file.iter().for_each(|f| fs::write(directory.join("loop/backing_file"), f).unwrap());
        for one in below {
            let link = directory.join("slaves").join(one);
            std::os::unix::fs::symlink(sys.path().join("block").join(one), link).unwrap();
        }
        BlockDevice::in_directory(directory).unwrap().in_memory(shown, DEEPEST)
    };
    assert_eq!(make("ram0", 0, None, &[]).as_deref(), Some("ram0"));
    assert_eq!(make("loop0", 1, Some("/dev/shm/x\n"), &[]).as_deref(), Some("loop0 on tmpfs"));
    assert_eq!(make("loop1", 2, Some("/home/x\n"), &[]), None);
    assert_eq!(make("sda", 3, None, &[]), None);
    assert_eq!(make("dm-0", 4, None, &["ram0", "loop0"]).as_deref(), Some("ram0"));
    assert_eq!(make("dm-1", 5, None, &["ram0", "sda"]), None, "one of them is storage");
    let deeper = make("loop2", 6, Some("/mnt/x\n"), &[]);
    assert_eq!(deeper.as_deref(), Some("loop2 on ext4 on loop0 on tmpfs"));
}

/// Once, the load of the program that is the disk counted as others', in every run.
#[test]
fn a_disk_that_a_program_here_may_serve_is_known() {
    let sys = tempfile::tempdir().unwrap();
    let table = mounts::parse(
        "27 1 8:1 / / rw - ext4 /dev/sda1 rw\n28 27 0:50 / /far rw - fuse.sshfs me@srv:/x rw",
    );
    let told = |name: &str, file: &str, text: &str| {
        let disk = sys.path().join(name);
        fs::create_dir_all(disk.join("loop")).unwrap();
        fs::write(disk.join("dev"), "7:0").unwrap();
        fs::write(disk.join(file), text).unwrap();
        BlockDevice::in_directory(disk).unwrap().may_be_served_here(&table)
    };
    assert!(told("ublkb0", "size", "8") && told("nbd0", "pid", "4711"));
    assert!(told("loop0", "loop/backing_file", "/far/image"));
    assert!(!told("loop1", "loop/backing_file", "/home/image") && !told("nbd1", "size", "0"));
}

/// Once, evaluations of such disks beside other programs doubted nothing.
#[test]
fn a_disk_that_threads_of_the_kernel_compute_for_is_known() {
    let sys = tempfile::tempdir().unwrap();
    let told = |name: &str, file: &str, text: &str| {
        let disk = sys.path().join(name);
        for part in ["loop", "dm", "md"] {
            fs::create_dir_all(disk.join(part)).unwrap();
        }
        fs::write(disk.join("dev"), "7:0").unwrap();
        fs::write(disk.join(file), text).unwrap();
        BlockDevice::in_directory(disk).unwrap().is_computed()
    };
    assert!(told("loop0", "loop/backing_file", "/home/image\n"));
    assert!(told("dm-0", "dm/uuid", "CRYPT-LUKS2-12ab-home\n"));
    assert!(!told("dm-1", "dm/uuid", "LVM-12ab\n"));
    assert!(told("md0", "md/level", "raid5\n") && !told("md1", "md/level", "raid1\n"));
}

/// Guards against a set that takes all the space left below, where others write too.
#[test]
fn a_sparse_file_below_a_loop_device_bounds_what_is_written() {
    let (sys, table) = (tempfile::tempdir().unwrap(), mounts::table());
    let marked = |name: &str, bytes: u64, below: &str, mark: &str| {
        let [folder, image] = ["", ".img"].map(|end| sys.path().join(format!("{name}{end}")));
        fs::create_dir_all(folder.join("slaves")).unwrap();
        fs::write(folder.join("dev"), "7:0\n").unwrap();
        if below.is_empty() {
            fs::create_dir(folder.join("loop")).unwrap();
            fs::File::create(&image).unwrap().set_len(bytes).unwrap();
            let shown = format!("{}{mark}", image.display());
            fs::write(folder.join("loop/backing_file"), shown).unwrap();
        } else {
            let link = folder.join("slaves/one");
            std::os::unix::fs::symlink(sys.path().join(below), link).unwrap();
        }
        BlockDevice::in_directory(folder).unwrap().room(&table, DEEPEST)
    };
    let make = |name: &str, bytes, below: &str| marked(name, bytes, below, "");
    assert_eq!(make("loop0", 1 << 20, ""), None, "there is room for all of it");
    let bounded = [make("loop1", 8 << 40, ""), make("dm-0", 0, "loop1")];
    assert!(bounded.iter().all(|room| room.is_some_and(|r| r < 8 << 40)), "{bounded:?}");
    assert_eq!(make("dm-1", 0, "loop0"), None);
    assert!(marked("loop2", 1 << 20, "", " (deleted)").is_some(), "how much it takes is unknown");
    assert_eq!(marked("loop3", 1 << 20, "", " elsewhere"), None);
}

/// Once, such a device was said to lie in memory, where the nodes of devices are.
#[test]
fn a_loop_device_on_another_device_is_built_on_that() {
    let nodes = fs::read_dir("/dev").unwrap().flatten().map(|entry| entry.path());
    let mut nodes = nodes.filter_map(|path| Some((mounts::block_number(&path)?, path)));
    let Some((number, node)) = nodes.next() else { return skipped("/dev shows no disk") };
    let sys = tempfile::tempdir().unwrap();
    let folder = sys.path().join("loop1");
    fs::create_dir_all(folder.join("loop")).unwrap();
    fs::write(folder.join("dev"), "7:1\n").unwrap();
    fs::write(folder.join("loop/backing_file"), node.to_str().unwrap()).unwrap();
    let table = mounts::parse("27 1 0:6 / /dev rw - devtmpfs none rw");
    let (one, shown) =
        (BlockDevice::in_directory(folder).unwrap(), Shown { sys: sys.path(), table: &table });
    assert_eq!((one.in_memory(shown, DEEPEST), one.built_on(shown)), (None, vec![number]));
}

/// Once, sets on zram were planned far beyond the memory, and at its limit the file system on it
/// stopped.
#[test]
fn memory_bounds_what_a_device_in_memory_takes() {
    let sys = tempfile::tempdir().unwrap();
    let make = |name: &str, bytes: u64, stat: &str| {
        let folder = sys.path().join(name);
        fs::create_dir_all(&folder).unwrap();
        let files = [("dev", "7:0"), ("size", &(bytes / 512).to_string()), ("mm_stat", stat)];
        files.iter().for_each(|(file, text)| fs::write(folder.join(file), text).unwrap());
        BlockDevice::in_directory(folder).unwrap().room(&[], DEEPEST)
    };
    let (huge, mib) = (1 << 60, 1 << 20);
    for (name, stat) in [("ram0", ""), ("zram0", "0 0 0 0 0 0 0")] {
        assert!(make(name, huge, stat).is_some_and(|room| room < huge), "{name}");
        assert_eq!(make(name, mib, stat), None, "there is memory for all of it");
    }
    assert_eq!(make("zram1", huge, "9 9 1048576 3145728 0 0 0"), Some(2 * mib), "up to its limit");
    let full = format!("{huge} 9 1048576 3145728 0 0 0");
    assert_eq!(make("zram2", huge, &full), None, "it takes no more");
    assert_eq!(make("sda", huge, ""), None);
}
