//! Operands: where a value is while an expression is parsed, and how it is loaded and stored.

use super::Fault;
use super::ir::{Binary, Inst, Reg};
use super::parse::Parser;
use super::types::Type;
use std::rc::Rc;

/// Where a value is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Location {
    /// Known at compile time.
    Constant(i32),
    /// In a register.
    Reg(Reg),
    /// In a local variable, at this byte offset from its start.
    Slot(u32, i32),
    /// In memory, at this byte offset from the address in a register.
    Memory(Reg, i32),
    /// In memory, at this byte offset from a name.
    Symbol(Rc<str>, i32),
    /// The address itself, at this byte offset from a name.
    Address(Rc<str>, i32),
}

/// The value of an expression parsed so far.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    /// Its type.
    pub(super) kind: Type,
    /// Where it is.
    pub(super) place: Location,
}

impl Operand {
    /// Returns a value in a register.
    pub(super) fn reg(kind: Type, reg: Reg) -> Self {
        Self { kind, place: Location::Reg(reg) }
    }

    /// Returns a known `int`.
    pub(super) fn constant(value: i32) -> Self {
        Self { kind: Type::Int, place: Location::Constant(value) }
    }
}

impl Parser {
    /// Loads a constant into a register.
    pub(super) fn constant(&mut self, value: i32) -> Reg {
        let to = self.reg();
        self.emit(Inst::Constant { to, value });
        to
    }

    /// Emits an operation whose result goes to a new register.
    pub(super) fn binary(&mut self, op: Binary, a: Reg, b: Reg) -> Reg {
        let to = self.reg();
        self.emit(Inst::Binary { op, to, a, b });
        to
    }

    /// Loads the address of an operand in memory.
    pub(super) fn address(&mut self, operand: &Operand) -> Result<Reg, Fault> {
        let (base, offset) = match operand.place.clone() {
            Location::Slot(slot, offset) => {
                let to = self.reg();
                self.emit(Inst::SlotAddress { to, slot });
                (to, offset)
            }
            Location::Memory(base, offset) => (base, offset),
            Location::Symbol(name, offset) | Location::Address(name, offset) => {
                let to = self.reg();
                self.emit(Inst::Symbol { to, name, offset });
                (to, 0)
            }
            Location::Constant(_) | Location::Reg(_) => {
                return Err(self.fault("this has no address"));
            }
        };
        if offset == 0 {
            return Ok(base);
        }
        let by = self.constant(offset);
        Ok(self.binary(Binary::Add, base, by))
    }

    /// Loads the value into a register; arrays and functions become their address.
    pub(super) fn value(&mut self, operand: &Operand) -> Result<(Reg, Type), Fault> {
        match (&operand.kind, operand.place.clone()) {
            (Type::Array(inner, _), _) => {
                let kind = Type::Pointer(Rc::clone(inner));
                Ok((self.address(operand)?, kind))
            }
            (Type::Function(_), _) => Ok((self.address(operand)?, operand.kind.clone().pointer())),
            (Type::Struct(_), _) => Err(self.fault("structs cannot be values here")),
            (kind, Location::Constant(value)) => Ok((self.constant(value), kind.clone())),
            (kind, Location::Reg(reg)) => Ok((reg, kind.clone())),
            (kind, Location::Address(..)) => Ok((self.address(operand)?, kind.clone())),
            (kind, Location::Slot(slot, 0)) if self.function.slots[slot as usize].scalar => {
                let to = self.reg();
                self.emit(Inst::LoadSlot { to, slot });
                Ok((to, kind.clone()))
            }
            (kind, place) => {
                let (base, offset) = self.based(operand, place)?;
                let (to, byte) = (self.reg(), *kind == Type::Char);
                self.emit(Inst::Load { to, base, offset, byte });
                Ok((to, kind.clone()))
            }
        }
    }

    /// Returns a base register and an offset for an operand in memory.
    fn based(&mut self, operand: &Operand, place: Location) -> Result<(Reg, i32), Fault> {
        match place {
            Location::Memory(base, offset) => Ok((base, offset)),
            Location::Slot(slot, offset) => {
                let whole = Operand { kind: operand.kind.clone(), place: Location::Slot(slot, 0) };
                Ok((self.address(&whole)?, offset))
            }
            _ => Ok((self.address(operand)?, 0)),
        }
    }

    /// Stores a register; a byte keeps its lowest eight bits. Returns the stored value.
    pub(super) fn store(&mut self, operand: &Operand, from: Reg) -> Result<Reg, Fault> {
        if !operand.kind.is_scalar() {
            return Err(self.fault("only numbers and pointers can be assigned"));
        }
        let byte = operand.kind == Type::Char;
        let from = if byte { self.narrow(from) } else { from };
        match operand.place.clone() {
            Location::Slot(slot, 0) if self.function.slots[slot as usize].scalar => {
                self.emit(Inst::StoreSlot { from, slot });
            }
            place @ (Location::Slot(..) | Location::Memory(..) | Location::Symbol(..)) => {
                let (base, offset) = self.based(operand, place)?;
                self.emit(Inst::Store { from, base, offset, byte });
            }
            _ => return Err(self.fault("this cannot be assigned to")),
        }
        Ok(from)
    }

    /// Keeps only the lowest eight bits.
    pub(super) fn narrow(&mut self, from: Reg) -> Reg {
        let mask = self.constant(255);
        self.binary(Binary::And, from, mask)
    }
}
