//! A section of the page.

use std::borrow::Cow;

/// A section of the page, with an entry in its navigation; left out if its body is empty.
pub struct Section {
    /// Identifier of its element.
    pub id: Cow<'static, str>,
    /// Its entry in the navigation.
    pub name: Cow<'static, str>,
    /// HTML.
    pub body: String,
}

impl Section {
    /// A section.
    pub fn new(
        id: impl Into<Cow<'static, str>>,
        name: impl Into<Cow<'static, str>>,
        body: String,
    ) -> Self {
        Self { id: id.into(), name: name.into(), body }
    }

    /// The HTML element; empty if the body is.
    pub fn html(&self) -> String {
        if self.body.is_empty() {
            return String::new();
        }
        format!(r#"<section id="{}">{}</section>"#, self.id, self.body)
    }
}

/// Sections inside another one, with `prefix` before their identifiers to make these unique.
///
/// Quotation marks in text are escaped, so that only attributes match the replacement. Figures keep
/// the beginning by which their names are found.
pub fn nested(sections: &[Section], prefix: &str) -> String {
    let mut all: String = sections.iter().map(Section::html).collect();
    for attribute in [" id=\"", " for=\"", " name=\"", " href=\"#"] {
        all = all.replace(attribute, &format!("{attribute}{prefix}"));
    }
    for begin in ["<figure id=\"", " href=\"#"] {
        all = all.replace(&format!("{begin}{prefix}figure-"), &format!("{begin}figure-{prefix}"));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_of_nested_sections_are_their_own() {
        let body =
            r##"<figure id="x"><input name="y" data-name="z"><a href="#x">id="q"</a></figure>"##;
        let section = |id: &'static str, body: &str| Section::new(id, id, body.to_owned());
        let all = nested(&[section("s", body), section("t", "")], "result-2-");
        assert!(all.starts_with(r#"<section id="result-2-s">"#), "{all}");
        assert!(all.contains(r#""result-2-x""#) && all.contains(r##"href="#result-2-x""##));
        assert!(all.contains(r#" name="result-2-y" data-name="z""#), "{all}");
        assert_eq!(all.matches("<section").count(), 1, "nothing of what is empty");
    }

    #[test]
    fn nested_figures_have_names_at_any_depth() {
        let figure =
            r##"<figure id="figure-f"><a href="#figure-f"><input id="figure-f-log"></figure>"##;
        let section = |body: &str| Section::new("s", "s", body.to_owned());
        let twice = nested(&[section(&nested(&[section(figure)], "access-2-"))], "result-3-");
        for is_there in [
            r#"<figure id="figure-result-3-access-2-f">"#,
            r##"<a href="#figure-result-3-access-2-f">"##,
            r#"<input id="result-3-access-2-figure-f-log">"#,
        ] {
            assert!(twice.contains(is_there), "{twice}");
        }
    }
}
