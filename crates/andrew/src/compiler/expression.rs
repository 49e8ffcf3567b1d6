//! Expressions, by precedence climbing.

use super::Fault;
use super::ir::{Binary, Inst, Reg, Target};
use super::lex::Kind;
use super::operand::{Location, Operand};
use super::parse::{Parser, Symbol};
use super::types::Type;
use std::rc::Rc;

/// Returns the precedence and operation of a binary operator, and whether its operands are swapped,
/// as in reversed comparisons.
fn operation(mark: &str) -> Option<(u8, Binary, bool)> {
    Some(match mark {
        "|" => (3, Binary::Or, false),
        "^" => (4, Binary::Xor, false),
        "&" => (5, Binary::And, false),
        "==" => (6, Binary::Equal, false),
        "!=" => (6, Binary::NotEqual, false),
        "<" => (7, Binary::Less, false),
        ">" => (7, Binary::Less, true),
        "<=" => (7, Binary::LessEqual, false),
        ">=" => (7, Binary::LessEqual, true),
        "<<" => (8, Binary::ShiftLeft, false),
        ">>" => (8, Binary::ShiftRight, false),
        "+" => (9, Binary::Add, false),
        "-" => (9, Binary::Sub, false),
        "*" => (10, Binary::Mul, false),
        "/" => (10, Binary::Div, false),
        "%" => (10, Binary::Rem, false),
        _ => return None,
    })
}

impl Parser {
    /// Parses an expression with assignments.
    pub(super) fn expression(&mut self) -> Result<Operand, Fault> {
        self.deeper(Self::assignment)
    }

    /// Parses an expression whose value is known at compile time.
    pub(super) fn known(&mut self) -> Result<i32, Fault> {
        match self.deeper(Self::conditional)?.place {
            Location::Constant(value) => Ok(value),
            _ => Err(self.fault("a constant is needed here")),
        }
    }

    fn assignment(&mut self) -> Result<Operand, Fault> {
        let left = self.conditional()?;
        let Kind::Mark(mark) = *self.peek() else { return Ok(left) };
        let compound = mark.strip_suffix('=').filter(|op| operation(op).is_some());
        if mark != "=" && (compound.is_none() || operation(mark).is_some()) {
            return Ok(left);
        }
        self.next();
        let right = self.expression()?;
        let result = match compound.and_then(operation).filter(|_| mark != "=") {
            Some((_, op, _)) => self.combine(op, &left, &right)?,
            None => right,
        };
        let (from, _) = self.value(&result)?;
        let now = self.store(&left, from)?;
        Ok(Operand::reg(left.kind, now))
    }

    fn conditional(&mut self) -> Result<Operand, Fault> {
        let test = self.logical(1)?;
        if !self.accept("?") {
            return Ok(test);
        }
        if let Location::Constant(value) = test.place {
            // Both sides are parsed; the code of the side not taken is dropped.
            let first = self.dropped_unless(value != 0, Self::expression)?;
            self.expect(":")?;
            let second = self.dropped_unless(value == 0, |p| p.deeper(Self::conditional))?;
            return Ok(if value != 0 { first } else { second });
        }
        let (otherwise, end, to) = (self.label(), self.label(), self.reg());
        let (test, _) = self.value(&test)?;
        self.emit(Inst::Branch { test, when: false, to: otherwise });
        let first = self.expression()?;
        let (from, kind) = self.value(&first)?;
        self.emit(Inst::Move { to, from });
        self.emit(Inst::Jump(end));
        self.expect(":")?;
        self.emit(Inst::Label(otherwise));
        let second = self.deeper(Self::conditional)?;
        let (from, _) = self.value(&second)?;
        self.emit(Inst::Move { to, from });
        self.emit(Inst::Label(end));
        Ok(Operand::reg(kind, to))
    }

    /// Parses something and drops its code unless `kept`.
    fn dropped_unless(
        &mut self,
        kept: bool,
        read: impl FnOnce(&mut Self) -> Result<Operand, Fault>,
    ) -> Result<Operand, Fault> {
        let before = self.function.code.len();
        let operand = read(self)?;
        if !kept {
            self.function.code.truncate(before);
        }
        Ok(operand)
    }

    /// Parses `||` at strength 1, `&&` at strength 2, then tighter operators.
    fn logical(&mut self, strength: u8) -> Result<Operand, Fault> {
        let mark = if strength == 1 { "||" } else { "&&" };
        let inner = |p: &mut Self| if strength == 1 { p.logical(2) } else { p.climb(3) };
        let left = inner(self)?;
        if *self.peek() != Kind::Mark(mark) {
            return Ok(left);
        }
        // The deciding side determines the result: 1 for `||`, 0 for `&&`.
        let (end, to, decided) = (self.label(), self.reg(), strength == 1);
        let mut side = left;
        loop {
            let (from, _) = self.value(&side)?;
            let zero = self.constant(0);
            let truth = self.binary(Binary::NotEqual, from, zero);
            self.emit(Inst::Move { to, from: truth });
            if !self.accept(mark) {
                break;
            }
            self.emit(Inst::Branch { test: truth, when: decided, to: end });
            side = inner(self)?;
        }
        self.emit(Inst::Label(end));
        Ok(Operand::reg(Type::Int, to))
    }

    fn climb(&mut self, least: u8) -> Result<Operand, Fault> {
        let mut left = self.unary()?;
        while let Kind::Mark(mark) = *self.peek() {
            let Some((strength, op, swapped)) = operation(mark).filter(|(s, ..)| *s >= least)
            else {
                break;
            };
            self.next();
            let right = self.deeper(|p| p.climb(strength + 1))?;
            left = if swapped {
                self.combine(op, &right, &left)?
            } else {
                self.combine(op, &left, &right)?
            };
        }
        Ok(left)
    }

    /// Emits an operation on two operands; pointers count in elements.
    pub(super) fn combine(
        &mut self,
        op: Binary,
        a: &Operand,
        b: &Operand,
    ) -> Result<Operand, Fault> {
        if let (Location::Constant(x), Location::Constant(y)) = (&a.place, &b.place) {
            let value = op.fold(*x, *y).ok_or_else(|| self.fault("a division by zero"))?;
            return Ok(Operand::constant(value));
        }
        let (x, left) = self.value(a)?;
        let (y, right) = self.value(b)?;
        let scale = |kind: &Type, p: &Self| kind.element().map(|inner| p.size(inner).max(1) as i32);
        let (to, kind) = match (op, scale(&left, self), scale(&right, self)) {
            (Binary::Sub, Some(size), Some(_)) => {
                let distance = self.binary(op, x, y);
                let size = self.constant(size);
                (self.binary(Binary::Div, distance, size), Type::Int)
            }
            (Binary::Add | Binary::Sub, Some(size), None) => {
                let y = self.scaled(y, size);
                (self.binary(op, x, y), left)
            }
            (Binary::Add, None, Some(size)) => {
                let x = self.scaled(x, size);
                (self.binary(op, x, y), right)
            }
            _ => (self.binary(op, x, y), Type::Int),
        };
        Ok(Operand::reg(kind, to))
    }

    fn scaled(&mut self, reg: Reg, size: i32) -> Reg {
        if size == 1 {
            return reg;
        }
        let size = self.constant(size);
        self.binary(Binary::Mul, reg, size)
    }

    fn unary(&mut self) -> Result<Operand, Fault> {
        let Kind::Mark(mark) = *self.peek() else { return self.worded() };
        match mark {
            "-" | "~" | "!" | "*" | "&" | "++" | "--" | "+" => {
                self.next();
                let operand = self.deeper(Self::unary)?;
                self.prefixed(mark, operand)
            }
            "(" if self.is_type(1) => {
                self.next();
                let kind = self.type_name()?;
                self.expect(")")?;
                let operand = self.deeper(Self::unary)?;
                self.cast(kind, operand)
            }
            _ => self.postfix(),
        }
    }

    fn worded(&mut self) -> Result<Operand, Fault> {
        if !self.accept_word("sizeof") {
            return self.postfix();
        }
        let kind = if *self.peek() == Kind::Mark("(") && self.is_type(1) {
            self.next();
            let kind = self.type_name()?;
            self.expect(")")?;
            kind
        } else {
            self.dropped_unless(false, |p| p.deeper(Self::unary))?.kind
        };
        Ok(Operand::constant(self.size(&kind) as i32))
    }

    fn prefixed(&mut self, mark: &str, operand: Operand) -> Result<Operand, Fault> {
        let zero = Operand::constant(0);
        match mark {
            "+" => Ok(operand),
            "-" => self.combine(Binary::Sub, &zero, &operand),
            "~" => self.combine(Binary::Xor, &operand, &Operand::constant(-1)),
            "!" => self.combine(Binary::Equal, &operand, &zero),
            "&" => {
                let kind = operand.kind.clone().pointer();
                if let Location::Symbol(name, offset) = operand.place {
                    return Ok(Operand { kind, place: Location::Address(name, offset) });
                }
                let reg = self.address(&operand)?;
                Ok(Operand::reg(kind, reg))
            }
            "*" => {
                let (reg, kind) = self.value(&operand)?;
                self.pointed(reg, &kind)
            }
            _ => {
                let one = Operand::constant(1);
                let op = if mark == "++" { Binary::Add } else { Binary::Sub };
                let sum = self.combine(op, &operand, &one)?;
                let (from, _) = self.value(&sum)?;
                let now = self.store(&operand, from)?;
                Ok(Operand::reg(operand.kind, now))
            }
        }
    }

    /// Returns what a pointer in a register points to.
    fn pointed(&mut self, reg: Reg, kind: &Type) -> Result<Operand, Fault> {
        match kind.element() {
            // A function behind a pointer is called through the same register.
            Some(Type::Function(_)) => Ok(Operand::reg(kind.clone(), reg)),
            Some(inner) if *inner != Type::Void => {
                Ok(Operand { kind: inner.clone(), place: Location::Memory(reg, 0) })
            }
            _ => Err(self.fault("this does not point to a value")),
        }
    }

    fn cast(&mut self, kind: Type, operand: Operand) -> Result<Operand, Fault> {
        match (&kind, &operand.place) {
            (Type::Void, _) => Ok(Operand { kind, place: operand.place }),
            (Type::Char, Location::Constant(value)) => {
                Ok(Operand { kind, place: Location::Constant(value & 255) })
            }
            (Type::Int | Type::Pointer(_), Location::Constant(_) | Location::Address(..)) => {
                Ok(Operand { kind, place: operand.place })
            }
            (kind, _) if kind.is_scalar() => {
                let (reg, _) = self.value(&operand)?;
                let reg = if *kind == Type::Char { self.narrow(reg) } else { reg };
                Ok(Operand::reg(kind.clone(), reg))
            }
            _ => Err(self.fault("this cast is not possible")),
        }
    }

    fn postfix(&mut self) -> Result<Operand, Fault> {
        let mut operand = self.primary()?;
        while let Kind::Mark(mark) = *self.peek() {
            operand = match mark {
                "[" => {
                    self.next();
                    let index = self.expression()?;
                    self.expect("]")?;
                    let sum = self.combine(Binary::Add, &operand, &index)?;
                    let (reg, kind) = self.value(&sum)?;
                    self.pointed(reg, &kind)?
                }
                "(" => self.call(operand)?,
                "." => {
                    self.next();
                    self.member(operand)?
                }
                "->" => {
                    self.next();
                    let (reg, kind) = self.value(&operand)?;
                    let pointed = self.pointed(reg, &kind)?;
                    self.member(pointed)?
                }
                "++" | "--" => {
                    self.next();
                    let (old, kind) = self.value(&operand)?;
                    let kept = self.reg();
                    self.emit(Inst::Move { to: kept, from: old });
                    let op = if mark == "++" { Binary::Add } else { Binary::Sub };
                    let before = Operand::reg(kind.clone(), old);
                    let sum = self.combine(op, &before, &Operand::constant(1))?;
                    let (from, _) = self.value(&sum)?;
                    self.store(&operand, from)?;
                    Operand::reg(kind, kept)
                }
                _ => break,
            };
        }
        Ok(operand)
    }

    fn member(&mut self, operand: Operand) -> Result<Operand, Fault> {
        let name = self.name()?;
        let Type::Struct(number) = operand.kind else {
            return Err(self.fault(format!("{name} is asked of something that is no struct")));
        };
        let members = &self.structs[number].members;
        let Some(member) = members.iter().find(|member| member.name == name).cloned() else {
            return Err(self.fault(format!("there is no member {name}")));
        };
        let by = member.offset as i32;
        let place = match operand.place {
            Location::Slot(slot, offset) => Location::Slot(slot, offset + by),
            Location::Memory(base, offset) => Location::Memory(base, offset + by),
            Location::Symbol(symbol, offset) => Location::Symbol(symbol, offset + by),
            _ => return Err(self.fault("this struct is nowhere")),
        };
        Ok(Operand { kind: member.kind, place })
    }

    fn call(&mut self, function: Operand) -> Result<Operand, Fault> {
        self.expect("(")?;
        let result = match (&function.kind, function.kind.element()) {
            (Type::Function(result), _) | (_, Some(Type::Function(result))) => (**result).clone(),
            _ => return Err(self.fault("this is no function")),
        };
        let target = match (&function.kind, &function.place) {
            (Type::Function(_), Location::Symbol(name, 0)) => Target::Name(Rc::clone(name)),
            _ => Target::Address(self.value(&function)?.0),
        };
        let mut args = Vec::new();
        while !self.accept(")") {
            let argument = self.expression()?;
            args.push(self.value(&argument)?.0);
            if *self.peek() != Kind::Mark(")") {
                self.expect(",")?;
            }
        }
        let to = (result != Type::Void).then(|| self.reg());
        self.emit(Inst::Call { to, target, args });
        Ok(to.map_or(Operand { kind: Type::Void, place: Location::Constant(0) }, |reg| {
            Operand::reg(result, reg)
        }))
    }

    fn primary(&mut self) -> Result<Operand, Fault> {
        match self.next() {
            Kind::Number(value) => Ok(Operand::constant(value as i32)),
            Kind::Text(mut bytes) => {
                while let Kind::Text(more) = self.peek().clone() {
                    bytes.extend(more);
                    self.next();
                }
                let (name, size) = self.string(bytes);
                let kind = Type::Array(Rc::new(Type::Char), size);
                Ok(Operand { kind, place: Location::Symbol(name, 0) })
            }
            Kind::Mark("(") => {
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
            Kind::Word(name) => self.named(name),
            _ => Err(self.fault("an expression is missing")),
        }
    }

    fn named(&mut self, name: Rc<str>) -> Result<Operand, Fault> {
        match self.lookup(&name).cloned() {
            Some(Symbol::Constant(value)) => Ok(Operand::constant(value)),
            Some(Symbol::Local(slot, kind)) => Ok(Operand { kind, place: Location::Slot(slot, 0) }),
            Some(Symbol::Global(kind)) => Ok(Operand { kind, place: Location::Symbol(name, 0) }),
            Some(Symbol::Type(_)) => Err(self.fault(format!("{name} is a type"))),
            // An undeclared function returns an `int`, as in the C of 1989.
            None if *self.peek() == Kind::Mark("(") => {
                let kind = Type::Function(Rc::new(Type::Int));
                Ok(Operand { kind, place: Location::Symbol(name, 0) })
            }
            None => Err(self.fault(format!("{name} is not declared"))),
        }
    }
}
