//! A function's variables: those declared in its blocks, and the slots for variables and
//! parameters.

use super::Fault;
use super::declare::Declarator;
use super::ir::SlotInfo;
use super::lex::Kind;
use super::operand::{Location, Operand};
use super::parse::{Parser, Symbol};
use super::types::Type;

impl Parser {
    /// Parses the variables of a block.
    pub(super) fn local(&mut self) -> Result<(), Fault> {
        let storage = self.storage();
        if storage.private {
            return Err(self.fault("static variables belong outside of functions"));
        }
        let base = self.base()?;
        while !self.accept(";") {
            let Declarator { name, kind, .. } = self.declarator(base.clone())?;
            if storage.external || matches!(kind, Type::Function(_)) {
                self.declare(name, Symbol::Global(kind));
            } else {
                let slot = self.slot(&kind, None)?;
                self.declare(name, Symbol::Local(slot, kind.clone()));
                if self.accept("=") {
                    let value = self.expression()?;
                    let (from, _) = self.value(&value)?;
                    self.store(&Operand { kind, place: Location::Slot(slot, 0) }, from)?;
                }
            }
            if *self.peek() != Kind::Mark(";") {
                self.expect(",")?;
            }
        }
        Ok(())
    }

    /// Adds a variable in memory.
    pub(super) fn slot(&mut self, kind: &Type, parameter: Option<u32>) -> Result<u32, Fault> {
        let size = self.size(kind);
        if size == 0 {
            return Err(self.fault("a variable without a size"));
        }
        let scalar = kind.is_scalar();
        self.function.slots.push(SlotInfo { size, scalar, parameter });
        Ok(self.function.slots.len() as u32 - 1)
    }
}
