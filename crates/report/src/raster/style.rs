//! Applies a style sheet to an element: the part of CSS that our pictures use, in the light theme.
//!
//! Selectors are tags and classes of the element and of its ancestors. Every property is inherited,
//! as CSS does for all properties that our sheets set. Variables (`--name`, `var(--name)`) follow
//! CSS.

use std::collections::BTreeMap;

/// An element as selectors see it.
#[derive(Debug, Clone, Copy)]
pub struct Element<'a> {
    pub tag: &'a str,
    /// Words separated by spaces.
    pub classes: &'a str,
}

/// `tag.class.class`, any part of which may be missing; `:root` is the outermost element.
struct Compound<'a> {
    tag: &'a str,
    classes: Vec<&'a str>,
}

impl<'a> Compound<'a> {
    fn parse(text: &'a str) -> Self {
        let mut parts = text.split('.');
        Compound { tag: parts.next().unwrap_or_default(), classes: parts.collect() }
    }

    fn matches(&self, element: &Element<'_>, is_root: bool) -> bool {
        let has = |class: &&str| element.classes.split_whitespace().any(|own| own == *class);
        let tag = match self.tag {
            "" => true,
            ":root" => is_root,
            tag => tag == element.tag,
        };
        tag && self.classes.iter().all(has)
    }
}

struct Rule<'a> {
    /// From the outermost element to the one that the rule applies to.
    selector: Vec<Compound<'a>>,
    declarations: Vec<(&'a str, &'a str)>,
}

impl Rule<'_> {
    /// The specificity of a rule: the number of its classes, then of its tags.
    fn weight(&self) -> (usize, usize) {
        let classes = self.selector.iter().map(|one| one.classes.len()).sum();
        (classes, self.selector.iter().filter(|one| !one.tag.is_empty()).count())
    }

    /// Whether the rule applies to the last element of `chain`, which begins at the root.
    fn matches(&self, chain: &[Element<'_>]) -> bool {
        let mut wanted = self.selector.iter().rev().peekable();
        for (depth, element) in chain.iter().enumerate().rev() {
            let is_last = depth + 1 == chain.len();
            match wanted.peek() {
                Some(compound) if compound.matches(element, depth == 0) => drop(wanted.next()),
                Some(_) if is_last => return false,
                _ => {}
            }
        }
        wanted.peek().is_none()
    }
}

/// A style sheet.
pub struct Sheet<'a>(Vec<Rule<'a>>);

impl<'a> Sheet<'a> {
    /// Parses a sheet that has no comments and no blocks such as `@media`; see [`plain`].
    pub fn parse(text: &'a str) -> Self {
        let mut rules = Vec::new();
        for (selectors, body) in text.split('}').filter_map(|part| part.split_once('{')) {
            let pairs = body.split(';').filter_map(|one| one.split_once(':'));
            let declarations: Vec<_> =
                pairs.map(|(name, value)| (name.trim(), value.trim())).collect();
            rules.extend(selectors.split(',').map(|selector| Rule {
                selector: selector.split_whitespace().map(Compound::parse).collect(),
                declarations: declarations.clone(),
            }));
        }
        rules.sort_by_key(Rule::weight);
        Sheet(rules)
    }

    /// The style of the last element of `chain`: inherited values, then its attributes, then the
    /// rules.
    pub fn style(
        &self,
        inherited: &Style<'a>,
        attributes: impl Iterator<Item = (&'a str, &'a str)>,
        chain: &[Element<'_>],
    ) -> Style<'a> {
        let mut own = inherited.clone();
        own.0.extend(attributes);
        for rule in self.0.iter().filter(|rule| rule.matches(chain)) {
            own.0.extend(rule.declarations.iter().copied());
        }
        own
    }
}

/// Removes the comments of a sheet and its blocks for other themes and media.
pub fn plain(sheet: &str) -> String {
    let mut out = String::with_capacity(sheet.len());
    let mut rest = sheet;
    while let Some(at) = rest.find(['@', '/']) {
        let (before, found) = rest.split_at(at);
        out += before;
        rest = match found {
            comment if comment.starts_with("/*") => {
                comment.split_once("*/").map_or("", |(_, after)| after)
            }
            block if block.starts_with('@') => after_block(block),
            other => &other[1..],
        };
    }
    out + rest
}

/// The text after the block at the start of `text`; skips inner blocks too.
fn after_block(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth <= 1 => return &text[at + 1..],
            '}' => depth -= 1,
            _ => {}
        }
    }
    ""
}

/// Properties and variables by name.
#[derive(Debug, Clone, Default)]
pub struct Style<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Style<'a> {
    /// The value of a property, with its variable resolved.
    pub fn get(&self, name: &str) -> Option<&'a str> {
        // A variable may name another one; ours are two deep.
        const DEEPEST: usize = 8;
        let mut value = *self.0.get(name)?;
        for _ in 0..DEEPEST {
            match value.strip_prefix("var(").and_then(|rest| rest.strip_suffix(')')) {
                Some(variable) => value = self.0.get(variable.trim())?,
                None => return Some(value),
            }
        }
        None
    }

    /// A number, with or without `px`.
    pub fn number(&self, name: &str) -> Option<f32> {
        self.get(name)?.trim_end_matches("px").parse().ok()
    }

    /// A colour `#rrggbb` as red, green and blue; `None` for any other value, such as `none`.
    pub fn colour(&self, name: &str) -> Option<[u8; 3]> {
        let digits = self.get(name)?.strip_prefix('#').filter(|digits| digits.len() == 6)?;
        let [_, red, green, blue] = u32::from_str_radix(digits, 16).ok()?.to_be_bytes();
        Some([red, green, blue])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::DASHES;
    use std::collections::BTreeSet;

    const SHEET: &str = "/* Two themes. */ :root { --ink: #010203; } @media (dark) { :root { --ink: #ffffff; } }
        .read { --c: var(--ink); } .write { --c: #0a0b0c; }
        .plot .line, .legend .line { stroke: var(--c); } .plot.off .line { stroke: none } path { stroke-width: 2px; }";

    fn of<'a>(sheet: &Sheet<'a>, chain: &[Element<'_>]) -> Style<'a> {
        let mut style = Style::default();
        for end in 1..=chain.len() {
            style = sheet.style(&style, std::iter::empty(), &chain[..end]);
        }
        style
    }

    fn element(tag: &'static str, classes: &'static str) -> Element<'static> {
        Element { tag, classes }
    }

    #[test]
    fn variables_are_those_of_the_nearest_element_and_of_the_light_theme() {
        let text = plain(SHEET);
        let sheet = Sheet::parse(&text);
        let plot = element("svg", "plot");
        let line = element("path", "line thin");
        let read = of(&sheet, &[plot, element("g", "read"), line]);
        assert_eq!(read.colour("stroke"), Some([1, 2, 3]));
        assert_eq!(read.number("stroke-width"), Some(2.0));
        let write = of(&sheet, &[plot, element("g", "read"), element("g", "write"), line]);
        assert_eq!(write.colour("stroke"), Some([10, 11, 12]));
    }

    #[test]
    fn a_rule_with_more_classes_wins_and_others_do_not_match() {
        let text = plain(SHEET);
        let sheet = Sheet::parse(&text);
        let read = element("g", "read");
        let hidden = of(&sheet, &[element("svg", "plot off"), read, element("path", "line")]);
        assert_eq!(hidden.get("stroke"), Some("none"));
        assert_eq!(hidden.colour("stroke"), None);
        let outside = of(&sheet, &[element("svg", ""), read, element("path", "line")]);
        assert_eq!(outside.get("stroke"), None);
        let other = of(&sheet, &[element("svg", "plot"), read, element("path", "dot")]);
        assert_eq!(other.get("stroke"), None);
    }

    #[test]
    fn lines_of_one_colour_are_told_apart_by_their_dashes() {
        let text = plain(include_str!("../plot/chart.css"));
        let sheet = Sheet::parse(&text);
        let dashes = |path: &'static str, class: &str| {
            let class = format!("series read{class}");
            let group = Element { tag: "g", classes: &class };
            let chain = [element("svg", "plot"), group, element("path", path)];
            of(&sheet, &chain).get("stroke-dasharray")
        };
        for path in ["line", "thin"] {
            let own = DASHES.map(|class| dashes(path, class));
            assert_eq!(BTreeSet::from(own).len(), 4, "{path}: {own:?}");
        }
        // Dots are reserved for 99th percentiles and for the second of two traces.
        let own = DASHES.map(|class| dashes("line", class));
        let first = |dashes: &str| dashes.split(' ').next()?.parse::<f32>().ok();
        assert!(own.into_iter().flatten().filter_map(first).all(|dash| dash >= 3.0), "{own:?}");
        assert!(!own.contains(&dashes("line", " second")), "{own:?}");
        for class in DASHES {
            assert_eq!(dashes("line", &format!("{class} tail")), Some("1.5 4"), "{class}");
        }
    }

    #[test]
    fn a_circle_of_variables_has_no_value() {
        let sheet = Sheet::parse(":root { --a: var(--b); --b: var(--a); fill: var(--a) }");
        assert_eq!(of(&sheet, &[element("svg", "")]).get("fill"), None);
    }
}
