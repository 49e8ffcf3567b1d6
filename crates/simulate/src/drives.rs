//! The disks shipped with the program: parameter files in the repository's folder `drives`.

use crate::drive::Parameters;

/// Names of the disks, and the texts of their files.
pub const SHIPPED: &[(&str, &str)] = &[
    ("hp-c2200a", include_str!("../drives/hp-c2200a.toml")),
    ("hp-c2204a", include_str!("../drives/hp-c2204a.toml")),
    ("hp-c2247a", include_str!("../drives/hp-c2247a.toml")),
    ("hp-c2474s", include_str!("../drives/hp-c2474s.toml")),
    ("hp-97560", include_str!("../drives/hp-97560.toml")),
    ("quantum-pd425s", include_str!("../drives/quantum-pd425s.toml")),
    ("generic-hdd", include_str!("../drives/generic-hdd.toml")),
];

/// The parameters of a shipped drive.
pub fn find(name: &str) -> Option<Parameters> {
    let (name, text) = SHIPPED.iter().find(|(known, _)| *known == name)?;
    Parameters::parse(text, name).ok()
}
