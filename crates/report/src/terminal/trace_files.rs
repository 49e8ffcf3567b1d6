//! Trace files on the terminal: what was written, its source, and its devices.

use super::ink::Style;
use super::tables::{Column, table};
use crate::plot::Unit;
use crate::text::{duration, inert, listed};
use ioscape_schema::TraceFile;
use ioscape_schema::trace_file::SlowRequests;
use ioscape_schema::units::{Bytes, Count, counted};

/// The most devices that are named one by one.
const MOST_DEVICES: usize = 20;

/// A paragraph and a table of devices per file.
pub fn text(files: &[TraceFile], style: &Style) -> String {
    files.iter().map(|file| one(file, style)).collect()
}

/// The slow requests, and what they waited for.
fn waits(slow: &SlowRequests) -> String {
    let SlowRequests { ios, of_ios, mostly_queued, alone, .. } = slow;
    let above = Unit::Nanos.show(slow.above_ns as f64);
    let told = format!("{ios} of {of_ios} requests took longer than {above}");
    if *ios == 0 {
        return told;
    }
    let at_device = ios - mostly_queued;
    let behind = slow.behind.iter().map(|one| {
        let name = if one.command.is_empty() { "process" } else { &one.command };
        format!("{} {} ({})", inert(name), one.process, one.ios)
    });
    let behind = listed(behind.collect::<Vec<_>>().iter().map(String::as_str));
    let behind = if behind.is_empty() { behind } else { format!(", others behind {behind}") };
    format!(
        "{told}: {mostly_queued} mostly in the queue, {at_device} mostly at the device; {alone} found nothing else under way{behind}"
    )
}

fn one(file: &TraceFile, style: &Style) -> String {
    let mut out = String::from("\n");
    let ops = file.reads.map_or_else(
        || "what reads and what writes is not told".to_owned(),
        |reads| {
            let writes = file.rows.saturating_sub(reads);
            format!("{} reads, {} writes", Count(reads as f64), Count(writes as f64))
        },
    );
    let facts = format!(
        "{} requests ({ops}) on {}, {} moved in {}; {} as {}, read as {}",
        file.rows,
        counted(file.info.devices.len() as u64, "device"),
        Bytes(file.bytes as f64),
        duration(file.span_ns as f64),
        Bytes(file.file_bytes as f64),
        file.format,
        file.info.format,
    );
    out += &style.paragraph("  ", "  ", &facts);
    if let Some(slow) = &file.slow {
        out += &style.paragraph("  ", "  ", &waits(slow));
    }
    let shown = &file.info.devices[..file.info.devices.len().min(MOST_DEVICES)];
    if shown.is_empty() {
        return out;
    }
    let capacity =
        |bytes: Option<u64>| bytes.map_or(String::new(), |b| Bytes(b as f64).to_string());
    let devices = Column::words("device", shown.iter().map(|device| device.name.clone()));
    let sizes =
        Column::numbers("capacity", shown.iter().map(|device| capacity(device.capacity_bytes)));
    let known = shown.iter().any(|device| device.capacity_bytes.is_some());
    let columns = [devices, sizes];
    out += &table(&columns[..1 + usize::from(known)], style);
    if file.info.devices.len() > MOST_DEVICES {
        out += &format!("  and {} more\n", file.info.devices.len() - MOST_DEVICES);
    }
    out
}
