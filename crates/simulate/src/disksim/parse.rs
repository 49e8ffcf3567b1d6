//! The notation of DiskSim's files: blocks `kind name { key = value, … }`, lists in brackets, and
//! comments after `#`; between the blocks, `source FILE`, `instantiate [ names ] as NAME` and
//! `topology kind name [ … ]`.

use crate::Error;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A word, such as the name of a form.
    Word(String),
    /// The file of `source FILE`.
    Source(String),
    /// `[ … ]`.
    List(Vec<Value>),
    /// `kind { … }`.
    Block(Block),
}

/// A block of keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// What it describes.
    pub kind: String,
    /// Its name, if any.
    pub name: String,
    /// Keys, values and line numbers.
    pub fields: Vec<(String, Value, usize)>,
}

impl Block {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.fields.iter().find(|(known, _, _)| known == key).map(|(_, value, _)| value)
    }

    /// The value of a key, if it is a number.
    pub fn number(&self, key: &str) -> Option<f64> {
        match self.get(key)? {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }
}

/// A component of a topology, with the components behind it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Component {
    /// What it is, such as `disksim_bus`.
    pub kind: String,
    /// The name under which it was instantiated.
    pub name: String,
    /// The components connected behind it.
    pub behind: Vec<Component>,
}

/// The contents of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contents {
    /// Its blocks.
    pub blocks: Vec<Block>,
    /// The files that it includes.
    pub sources: Vec<String>,
    /// Names of components, each with the name of the block that describes it.
    pub instances: Vec<(String, String)>,
    /// The components at the head of the topology.
    pub topology: Vec<Component>,
}

/// Whether a text contains this word, such as the name of a file.
pub fn mentions(text: &str, word: &str) -> bool {
    words(text).iter().any(|(each, _)| *each == word)
}

/// Most levels of blocks within blocks.
const DEPTH_MOST: usize = 16;
/// Most names of a range.
const NAMES_MOST: u32 = 65_536;

struct Cursor<'a> {
    name: &'a str,
    words: Vec<(&'a str, usize)>,
    at: usize,
}

/// Parses the text of a file.
///
/// # Errors
/// Broken notation; the error names the line.
pub fn parse(text: &str, name: &str) -> Result<Contents, Error> {
    let mut cursor = Cursor { name, words: words(text), at: 0 };
    let mut found = Contents::default();
    while let Some(word) = cursor.peek() {
        match word {
            "source" => {
                cursor.at += 1;
                found.sources.push(cursor.word("the name of a file")?);
            }
            "instantiate" => {
                cursor.at += 1;
                cursor.instances(&mut found.instances)?;
            }
            "topology" => {
                cursor.at += 1;
                found.topology.push(cursor.component(0)?);
            }
            _ => {
                let head = cursor.until(&["{"])?;
                found.blocks.push(cursor.block(&head, 0)?);
            }
        }
    }
    Ok(found)
}

/// Splits a text into words and signs, with their line numbers.
fn words(text: &str) -> Vec<(&str, usize)> {
    let mut all = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut rest = line.split('#').next().unwrap_or_default();
        while let Some(start) = rest.find(|c: char| !c.is_whitespace()) {
            rest = &rest[start..];
            let is_sign = |c: char| "{}[]=,".contains(c);
            let end = match rest.find(|c: char| is_sign(c) || c.is_whitespace()) {
                Some(0) => 1,
                Some(end) => end,
                None => rest.len(),
            };
            all.push((&rest[..end], number + 1));
            rest = &rest[end..];
        }
    }
    all
}

impl Cursor<'_> {
    fn wrong(&self, what: &str) -> Error {
        let line =
            self.words.get(self.at.min(self.words.len().saturating_sub(1))).map_or(0, |w| w.1);
        Error::parameter(self.name, format!("line {line}: {what}"))
    }

    fn peek(&self) -> Option<&str> {
        self.words.get(self.at).map(|w| w.0)
    }

    fn take(&mut self, sign: &str) -> Result<(), Error> {
        if self.peek() != Some(sign) {
            return Err(self.wrong(&format!("{sign:?} is missing")));
        }
        self.at += 1;
        Ok(())
    }

    /// Takes the words before one of `signs`, but not the sign.
    fn until(&mut self, signs: &[&str]) -> Result<Vec<String>, Error> {
        let mut found = Vec::new();
        while let Some(word) = self.peek() {
            if signs.contains(&word) {
                return Ok(found);
            }
            found.push(word.to_owned());
            self.at += 1;
        }
        Err(self.wrong(&format!("the file ends before {}", signs.join(" or "))))
    }

    /// Takes the next word.
    fn word(&mut self, what: &str) -> Result<String, Error> {
        let word = self.peek().map(str::to_owned);
        let word = word.ok_or_else(|| self.wrong(&format!("the file ends before {what}")))?;
        self.at += 1;
        Ok(word)
    }

    /// Parses `[ name name .. name ] as NAME`; commas between names are optional.
    fn instances(&mut self, found: &mut Vec<(String, String)>) -> Result<(), Error> {
        self.take("[")?;
        let mut names: Vec<String> = Vec::new();
        loop {
            match self.word("]")?.as_str() {
                "]" => break,
                "," => {}
                ".." => {
                    let (from, to) = (names.pop().unwrap_or_default(), self.word("a name")?);
                    names.extend(self.between(&from, &to)?);
                }
                name => names.push(name.to_owned()),
            }
        }
        self.take("as")?;
        let of = self.word("the name of a block")?;
        found.extend(names.into_iter().map(|name| (name, of.clone())));
        Ok(())
    }

    /// Expands `disk0 .. disk3` to all names in between, which differ only in the number at their
    /// end.
    fn between(&self, from: &str, to: &str) -> Result<Vec<String>, Error> {
        let parts = |name: &str| {
            let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
            name[stem.len()..].parse::<u32>().ok().map(|number| (stem.to_owned(), number))
        };
        match (parts(from), parts(to)) {
            (Some((stem, first)), Some((other, last)))
                if stem == other && first <= last && last - first < NAMES_MOST =>
            {
                Ok((first..=last).map(|number| format!("{stem}{number}")).collect())
            }
            _ => Err(self.wrong(&format!("{from:?} .. {to:?} is no range of names"))),
        }
    }

    /// Parses `kind name [ components ]`.
    fn component(&mut self, depth: usize) -> Result<Component, Error> {
        if depth > DEPTH_MOST {
            return Err(self.wrong("too many components behind components"));
        }
        let (kind, name) = (self.word("a kind of component")?, self.word("its name")?);
        let mut component = Component { kind, name, behind: Vec::new() };
        self.take("[")?;
        loop {
            match self.peek() {
                Some("]") => {
                    self.at += 1;
                    return Ok(component);
                }
                Some(",") => self.at += 1,
                _ => component.behind.push(self.component(depth + 1)?),
            }
        }
    }

    fn block(&mut self, head: &[String], depth: usize) -> Result<Block, Error> {
        if depth > DEPTH_MOST {
            return Err(self.wrong("too many blocks within blocks"));
        }
        self.take("{")?;
        let mut block = Block {
            kind: head.first().cloned().unwrap_or_default(),
            name: head.get(1..).unwrap_or_default().join(" "),
            fields: Vec::new(),
        };
        loop {
            while self.peek() == Some(",") {
                self.at += 1;
            }
            if self.peek() == Some("}") {
                self.at += 1;
                return Ok(block);
            }
            let line = self.words.get(self.at).map_or(0, |w| w.1);
            let key = self.until(&["=", "}"])?.join(" ");
            self.take("=")?;
            let value = self.value(depth)?;
            block.fields.push((key, value, line));
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, Error> {
        if depth > DEPTH_MOST {
            return Err(self.wrong("too many lists within lists"));
        }
        if self.peek() == Some("[") {
            self.at += 1;
            let mut all = Vec::new();
            loop {
                match self.peek() {
                    Some("]") => {
                        self.at += 1;
                        return Ok(Value::List(all));
                    }
                    Some(",") => self.at += 1,
                    Some("[") => all.push(self.value(depth + 1)?),
                    // A range stands for its names.
                    _ => match self.value(depth + 1)? {
                        Value::List(names) => all.extend(names),
                        one => all.push(one),
                    },
                }
            }
        }
        let head = self.until(&["{", ",", "}", "]"])?;
        if self.peek() == Some("{") {
            return Ok(Value::Block(self.block(&head, depth + 1)?));
        }
        match head.as_slice() {
            [word, file] if word == "source" => Ok(Value::Source(file.clone())),
            [from, dots, to] if dots == ".." => {
                Ok(Value::List(self.between(from, to)?.into_iter().map(Value::Word).collect()))
            }
            [word] => {
                let number = word.parse().ok().filter(|number: &f64| number.is_finite());
                Ok(number.map_or_else(|| Value::Word(word.clone()), Value::Number))
            }
            _ => Err(self.wrong(&format!("{:?} is no value", head.join(" ")))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn blocks_lists_and_comments_are_read() {
        let text = "disk D one { # hello\n Model = source d.model,\n Zones = [ z { a b = 1.5 }, z { } ], last = [ 1, 2,3 ]\n}";
        let blocks = parse(text, "d").unwrap().blocks;
        assert_eq!((blocks[0].kind.as_str(), blocks[0].name.as_str()), ("disk", "D one"));
        assert_eq!(blocks[0].get("Model"), Some(&Value::Source("d.model".into())));
        let Some(Value::List(zones)) = blocks[0].get("Zones") else { panic!("a list") };
        let Value::Block(zone) = &zones[0] else { panic!("a block") };
        assert_eq!(zone.number("a b"), Some(1.5));
    }

    #[test]
    fn a_test_bed_is_read_with_its_components() {
        let text = "source a.diskspecs\ninstantiate [ d0, d1 ] as D\ntopology disksim_bus b [ disksim_disk d0 [] disksim_disk d1 [ ] ]";
        let found = parse(text, "p").unwrap();
        assert_eq!(found.sources, ["a.diskspecs"]);
        let both = [("d0".to_owned(), "D".to_owned()), ("d1".to_owned(), "D".to_owned())];
        assert_eq!(found.instances, both);
        let behind: Vec<&str> = found.topology[0].behind.iter().map(|c| c.name.as_str()).collect();
        assert_eq!((found.topology[0].kind.as_str(), behind), ("disksim_bus", vec!["d0", "d1"]));
        assert!(mentions(text, "a.diskspecs") && !mentions(text, "diskspecs"));
    }

    #[test]
    fn a_range_stands_for_its_names() {
        let found =
            parse("instantiate [ c, d8 .. d10 ] as D\nl L { devices = [ d0 .. d1, e ] }", "p");
        let found = found.unwrap();
        let names: Vec<&str> = found.instances.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["c", "d8", "d9", "d10"]);
        let devices = ["d0", "d1", "e"].map(|name| Value::Word(name.to_owned())).to_vec();
        assert_eq!(found.blocks[0].get("devices"), Some(&Value::List(devices)));
    }

    #[test]
    fn broken_notation_is_refused_with_its_line() {
        for text in [
            "disk {\n a = 1\n",
            "disk {\n a\n}",
            "disk {\n a = 1 2 3\n}",
            "disk",
            "topology a b [ c",
            "instantiate [ a",
            "instantiate [ .. a1 ] as b",
            "instantiate [ a2 .. a1 ] as b",
            "instantiate [ a1 .. b2 ] as b",
            "instantiate [ a1 .. a4294967295 ] as b",
            "source",
        ] {
            assert!(parse(text, "d").unwrap_err().to_string().contains("line"), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_much(text in r"[a-z0-9 {}\[\]=,#\n.]{0,200}") {
            let _ = parse(&text, "any");
        }
    }
}
