//! Merges the tables of several parts: devices and commands by name, losses added up.

use super::Header;
use crate::read::add_levels;
use ioscape_schema::{Device, TraceInfo};
use std::collections::HashMap;

/// The tables of all parts.
#[derive(Debug)]
pub(super) struct Tables {
    /// The merged tables.
    pub info: TraceInfo,
    /// For each part, the index of each of its devices in the merged tables.
    pub devices: Vec<Vec<u16>>,
    /// For each part, the same for its commands.
    pub commands: Vec<Vec<u32>>,
}

/// A device by name, and which one it is: a part may have several of the same name.
type Named = (String, usize);

impl Tables {
    /// Merges the tables of ordered parts. Devices come in order of their first request, as in a
    /// trace read at once.
    ///
    /// # Errors
    /// More devices than a trace can have.
    pub fn of(parts: &[&Header]) -> Result<Self, String> {
        let same = parts.windows(2).all(|pair| pair[0].info == pair[1].info);
        match parts.first() {
            Some(first) if same => Ok(Self::same(&first.info, parts.len())),
            _ => Self::joined(parts),
        }
    }

    /// Tables of parts of one file, each of which reports its losses.
    fn same(info: &TraceInfo, parts: usize) -> Self {
        let devices = (0u16..=u16::MAX).zip(&info.devices).map(|(at, _)| at).collect();
        let commands = (0u32..).zip(&info.commands).map(|(at, _)| at).collect();
        Self { info: info.clone(), devices: vec![devices; parts], commands: vec![commands; parts] }
    }

    fn joined(parts: &[&Header]) -> Result<Self, String> {
        let names: Vec<Vec<Named>> = parts.iter().map(|part| named(&part.info.devices)).collect();
        let order = by_first_request(parts, &names);
        if order.len() > usize::from(u16::MAX) + 1 {
            return Err("more than 65,536 devices in one trace".to_owned());
        }
        let mut info =
            TraceInfo { devices: vec![Device::default(); order.len()], ..TraceInfo::default() };
        let devices = names.iter().map(|names| names.iter().map(|name| order[name]).collect());
        let devices: Vec<Vec<u16>> = devices.collect();
        let mut told: Vec<&TraceInfo> = Vec::new();
        for (part, numbers) in parts.iter().zip(&devices) {
            for (device, &number) in part.info.devices.iter().zip(numbers) {
                complete(&mut info.devices[usize::from(number)], device);
            }
            // Parts of one file report the same losses.
            if !told.contains(&&part.info) {
                info.absorb(&part.info);
                add_levels(&mut info, &part.info);
                told.push(&part.info);
            }
        }
        let mut known: HashMap<String, u32> = HashMap::new();
        let commands = parts.iter().map(|part| commands(part, &mut info, &mut known)).collect();
        Ok(Self { info, devices, commands })
    }
}

fn named(devices: &[Device]) -> Vec<Named> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let each = devices.iter().map(|device| {
        let count = seen.entry(&device.name).or_default();
        *count += 1;
        (device.name.clone(), *count)
    });
    each.collect()
}

/// Numbers the devices: first those with requests, by the time of the first.
fn by_first_request(parts: &[&Header], names: &[Vec<Named>]) -> HashMap<Named, u16> {
    let mut first: HashMap<&Named, (u64, usize, usize)> = HashMap::new();
    for (number, (part, names)) in parts.iter().zip(names).enumerate() {
        for (at, name) in names.iter().enumerate() {
            let stretch = part.disks.iter().find(|disk| usize::from(disk.device) == at);
            let begun = (stretch.map_or(u64::MAX, |disk| disk.first_ns), number, at);
            let known = first.entry(name).or_insert(begun);
            *known = begun.min(*known);
        }
    }
    let mut order: Vec<(&Named, (u64, usize, usize))> = first.into_iter().collect();
    order.sort_by_key(|(_, begun)| *begun);
    (0u16..=u16::MAX).zip(order).map(|(number, (name, _))| (name.clone(), number)).collect()
}

/// Takes over what another part knows of the device.
fn complete(known: &mut Device, device: &Device) {
    known.name.clone_from(&device.name);
    known.sector_bytes = known.sector_bytes.max(device.sector_bytes);
    known.capacity_bytes = known.capacity_bytes.max(device.capacity_bytes);
    for partition in &device.partitions {
        if !known.partitions.contains(partition) {
            known.partitions.push(partition.clone());
        }
    }
}

fn commands(part: &Header, info: &mut TraceInfo, known: &mut HashMap<String, u32>) -> Vec<u32> {
    let each = part.info.commands.iter().map(|name| {
        *known.entry(name.clone()).or_insert_with(|| {
            info.commands.push(name.clone());
            (info.commands.len() - 1) as u32
        })
    });
    each.collect()
}
