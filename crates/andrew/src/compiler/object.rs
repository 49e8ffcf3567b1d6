//! Object files: machine code, data, symbols and relocations, and their form on disk.

use std::collections::HashSet;

/// The first bytes of an object file.
const MAGIC: &[u8; 8] = b"IOSOBJ1\n";

/// The section that a symbol is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    /// In another file.
    Undefined,
    /// In the code.
    Text,
    /// In the data.
    Data,
    /// In the zeroed memory.
    Bss,
}

const SECTIONS: [Section; 4] = [Section::Undefined, Section::Text, Section::Data, Section::Bss];

/// How a relocation changes a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fix {
    /// Puts the upper half of an address into the lower half of an instruction.
    High,
    /// Puts the lower half of an address there.
    Low,
    /// The distance of a call, in instructions.
    Call,
    /// A whole word.
    Word,
}

const FIXES: [Fix; 4] = [Fix::High, Fix::Low, Fix::Call, Fix::Word];

/// A name and its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Symbol {
    /// The name.
    pub(crate) name: String,
    /// Where it is.
    pub(crate) section: Section,
    /// How far from the section's beginning, in bytes.
    pub(crate) value: u32,
    /// Whether other files see it.
    pub(crate) global: bool,
}

/// A place that needs an address which is not known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Relocation {
    /// Whether the place is in the code rather than in the data.
    pub(crate) in_text: bool,
    /// How far from the section's beginning, in bytes.
    pub(crate) offset: u32,
    /// How the place changes.
    pub(crate) fix: Fix,
    /// Index of the symbol.
    pub(crate) symbol: u32,
    /// Added to the symbol's address.
    pub(crate) addend: i32,
}

/// An object file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Object {
    /// Machine code.
    pub(crate) text: Vec<u32>,
    /// Initialised data.
    pub(crate) data: Vec<u8>,
    /// Bytes of zeroed memory.
    pub(crate) bss: u32,
    /// Symbols.
    pub(crate) symbols: Vec<Symbol>,
    /// Relocations.
    pub(crate) relocations: Vec<Relocation>,
}

/// The error for bytes that are no sound object file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is no sound object file: {0}")]
pub(crate) struct Malformed(&'static str);

impl Object {
    /// Returns the names that it needs from other files.
    pub(crate) fn missing(&self) -> HashSet<&str> {
        let symbols = self.symbols.iter();
        symbols.filter(|s| s.section == Section::Undefined).map(|s| s.name.as_str()).collect()
    }

    /// Returns the bytes of the object file.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        let mut word = |value: u32| out.extend(value.to_le_bytes());
        word(self.text.len() as u32);
        word(self.data.len() as u32);
        word(self.bss);
        word(self.symbols.len() as u32);
        word(self.relocations.len() as u32);
        self.text.iter().for_each(|&inst| word(inst));
        for one in &self.relocations {
            word(one.offset);
            word((one.fix as u32) << 1 | u32::from(one.in_text));
            word(one.symbol);
            word(one.addend as u32);
        }
        out.extend(&self.data);
        for one in &self.symbols {
            out.extend(one.value.to_le_bytes());
            out.push((one.section as u8) << 1 | u8::from(one.global));
            out.extend((one.name.len() as u16).to_le_bytes());
            out.extend(one.name.as_bytes());
        }
        out
    }

    /// Parses an object file.
    ///
    /// # Errors
    /// The bytes are no object file, or a truncated one.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(Malformed("it does not begin like one"))?;
        let mut read = Reader { rest };
        let mut counts = [0; 5];
        for count in &mut counts {
            *count = read.word()?;
        }
        let [text, data, bss, symbols, relocations] = counts;
        let mut object = Self { bss, ..Self::default() };
        for _ in 0..text {
            object.text.push(read.word()?);
        }
        for _ in 0..relocations {
            let (offset, kind) = (read.word()?, read.word()?);
            let (symbol, addend) = (read.word()?, read.word()? as i32);
            let fix = *FIXES.get(kind as usize >> 1).ok_or(Malformed("an unknown relocation"))?;
            let (in_text, size) = (kind & 1 == 1, if kind & 1 == 1 { text * 4 } else { data });
            if symbol >= symbols || offset.checked_add(4).is_none_or(|end| end > size) {
                return Err(Malformed("a relocation of what is not there"));
            }
            object.relocations.push(Relocation { in_text, offset, fix, symbol, addend });
        }
        object.data = read.bytes(data as usize)?.to_vec();
        for _ in 0..symbols {
            let value = read.word()?;
            let kind = read.bytes(1)?[0];
            let section =
                *SECTIONS.get(usize::from(kind >> 1)).ok_or(Malformed("an unknown section"))?;
            let length = read.bytes(2)?;
            let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
            let name = String::from_utf8_lossy(read.bytes(length)?).into_owned();
            object.symbols.push(Symbol { name, section, value, global: kind & 1 == 1 });
        }
        Ok(object)
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (bytes, rest) =
            self.rest.split_at_checked(count).ok_or(Malformed("it ends too early"))?;
        self.rest = rest;
        Ok(bytes)
    }

    fn word(&mut self) -> Result<u32, Malformed> {
        let bytes = self.bytes(4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample() -> Object {
        let symbol = |name: &str, section, value| Symbol {
            name: name.into(),
            section,
            value,
            global: value % 2 == 0,
        };
        Object {
            text: vec![1, 2, 0xffff_ffff],
            data: vec![7; 9],
            bss: 40,
            symbols: vec![symbol("main", Section::Text, 4), symbol("x", Section::Undefined, 1)],
            relocations: vec![Relocation {
                in_text: true,
                offset: 8,
                fix: Fix::Call,
                symbol: 1,
                addend: -3,
            }],
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let object = sample();
        let bytes = object.encode();
        assert_eq!(Object::decode(&bytes), Ok(object));
        for end in 0..bytes.len() {
            assert!(Object::decode(&bytes[..end]).is_err(), "{end}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(at in 8usize..90, to in any::<u8>()) {
            let mut bytes = sample().encode();
            let at = at % bytes.len();
            bytes[at] = to;
            let _ = Object::decode(&bytes);
        }
    }
}
