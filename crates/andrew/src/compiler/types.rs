//! Types of the compiler's subset of C, and their sizes on its target.

use std::rc::Rc;

/// Size of an int or a pointer, in bytes.
pub(crate) const WORD: u32 = 4;

/// A type.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Type {
    /// No value.
    #[default]
    Void,
    /// An unsigned byte.
    Char,
    /// A signed word.
    Int,
    /// A pointer.
    Pointer(Rc<Type>),
    /// Elements of one type, and their number.
    Array(Rc<Type>, u32),
    /// A struct, by its index.
    Struct(usize),
    /// A function with this return type.
    Function(Rc<Type>),
}

impl Type {
    /// Returns the type of a pointer to this.
    pub(crate) fn pointer(self) -> Self {
        Self::Pointer(Rc::new(self))
    }

    /// Returns the element type of an array or pointer.
    pub(crate) fn element(&self) -> Option<&Self> {
        match self {
            Self::Pointer(inner) | Self::Array(inner, _) => Some(inner),
            _ => None,
        }
    }

    /// Whether a register can hold it.
    pub(crate) fn is_scalar(&self) -> bool {
        matches!(self, Self::Char | Self::Int | Self::Pointer(_))
    }
}

/// A member of a struct.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// Its name.
    pub(crate) name: Rc<str>,
    /// Its type.
    pub(crate) kind: Type,
    /// Its byte offset.
    pub(crate) offset: u32,
}

/// A struct.
#[derive(Clone, Debug, Default)]
pub(crate) struct Struct {
    /// Its members; empty until it is defined.
    pub(crate) members: Vec<Member>,
    /// Its size in bytes.
    pub(crate) size: u32,
}

/// Returns the size of a type in bytes; 0 if it has none.
pub(crate) fn size(kind: &Type, structs: &[Struct]) -> u32 {
    match kind {
        Type::Void | Type::Function(_) => 0,
        Type::Char => 1,
        Type::Int | Type::Pointer(_) => WORD,
        Type::Array(inner, count) => size(inner, structs).saturating_mul(*count),
        Type::Struct(number) => structs.get(*number).map_or(0, |one| one.size),
    }
}

/// Returns the alignment of a type in bytes.
pub(crate) fn align(kind: &Type) -> u32 {
    match kind {
        Type::Char => 1,
        Type::Array(inner, _) => align(inner),
        _ => WORD,
    }
}
