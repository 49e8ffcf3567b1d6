//! The top level of a file: variables with their initial values, and functions.

use super::Fault;
use super::declare::{Declarator, Storage};
use super::ir::{Datum, Function, Global, Inst, Module};
use super::lex::{Kind, Token};
use super::operand::{Location, Operand};
use super::parse::{Parser, Symbol, Targets};
use super::types::Type;
use std::collections::HashMap;
use std::rc::Rc;

/// Parses a whole file.
///
/// # Errors
/// The file is not within the subset.
pub(super) fn module(tokens: Vec<Token>) -> Result<Module, Fault> {
    let mut parser = Parser::new(tokens);
    while *parser.peek() != Kind::End {
        parser.external_declaration()?;
    }
    Ok(parser.module)
}

impl Parser {
    /// Parses a declaration or function at the top level.
    fn external_declaration(&mut self) -> Result<(), Fault> {
        let storage = self.storage();
        let base = self.base()?;
        if self.accept(";") {
            return Ok(());
        }
        loop {
            let one = self.declarator(base.clone())?;
            if matches!(one.kind, Type::Function(_)) && *self.peek() == Kind::Mark("{") {
                return self.function(one, storage);
            }
            self.variable(one, storage)?;
            if !self.accept(",") {
                return self.expect(";");
            }
        }
    }

    fn variable(&mut self, one: Declarator, storage: Storage) -> Result<(), Fault> {
        let Declarator { name, mut kind, .. } = one;
        if storage.typedef {
            self.declare(name, Symbol::Type(kind));
            return Ok(());
        }
        self.declare(Rc::clone(&name), Symbol::Global(kind.clone()));
        if storage.external || matches!(kind, Type::Function(_)) {
            return Ok(());
        }
        let mut data = Vec::new();
        if self.accept("=") {
            let count = self.initial(&kind, &mut data)?;
            if let Type::Array(inner, 0) = kind {
                kind = Type::Array(inner, count);
            }
            self.declare(Rc::clone(&name), Symbol::Global(kind.clone()));
        }
        let size = self.size(&kind);
        let made = Global { name: Rc::clone(&name), global: !storage.private, size, data };
        match self.globals.get(&name) {
            // A second declaration without an initial value adds nothing.
            Some(_) if made.data.is_empty() => {}
            Some(&at) => self.module.globals[at] = made,
            None => {
                self.globals.insert(name, self.module.globals.len());
                self.module.globals.push(made);
            }
        }
        Ok(())
    }

    /// Parses an initial value; returns its number of elements.
    fn initial(&mut self, kind: &Type, data: &mut Vec<Datum>) -> Result<u32, Fault> {
        if let (Type::Array(inner, count), Kind::Text(text)) = (kind, self.peek().clone())
            && **inner == Type::Char
        {
            self.next();
            let mut bytes = text;
            bytes.push(0);
            let count = (*count).max(bytes.len() as u32);
            bytes.resize(count as usize, 0);
            data.push(Datum::Bytes(bytes));
            return Ok(count);
        }
        if !self.accept("{") {
            return self.initial_scalar(kind, data).map(|()| 1);
        }
        let mut count = 0;
        let mut offset = 0;
        while !self.accept("}") {
            let (inner, begin) = match kind {
                Type::Array(inner, _) => ((**inner).clone(), offset),
                Type::Struct(number) => match self.structs[*number].members.get(count as usize) {
                    Some(member) => (member.kind.clone(), member.offset),
                    None => return Err(self.fault("too many first values")),
                },
                scalar => (scalar.clone(), offset),
            };
            if begin > offset {
                data.push(Datum::Space(begin - offset));
            }
            self.deeper(|p| p.initial(&inner, data))?;
            offset = begin + self.size(&inner);
            count += 1;
            if *self.peek() != Kind::Mark("}") {
                self.expect(",")?;
            }
        }
        let size = self.size(kind);
        if size > offset {
            data.push(Datum::Space(size - offset));
        }
        Ok(count)
    }

    fn initial_scalar(&mut self, kind: &Type, data: &mut Vec<Datum>) -> Result<(), Fault> {
        let value: Operand = self.expression()?;
        let constant_place = matches!(value.kind, Type::Array(..) | Type::Function(_));
        let datum = match value.place {
            Location::Constant(value) if *kind == Type::Char => Datum::Bytes(vec![value as u8]),
            Location::Constant(value) => Datum::Word(value),
            Location::Address(name, offset) => Datum::Address(name, offset),
            Location::Symbol(name, offset) if constant_place => Datum::Address(name, offset),
            _ => return Err(self.fault("a first value must be known")),
        };
        data.push(datum);
        Ok(())
    }

    fn function(&mut self, one: Declarator, storage: Storage) -> Result<(), Fault> {
        let Declarator { name, kind, parameters } = one;
        self.expect("{")?;
        if let Type::Function(result) = &kind {
            self.result = (**result).clone();
        }
        self.declare(Rc::clone(&name), Symbol::Global(kind));
        self.function = Function { name, global: !storage.private, ..Function::default() };
        self.targets = Targets::default();
        self.scopes.push(HashMap::new());
        for ((name, kind), index) in parameters.into_iter().zip(0..) {
            let slot = self.slot(&kind, Some(index))?;
            self.declare(name, Symbol::Local(slot, kind));
        }
        self.block()?;
        self.scopes.pop();
        self.emit(Inst::Return(None));
        self.module.functions.push(std::mem::take(&mut self.function));
        Ok(())
    }
}
