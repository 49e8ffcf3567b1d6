//! The front end's state: tokens, names, types, and the function being compiled.

use super::Fault;
use super::ir::{Function, Global, Inst, Label, Module, Reg};
use super::lex::{Kind, Token};
use super::types::{Struct, Type, size};
use std::collections::HashMap;
use std::rc::Rc;

/// The deepest nesting of expressions, types and statements.
const DEPTH: u32 = 64;

/// The meaning of a name.
#[derive(Clone, Debug)]
pub(super) enum Symbol {
    /// A type.
    Type(Type),
    /// A constant of an enum.
    Constant(i32),
    /// A function or variable at the top level of the file.
    Global(Type),
    /// A variable of a function.
    Local(u32, Type),
}

/// The enclosing targets of `break`, `continue` and `case`.
#[derive(Debug, Default)]
pub(super) struct Targets {
    /// Ends of the enclosing loops and switches.
    pub(super) breaks: Vec<Label>,
    /// Next iterations of the enclosing loops.
    pub(super) continues: Vec<Label>,
    /// Cases and default of the enclosing switches.
    pub(super) switches: Vec<Switch>,
}

/// Cases of a switch, and its default.
pub(super) type Switch = (Vec<(i32, Label)>, Option<Label>);

/// The front end: reads the tokens once and emits intermediate code as it goes.
#[derive(Default)]
pub(super) struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: u32,
    pub(super) structs: Vec<Struct>,
    pub(super) tags: HashMap<Rc<str>, usize>,
    pub(super) scopes: Vec<HashMap<Rc<str>, Symbol>>,
    pub(super) module: Module,
    pub(super) globals: HashMap<Rc<str>, usize>,
    pub(super) function: Function,
    pub(super) targets: Targets,
    pub(super) result: Type,
    strings: u32,
}

impl Parser {
    /// Creates a parser at the first of `tokens`, the last of which is [`Kind::End`].
    pub(super) fn new(tokens: Vec<Token>) -> Self {
        Self { tokens, scopes: vec![HashMap::new()], ..Self::default() }
    }

    /// Returns the current token.
    pub(super) fn peek(&self) -> &Kind {
        &self.tokens[self.at].kind
    }

    /// Returns the token `ahead` places after the current one.
    pub(super) fn ahead(&self, ahead: usize) -> &Kind {
        &self.tokens[(self.at + ahead).min(self.tokens.len() - 1)].kind
    }

    /// Advances to the next token; returns the one left behind.
    pub(super) fn next(&mut self) -> Kind {
        let kind = self.tokens[self.at].kind.clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        kind
    }

    /// Returns a fault at the current token.
    pub(super) fn fault(&self, message: impl Into<String>) -> Fault {
        let token = &self.tokens[self.at];
        Fault::new(&token.file, token.line, message)
    }

    /// Consumes `mark` if it is next.
    pub(super) fn accept(&mut self, mark: &str) -> bool {
        let here = matches!(self.peek(), Kind::Mark(one) if *one == mark);
        if here {
            self.next();
        }
        here
    }

    /// Consumes `word` if it is next.
    pub(super) fn accept_word(&mut self, word: &str) -> bool {
        let here = matches!(self.peek(), Kind::Word(one) if **one == *word);
        if here {
            self.next();
        }
        here
    }

    /// Consumes `mark`, which must be next.
    pub(super) fn expect(&mut self, mark: &str) -> Result<(), Fault> {
        if self.accept(mark) { Ok(()) } else { Err(self.fault(format!("{mark} is missing"))) }
    }

    /// Consumes a name, which must be next.
    pub(super) fn name(&mut self) -> Result<Rc<str>, Fault> {
        match self.peek().clone() {
            Kind::Word(name) => {
                self.next();
                Ok(name)
            }
            _ => Err(self.fault("a name is missing")),
        }
    }

    /// Runs `inner` one nesting level deeper.
    pub(super) fn deeper<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        if self.depth >= DEPTH {
            return Err(self.fault("this is nested too deep"));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Returns the meaning of a name.
    pub(super) fn lookup(&self, name: &str) -> Option<&Symbol> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    /// Declares a name in the innermost scope.
    pub(super) fn declare(&mut self, name: Rc<str>, symbol: Symbol) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, symbol);
        }
    }

    /// Returns the size of a type.
    pub(super) fn size(&self, kind: &Type) -> u32 {
        size(kind, &self.structs)
    }

    /// Returns a new register.
    pub(super) fn reg(&mut self) -> Reg {
        self.function.regs += 1;
        self.function.regs - 1
    }

    /// Returns a new label.
    pub(super) fn label(&mut self) -> Label {
        self.function.labels += 1;
        self.function.labels - 1
    }

    /// Adds an instruction.
    pub(super) fn emit(&mut self, inst: Inst) {
        self.function.code.push(inst);
    }

    /// Adds a variable that holds a string; returns its name and size.
    pub(super) fn string(&mut self, mut bytes: Vec<u8>) -> (Rc<str>, u32) {
        bytes.push(0);
        let name: Rc<str> = format!("LS{}", self.strings).into();
        self.strings += 1;
        let size = bytes.len() as u32;
        let data = vec![super::ir::Datum::Bytes(bytes)];
        self.module.globals.push(Global { name: Rc::clone(&name), global: false, size, data });
        (name, size)
    }
}
