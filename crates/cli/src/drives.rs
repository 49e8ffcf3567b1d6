//! Drives by name, and whether a trace fits them: what the simulating commands read before they simulate.

use crate::failure::Failure;
use crate::traces::Whole;
use ioscape_schema::Io;
use ioscape_simulate::simulate::by_device;
use ioscape_simulate::system::Storage;
use ioscape_simulate::{Drive, Extent, Parameters, disksim, drives, ssd};
use std::path::Path;

fn misuse(error: impl std::fmt::Display) -> Failure {
    Failure::Misuse(error.to_string())
}

fn read(path: &Path) -> Result<String, Failure> {
    ioscape_machine::input::read_text(path)
        .map_err(|e| Failure::Misuse(format!("cannot read {}: {e}", path.display())))
}

/// The parameters of a shipped drive, or of a parameter file.
pub fn parameters(name: &str) -> Result<Parameters, Failure> {
    if let Some(parameters) = drives::find(name) {
        return Ok(parameters);
    }
    let flash =
        || Failure::Misuse(format!("{name} is a solid-state drive, and a disk is needed here"));
    if ssd::find(name).is_some() {
        return Err(flash());
    }
    if !Path::new(name).exists() {
        let shipped = drives::SHIPPED.iter().chain(ssd::SHIPPED);
        let known: Vec<&str> = shipped.map(|(name, _)| *name).collect();
        return Err(Failure::Misuse(format!(
            "drive {name}: no such file, and no drive of that name; known are {}",
            known.join(", ")
        )));
    }
    if disksim::is_description(name) {
        return described(Path::new(name));
    }
    let text = read(Path::new(name))?;
    if ssd::Parameters::describes(&text) {
        return Err(flash());
    }
    Parameters::parse(&text, name).map_err(misuse)
}

/// The drive that one of DiskSim's parameter files describes together with those beside it.
fn described(path: &Path) -> Result<Parameters, Failure> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let unreadable = |e: std::io::Error| {
        Failure::Misuse(format!("cannot read the files beside {}: {e}", path.display()))
    };
    let beside = std::fs::read_dir(folder).map_err(unreadable)?;
    let names = beside.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    let open = |name: &str| {
        ioscape_machine::input::read_text(&folder.join(name))
            .map_err(|e| format!("cannot be read: {e}"))
    };
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let specs = disksim::read(&name, &disksim::Folder { names, open: &open }).map_err(misuse)?;
    if !specs.left_out.is_empty() {
        crate::output::tell(&format!("Not simulated: {}", specs.left_out.join(", ")));
    }
    Ok(specs.parameters)
}

/// What a trace can be replayed against.
pub enum Target {
    /// A disk.
    Disk(Box<Drive>),
    /// A solid-state drive.
    Flash(Box<ssd::Model>),
}

impl Target {
    /// What a trace must fit.
    pub fn extent(&self) -> Extent<'_> {
        self.storage().extent()
    }

    /// As what a system stores its data on.
    pub fn storage(&self) -> Storage<'_> {
        match self {
            Self::Disk(drive) => (&**drive).into(),
            Self::Flash(model) => (&**model).into(),
        }
    }
}

/// The disk or solid-state drive of a name or file.
pub fn target(name: &str) -> Result<Target, Failure> {
    target_filled(name, None)
}

/// The same, with a solid-state drive that holds this at first.
pub fn target_filled(name: &str, filled: Option<ssd::Filled>) -> Result<Target, Failure> {
    let flash = |mut parameters: ssd::Parameters| {
        parameters.filled = filled.unwrap_or(parameters.filled);
        let model = parameters.build().map_err(|e| at(name, &e))?;
        Ok(Target::Flash(Box::new(model)))
    };
    if let Some(parameters) = ssd::find(name) {
        return flash(parameters);
    }
    if name.ends_with(".toml") && Path::new(name).exists() {
        let text = read(Path::new(name))?;
        if ssd::Parameters::describes(&text) {
            return flash(ssd::Parameters::parse(&text, name).map_err(misuse)?);
        }
    }
    if filled.is_some() {
        return Err(Failure::Misuse(format!(
            "--precondition is for solid-state drives: {name} is a disk"
        )));
    }
    drive(name).map(|drive| Target::Disk(Box::new(drive)))
}

/// The disk of a name or file.
pub fn drive(name: &str) -> Result<Drive, Failure> {
    build(name, &parameters(name)?)
}

/// The disk of parameters that were found under a name or in a file.
pub fn build(name: &str, parameters: &Parameters) -> Result<Drive, Failure> {
    parameters.build().map_err(|e| at(name, &e))
}

/// What is wrong with a drive, and in which file.
fn at(name: &str, error: &ioscape_simulate::Error) -> Failure {
    match error {
        ioscape_simulate::Error::Parameter { message, .. } => misuse(format!("{name}: {message}")),
        other => misuse(other),
    }
}

/// The name of a device.
pub fn device_name(trace: &Whole, device: u16) -> String {
    let named = trace.info.devices.get(usize::from(device)).map(|d| d.name.clone());
    named.filter(|n| !n.is_empty()).unwrap_or_else(|| device.to_string())
}

/// The devices asked for; all of them unasked.
pub fn devices(trace: &Whole) -> Vec<u16> {
    trace.asked.clone().unwrap_or_else(|| by_device(&trace.rows).into_keys().collect())
}

/// Says how many requests of these devices the drive does nothing with.
pub fn tell_left_out(trace: &Whole, devices: &[u16], drive: Extent<'_>) {
    if drive.has_flash {
        return;
    }
    let idle = trace.rows.iter().filter(|io| !io.moves_data() && devices.contains(&io.device));
    let (discards, flushes): (Vec<&Io>, Vec<&Io>) = idle.partition(|io| io.request.len > 0);
    if discards.len() + flushes.len() > 0 {
        crate::output::tell(&format!(
            "Not simulated: {} discards and {} flushes (to {}, a disk without a volatile write cache, they are nothing to do)",
            discards.len(),
            flushes.len(),
            drive.name
        ));
    }
}

/// Refuses a trace whose sectors are not made of the drive's.
pub fn check_sectors(trace: &Whole, devices: &[u16], drive: Extent<'_>) -> Result<(), Failure> {
    for &device in devices {
        let told = trace.info.devices.get(usize::from(device)).map_or(0, |d| d.sector_bytes);
        if told % drive.sector_bytes != 0 {
            return Err(Failure::Misuse(format!(
                "device {} of the trace has sectors of {told} bytes, {} of {}: choose a drive with sectors like the trace's",
                device_name(trace, device),
                drive.name,
                drive.sector_bytes
            )));
        }
    }
    Ok(())
}
