//! The linker: combines objects, and the archive members that they need, into one object that can
//! be linked further.

use super::archive::{Member, TABLE};
use super::object::{Object, Relocation, Section, Symbol};
use std::collections::{HashMap, HashSet};

/// Links `objects` and the members of `archives` that define what is missing.
///
/// # Errors
/// A file is no object, or a name is defined twice.
pub(crate) fn link(objects: &[Member], archives: &[Vec<Member>]) -> Result<Object, String> {
    let mut linker = Linker::default();
    for (name, bytes) in objects {
        linker.add(name, bytes)?;
    }
    let mut added = true;
    while added {
        added = false;
        for archive in archives {
            for (name, bytes) in needed(archive, &linker.out.missing()) {
                added |= linker.add(name, bytes)?;
            }
        }
    }
    Ok(linker.out)
}

/// Returns the members that define one of `missing`, by the archive's table.
fn needed<'a>(archive: &'a [Member], missing: &HashSet<&str>) -> Vec<&'a Member> {
    let table = archive.iter().find(|(name, _)| name == TABLE);
    let text = table.map_or(String::new(), |(_, b)| String::from_utf8_lossy(b).into_owned());
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    let wanted: HashSet<&str> =
        lines.filter(|(symbol, _)| missing.contains(symbol)).map(|(_, name)| name).collect();
    archive.iter().filter(|(name, _)| wanted.contains(name.as_str())).collect()
}

#[derive(Default)]
struct Linker {
    out: Object,
    globals: HashMap<String, u32>,
    origin: HashMap<String, String>,
    seen: HashSet<String>,
}

impl Linker {
    /// Adds an object; returns whether it is new.
    fn add(&mut self, name: &str, bytes: &[u8]) -> Result<bool, String> {
        if !self.seen.insert(name.to_owned()) {
            return Ok(false);
        }
        let object = Object::decode(bytes).map_err(|why| format!("{name}: {why}"))?;
        let out = &mut self.out;
        out.data.resize(out.data.len().next_multiple_of(4), 0);
        let (text, data) = (out.text.len() as u32 * 4, out.data.len() as u32);
        let bss = out.bss.next_multiple_of(4);
        out.text.extend(&object.text);
        out.data.extend(&object.data);
        out.bss = bss.saturating_add(object.bss);
        let mut numbers = Vec::with_capacity(object.symbols.len());
        for mut symbol in object.symbols {
            let moved = match symbol.section {
                Section::Undefined => 0,
                Section::Text => text,
                Section::Data => data,
                Section::Bss => bss,
            };
            symbol.value = symbol.value.wrapping_add(moved);
            numbers.push(self.symbol(symbol, name)?);
        }
        for one in object.relocations {
            let moved = if one.in_text { text } else { data };
            let symbol = numbers[one.symbol as usize];
            let offset = one.offset + moved;
            self.out.relocations.push(Relocation { offset, symbol, ..one });
        }
        Ok(true)
    }

    /// Returns the index of a symbol in the output: a name visible to other files is one symbol.
    fn symbol(&mut self, symbol: Symbol, file: &str) -> Result<u32, String> {
        let new = self.out.symbols.len() as u32;
        if !symbol.global {
            self.out.symbols.push(symbol);
            return Ok(new);
        }
        let defined = symbol.section != Section::Undefined;
        if defined && let Some(first) = self.origin.insert(symbol.name.clone(), file.to_owned()) {
            let name = symbol.name;
            return Err(format!("{name} is defined twice: in {first} and in {file}"));
        }
        if let Some(&number) = self.globals.get(&symbol.name) {
            if defined {
                self.out.symbols[number as usize] = symbol;
            }
            return Ok(number);
        }
        self.globals.insert(symbol.name.clone(), new);
        self.out.symbols.push(symbol);
        Ok(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::archive::with_table;
    use crate::compiler::assemble::assemble;

    fn object(name: &str, text: &str) -> Member {
        (name.to_owned(), assemble(text, name).unwrap().encode())
    }

    #[test]
    fn archives_give_what_is_missing_and_no_more() {
        let main = object("main.o", "\t.globl main\nmain:\n\tjal f\n\tjal nowhere\n\tret\n");
        let members = vec![
            object("f.o", "\t.globl f\nf:\n\tjal g\n\tret\n"),
            object("g.o", "\t.globl g\ng:\n\tret\n"),
            object("h.o", "\t.globl h\nh:\n\tret\n"),
        ];
        let linked = link(&[main], &[with_table(members).unwrap()]).unwrap();
        assert_eq!(linked.missing(), HashSet::from(["nowhere"]));
        assert_eq!(linked.text.len(), 3 + 2 + 1);
        assert!(!linked.symbols.iter().any(|s| s.name == "h"));
    }

    #[test]
    fn a_name_defined_twice_is_told() {
        let both = [object("a.o", "\t.globl f\nf:\n"), object("b.o", "\t.globl f\nf:\n")];
        let error = link(&both, &[]).unwrap_err();
        assert_eq!(error, "f is defined twice: in a.o and in b.o");
        let error = link(&[("x".into(), vec![1])], &[]).unwrap_err();
        assert!(error.starts_with("x: this is no sound object file"), "{error}");
    }
}
