//! libCacheSim's oracleGeneral: 24 packed bytes `u32 seconds, u64 object, u32 size, i64 next
//! access`.
//!
//! An object is a sector of 512 bytes; from bit 48 on it holds the device's number, in order of
//! first requests. The next access is known only later and overwritten then; recent records wait in
//! memory, because most objects recur soon.

use super::encode::Encode;
use crate::error::Error;
use ioscape_schema::{Io, TraceInfo};
use rustc_hash::FxHashMap;
use std::io::{Seek, SeekFrom, Write};

/// Bytes of a record, and the position of the next access in it.
const RECORD: usize = 24;
const NEXT: u64 = 16;
/// Number of records in memory.
const RECENT: usize = 1 << 20;
/// Bytes of a sector, and the bit at which the device's number starts.
const SECTOR: u64 = 512;
const DEVICE_BIT: u32 = 48;
/// The most devices: an object of 2^54 or more is no sector.
const MOST_DEVICES: usize = 1 << 6;

/// Writer of the records.
pub(super) struct OracleGeneral<W> {
    out: W,
    /// In order of first requests, so that devices that were not selected take no number.
    devices: Vec<u16>,
    latest: FxHashMap<u64, u64>,
    recent: Vec<u8>,
    /// Number of records before `recent`.
    written: u64,
    /// Next accesses of records that are already written: number, next.
    patches: Vec<(u64, u64)>,
}

impl<W: Write + Seek> OracleGeneral<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Self {
        let (devices, latest) = Default::default();
        Self { out, devices, latest, recent: Vec::new(), written: 0, patches: Vec::new() }
    }

    /// The number of a device.
    fn number(&mut self, device: u16) -> Result<u64, Error> {
        let known = self.devices.iter().position(|known| *known == device);
        let number = known.unwrap_or(self.devices.len());
        if number >= MOST_DEVICES {
            let why = format!(
                "oracle-general has place for {MOST_DEVICES} devices: choose fewer with --disk"
            );
            return Err(Error::Unsupported(why));
        }
        if known.is_none() {
            self.devices.push(device);
        }
        Ok(number as u64)
    }

    fn row(&mut self, io: &Io) -> Result<(), Error> {
        if !io.moves_data() {
            return Ok(());
        }
        let sector = io.request.offset / SECTOR;
        let object = self.number(io.device)? << DEVICE_BIT | sector & ((1 << DEVICE_BIT) - 1);
        let number = self.written + (self.recent.len() / RECORD) as u64;
        let seconds = u32::try_from(io.queued_ns / 1_000_000_000)
            .map_err(|_| Error::Unsupported("oracle-general holds 136 years at most".to_owned()))?;
        if let Some(before) = self.latest.insert(object, number) {
            match before.checked_sub(self.written) {
                Some(place) => {
                    let at = place as usize * RECORD + NEXT as usize;
                    self.recent[at..at + 8].copy_from_slice(&number.to_le_bytes());
                }
                None => self.patches.push((before, number)),
            }
        }
        self.recent.extend_from_slice(&seconds.to_le_bytes());
        self.recent.extend_from_slice(&object.to_le_bytes());
        self.recent.extend_from_slice(&io.request.len.to_le_bytes());
        self.recent.extend_from_slice(&(-1i64).to_le_bytes());
        Ok(())
    }

    /// Writes the older half of the recent records, and the next accesses found for earlier ones.
    fn write(&mut self, bytes: usize) -> std::io::Result<()> {
        self.out.write_all(&self.recent[..bytes])?;
        self.recent.drain(..bytes);
        self.written += (bytes / RECORD) as u64;
        self.patches.sort_unstable();
        for (number, next) in std::mem::take(&mut self.patches) {
            self.out.seek(SeekFrom::Start(number * RECORD as u64 + NEXT))?;
            self.out.write_all(&next.to_le_bytes())?;
        }
        self.out.seek(SeekFrom::Start(self.written * RECORD as u64))?;
        Ok(())
    }
}

impl<W: Write + Seek + Send> Encode for OracleGeneral<W> {
    fn rows(&mut self, rows: &[Io], _more: &[u64], _info: &TraceInfo) -> Result<(), Error> {
        for io in rows {
            self.row(io)?;
            if self.recent.len() >= 2 * RECENT * RECORD {
                self.write(RECENT * RECORD).map_err(Error::Write)?;
            }
        }
        Ok(())
    }

    /// A record always uses an object.
    fn holds(&self, io: &Io) -> bool {
        io.moves_data()
    }

    fn finish(mut self: Box<Self>, _info: &TraceInfo) -> Result<(), Error> {
        let bytes = self.recent.len();
        self.write(bytes).and_then(|()| self.out.flush()).map_err(Error::Write)
    }
}
