//! From intermediate code to assembly text of the invented machine.
//!
//! The machine has 32 registers of 32 bits. r0 is zero, r1 holds results, and r2 and r3 load
//! spilled values. r4 to r27 hold variables and are saved by the callee. r29 (sp) points to the
//! frame, and r31 (ra) holds the return address. Arguments are on the stack, the first at the
//! lowest address.

use super::Fault;
use super::allocate::{Home, Homes, allocate};
use super::assemble::THREE;
use super::ir::{Datum, Function, Global, Inst, Module, Reg, Slot, Target};
use super::optimize::optimize;
use std::fmt::Write as _;

/// The largest offset within a frame.
const REACH: i32 = 32_000;

/// Returns the assembly text of a module.
///
/// # Errors
/// A function needs a frame that offsets cannot reach.
pub(super) fn assembly(module: Module, name: &str) -> Result<String, Fault> {
    let mut out = format!("# {name}\n\t.text\n");
    for (number, mut function) in module.functions.into_iter().enumerate() {
        optimize(&mut function);
        let homes = allocate(&mut function);
        let mut emitter = Emitter::new(&function, homes, number);
        if emitter.frame > REACH {
            let message = format!("the frame of {} is too large", function.name);
            return Err(Fault::new(name, 0, message));
        }
        emitter.function(&function);
        out += &emitter.out;
    }
    out.push_str("\t.data\n");
    for global in &module.globals {
        variable(global, &mut out);
    }
    Ok(out)
}

fn variable(global: &Global, out: &mut String) {
    let name = &global.name;
    if global.global {
        let _ = writeln!(out, "\t.globl {name}");
    }
    if global.data.is_empty() {
        let _ = writeln!(out, "\t.bss {name}, {}", global.size.max(1));
        return;
    }
    let _ = writeln!(out, "\t.align\n{name}:");
    for datum in &global.data {
        let _ = match datum {
            Datum::Word(value) => writeln!(out, "\t.word {value}"),
            Datum::Address(name, offset) => writeln!(out, "\t.word {name}{offset:+}"),
            Datum::Space(bytes) => writeln!(out, "\t.space {bytes}"),
            Datum::Bytes(bytes) => {
                let list: Vec<String> = bytes.iter().map(u8::to_string).collect();
                writeln!(out, "\t.byte {}", list.join(", "))
            }
        };
    }
}

struct Emitter {
    out: String,
    homes: Homes,
    slots: Vec<i32>,
    spills: i32,
    saved: i32,
    frame: i32,
    number: usize,
}

impl Emitter {
    fn new(function: &Function, homes: Homes, number: usize) -> Self {
        let calls = function.code.iter().filter_map(|inst| match inst {
            Inst::Call { args, .. } => Some(args.len() as i32),
            _ => None,
        });
        let spills = calls.max().unwrap_or(0) * 4;
        let mut at = spills + homes.spilled as i32 * 4;
        let mut slots = vec![0; function.slots.len()];
        for (offset, info) in slots.iter_mut().zip(&function.slots) {
            if info.parameter.is_none() {
                *offset = at;
                at = at.saturating_add(info.size.next_multiple_of(4) as i32);
            }
        }
        let frame = at.saturating_add((homes.used.len() as i32 + 1) * 4);
        // Parameters are where the caller put them, above the frame.
        for (offset, info) in slots.iter_mut().zip(&function.slots) {
            if let Some(index) = info.parameter {
                *offset = frame.saturating_add(index as i32 * 4);
            }
        }
        Self { out: String::new(), homes, slots, spills, saved: at, frame, number }
    }

    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.out, "\t{text}");
    }

    fn slot(&self, slot: Slot) -> i32 {
        self.slots[slot as usize]
    }

    /// Returns the machine register that holds `reg`, loaded into `scratch` if it is spilled.
    fn fetch(&mut self, reg: Reg, scratch: u8) -> u8 {
        match self.homes.of[reg as usize] {
            Home::Machine(register) => register,
            Home::Spilled(number) => {
                let at = self.spills + number as i32 * 4;
                self.line(format_args!("lw r{scratch}, {at}(sp)"));
                scratch
            }
            Home::None => 0,
        }
    }

    /// Returns the machine register for a result that belongs in `reg`.
    fn target(&self, reg: Reg) -> u8 {
        match self.homes.of[reg as usize] {
            Home::Machine(register) => register,
            Home::Spilled(_) => 2,
            Home::None => 1,
        }
    }

    /// Stores a result from [`Self::target`] to its home.
    fn settle(&mut self, reg: Reg) {
        if let Home::Spilled(number) = self.homes.of[reg as usize] {
            let at = self.spills + number as i32 * 4;
            self.line(format_args!("sw r2, {at}(sp)"));
        }
    }

    fn function(&mut self, function: &Function) {
        if function.global {
            self.line(format_args!(".globl {}", function.name));
        }
        let _ = writeln!(self.out, "{}:", function.name);
        let frame = self.frame;
        self.line(format_args!("addi sp, sp, -{frame}"));
        self.keep("sw");
        let last = function.code.len().saturating_sub(1);
        for (at, inst) in function.code.iter().enumerate() {
            self.inst(inst, at == last);
        }
        let _ = writeln!(self.out, "L{}_end:", self.number);
        self.keep("lw");
        self.line(format_args!("addi sp, sp, {frame}"));
        self.line(format_args!("ret"));
    }

    /// Saves or restores the caller's registers.
    fn keep(&mut self, how: &str) {
        let at = self.saved;
        self.line(format_args!("{how} ra, {at}(sp)"));
        for (register, index) in self.homes.used.clone().into_iter().zip(1..) {
            self.line(format_args!("{how} r{register}, {}(sp)", at + index * 4));
        }
    }

    fn inst(&mut self, inst: &Inst, last: bool) {
        let number = self.number;
        match inst {
            Inst::Label(label) => {
                let _ = writeln!(self.out, "L{number}_{label}:");
            }
            Inst::Jump(to) => self.line(format_args!("j L{number}_{to}")),
            Inst::Branch { test, when, to } => {
                let test = self.fetch(*test, 2);
                let how = if *when { "bnez" } else { "beqz" };
                self.line(format_args!("{how} r{test}, L{number}_{to}"));
            }
            Inst::Return(value) => {
                if let Some(reg) = value {
                    let from = self.fetch(*reg, 2);
                    self.line(format_args!("mv r1, r{from}"));
                }
                if !last {
                    self.line(format_args!("j L{number}_end"));
                }
            }
            Inst::Store { from, base, offset, byte } => {
                let (from, base) = (self.fetch(*from, 2), self.fetch(*base, 3));
                let how = if *byte { "sb" } else { "sw" };
                self.line(format_args!("{how} r{from}, {offset}(r{base})"));
            }
            Inst::StoreSlot { from, slot } => {
                let (from, at) = (self.fetch(*from, 2), self.slot(*slot));
                self.line(format_args!("sw r{from}, {at}(sp)"));
            }
            Inst::Call { to, target, args } => self.call(*to, target, args),
            _ => self.result(inst),
        }
    }

    fn call(&mut self, to: Option<Reg>, target: &Target, args: &[Reg]) {
        for (arg, index) in args.iter().zip(0..) {
            let from = self.fetch(*arg, 2);
            self.line(format_args!("sw r{from}, {}(sp)", index * 4));
        }
        match target {
            Target::Name(name) => self.line(format_args!("jal {name}")),
            Target::Address(reg) => {
                let at = self.fetch(*reg, 2);
                self.line(format_args!("jalr r{at}"));
            }
        }
        if let Some(to) = to {
            let target = self.target(to);
            self.line(format_args!("mv r{target}, r1"));
            self.settle(to);
        }
    }

    /// Emits the instructions that set a register.
    fn result(&mut self, inst: &Inst) {
        let Some(reg) = inst.sets() else { return };
        let to = self.target(reg);
        match inst {
            Inst::Constant { value, .. } => self.line(format_args!("li r{to}, {value}")),
            Inst::Symbol { name, offset, .. } => {
                self.line(format_args!("la r{to}, {name}{offset:+}"));
            }
            Inst::SlotAddress { slot, .. } => {
                let at = self.slot(*slot);
                self.line(format_args!("addi r{to}, sp, {at}"));
            }
            Inst::Parameter { index, .. } => {
                let at = self.frame + *index as i32 * 4;
                self.line(format_args!("lw r{to}, {at}(sp)"));
            }
            Inst::LoadSlot { slot, .. } => {
                let at = self.slot(*slot);
                self.line(format_args!("lw r{to}, {at}(sp)"));
            }
            Inst::Move { from, .. } => {
                let from = self.fetch(*from, 3);
                self.line(format_args!("mv r{to}, r{from}"));
            }
            Inst::Load { base, offset, byte, .. } => {
                let base = self.fetch(*base, 3);
                let how = if *byte { "lb" } else { "lw" };
                self.line(format_args!("{how} r{to}, {offset}(r{base})"));
            }
            Inst::Binary { op, a, b, .. } => {
                let (a, b) = (self.fetch(*a, 2), self.fetch(*b, 3));
                let how = THREE[*op as usize];
                self.line(format_args!("{how} r{to}, r{a}, r{b}"));
            }
            _ => {}
        }
        self.settle(reg);
    }
}
