//! The assembler: turns the invented machine's assembly text into an object file.

use super::Fault;
use super::object::{Fix, Object, Relocation, Section, Symbol};
use std::collections::HashMap;

/// Operations on three registers; the index is the code.
pub(crate) const THREE: [&str; 14] = [
    "add", "sub", "mul", "div", "rem", "and", "or", "xor", "sll", "sra", "slt", "sle", "seq", "sne",
];

/// Codes of the remaining operations.
pub(crate) mod code {
    pub(crate) const ADDI: u32 = 16;
    pub(crate) const LUI: u32 = 17;
    pub(crate) const ORI: u32 = 18;
    pub(crate) const LW: u32 = 19;
    pub(crate) const LB: u32 = 20;
    pub(crate) const SW: u32 = 21;
    pub(crate) const SB: u32 = 22;
    pub(crate) const BEQZ: u32 = 23;
    pub(crate) const BNEZ: u32 = 24;
    pub(crate) const JUMP: u32 = 25;
    pub(crate) const CALL: u32 = 26;
    pub(crate) const CALL_REGISTER: u32 = 27;
    pub(crate) const RETURN: u32 = 28;
}

/// A jump within the same file.
struct Jump {
    at: usize,
    label: String,
    line: u32,
}

#[derive(Default)]
struct Assembler<'a> {
    file: &'a str,
    line: u32,
    object: Object,
    symbols: HashMap<String, u32>,
    labels: HashMap<String, usize>,
    jumps: Vec<Jump>,
    globals: Vec<String>,
    in_text: bool,
}

/// Assembles `text` of the file `file`.
///
/// # Errors
/// A line is not understood, or a jump has no target.
pub(crate) fn assemble(text: &str, file: &str) -> Result<Object, Fault> {
    let mut state = Assembler { file, in_text: true, ..Assembler::default() };
    for (line, number) in text.lines().zip(1..) {
        state.line = number;
        state.one(line.split('#').next().unwrap_or_default().trim())?;
    }
    state.finish()
}

impl Assembler<'_> {
    fn fault(&self, message: &str) -> Fault {
        Fault::new(self.file, self.line, message)
    }

    fn one(&mut self, line: &str) -> Result<(), Fault> {
        if line.is_empty() {
            return Ok(());
        }
        if let Some(label) = line.strip_suffix(':') {
            return self.label(label);
        }
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let parts: Vec<&str> = rest.split(',').map(str::trim).filter(|p| !p.is_empty()).collect();
        if word.starts_with('.') { self.directive(word, &parts) } else { self.inst(word, &parts) }
    }

    /// Returns the index of a symbol, which is new at its first mention.
    fn symbol(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.symbols.get(name) {
            return number;
        }
        let number = self.object.symbols.len() as u32;
        self.symbols.insert(name.to_owned(), number);
        let section = Section::Undefined;
        self.object.symbols.push(Symbol { name: name.to_owned(), section, value: 0, global: true });
        number
    }

    fn define(&mut self, name: &str, section: Section, value: usize) -> Result<(), Fault> {
        let number = self.symbol(name) as usize;
        if self.object.symbols[number].section != Section::Undefined {
            return Err(self.fault("this name is defined twice"));
        }
        let symbol = &mut self.object.symbols[number];
        (symbol.section, symbol.value, symbol.global) = (section, value as u32, false);
        Ok(())
    }

    fn label(&mut self, name: &str) -> Result<(), Fault> {
        if !self.in_text {
            return self.define(name, Section::Data, self.object.data.len());
        }
        if name.starts_with('L') && name.contains('_') {
            self.labels.insert(name.to_owned(), self.object.text.len());
            return Ok(());
        }
        self.define(name, Section::Text, self.object.text.len() * 4)
    }

    fn directive(&mut self, word: &str, parts: &[&str]) -> Result<(), Fault> {
        let number = |text: &&str| text.parse::<i64>().ok().map(|value| value as i32);
        let data = &mut self.object.data;
        match (word, parts) {
            (".text", []) => self.in_text = true,
            (".data", []) => self.in_text = false,
            (".align", []) => data.resize(data.len().next_multiple_of(4), 0),
            (".globl", [name]) => self.globals.push((*name).to_owned()),
            (".space", [size]) => {
                let size = number(size).ok_or_else(|| self.fault("a size is a number"))?;
                let size = usize::try_from(size).unwrap_or(0).min(1 << 24);
                self.object.data.extend(std::iter::repeat_n(0, size));
            }
            (".byte", bytes) => {
                for byte in bytes {
                    let value = number(byte).ok_or_else(|| self.fault("a byte is a number"))?;
                    self.object.data.push(value as u8);
                }
            }
            (".word", [value]) => match number(value) {
                Some(value) => data.extend(value.to_le_bytes()),
                None => {
                    let offset = data.len() as u32;
                    data.extend([0; 4]);
                    self.relocate(value, Fix::Word, offset)?;
                }
            },
            (".bss", [name, size]) => {
                let size = number(size).ok_or_else(|| self.fault("a size is a number"))?;
                let at = self.object.bss.next_multiple_of(4);
                self.define(name, Section::Bss, at as usize)?;
                self.object.bss = at.saturating_add(size.max(0) as u32);
            }
            _ => return Err(self.fault("this directive is not understood")),
        }
        Ok(())
    }

    /// Records that the address of `text`, a name with or without an offset, is needed at `offset`.
    fn relocate(&mut self, text: &str, fix: Fix, offset: u32) -> Result<(), Fault> {
        let end = text.find(['+', '-']).unwrap_or(text.len());
        let (name, addend) = text.split_at(end);
        let addend = if addend.is_empty() { Some(0) } else { addend.parse().ok() };
        let addend = addend.ok_or_else(|| self.fault("an offset is a number"))?;
        let symbol = self.symbol(name);
        let in_text = fix != Fix::Word;
        self.object.relocations.push(Relocation { in_text, offset, fix, symbol, addend });
        Ok(())
    }

    fn register(&self, text: &str) -> Result<u32, Fault> {
        let number = match text {
            "sp" => Some(29),
            "ra" => Some(31),
            _ => text.strip_prefix('r').and_then(|n| n.parse().ok()).filter(|n| *n < 32),
        };
        number.ok_or_else(|| self.fault("this is no register"))
    }

    fn short(&self, text: &str) -> Result<u32, Fault> {
        let value: Option<i16> = text.parse().ok();
        value.map(|v| u32::from(v as u16)).ok_or_else(|| self.fault("this is no 16-bit number"))
    }

    fn add(&mut self, code: u32, to: u32, a: u32, low: u32) {
        self.object.text.push(code << 26 | to << 21 | a << 16 | low);
    }

    fn here(&self) -> u32 {
        self.object.text.len() as u32 * 4
    }

    fn inst(&mut self, word: &str, parts: &[&str]) -> Result<(), Fault> {
        if let (Some(code), [to, a, b]) = (THREE.iter().position(|op| *op == word), parts) {
            let (to, a, b) = (self.register(to)?, self.register(a)?, self.register(b)?);
            self.add(code as u32, to, a, b << 11);
            return Ok(());
        }
        match (word, parts) {
            ("addi", [to, a, value]) => {
                let (to, a, value) = (self.register(to)?, self.register(a)?, self.short(value)?);
                self.add(code::ADDI, to, a, value);
            }
            ("mv", [to, a]) => {
                let (to, a) = (self.register(to)?, self.register(a)?);
                self.add(code::ADDI, to, a, 0);
            }
            ("lw" | "lb" | "sw" | "sb", [to, place]) => self.memory(word, to, place)?,
            ("li", [to, value]) => self.load(to, value)?,
            ("la", [to, name]) => {
                let to = self.register(to)?;
                self.relocate(name, Fix::High, self.here())?;
                self.add(code::LUI, to, 0, 0);
                self.relocate(name, Fix::Low, self.here())?;
                self.add(code::ORI, to, to, 0);
            }
            ("beqz" | "bnez", [test, label]) => {
                let test = self.register(test)?;
                let code = if word == "beqz" { code::BEQZ } else { code::BNEZ };
                self.jump(label);
                self.add(code, 0, test, 0);
            }
            ("j", [label]) => {
                self.jump(label);
                self.add(code::JUMP, 0, 0, 0);
            }
            ("jal", [name]) => {
                self.relocate(name, Fix::Call, self.here())?;
                self.add(code::CALL, 0, 0, 0);
            }
            ("jalr", [at]) => {
                let at = self.register(at)?;
                self.add(code::CALL_REGISTER, 0, at, 0);
            }
            ("ret", []) => self.add(code::RETURN, 0, 31, 0),
            _ => return Err(self.fault("this instruction is not understood")),
        }
        Ok(())
    }

    fn jump(&mut self, label: &str) {
        let at = self.object.text.len();
        self.jumps.push(Jump { at, label: label.to_owned(), line: self.line });
    }

    fn memory(&mut self, word: &str, to: &str, place: &str) -> Result<(), Fault> {
        let (offset, base) = place
            .strip_suffix(')')
            .and_then(|place| place.split_once('('))
            .ok_or_else(|| self.fault("a place is offset(register)"))?;
        let (to, base, offset) = (self.register(to)?, self.register(base)?, self.short(offset)?);
        let code = match word {
            "lw" => code::LW,
            "lb" => code::LB,
            "sw" => code::SW,
            _ => code::SB,
        };
        self.add(code, to, base, offset);
        Ok(())
    }

    fn load(&mut self, to: &str, value: &str) -> Result<(), Fault> {
        let to = self.register(to)?;
        let value: i32 = value.parse().map_err(|_| self.fault("this is no number"))?;
        if let Ok(short) = i16::try_from(value) {
            self.add(code::ADDI, to, 0, u32::from(short as u16));
        } else {
            self.add(code::LUI, to, 0, value as u32 >> 16);
            self.add(code::ORI, to, to, value as u32 & 0xffff);
        }
        Ok(())
    }

    /// Resolves jumps and determines which names are visible to other files.
    fn finish(mut self) -> Result<Object, Fault> {
        for Jump { at, label, line } in std::mem::take(&mut self.jumps) {
            let fault = |message: &str| Fault::new(self.file, line, message);
            let to = *self.labels.get(&label).ok_or_else(|| fault("a jump to nowhere"))?;
            let distance = to as i64 - at as i64;
            let short = self.object.text[at] >> 26 != code::JUMP;
            let limit = if short { 1 << 15 } else { 1 << 25 };
            if !(-limit..limit).contains(&distance) {
                return Err(fault("a jump too far"));
            }
            let mask = if short { 0xffff } else { 0x3ff_ffff };
            self.object.text[at] |= distance as u32 & mask;
        }
        for name in std::mem::take(&mut self.globals) {
            let number = self.symbol(&name) as usize;
            self.object.symbols[number].global = true;
        }
        Ok(self.object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_encoded() {
        let object = assemble(
            "f:\n\taddi sp, sp, -8\nL0_1:\n\tbeqz r4, L0_1\n\tli r5, 70000\n\tjal g\n\tret\n",
            "x.s",
        )
        .unwrap();
        assert_eq!(object.text[0], code::ADDI << 26 | 29 << 21 | 29 << 16 | 0xfff8);
        assert_eq!(object.text[1] & 0xffff, 0);
        assert_eq!(object.text.len(), 6);
        assert_eq!(object.relocations[0].offset, 16);
        assert!(!object.symbols[0].global && object.symbols[1].section == Section::Undefined);
    }

    #[test]
    fn faults_name_their_line() {
        for (text, message) in [
            ("\tadd r1, r2", "x.s:1: this instruction is not understood"),
            ("\n\tmv r32, r1", "x.s:2: this is no register"),
            ("\tj L0_9", "x.s:1: a jump to nowhere"),
            ("f:\nf:", "x.s:2: this name is defined twice"),
            ("\taddi r1, r1, 99999", "x.s:1: this is no 16-bit number"),
            ("\t.wort 1", "x.s:1: this directive is not understood"),
        ] {
            assert_eq!(assemble(text, "x.s").unwrap_err().to_string(), message);
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "([.a-z]{1,6} [rs0-9(),+-]{0,12}\n){0,4}") {
            let _ = assemble(&text, "x");
        }
    }
}
