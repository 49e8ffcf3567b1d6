//! Packs the published JSON Schema: as text it would take up a hundredth of the program, and few
//! need it.

#![allow(
    clippy::disallowed_methods,
    reason = "a build script reads and writes what Cargo names, and nobody waits to interrupt it"
)]

use flate2::{Compression, write::ZlibEncoder};
use std::path::Path;
use std::{env, fs, io::Write};

const SCHEMA: &str = "src/document.schema.json";

fn main() -> std::io::Result<()> {
    let text = fs::read(SCHEMA)?;
    let folder = env::var_os("OUT_DIR").ok_or(std::io::ErrorKind::NotFound)?;
    let file = fs::File::create(Path::new(&folder).join("document.schema.json.zlib"))?;
    let mut packed = ZlibEncoder::new(file, Compression::best());
    packed.write_all(&text)?;
    packed.finish().map(drop)
}
