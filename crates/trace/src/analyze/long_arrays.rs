//! Serializes arrays that are too long for serde's own implementations, as sequences.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

/// An array, or an array of arrays, as a flat list of elements.
pub trait Elements: Sized {
    /// Type of an element.
    type Element;
    /// Number of elements.
    const COUNT: usize;
    /// Returns the elements, in order.
    fn elements(&self) -> impl Iterator<Item = Self::Element>;
    /// Builds the array from exactly [`COUNT`](Self::COUNT) elements.
    fn of(elements: &[Self::Element]) -> Self;
}

impl<const N: usize> Elements for Box<[u8; N]> {
    type Element = u8;
    const COUNT: usize = N;

    fn elements(&self) -> impl Iterator<Item = u8> {
        self.iter().copied()
    }

    fn of(elements: &[u8]) -> Self {
        let mut array = Box::new([0; N]);
        array.copy_from_slice(elements);
        array
    }
}

impl<const N: usize, const M: usize> Elements for Box<[[u64; N]; M]> {
    type Element = u64;
    const COUNT: usize = N * M;

    fn elements(&self) -> impl Iterator<Item = u64> {
        self.iter().flatten().copied()
    }

    fn of(elements: &[u64]) -> Self {
        let mut array = Box::new([[0; N]; M]);
        array.as_flattened_mut().copy_from_slice(elements);
        array
    }
}

/// For `#[serde(with)]`.
pub fn serialize<A: Elements<Element: serde::Serialize>, S: Serializer>(
    array: &A,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(array.elements().collect::<Vec<_>>())
}

/// For `#[serde(with)]`.
pub fn deserialize<'de, A: Elements<Element: Deserialize<'de>>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<A, D::Error> {
    let elements = Vec::deserialize(deserializer)?;
    if elements.len() == A::COUNT {
        Ok(A::of(&elements))
    } else {
        Err(D::Error::invalid_length(elements.len(), &"the length of the array"))
    }
}
