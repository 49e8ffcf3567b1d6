//! fio's iolog, version 3 (its HOWTO): `microseconds file action offset length`, a file per device.

use super::encode::Encode;
use crate::error::Error;
use ioscape_schema::{Io, IoFlags, Op, TraceInfo};
use rustc_hash::FxHashSet;
use std::io::{self, Write};

/// Writer of the text.
pub(super) struct FioLog<W> {
    out: W,
    begun: bool,
    /// Number of devices that were added and opened.
    opened: usize,
    names: Vec<String>,
    /// The same names, for lookups.
    taken: FxHashSet<String>,
    latest_us: u64,
}

impl<W: Write> FioLog<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Self {
        let (names, taken) = Default::default();
        Self { out, begun: false, opened: 0, names, taken, latest_us: 0 }
    }

    fn open(&mut self, info: &TraceInfo) -> io::Result<()> {
        if !std::mem::replace(&mut self.begun, true) {
            writeln!(self.out, "fio version 3 iolog")?;
        }
        for device in &info.devices[self.opened.min(info.devices.len())..] {
            let name = self.file(&device.name);
            writeln!(self.out, "{0} {name} add\n{0} {name} open", self.latest_us)?;
            self.names.push(name);
        }
        self.opened = info.devices.len();
        Ok(())
    }

    /// The file name of a device: unique, and in the directory where fio is started.
    fn file(&mut self, device: &str) -> String {
        // fio splits lines at blanks, and a path could name a disk in use on that machine.
        let cuts = |c: char| c.is_whitespace() || c.is_control() || c == '/';
        let mut name = device.replace(cuts, "_");
        if ["", ".", ".."].contains(&name.as_str()) {
            name = "disk".to_owned();
        }
        while !self.taken.insert(name.clone()) {
            name = format!("{name}_{}", self.names.len());
        }
        name
    }

    fn row(&mut self, io: &Io) -> io::Result<()> {
        let us = io.queued_ns / 1000;
        self.latest_us = us;
        if !has_place(io) {
            return Ok(());
        }
        let name = self.names.get(usize::from(io.device)).map_or("disk", String::as_str);
        let (offset, len) = (io.request.offset, io.request.len);
        let action = match io.request.op {
            _ if len == 0 => return writeln!(self.out, "{us} {name} sync 0 0"),
            _ if io.flags.contains(IoFlags::DISCARD) => "trim",
            Op::Read => "read",
            Op::Write => "write",
        };
        writeln!(self.out, "{us} {name} {action} {offset} {len}")
    }
}

/// Of the requests without bytes, fio accepts only flushes.
fn has_place(io: &Io) -> bool {
    io.request.len > 0 || io.flags.contains(IoFlags::FLUSH)
}

impl<W: Write + Send> Encode for FioLog<W> {
    fn rows(&mut self, rows: &[Io], _more: &[u64], info: &TraceInfo) -> Result<(), Error> {
        self.open(info).map_err(Error::Write)?;
        rows.iter().try_for_each(|io| self.row(io)).map_err(Error::Write)
    }

    fn holds(&self, io: &Io) -> bool {
        has_place(io)
    }

    fn finish(mut self: Box<Self>, info: &TraceInfo) -> Result<(), Error> {
        self.open(info).map_err(Error::Write)?;
        for name in &self.names {
            writeln!(self.out, "{} {name} close", self.latest_us).map_err(Error::Write)?;
        }
        self.out.flush().map_err(Error::Write)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::Device;

    /// Guards against fio, run as root, overwriting the disk of that name on the machine that
    /// replays the log.
    #[test]
    fn each_disk_is_a_file_of_its_own_where_fio_is_started() {
        let names = ["/dev/sda", "_dev_sda", "../../etc/x", "..", "", "a b", "a_b"];
        let devices = names.map(|name| Device { name: name.to_owned(), ..Device::default() });
        let info = TraceInfo { devices: devices.to_vec(), ..TraceInfo::default() };
        let mut log = FioLog::new(Vec::new());
        log.open(&info).unwrap();
        let files = ["_dev_sda", "_dev_sda_1", ".._.._etc_x", "disk", "disk_4", "a_b", "a_b_6"];
        assert_eq!(log.names, files);
    }
}
