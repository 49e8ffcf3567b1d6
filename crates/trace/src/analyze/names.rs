//! How results name the devices.

use ioscape_schema::TraceInfo;

/// Returns the name of a device: the source's, or its number.
pub fn disk_name(info: &TraceInfo, device: u16) -> String {
    let known = info.devices.get(usize::from(device)).map(|device| device.name.clone());
    known.filter(|name| !name.is_empty()).unwrap_or_else(|| format!("disk {device}"))
}
