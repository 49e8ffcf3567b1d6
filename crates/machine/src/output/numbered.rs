//! Names for several numbered outputs.

use std::path::{Path, PathBuf};

/// Inserts a number before the ending: `a.2.parquet` for `a.parquet`, `a.2.ioscape.json` for
/// `a.ioscape.json`, `a.2` for `a`.
pub fn numbered(path: &Path, number: usize) -> PathBuf {
    let stem = Path::new(path.file_stem().unwrap_or_default());
    let is_result = stem.extension().is_some_and(|ending| ending == "ioscape");
    let plain = if is_result { stem.file_stem().unwrap_or_default() } else { stem.as_os_str() };
    let mut name = plain.to_owned();
    name.push(format!(".{number}"));
    name.push(if is_result { ".ioscape" } else { "" });
    if let Some(ending) = path.extension() {
        name.push(".");
        name.push(ending);
    }
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_goes_before_the_ending() {
        for (path, expected) in [
            ("out/a.parquet", "out/a.2.parquet"),
            ("my.data.csv", "my.data.2.csv"),
            ("a.ioscape.json", "a.2.ioscape.json"),
            ("log", "log.2"),
        ] {
            assert_eq!(numbered(Path::new(path), 2), Path::new(expected));
        }
    }
}
