//! Devices that send their requests on to others (LVM, LUKS, md), where these have rows again.

use super::event::device_name;
use crate::read::tables::Tables;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Which devices lie above others.
#[derive(Default)]
pub(super) struct Levels {
    /// Devices that send requests on, with the latest device that they sent one to.
    below: FxHashMap<u32, u32>,
    /// Those whose requests have rows at the device below too.
    doubled: BTreeSet<u32>,
}

impl Levels {
    /// Remembers that device `from` sent a request on to device `to`.
    pub fn send_on(&mut self, from: u32, to: u32) {
        self.below.insert(from, to);
    }

    /// Notes, before `device` gets a row, if its requests have rows at the device below as well.
    /// Both stay, since only the user knows which of them are meant.
    pub fn find_doubled(&mut self, device: u32, tables: &mut Tables) {
        let Some(below) = self.below.get(&device) else { return };
        if tables.has_device(&below.to_le_bytes()) && self.doubled.insert(device) {
            let names: Vec<String> = self.doubled.iter().map(|one| device_name(*one)).collect();
            let text = format!(
                "{} sent requests on to other disks of the trace, where they count a second time unless --disk chooses disks of one level",
                names.join(" and ")
            );
            tables.info.notes.insert("requests of two levels".to_owned(), text);
        }
    }
}
