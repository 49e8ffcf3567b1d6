//! Tests of the files of a run: what is refused, and how they are opened.

use super::*;

/// Guards against counting 256 threads with a buffer of 8 KiB each as 2 MiB where they take
/// half a gigabyte.
#[test]
fn buffers_of_huge_pages_are_counted_as_whole_ones() {
    let job = VxJob { iosize: 8 << 10, ..VxJob::default() };
    assert_eq!(buffer_bytes(&job), 8 << 10);
    assert_eq!(buffer_bytes(&VxJob { huge_buffers: true, ..job }), 2 << 20);
    let endless = VxJob { nthreads: u32::MAX, huge_buffers: true, ..VxJob::default() };
    assert!(check_memory(&endless, 1).is_err());
}

#[test]
fn what_changes_is_opened_where_its_links_lead() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap().join("data");
    let link = folder.path().join("link");
    std::fs::write(&real, "x").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let way = |path: &Path, changes| way_to(path, changes).map(|to| (to.path, to.flags));
    assert_eq!(way(&link, true).unwrap(), (real, libc::O_NOFOLLOW));
    assert_eq!(way(&link, false).unwrap(), (link, 0));
    let elsewhere = way(Path::new("/proc/self/ns/mnt"), true).unwrap_err();
    assert!(elsewhere.to_string().contains("by its own path"), "{elsewhere}");
}

/// Guards against root creating a file wherever another user's link leads.
#[test]
fn no_file_is_made_through_a_link_of_another_user() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(".", &link).unwrap();
    let make = |name: &str| {
        let extent = Extent { range_bytes: 1 << 20, grow_to: None, end_bytes: 1 << 20 };
        let job = VxJob { workload: ioscape_schema::VxWorkload::Write, ..VxJob::default() };
        create(&link.join(name), &extent, &job).map(drop)
    };
    make("ours").unwrap();
    assert!(folder.path().join("ours").exists());
    if std::os::unix::fs::lchown(&link, Some(65534), None).is_err() {
        return ioscape_machine::testing::skipped("to give a link to another user needs root");
    }
    let refused = make("theirs").unwrap_err().to_string();
    assert!(refused.contains("of another user"), "{refused}");
    assert!(!folder.path().join("theirs").exists());
}

#[test]
fn requests_to_a_server_need_no_alignment_that_nobody_asked_for() {
    let on = |name: &str| FileSystemInfo {
        name: name.into(),
        is_network_or_fuse: mounts::is_network_or_fuse(name),
        ..FileSystemInfo::default()
    };
    // The sizes that statvfs returns: on NFS that of a write, on ZFS that of a record.
    assert_eq!(unsaid_align(&on("nfs4"), 1 << 20), 1);
    assert_eq!(unsaid_align(&on("ext4"), 1024), 1024);
    assert_eq!(u64::from(unsaid_align(&on("zfs"), 128 << 10)), cache::page_size());
    assert_eq!(unsaid_align(&on("ext4"), 0), 1);
}

/// Once, a name of a disk that was gone became a file in memory, and its speed that of the disk.
#[test]
fn no_file_is_made_among_the_device_nodes() {
    let folder = tempfile::tempdir().unwrap();
    assert!(!is_among_devices(&folder.path().join("new")) && !is_among_devices(Path::new("new")));
    assert!(!is_among_devices(Path::new("/dev/shm/new")));
    if !place(Path::new("/dev")).is_ok_and(|(system, _)| system.is_in_memory()) {
        return ioscape_machine::testing::skipped("the device nodes are not in memory");
    }
    let extent = Extent { range_bytes: 1 << 20, grow_to: None, end_bytes: 1 << 20 };
    let job = VxJob { workload: ioscape_schema::VxWorkload::Write, ..VxJob::default() };
    let refused = create(Path::new("/dev/ioscape-gone"), &extent, &job).unwrap_err();
    assert!(refused.to_string().contains("is the disk attached"), "{refused}");
}
