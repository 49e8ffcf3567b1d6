//! Omission of fields from a file if their value is the one assumed when they are missing.

/// Returns whether a field has its default value and can be omitted.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
