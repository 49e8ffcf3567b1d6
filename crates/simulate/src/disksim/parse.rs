//! The notation of DiskSim's files: `kind name { key = value, … }`, lists in brackets, `source FILE`, comments after `#`.

use crate::Error;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A word, such as the name of a form.
    Word(String),
    /// `source FILE`, or a file named by a word.
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
    /// Keys, values and lines.
    pub fields: Vec<(String, Value, usize)>,
}

impl Block {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.fields.iter().find(|(known, _, _)| known == key).map(|(_, value, _)| value)
    }

    /// A number.
    pub fn number(&self, key: &str) -> Option<f64> {
        match self.get(key)? {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }
}

/// Blocks within blocks at most.
const DEPTH_MOST: usize = 16;

struct Cursor<'a> {
    name: &'a str,
    words: Vec<(&'a str, usize)>,
    at: usize,
}

/// The blocks of a file.
///
/// # Errors
/// Notation that is broken, with its line.
pub fn parse(text: &str, name: &str) -> Result<Vec<Block>, Error> {
    let mut cursor = Cursor { name, words: words(text), at: 0 };
    let mut blocks = Vec::new();
    while cursor.at < cursor.words.len() {
        let head = cursor.until(&["{"])?;
        blocks.push(cursor.block(&head, 0)?);
    }
    Ok(blocks)
}

/// Words and signs with their lines.
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

    /// The words before one of `signs`, which stays.
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
                    _ => all.push(self.value(depth + 1)?),
                }
            }
        }
        let head = self.until(&["{", ",", "}", "]"])?;
        if self.peek() == Some("{") {
            return Ok(Value::Block(self.block(&head, depth + 1)?));
        }
        match head.as_slice() {
            [word, file] if word == "source" => Ok(Value::Source(file.clone())),
            [word] => Ok(word.parse().map_or_else(|_| Value::Word(word.clone()), Value::Number)),
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
        let blocks = parse(text, "d").unwrap();
        assert_eq!((blocks[0].kind.as_str(), blocks[0].name.as_str()), ("disk", "D one"));
        assert_eq!(blocks[0].get("Model"), Some(&Value::Source("d.model".into())));
        let Some(Value::List(zones)) = blocks[0].get("Zones") else { panic!("a list") };
        let Value::Block(zone) = &zones[0] else { panic!("a block") };
        assert_eq!(zone.number("a b"), Some(1.5));
    }

    #[test]
    fn broken_notation_is_refused_with_its_line() {
        for text in ["disk {\n a = 1\n", "disk {\n a\n}", "disk {\n a = 1 2 3\n}", "disk"] {
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
