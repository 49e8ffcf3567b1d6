//! What a prediction exchanges: `memory=64G`, `storage=there.json`, `write-policy=write-through`.

use super::value::bytes;
use ioscape_scaling::model::WriteDone;
use ioscape_schema::units::bytes_word;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// One exchange.
#[derive(Clone, Debug, PartialEq)]
pub enum WhatIfArg {
    /// Memory in bytes.
    Memory(u64),
    /// The storage of the system in this result of `ioscape evaluate`.
    Storage(PathBuf),
    /// When a write counts as done.
    WritePolicy(WriteDone),
}

impl WhatIfArg {
    /// The result whose storage is used.
    pub fn storage(&self) -> Option<&Path> {
        match self {
            Self::Storage(path) => Some(path),
            Self::Memory(_) | Self::WritePolicy(_) => None,
        }
    }
}

impl FromStr for WhatIfArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=') {
            Some(("memory", size)) => memory(size).map(Self::Memory),
            Some(("storage", path)) if !path.is_empty() => Ok(Self::Storage(path.into())),
            Some(("write-policy", "write-through")) => Ok(Self::WritePolicy(WriteDone::Through)),
            Some(("write-policy", "write-back")) => Ok(Self::WritePolicy(WriteDone::Back)),
            _ => {
                Err("give memory=SIZE, storage=RESULT or write-policy=write-through or write-back"
                    .to_owned())
            }
        }
    }
}

/// A size of memory, of at least a page: fewer bytes lack their unit.
fn memory(size: &str) -> Result<u64, String> {
    match bytes(size)? {
        few @ ..4096 => {
            Err(format!("a memory of {few} bytes: give the unit, as in memory=64M or memory=64G"))
        }
        enough => Ok(enough),
    }
}

/// Writes the text from which it is parsed.
impl fmt::Display for WhatIfArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(size) => write!(f, "memory={}", bytes_word(*size)),
            Self::Storage(path) => write!(f, "storage={}", path.display()),
            Self::WritePolicy(WriteDone::Through) => f.write_str("write-policy=write-through"),
            Self::WritePolicy(WriteDone::Back) => f.write_str("write-policy=write-back"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchanges_are_read_and_others_refused() {
        assert_eq!("memory=2G".parse(), Ok(WhatIfArg::Memory(2 << 30)));
        assert_eq!("storage=a=b.json".parse(), Ok(WhatIfArg::Storage("a=b.json".into())));
        for good in ["memory=12345", "memory=3G", "storage=a/b.json", "write-policy=write-back"] {
            assert_eq!(good.parse::<WhatIfArg>().unwrap().to_string(), good);
        }
        for bad in
            ["", "memory", "memory=0", "memory=64", "storage=", "write-policy=later", "cpu=2"]
        {
            assert!(bad.parse::<WhatIfArg>().is_err(), "{bad}");
        }
    }
}
