//! The compiler's intermediate code: instructions on an unlimited number of registers.

use std::rc::Rc;

/// A register.
pub(crate) type Reg = u32;

/// A jump target in the code.
pub(crate) type Label = u32;

/// A local variable in memory.
pub(crate) type Slot = u32;

/// Operations on two registers, in the order of their codes in the assembler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
    Less,
    LessEqual,
    Equal,
    NotEqual,
}

impl Binary {
    /// Returns the result for constants; `None` for a division without a result.
    pub(crate) fn fold(self, a: i32, b: i32) -> Option<i32> {
        Some(match self {
            Self::Add => a.wrapping_add(b),
            Self::Sub => a.wrapping_sub(b),
            Self::Mul => a.wrapping_mul(b),
            Self::Div => a.checked_div(b)?,
            Self::Rem => a.checked_rem(b)?,
            Self::And => a & b,
            Self::Or => a | b,
            Self::Xor => a ^ b,
            Self::ShiftLeft => a.wrapping_shl(b as u32),
            Self::ShiftRight => a.wrapping_shr(b as u32),
            Self::Less => i32::from(a < b),
            Self::LessEqual => i32::from(a <= b),
            Self::Equal => i32::from(a == b),
            Self::NotEqual => i32::from(a != b),
        })
    }

    /// Whether the operands may be swapped.
    pub(crate) fn commutes(self) -> bool {
        use Binary::{Add, And, Equal, Mul, NotEqual, Or, Xor};
        matches!(self, Add | Mul | And | Or | Xor | Equal | NotEqual)
    }
}

/// The target of a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Target {
    /// A function by name.
    Name(Rc<str>),
    /// A function by address.
    Address(Reg),
}

/// One instruction.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Inst {
    Constant { to: Reg, value: i32 },
    Symbol { to: Reg, name: Rc<str>, offset: i32 },
    SlotAddress { to: Reg, slot: Slot },
    Parameter { to: Reg, index: u32 },
    Move { to: Reg, from: Reg },
    Binary { op: Binary, to: Reg, a: Reg, b: Reg },
    Load { to: Reg, base: Reg, offset: i32, byte: bool },
    Store { from: Reg, base: Reg, offset: i32, byte: bool },
    LoadSlot { to: Reg, slot: Slot },
    StoreSlot { from: Reg, slot: Slot },
    Call { to: Option<Reg>, target: Target, args: Vec<Reg> },
    Label(Label),
    Jump(Label),
    Branch { test: Reg, when: bool, to: Label },
    Return(Option<Reg>),
}

impl Inst {
    /// Returns the register that it sets.
    pub(crate) fn sets(&self) -> Option<Reg> {
        match self {
            Self::Constant { to, .. }
            | Self::Symbol { to, .. }
            | Self::SlotAddress { to, .. }
            | Self::Parameter { to, .. }
            | Self::Move { to, .. }
            | Self::Binary { to, .. }
            | Self::Load { to, .. }
            | Self::LoadSlot { to, .. } => Some(*to),
            Self::Call { to, .. } => *to,
            _ => None,
        }
    }

    /// Calls `each` with every register that it uses, to inspect or change it.
    pub(crate) fn uses(&mut self, mut each: impl FnMut(&mut Reg)) {
        match self {
            Self::Move { from, .. } | Self::StoreSlot { from, .. } => each(from),
            Self::Binary { a, b, .. } => {
                each(a);
                each(b);
            }
            Self::Load { base, .. } => each(base),
            Self::Store { from, base, .. } => {
                each(from);
                each(base);
            }
            Self::Call { target, args, .. } => {
                if let Target::Address(reg) = target {
                    each(reg);
                }
                args.iter_mut().for_each(each);
            }
            Self::Branch { test, .. } => each(test),
            Self::Return(Some(reg)) => each(reg),
            _ => {}
        }
    }

    /// Whether its only effect is to set its register.
    pub(crate) fn is_pure(&self) -> bool {
        !matches!(
            self,
            Self::Store { .. }
                | Self::StoreSlot { .. }
                | Self::Call { .. }
                | Self::Label(_)
                | Self::Jump(_)
                | Self::Branch { .. }
                | Self::Return(_)
        )
    }
}

/// A local variable or parameter in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotInfo {
    /// Its size in bytes.
    pub(crate) size: u32,
    /// Whether a register could hold it.
    pub(crate) scalar: bool,
    /// The index of the parameter, if it is one.
    pub(crate) parameter: Option<u32>,
}

/// A function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Function {
    /// Its name.
    pub(crate) name: Rc<str>,
    /// Whether it is visible to other files.
    pub(crate) global: bool,
    /// Its code.
    pub(crate) code: Vec<Inst>,
    /// Its variables in memory.
    pub(crate) slots: Vec<SlotInfo>,
    /// The number of registers it uses.
    pub(crate) regs: u32,
    /// The number of labels it uses.
    pub(crate) labels: u32,
}

/// A piece of initialised data.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Datum {
    /// A word.
    Word(i32),
    /// Bytes.
    Bytes(Vec<u8>),
    /// The address of a name.
    Address(Rc<str>, i32),
    /// Zeros.
    Space(u32),
}

/// A variable at the top level of a file.
#[derive(Clone, Debug)]
pub(crate) struct Global {
    /// Its name.
    pub(crate) name: Rc<str>,
    /// Whether it is visible to other files.
    pub(crate) global: bool,
    /// Its size in bytes.
    pub(crate) size: u32,
    /// Its initial value; empty for zeros.
    pub(crate) data: Vec<Datum>,
}

/// A compiled file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Module {
    /// Its functions.
    pub(crate) functions: Vec<Function>,
    /// Its variables.
    pub(crate) globals: Vec<Global>,
}
