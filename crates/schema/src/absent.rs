//! Which fields are left out of a file: those with the value that a file without them is read with.

/// Whether a field has the default of its type, and so can be left out.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
