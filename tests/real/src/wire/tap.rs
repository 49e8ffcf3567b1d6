//! One end of the cable in a network namespace: an Ethernet device whose frames this process reads
//! and writes.
#![allow(unsafe_code, reason = "TUNSETIFF has no safe wrapper in the libraries at hand")]

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// Name of the device in both namespaces.
pub const NAME: &str = "cable";

/// Moves this thread into a network namespace made by `ip netns`, and creates the device there.
///
/// # Errors
/// The kernel refuses: no such namespace, no right to enter it, no `/dev/net/tun`.
pub fn open(namespace: &str) -> io::Result<File> {
    let place = File::open(format!("/var/run/netns/{namespace}"))?;
    move_into_link_name_space(place.as_fd(), Some(LinkNameSpaceType::Network))?;
    let device = OpenOptions::new().read(true).write(true).open("/dev/net/tun")?;
    let mut name = [0; libc::IFNAMSIZ];
    for (to, from) in name.iter_mut().zip(NAME.bytes()) {
        *to = from as libc::c_char;
    }
    let flags = (libc::IFF_TAP | libc::IFF_NO_PI) as libc::c_short;
    let request = libc::ifreq {
        ifr_name: name,
        ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_flags: flags },
    };
    // SAFETY: the descriptor is open, and TUNSETIFF reads an `ifreq` that outlives the call.
    let result =
        unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETIFF as _, &raw const request) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(device) }
}
