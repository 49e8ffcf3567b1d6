//! Tests of mount tables of many kinds, and of what they say about file systems.

use super::*;

#[test]
fn a_file_system_says_whether_it_compresses_and_caches_elsewhere() {
    let of = |name: &str, options: &str| FileSystemInfo {
        name: name.into(),
        mount_options: options.into(),
        ..FileSystemInfo::default()
    };
    let told = |name, options| {
        let system = of(name, options);
        [system.compresses(), system.caches_elsewhere()]
    };
    assert_eq!(told("ext4", "rw,relatime"), [false; 2]);
    assert_eq!(told("btrfs", "rw,compress=zstd:3,ssd"), [true, false]);
    assert_eq!(told("zfs", "rw,xattr"), [true; 2]);
    assert_eq!(told("xfs", "rw,dax=always"), [false, true]);
    assert_eq!(told("ext4", "rw,dax=never"), [false; 2]);
    let elsewhere = FileSystemInfo { is_network_or_fuse: true, ..of("nfs4", "rw") };
    let volume = FileSystemInfo { source: "/dev/zd16p1".into(), ..of("ext4", "rw") };
    assert!(elsewhere.compresses() && volume.compresses());
    for (name, options) in [("zfs", "rw"), ("gpfs", "rw"), ("xfs", "rw,dax=always")] {
        assert_eq!(of(name, options).resident(Some(0)), None, "absent never means zero");
    }
    let dax = FileSystemInfo { has_dax_file: true, ..of("ext4", "rw") };
    assert!(dax.is_dax() && dax.caches_elsewhere() && !dax.counts_reads());
    assert_eq!([Some(0), None].map(|c| of("ext4", "rw").resident(c)), [Some(0), None]);
    let served = |name: &str| of(name, "rw").is_served_here();
    let served = ["fuse.gocryptfs", "fuse", "fuseblk", "fusectl", "nfs"].map(served);
    assert_eq!(served, [true, true, true, false, false]);
}

/// The counters of one of several disks would show only part of the transfers, or nothing.
#[test]
fn a_btrfs_lies_on_all_of_its_devices() {
    let sys = tempfile::tempdir().unwrap();
    for (place, number) in [("1/devices/a", 0), ("2/devices/b", 16), ("2/devices/c", 32)] {
        let place = sys.path().join("fs/btrfs").join(place);
        std::fs::create_dir_all(&place).unwrap();
        std::fs::write(place.join("dev"), format!("8:{number}\n")).unwrap();
    }
    let of = |name: &str, device| {
        let (name, has_device) = (name.to_owned(), true);
        let system = FileSystemInfo { name, device, has_device, ..FileSystemInfo::default() };
        let mut all = system.devices_by(sys.path());
        all.sort_unstable();
        all
    };
    assert_eq!(of("btrfs", (8, 32)), [(8, 16), (8, 32)]);
    assert_eq!(of("btrfs", (8, 0)), [(8, 0)]);
    assert!(of("btrfs", (8, 48)).is_empty(), "how many there are is not known");
    assert_eq!(of("ext4", (8, 48)), [(8, 48)]);
}

/// Once, the counters of the device with the log of a zoned XFS seemed to show that writes stay in
/// memory, and those of one device of an F2FS that spans two.
#[test]
fn data_on_a_device_that_the_source_does_not_name_is_counted_or_unknown() {
    let of = |options: &str, source: &str| FileSystemInfo {
        mount_options: options.into(),
        source: source.into(),
        device: (8, 16),
        has_device: true,
        ..FileSystemInfo::default()
    };
    let sys = tempfile::tempdir().unwrap();
    let told = of("rw,logdev=/dev/nowhere", "/dev/nowhere").members(sys.path());
    assert_eq!(told, [(8, 16)]);
    assert_eq!(of("rw,rtdev=/dev/nowhere", "/dev/nowhere").members(sys.path()), []);
    let devices = std::fs::read_dir("/dev").unwrap().flatten().filter_map(|one| {
        let path = one.path();
        Some((block_number(&path)?, path.to_str()?.to_owned()))
    });
    let devices: Vec<_> = devices.take(2).collect();
    let [(number, path), (realtime, of_data)] = &devices[..] else {
        return crate::testing::skipped("/dev shows no two block devices");
    };
    let told = of(&format!("rw,rtdev={of_data}"), path).members(sys.path());
    assert_eq!(told, [*number, *realtime]);
}

#[test]
fn an_f2fs_larger_than_its_device_has_others() {
    let sys = tempfile::tempdir().unwrap();
    let disk = sys.path().join("dev/block/8:16");
    std::fs::create_dir_all(&disk).unwrap();
    let file = tempfile::tempfile().unwrap();
    let told = |name: &str, sectors: u64| {
        std::fs::write(disk.join("size"), sectors.to_string()).unwrap();
        let (device, has_device) = ((8, 16), true);
        let name = name.to_owned();
        let mut system = FileSystemInfo { name, device, has_device, ..Default::default() };
        system.look_at(&file, sys.path());
        system.members(sys.path())
    };
    assert_eq!(told("f2fs", 1), []);
    assert_eq!([told("f2fs", u64::MAX), told("ext4", 1)], [[(8, 16)], [(8, 16)]]);
}

/// Once, a mirrored set of which a third was stored counted as one of which two thirds were.
#[test]
fn copies_are_those_of_the_profile_of_data() {
    let sys = tempfile::tempdir().unwrap();
    let folder = sys.path().join("fs/btrfs/1");
    let write = |place: &str, text: &str| {
        std::fs::create_dir_all(folder.join(place).parent().unwrap()).unwrap();
        std::fs::write(folder.join(place), text).unwrap();
    };
    let of = |name: &str, options: &str| {
        let (name, mount_options) = (name.into(), options.into());
        FileSystemInfo { name, mount_options, device: (8, 16), ..FileSystemInfo::default() }
            .copies_by(sys.path())
    };
    assert_eq!(of("btrfs", "rw"), 1, "it is not shown");
    write("devices/a/dev", "8:16\n");
    write("allocation/data/total_bytes", "1073741824\n");
    write("allocation/data/single/total_bytes", "0\n");
    write("allocation/data/raid1/total_bytes", "1073741824\n");
    assert_eq!(of("btrfs", "rw"), 2);
    write("allocation/data/single/total_bytes", "8388608\n");
    assert_eq!(of("btrfs", "rw"), 1, "data lies in both");
    assert_eq!(["rw,data=journal", "rw,data=ordered"].map(|o| of("ext4", o)), [2, 1]);
}

const TABLE: &str = r"22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
31 27 8:17 / /mnt/my\040disk\134x ro,nosuid shared:5 master:2 - xfs /dev/sd\040b1 ro,noquota
40 27 0:45 /@home /home rw,noatime - btrfs /dev/nvme0n1p2 rw,ssd,subvol=/@home
41 40 0:50 / /home/me/far rw - fuse.sshfs me@host:/data rw,user_id=0
not a mount
99 27 8 / /x rw - ext4 /dev/x rw
42 27 0:51 / /empty rw - tmpfs  rw,size=4k";

#[test]
fn every_line_is_read_and_escapes_undone() {
    let mounts = parse(TABLE);
    assert_eq!(mounts.len(), 6);
    let disk = &mounts[2];
    assert_eq!(disk.point, Path::new(r"/mnt/my disk\x"));
    assert_eq!(disk.source, "/dev/sd b1");
    assert_eq!(disk.options, "ro,nosuid,noquota");
    assert_eq!((disk.id, disk.device, disk.kind.as_str()), (31, (8, 17), "xfs"));
    assert_eq!(mounts[3].root, Path::new("/@home"));
    assert_eq!(mounts[5].source, "");
}

#[test]
fn the_longest_mount_point_wins() {
    let mounts = parse(TABLE);
    let point = |path: &str| by_path(&mounts, Path::new(path)).unwrap().point;
    assert_eq!(point("/home/me/far/x"), Path::new("/home/me/far"));
    assert_eq!(point("/home/me/farther"), Path::new("/home"));
    assert_eq!(point("/homely"), Path::new("/"));
}

#[test]
fn remote_file_systems_are_known() {
    for (kind, remote) in [("nfs4", true), ("fuse.sshfs", true), ("fuseblk", true), ("ext4", false)]
    {
        assert_eq!(is_network_or_fuse(kind), remote, "{kind}");
    }
    let far = describe(&parse(TABLE)[4]);
    assert!(far.is_network_or_fuse && !far.has_device);
    assert!(describe(&parse(TABLE)[1]).has_device);
}

/// Once, a disk with NTFS had a "remote penalty" against another local disk.
#[test]
fn fuse_before_a_local_disk_is_not_remote() {
    let of = |device: &str, kind: &str, source: &str| {
        let line = format!("50 27 {device} / /mnt rw - {kind} {source} rw");
        parse(&line).first().map(|mount| describe(mount).is_remote())
    };
    for (kind, source) in
        [("nfs4", "srv:/x"), ("cifs", "//srv/x"), ("fuse.sshfs", "me@srv:/x"), ("fuse", "s3")]
    {
        assert_eq!(of("0:52", kind, source), Some(true), "{kind}");
    }
    assert_eq!(of("8:17", "fuseblk", "/dev/sdb1"), Some(false));
    assert_eq!(of("8:17", "ext4", "/dev/sdb1"), Some(false));
    for (kind, source) in [("fuse.gocryptfs", "/home/me/x"), ("fuse.mergerfs", "a:b")] {
        assert_eq!(of("0:52", kind, source), Some(false), "{kind}");
    }
}

/// Once, the home file system of a Cray's nodes seemed to be read entirely from the file cache,
/// since no read request to storage was counted.
#[test]
fn an_unknown_file_system_without_a_device_is_of_a_server() {
    let of = |device: &str, kind: &str| {
        let line = format!("50 27 {device} / /home rw - {kind} /nothing/there rw");
        parse(&line).first().map(|mount| describe(mount).is_network_or_fuse)
    };
    for kind in ["dvs", "panfs", "of-tomorrow"] {
        assert_eq!(of("0:52", kind), Some(true), "{kind}");
    }
    for kind in ["overlay", "zfs", "btrfs", "bcachefs", "ubifs", "tmpfs", "hugetlbfs", "ecryptfs"] {
        assert_eq!(of("0:52", kind), Some(false), "{kind}");
    }
    assert_eq!(of("8:1", "of-tomorrow"), Some(false), "it has a device");
}

/// Once, all reads of a board's flash seemed to come from the file cache, since none is counted.
/// All reads of ZFS seemed to come from storage, since hits in its cache are counted too.
#[test]
fn flash_without_blocks_and_zfs_have_no_counters() {
    let of = |device: &str, kind: &str| {
        let line = format!("50 27 {device} / /data rw - {kind} /dev/mtdblock3 rw");
        let system = parse(&line).first().map(describe).unwrap();
        (system.counts_reads(), system.devices())
    };
    let uncounted = [("0:24", "ubifs"), ("31:3", "jffs2"), ("31:3", "yaffs2"), ("0:50", "zfs")];
    for (device, kind) in uncounted {
        assert_eq!(of(device, kind), (false, Vec::new()), "{kind}");
    }
    assert_eq!(of("31:3", "squashfs"), (true, vec![(31, 3)]), "it reads blocks");
    assert!(!of("0:24", "nfs4").0);
    let name = "nfs4".to_owned();
    let nfs = FileSystemInfo { name, is_network_or_fuse: true, ..FileSystemInfo::default() };
    assert!(FileSystemInfo { reads_counted: true, ..nfs }.counts_reads());
}

/// Once, on OpenWrt, all reads of the root's overlay seemed to come from the file cache.
#[test]
fn an_overlay_counts_as_what_it_writes_to_does() {
    let over = |kind: &str| {
        let table = parse(&format!(
            "27 1 0:40 / / rw - overlay overlay rw,lowerdir=/rom,upperdir=/overlay/upper,workdir=/w\n\
             28 27 31:3 / /overlay rw - {kind} /dev/ubi0_1 rw"
        ));
        describe_written(&table, &table[0], |_| Some([900, 40]))
    };
    let told = |kind: &str| (over(kind).counts_reads(), over(kind).is_on_raw_flash());
    assert_eq!(["ubifs", "jffs2"].map(told), [(false, true); 2]);
    assert_eq!(["virtiofs", "zfs"].map(told), [(false, false); 2]);
    assert_eq!(["f2fs", "tmpfs"].map(told), [(true, false); 2]);
    let inside = parse("27 1 0:40 / / rw - overlay overlay rw,upperdir=/overlay/upper");
    let inside = describe_written(&inside, &inside[0], |_| Some([900, 40]));
    assert_eq!(inside.upper, None, "not itself");
}

/// Once, in a container with memory at `/var/lib`, where its host keeps the files of
/// containers, the host's disk was taken for that memory.
#[test]
fn an_overlay_lies_in_memory_only_where_its_size_is_that_of_the_memory() {
    let files_on = |upper: &str, size: [u64; 2]| {
        let table = parse(&format!(
            "27 1 0:40 / / rw - overlay overlay rw,lowerdir=/l,upperdir={upper},workdir=/w\n\
             28 27 0:30 / /var/lib rw - tmpfs tmpfs rw"
        ));
        let at = |point: &Path| Some(if point == Path::new("/") { size } else { [900, 40] });
        describe_written(&table, &table[0], at).stored_on().name.clone()
    };
    assert_eq!(files_on("/var/lib/u", [900, 40]), "tmpfs");
    assert_eq!(files_on("/var/lib/u", [900, 77]), "overlay");
    assert_eq!(files_on("/home/u", [900, 40]), "overlay", "no memory is there");
}

/// Once, nothing was looked at below an overlay: a sparse image there was overfilled, and memory
/// taken for a device.
#[test]
fn an_overlay_lies_where_its_writes_go() {
    let over = |device: &str, kind: &str, source: &str, options: &str| {
        let table = parse(&format!(
            "27 1 0:40 / /mer rw - overlay overlay rw,upperdir=/m/up,workdir=/m/wk\n\
             28 27 {device} / /m rw - {kind} {source} {options}"
        ));
        describe_written(&table, &table[0], |_| Some([900, 40]))
    };
    let ext4 = over("7:0", "ext4", "/dev/loop0", "rw,data=journal");
    assert_eq!((ext4.devices(), ext4.device, ext4.copies()), (vec![(7, 0)], (7, 0), 2));
    assert!(ext4.has_device && !ext4.copies_on_write() && !ext4.compresses());
    let btrfs = over("7:0", "btrfs", "/dev/loop0", "rw,compress=zstd:3");
    assert!(btrfs.copies_on_write() && btrfs.relocates() && btrfs.compresses());
    assert!(over("7:0", "f2fs", "/dev/loop0", "rw").relocates());
    let shared = over("0:30", "virtiofs", "share", "rw");
    assert!(shared.is_network_or_fuse && !shared.has_device && !shared.comes_by_pages());
}

#[test]
fn only_a_file_that_is_not_open_for_writing_may_be_on_another_layer() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let reads = std::fs::File::open(file.path()).unwrap();
    let folder = std::fs::File::open(file.path().parent().unwrap()).unwrap();
    assert_eq!([&reads, file.as_file(), &folder].map(is_only_read), [true, false, false]);
}

#[test]
fn file_systems_that_write_logs_move_what_is_rewritten() {
    let told = |name: &str| {
        let system = FileSystemInfo { name: name.into(), ..FileSystemInfo::default() };
        (system.relocates(), system.copies_on_write())
    };
    assert_eq!(["f2fs", "nilfs2"].map(told), [(true, false); 2]);
    assert_eq!((told("btrfs"), told("ext4")), ((true, true), (false, false)));
}

#[test]
fn only_a_whole_option_lets_each_write_be_synced() {
    let of = |options: &str| {
        parse(&format!("50 27 8:1 / /mnt rw - ext4 /dev/sda1 {options}")).first().map(|mount| {
            (describe(mount).syncs_each_write(), describe(mount).syncs_names().is_some())
        })
    };
    let told = ["rw,sync", "rw,lazytime,dirsync", "rw,wsync", "rw,async"].map(of);
    assert_eq!(told, [(true, true), (false, true), (false, true), (false, false)].map(Some));
    let names = |name: &str| {
        let mount_options = "rw,sync".to_owned();
        let of = FileSystemInfo { name: name.into(), mount_options, ..FileSystemInfo::default() };
        (of.syncs_names().is_some(), of.heeds_synchronous_directories())
    };
    let told = ["ext4", "xfs", "btrfs", "tmpfs"].map(names);
    assert_eq!(told, [(true, true), (true, false), (false, false), (false, true)]);
}

/// Once, a subvolume named `x,dax` was taken for memory.
#[test]
fn a_comma_in_a_name_separates_no_options() {
    let table = parse(r"50 27 0:45 / /mnt rw - btrfs /dev/sda1 rw,subvol=/x\054dax,x=a\040b");
    assert_eq!(table[0].options, r"rw,subvol=/x\054dax,x=a b");
    assert!(!describe(&table[0]).is_dax());
}

#[test]
fn odd_escapes_stay_as_they_are() {
    assert_eq!(unescape(r"a\9x\04\"), r"a\9x\04\");
    assert_eq!(unescape(r"\777"), r"\777");
}

proptest::proptest! {
    #[test]
    fn no_table_panics(text in ".{0,200}") {
        parse(&text);
        unescape(&text);
    }
}
