//! `compiler`: the built-in compiler on one source in memory, without files or processes. This
//! integer work differs from Dhrystone's and serves to check the rating.

use crate::case::{Case, Op, Program, not_here, repeated, wrong};
use ioscape_schema::OsUnit;
use ioscape_schema::toolchain::Toolchain;
use std::collections::HashMap;
use std::hint::black_box;
use std::io;

/// Name of the benchmark.
const NAME: &str = "compiler";

/// The source closest to this length is used: short enough that a batch fits into a time slice.
const BYTES: usize = 4 << 10;

/// The only case.
pub(crate) fn cases() -> Vec<Case> {
    let teaches = "The built-in compiler on a small source in memory: if two machines differ more or less in it than in Dhrystone, the rating is off by that factor.";
    let mut case = Case::new(NAME, "one source in memory", teaches, |scene| match &scene.program {
        Some(Program { toolchain, .. }) => operation(*toolchain),
        None => Err(not_here("there is no compiler")),
    });
    case.unit = OsUnit::PerS;
    vec![case]
}

/// Returns the source's name.
fn chosen(tools: &dyn Toolchain, texts: &HashMap<String, String>) -> Option<String> {
    let names = tools.units().iter().map(|unit| format!("{unit}.c"));
    names.min_by_key(|name| texts.get(name).map_or(usize::MAX, |text| text.len().abs_diff(BYTES)))
}

fn object(
    tools: &dyn Toolchain,
    texts: &HashMap<String, String>,
    name: &str,
) -> io::Result<Vec<u8>> {
    let text = texts.get(name).ok_or_else(|| wrong("the source is not there"))?;
    let mut find = |header: &str, _: bool, _: &str| {
        let path = format!("include/{header}");
        texts.get(&path).map(|text| (path.clone(), text.clone()))
    };
    let text = tools.preprocess(text, name, &mut find).map_err(io::Error::other)?;
    let assembly = tools.compile(&text, name).map_err(io::Error::other)?;
    tools.assemble(&assembly, name).map_err(io::Error::other)
}

fn operation(tools: &'static dyn Toolchain) -> io::Result<Op> {
    let texts: HashMap<String, String> = tools.files().into_iter().collect();
    let name = chosen(tools, &texts).ok_or_else(|| wrong("there are no sources"))?;
    let known = object(tools, &texts, &name)?;
    Ok(repeated(move || match object(tools, black_box(&texts), &name)? == known {
        true => Ok(()),
        false => Err(wrong("the compiler's output for the same source changed")),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing_toolchain::FakeToolchain;

    #[test]
    fn the_source_nearest_to_the_wanted_length_is_compiled() {
        let texts: HashMap<String, String> = FakeToolchain.files().into_iter().collect();
        assert_eq!(chosen(&FakeToolchain, &texts).unwrap(), "b.c");
        assert_eq!(object(&FakeToolchain, &texts, "b.c").unwrap(), texts["b.c"].as_bytes());
        assert!(object(&FakeToolchain, &texts, "c.c").is_err());
        operation(&FakeToolchain).unwrap()(2).unwrap();
    }
}
