//! A section of the page.

/// A section of the page, with an entry in its navigation; left out when its body is empty.
pub struct Section {
    /// Identifier of its element.
    pub id: &'static str,
    /// Its entry in the navigation.
    pub name: &'static str,
    /// HTML.
    pub body: String,
}

impl Section {
    /// A section.
    pub fn new(id: &'static str, name: &'static str, body: String) -> Self {
        Self { id, name, body }
    }
}
