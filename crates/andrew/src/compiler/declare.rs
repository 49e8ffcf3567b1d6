//! Declarations: types, variables with their first values, and functions.

use super::Fault;
use super::ir::{Datum, Function, Global, Inst, SlotInfo};
use super::lex::Kind;
use super::operand::{Operand, Place};
use super::parse::{Parser, Symbol, Targets};
use super::types::{Member, Struct, Type, WORD, align};
use std::collections::HashMap;
use std::rc::Rc;

/// Words that a declaration may begin with.
const BASES: [&str; 9] =
    ["void", "char", "int", "unsigned", "long", "short", "struct", "enum", "signed"];

/// Words before the type.
const STORAGE: [&str; 6] = ["typedef", "extern", "static", "const", "register", "volatile"];

/// Arrays and structs are at most this large, in bytes.
const LARGEST: u32 = 1 << 24;

/// What is declared: its name, its type, and the names and types of its parameters if it is a function.
struct Declarator {
    name: Rc<str>,
    kind: Type,
    parameters: Vec<(Rc<str>, Type)>,
}

/// The words before a type.
#[derive(Clone, Copy, Default)]
struct Storage {
    typedef: bool,
    external: bool,
    private: bool,
}

impl Parser {
    /// Whether the token `ahead` begins a type.
    pub(super) fn is_type(&self, ahead: usize) -> bool {
        match self.ahead(ahead) {
            Kind::Word(word) => {
                BASES.contains(&&**word)
                    || STORAGE.contains(&&**word)
                    || matches!(self.lookup(word), Some(Symbol::Type(_)))
            }
            _ => false,
        }
    }

    fn storage(&mut self) -> Storage {
        let mut storage = Storage::default();
        while let Kind::Word(word) = self.peek() {
            match &**word {
                "typedef" => storage.typedef = true,
                "extern" => storage.external = true,
                "static" => storage.private = true,
                "const" | "register" | "volatile" => {}
                _ => break,
            }
            self.next();
        }
        storage
    }

    /// A type without its declarators.
    fn base(&mut self) -> Result<Type, Fault> {
        if self.accept_word("const") {
            return self.deeper(Self::base);
        }
        let name = self.name()?;
        let kind = match &*name {
            "void" => Type::Void,
            "char" => Type::Char,
            "int" => Type::Int,
            "unsigned" | "signed" | "long" | "short" => {
                let char = self.accept_word("char");
                self.accept_word("int");
                if char { Type::Char } else { Type::Int }
            }
            "struct" => self.deeper(Self::structure)?,
            "enum" => self.enumeration()?,
            _ => match self.lookup(&name) {
                Some(Symbol::Type(kind)) => kind.clone(),
                _ => return Err(self.fault(format!("{name} is no type"))),
            },
        };
        self.accept_word("const");
        Ok(kind)
    }

    fn structure(&mut self) -> Result<Type, Fault> {
        let tag = if *self.peek() == Kind::Mark("{") { None } else { Some(self.name()?) };
        let known = tag.as_ref().and_then(|tag| self.tags.get(tag)).copied();
        let number = known.unwrap_or(self.structs.len());
        if known.is_none() {
            self.structs.push(Struct::default());
            self.tags.extend(tag.map(|tag| (tag, number)));
        }
        if !self.accept("{") {
            return Ok(Type::Struct(number));
        }
        let mut made = Struct::default();
        while !self.accept("}") {
            let base = self.base()?;
            loop {
                let Declarator { name, kind, .. } = self.declarator(base.clone())?;
                let offset = made.size.next_multiple_of(align(&kind));
                let size = self.size(&kind);
                made.size = offset.saturating_add(size);
                if size == 0 || made.size > LARGEST {
                    return Err(self.fault(format!("{name} has no size, or too large a one")));
                }
                made.members.push(Member { name, kind, offset });
                if !self.accept(",") {
                    break;
                }
            }
            self.expect(";")?;
        }
        made.size = made.size.next_multiple_of(WORD);
        self.structs[number] = made;
        Ok(Type::Struct(number))
    }

    fn enumeration(&mut self) -> Result<Type, Fault> {
        if *self.peek() != Kind::Mark("{") {
            self.name()?;
        }
        if self.accept("{") {
            let mut next = 0;
            while !self.accept("}") {
                let name = self.name()?;
                if self.accept("=") {
                    next = self.known()?;
                }
                self.declare(name, Symbol::Constant(next));
                next = next.wrapping_add(1);
                if *self.peek() != Kind::Mark("}") {
                    self.expect(",")?;
                }
            }
        }
        Ok(Type::Int)
    }

    /// Stars, a name or a pointer to a function in parentheses, then brackets or parameters.
    fn declarator(&mut self, base: Type) -> Result<Declarator, Fault> {
        let mut kind = base;
        while self.accept("*") {
            kind = kind.pointer();
            self.accept_word("const");
        }
        if *self.peek() == Kind::Mark("(") && *self.ahead(1) == Kind::Mark("*") {
            self.next();
            self.next();
            let name = self.optional_name();
            let counts = self.counts()?;
            self.expect(")")?;
            self.expect("(")?;
            self.parameters()?;
            let pointer = Type::Function(Rc::new(kind)).pointer();
            let kind = self.arrays(pointer, &counts)?;
            return Ok(Declarator { name, kind, parameters: Vec::new() });
        }
        let name = self.optional_name();
        if self.accept("(") {
            let parameters = self.parameters()?;
            return Ok(Declarator { name, kind: Type::Function(Rc::new(kind)), parameters });
        }
        let counts = self.counts()?;
        let kind = self.arrays(kind, &counts)?;
        Ok(Declarator { name, kind, parameters: Vec::new() })
    }

    fn optional_name(&mut self) -> Rc<str> {
        match self.peek().clone() {
            Kind::Word(name) => {
                self.next();
                name
            }
            _ => "".into(),
        }
    }

    /// The numbers in brackets; 0 where there is none.
    fn counts(&mut self) -> Result<Vec<u32>, Fault> {
        let mut counts = Vec::new();
        while self.accept("[") {
            let count = if *self.peek() == Kind::Mark("]") { 0 } else { self.known()? };
            let count = u32::try_from(count).map_err(|_| self.fault("a negative size"))?;
            self.expect("]")?;
            counts.push(count);
        }
        Ok(counts)
    }

    fn arrays(&self, kind: Type, counts: &[u32]) -> Result<Type, Fault> {
        let made = counts.iter().rev().fold(kind, |kind, &count| Type::Array(Rc::new(kind), count));
        if self.size(&made) > LARGEST {
            return Err(self.fault("this array is too large"));
        }
        Ok(made)
    }

    /// Parameters up to the closing parenthesis; arrays are pointers here.
    fn parameters(&mut self) -> Result<Vec<(Rc<str>, Type)>, Fault> {
        let mut all = Vec::new();
        if *self.peek() == Kind::Word("void".into()) && *self.ahead(1) == Kind::Mark(")") {
            self.next();
        }
        while !self.accept(")") {
            if !self.accept("...") {
                self.storage();
                let base = self.base()?;
                let one = self.deeper(|p| p.declarator(base))?;
                let kind = match one.kind {
                    Type::Array(inner, _) => Type::Pointer(inner),
                    Type::Function(_) => one.kind.pointer(),
                    kind => kind,
                };
                all.push((one.name, kind));
            }
            if *self.peek() != Kind::Mark(")") {
                self.expect(",")?;
            }
        }
        Ok(all)
    }

    /// A type in a cast or in `sizeof`.
    pub(super) fn type_name(&mut self) -> Result<Type, Fault> {
        self.storage();
        let base = self.base()?;
        Ok(self.declarator(base)?.kind)
    }

    /// A declaration or function of the file.
    pub(super) fn external(&mut self) -> Result<(), Fault> {
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
            // A second declaration without a value adds nothing.
            Some(_) if made.data.is_empty() => {}
            Some(&at) => self.module.globals[at] = made,
            None => {
                self.globals.insert(name, self.module.globals.len());
                self.module.globals.push(made);
            }
        }
        Ok(())
    }

    /// A first value; gives how many elements it has.
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
            Place::Constant(value) if *kind == Type::Char => Datum::Bytes(vec![value as u8]),
            Place::Constant(value) => Datum::Word(value),
            Place::Address(name, offset) => Datum::Address(name, offset),
            Place::Symbol(name, offset) if constant_place => Datum::Address(name, offset),
            _ => return Err(self.fault("a first value must be known")),
        };
        data.push(datum);
        Ok(())
    }

    /// Variables of a block.
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
                    self.store(&Operand { kind, place: Place::Slot(slot, 0) }, from)?;
                }
            }
            if *self.peek() != Kind::Mark(";") {
                self.expect(",")?;
            }
        }
        Ok(())
    }

    /// A new variable in memory.
    fn slot(&mut self, kind: &Type, parameter: Option<u32>) -> Result<u32, Fault> {
        let size = self.size(kind);
        if size == 0 {
            return Err(self.fault("a variable without a size"));
        }
        let scalar = kind.is_scalar();
        self.function.slots.push(SlotInfo { size, scalar, parameter });
        Ok(self.function.slots.len() as u32 - 1)
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
