//! Value numbering within blocks: reuses values that are already computed, and folds constants.

use super::ir::{Binary, Function, Inst, Reg, Slot};
use std::collections::HashMap;
use std::rc::Rc;

type Value = u32;

/// What a value is computed from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Constant(i32),
    Symbol(Rc<str>, i32),
    SlotAddress(Slot),
    Binary(Binary, Value, Value),
    /// The last number counts the stores and calls before.
    Load(Value, i32, bool, u32),
    LoadSlot(Slot, u32),
}

/// What is known within a block.
#[derive(Default)]
struct Known {
    next: Value,
    of: HashMap<Reg, Value>,
    constants: HashMap<Value, i32>,
    computed: HashMap<Key, Value>,
    holder: HashMap<Value, Reg>,
    stores: u32,
}

impl Known {
    fn fresh(&mut self) -> Value {
        self.next += 1;
        self.next
    }

    fn value(&mut self, reg: Reg) -> Value {
        if let Some(value) = self.of.get(&reg) {
            return *value;
        }
        let value = self.fresh();
        self.set(reg, value);
        value
    }

    fn set(&mut self, reg: Reg, value: Value) {
        self.of.insert(reg, value);
        if self.held(value).is_none() {
            self.holder.insert(value, reg);
        }
    }

    /// Returns a register that still holds a value.
    fn held(&self, value: Value) -> Option<Reg> {
        self.holder.get(&value).copied().filter(|reg| self.of.get(reg) == Some(&value))
    }

    fn constant(&mut self, reg: Reg) -> Option<i32> {
        let value = self.value(reg);
        self.constants.get(&value).copied()
    }

    /// Records that `to` takes the value of `key`; returns the register that already holds it, if
    /// any.
    fn compute(&mut self, key: Key, to: Reg) -> Option<Reg> {
        let known = self.computed.get(&key).copied();
        let held = known.and_then(|value| self.held(value)).filter(|reg| *reg != to);
        let value = known.unwrap_or_else(|| self.fresh());
        if let Key::Constant(constant) = key {
            self.constants.insert(value, constant);
        }
        self.computed.insert(key, value);
        self.set(to, value);
        held
    }
}

/// Numbers all values; returns whether anything changed.
pub(super) fn values(function: &mut Function) -> bool {
    let mut known = Known::default();
    let mut changed = false;
    for inst in &mut function.code {
        let before = inst.clone();
        inst.uses(|reg| {
            let value = known.value(*reg);
            *reg = known.held(value).unwrap_or(*reg);
        });
        rewrite(inst, &mut known);
        changed |= *inst != before;
    }
    changed
}

fn rewrite(inst: &mut Inst, known: &mut Known) {
    match inst.clone() {
        Inst::Label(_) => *known = Known { next: known.next, ..Known::default() },
        Inst::Constant { to, value } => {
            // A constant is cheaper to recreate than to keep.
            known.compute(Key::Constant(value), to);
        }
        Inst::Move { to, from } => match known.constant(from) {
            Some(value) => {
                *inst = Inst::Constant { to, value };
                known.compute(Key::Constant(value), to);
            }
            None => {
                let value = known.value(from);
                known.set(to, value);
            }
        },
        Inst::Symbol { to, name, offset } => computed(inst, known, Key::Symbol(name, offset), to),
        Inst::SlotAddress { to, slot } => computed(inst, known, Key::SlotAddress(slot), to),
        Inst::Binary { op, to, a, b } => binary(inst, known, (op, to, a, b)),
        Inst::Load { to, base, offset, byte } => {
            let key = Key::Load(known.value(base), offset, byte, known.stores);
            computed(inst, known, key, to);
        }
        Inst::LoadSlot { to, slot } => {
            computed(inst, known, Key::LoadSlot(slot, known.stores), to);
        }
        Inst::Store { .. } | Inst::StoreSlot { .. } => known.stores += 1,
        Inst::Call { to, .. } => {
            known.stores += 1;
            if let Some(to) = to {
                let value = known.fresh();
                known.set(to, value);
            }
        }
        Inst::Parameter { to, .. } => {
            let value = known.fresh();
            known.set(to, value);
        }
        Inst::Branch { test, when, to } => {
            if let Some(value) = known.constant(test) {
                // A branch that is never taken becomes a no-op, which is removed later.
                *inst = if (value != 0) == when {
                    Inst::Jump(to)
                } else {
                    Inst::Move { to: test, from: test }
                };
            }
        }
        Inst::Jump(_) | Inst::Return(_) => {}
    }
}

fn computed(inst: &mut Inst, known: &mut Known, key: Key, to: Reg) {
    if let Some(from) = known.compute(key, to) {
        *inst = Inst::Move { to, from };
    }
}

fn binary(inst: &mut Inst, known: &mut Known, (op, to, a, b): (Binary, Reg, Reg, Reg)) {
    let constants = (known.constant(a), known.constant(b));
    if let (Some(x), Some(y)) = constants
        && let Some(value) = op.fold(x, y)
    {
        *inst = Inst::Constant { to, value };
        known.compute(Key::Constant(value), to);
        return;
    }
    if let Some(from) = identity(op, (a, b), constants) {
        *inst = Inst::Move { to, from };
        let value = known.value(from);
        known.set(to, value);
        return;
    }
    let (mut x, mut y) = (known.value(a), known.value(b));
    if op.commutes() && x > y {
        std::mem::swap(&mut x, &mut y);
    }
    computed(inst, known, Key::Binary(op, x, y), to);
}

/// Returns the operand that equals the result, if one does.
fn identity(op: Binary, (a, b): (Reg, Reg), constants: (Option<i32>, Option<i32>)) -> Option<Reg> {
    use Binary::{Add, Div, Mul, Or, ShiftLeft, ShiftRight, Sub, Xor};
    match (op, constants) {
        (Add | Or | Xor, (Some(0), _)) | (Mul, (Some(1), _)) => Some(b),
        (Add | Sub | Or | Xor | ShiftLeft | ShiftRight, (_, Some(0)))
        | (Mul | Div, (_, Some(1))) => Some(a),
        _ => None,
    }
}
