//! DiskSim's parameter files of the drives whose measured times are among the test data.

use super::data;
use ioscape_simulate::disksim::{Folder, Specs, read};

pub fn text(path: &str) -> Option<String> {
    data(&format!("disk-validation/{path}")).map(|b| String::from_utf8_lossy(&b).into_owned())
}

/// The files of one drive, located from the name of any one of them.
pub fn specs(name: &str) -> Option<Specs> {
    text(name)?;
    let stem = name.split('.').next()?.trim_end_matches("_validate");
    let endings = [".parv", ".diskspecs", ".model", "_validate.model", ".seek", "_validate.seek"];
    let names = endings.map(|ending| format!("{stem}{ending}")).to_vec();
    let open = |path: &str| text(path).ok_or_else(|| "not there".to_owned());
    Some(read(name, &Folder { names, open: &open }).unwrap())
}
