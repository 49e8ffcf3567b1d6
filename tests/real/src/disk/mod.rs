//! A disk with known mechanism, cache, faults and counters, as a process that serves a FUSE mount.

mod cache;
mod counters;
mod device;
mod faults;
mod filesystem;
mod mechanism;
mod parameters;
mod store;
mod timer;

pub use counters::Counters;
pub use device::ORDERS;
pub use mechanism::service_ns;
pub use parameters::{Parameters, names};

use filesystem::DiskFiles;
use fuser::{Config, MountOption, SessionACL};

/// Threads that take requests from the kernel; answers come from the timer.
const THREADS: usize = 2;

/// Serves a disk at a mount point until it is unmounted.
///
/// # Errors
/// One sentence about what is wrong with the parameters or the mount.
pub fn serve(mount_point: &str, words: &[String]) -> Result<(), String> {
    let parameters = Parameters::parse(words.iter().map(String::as_str))?;
    let fails = |e: std::io::Error| format!("{mount_point}: {e}");
    // When the kernel needs memory to finish one of this process's writes, it must not wait for another.
    let _ = rustix::process::configure_io_flusher_behavior(true);
    let mut config = Config::default();
    config.mount_options = vec![MountOption::FSName("ioscape-disk".to_owned())];
    config.acl = SessionACL::All;
    config.n_threads = Some(THREADS);
    config.clone_fd = true;
    fuser::mount(DiskFiles::new(parameters).map_err(fails)?, mount_point, &config).map_err(fails)
}
