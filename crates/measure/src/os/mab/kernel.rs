//! `compiler`: the built-in compiler on one source in memory, without files or processes: integer work of another kind than
//! Dhrystone's, beside it to judge the rating by.

use super::cc::{assemble, compile, preprocess};
use super::{tree, words};
use crate::os::case::{Case, Op, wrong};
use ioscape_schema::OsUnit;
use std::collections::HashMap;
use std::hint::black_box;
use std::io;

/// Name of the benchmark.
pub(crate) const NAME: &str = "compiler";

/// The source is the one whose length is nearest: small enough that a batch fits into a time slice.
const BYTES: usize = 4 << 10;

/// The only case.
pub(crate) fn cases() -> Vec<Case> {
    let teaches = "The built-in compiler on a small source in memory: where two machines differ otherwise in it than in Dhrystone, the rating misleads by as much.";
    let mut case = Case::new(NAME, "one source in memory", teaches, |_| operation());
    case.unit = OsUnit::PerS;
    vec![case]
}

/// The source's name.
fn chosen(texts: &HashMap<String, String>) -> Option<String> {
    let names = words::UNITS.iter().map(|unit| format!("{unit}.c"));
    names.min_by_key(|name| texts.get(name).map_or(usize::MAX, |text| text.len().abs_diff(BYTES)))
}

fn object(texts: &HashMap<String, String>, name: &str) -> io::Result<Vec<u8>> {
    let text = texts.get(name).ok_or_else(|| wrong("the source is not there"))?;
    let mut find = |header: &str, _: bool, _: &str| {
        let path = format!("include/{header}");
        texts.get(&path).map(|text| (path.clone(), text.clone()))
    };
    let text = preprocess::preprocess(text, name, &mut find).map_err(io::Error::other)?;
    let assembly = compile(&text, name).map_err(io::Error::other)?;
    Ok(assemble::assemble(&assembly, name).map_err(io::Error::other)?.encode())
}

fn operation() -> io::Result<Op> {
    let texts: HashMap<String, String> = tree::files().into_iter().collect();
    let name = chosen(&texts).ok_or_else(|| wrong("there are no sources"))?;
    let known = object(&texts, &name)?;
    Ok(Box::new(move |count| {
        for _ in 0..count {
            if object(black_box(&texts), &name)? != known {
                return Err(wrong("the compiler made something else of the same source"));
            }
        }
        Ok(())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_compiles_and_is_small() {
        let texts: HashMap<String, String> = tree::files().into_iter().collect();
        let name = chosen(&texts).unwrap();
        assert!((2 << 10..8 << 10).contains(&texts[&name].len()), "{name}: {}", texts[&name].len());
        assert!(object(&texts, &name).unwrap().len() > 500);
        operation().unwrap()(2).unwrap();
    }
}
