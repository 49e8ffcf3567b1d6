//! Types and declarators: the parts of a declaration before, around and after a name.

use super::Fault;
use super::lex::Kind;
use super::parse::{Parser, Symbol};
use super::types::{Member, Struct, Type, WORD, align};
use std::rc::Rc;

/// Words that a type may begin with.
const BASES: [&str; 9] =
    ["void", "char", "int", "unsigned", "long", "short", "struct", "enum", "signed"];

/// Words that may precede the type.
const STORAGE: [&str; 6] = ["typedef", "extern", "static", "const", "register", "volatile"];

/// The largest array or struct, in bytes.
const LARGEST: u32 = 1 << 24;

/// The result of a declaration: name, type, and the parameters if it is a function.
pub(super) struct Declarator {
    /// The name; empty for a type alone.
    pub(super) name: Rc<str>,
    /// Its type.
    pub(super) kind: Type,
    /// Names and types of the parameters.
    pub(super) parameters: Vec<(Rc<str>, Type)>,
}

/// The storage words before a type.
#[derive(Clone, Copy, Default)]
pub(super) struct Storage {
    /// `typedef`.
    pub(super) typedef: bool,
    /// `extern`.
    pub(super) external: bool,
    /// `static`.
    pub(super) private: bool,
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

    /// Parses the words before a type.
    pub(super) fn storage(&mut self) -> Storage {
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

    /// Parses a type without its declarators.
    pub(super) fn base(&mut self) -> Result<Type, Fault> {
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

    /// Parses stars, a name or a parenthesised pointer to a function, then brackets or parameters.
    pub(super) fn declarator(&mut self, base: Type) -> Result<Declarator, Fault> {
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

    /// Parses the numbers in brackets; empty brackets give 0.
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

    /// Parses parameters up to the closing parenthesis; arrays become pointers.
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

    /// Parses a type in a cast or in `sizeof`.
    pub(super) fn type_name(&mut self) -> Result<Type, Fault> {
        self.storage();
        let base = self.base()?;
        Ok(self.declarator(base)?.kind)
    }
}
