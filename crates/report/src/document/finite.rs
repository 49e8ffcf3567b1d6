//! Finds the first number that is not finite: JSON cannot hold it, and `null` would hide it.

use serde::ser::{self, Serialize};
use std::fmt;

/// Why a document cannot be written: a producer stored a number that is not finite.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the result cannot be written: {place} is not a finite number; this is a fault of ioscape, please report it"
)]
pub struct NotFinite {
    /// Path of the field, or the error message of a type's own serializer.
    pub place: String,
}

impl ser::Error for NotFinite {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { place: message.to_string() }
    }
}

/// Visits every number of `value` in the order in which it would be written.
///
/// # Errors
/// The path of the first number that is not finite, such as
/// `evaluation.regions[1].focal.read_frac`.
pub fn check<T: Serialize + ?Sized>(value: &T) -> Result<(), NotFinite> {
    value.serialize(&mut FiniteCheck { path: Vec::new() })
}

enum PathStep {
    Field(String),
    Index(usize),
}

struct FiniteCheck {
    path: Vec<PathStep>,
}

impl FiniteCheck {
    fn number(&self, value: f64) -> Result<(), NotFinite> {
        if value.is_finite() { Ok(()) } else { Err(NotFinite { place: self.place() }) }
    }

    fn place(&self) -> String {
        let mut text = String::new();
        for step in &self.path {
            match step {
                PathStep::Field(name) if text.is_empty() => text.push_str(name),
                PathStep::Field(name) => text.extend([".", name]),
                PathStep::Index(index) => text.push_str(&format!("[{index}]")),
            }
        }
        text
    }

    fn at<T: Serialize + ?Sized>(&mut self, step: PathStep, value: &T) -> Result<(), NotFinite> {
        self.path.push(step);
        value.serialize(&mut *self)?;
        self.path.pop();
        Ok(())
    }
}

/// A sequence being visited, and the index of its next element.
struct Elements<'a>(&'a mut FiniteCheck, usize);

/// A map or struct being visited, and the key whose value comes next.
struct Fields<'a>(&'a mut FiniteCheck, String);

/// Methods for values without a number that could fail the check.
macro_rules! fine {
    ($($method:ident($($type:ty),*)),* $(,)?) => {
        $(fn $method(self, $(_: $type),*) -> Result<(), NotFinite> { Ok(()) })*
    };
}

impl<'a> ser::Serializer for &'a mut FiniteCheck {
    type Ok = ();
    type Error = NotFinite;
    type SerializeSeq = Elements<'a>;
    type SerializeTuple = Elements<'a>;
    type SerializeTupleStruct = Elements<'a>;
    type SerializeTupleVariant = Elements<'a>;
    type SerializeMap = Fields<'a>;
    type SerializeStruct = Fields<'a>;
    type SerializeStructVariant = Fields<'a>;

    fine!(
        serialize_bool(bool),
        serialize_i8(i8),
        serialize_i16(i16),
        serialize_i32(i32),
        serialize_i64(i64),
        serialize_u8(u8),
        serialize_u16(u16),
        serialize_u32(u32),
        serialize_u64(u64),
        serialize_char(char),
        serialize_str(&str),
        serialize_bytes(&[u8]),
        serialize_none(),
        serialize_unit(),
        serialize_unit_struct(&'static str),
        serialize_unit_variant(&'static str, u32, &'static str),
    );

    fn serialize_f32(self, value: f32) -> Result<(), NotFinite> {
        self.number(f64::from(value))
    }
    fn serialize_f64(self, value: f64) -> Result<(), NotFinite> {
        self.number(value)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), NotFinite> {
        value.serialize(self)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), NotFinite> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), NotFinite> {
        self.at(PathStep::Field(variant.to_owned()), value)
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Elements<'a>, NotFinite> {
        Ok(Elements(self, 0))
    }
    fn serialize_tuple(self, _: usize) -> Result<Elements<'a>, NotFinite> {
        Ok(Elements(self, 0))
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Elements<'a>, NotFinite> {
        Ok(Elements(self, 0))
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Elements<'a>, NotFinite> {
        Ok(Elements(self, 0))
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Fields<'a>, NotFinite> {
        Ok(Fields(self, String::new()))
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Fields<'a>, NotFinite> {
        Ok(Fields(self, String::new()))
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Fields<'a>, NotFinite> {
        Ok(Fields(self, String::new()))
    }
}

macro_rules! elements {
    ($($trait:ident::$method:ident),*) => {$(
        impl ser::$trait for Elements<'_> {
            type Ok = ();
            type Error = NotFinite;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotFinite> {
                self.1 += 1;
                self.0.at(PathStep::Index(self.1 - 1), value)
            }
            fn end(self) -> Result<(), NotFinite> { Ok(()) }
        }
    )*};
}
elements!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);

macro_rules! fields {
    ($($trait:ident),*) => {$(
        impl ser::$trait for Fields<'_> {
            type Ok = ();
            type Error = NotFinite;
            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), NotFinite> {
                self.0.at(PathStep::Field(key.to_owned()), value)
            }
            fn end(self) -> Result<(), NotFinite> { Ok(()) }
        }
    )*};
}
fields!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for Fields<'_> {
    type Ok = ();
    type Error = NotFinite;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), NotFinite> {
        self.1 = serde_json::to_value(key)
            .ok()
            .and_then(|key| key.as_str().map(str::to_owned))
            .unwrap_or_default();
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotFinite> {
        let key = std::mem::take(&mut self.1);
        self.0.at(PathStep::Field(key), value)
    }
    fn end(self) -> Result<(), NotFinite> {
        Ok(())
    }
}
