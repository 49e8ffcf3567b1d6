//! Splits preprocessed text into tokens, each with its file and line.

use super::Fault;
use std::rc::Rc;

/// The kind of a token.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// A keyword or name.
    Word(Rc<str>),
    /// A number or character.
    Number(i64),
    /// A string, without its terminating zero.
    Text(Vec<u8>),
    /// An operator or other mark.
    Mark(&'static str),
    /// The end.
    End,
}

/// A token and its source position.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    /// What it is.
    pub(crate) kind: Kind,
    /// File.
    pub(crate) file: Rc<str>,
    /// Line.
    pub(crate) line: u32,
}

/// All marks, longer ones first.
const MARKS: [&str; 46] = [
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^=", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!",
    "<", ">", "=", "?", ":", ";", ",", ".", "(", ")", "[", "]", "{", "}",
];

/// Returns the tokens of `text`, followed by an end token.
///
/// # Errors
/// A character that no token begins with, a number that is too large, or a string that does not end.
pub(crate) fn tokens(text: &str, name: &str) -> Result<Vec<Token>, Fault> {
    let mut all = Vec::new();
    let (mut file, mut number): (Rc<str>, u32) = (name.into(), 0);
    for line in text.lines() {
        number += 1;
        if let Some((at, from)) = marker(line) {
            file = from.into();
            number = at.wrapping_sub(1);
            continue;
        }
        let mut rest = line.trim_start();
        while !rest.is_empty() {
            let (kind, left) = token(rest).map_err(|message| Fault::new(&file, number, message))?;
            all.push(Token { kind, file: Rc::clone(&file), line: number });
            rest = left.trim_start();
        }
    }
    all.push(Token { kind: Kind::End, file, line: number });
    Ok(all)
}

/// Parses a line marker such as `# 12 "file"`.
fn marker(line: &str) -> Option<(u32, &str)> {
    let (number, name) = line.strip_prefix("# ")?.split_once(' ')?;
    Some((number.parse().ok()?, name.trim_matches('"')))
}

fn token(text: &str) -> Result<(Kind, &str), String> {
    let first = text.chars().next().unwrap_or(' ');
    if first.is_ascii_digit() {
        return number(text);
    }
    if first.is_ascii_alphabetic() || first == '_' {
        let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
        return Ok((Kind::Word(text[..end].into()), &text[end..]));
    }
    if first == '"' || first == '\'' {
        let (bytes, rest) = quoted(&text[1..], first)?;
        return match (first, bytes.as_slice()) {
            ('"', _) => Ok((Kind::Text(bytes), rest)),
            (_, [byte]) => Ok((Kind::Number(i64::from(*byte)), rest)),
            _ => Err("a character is one character".to_owned()),
        };
    }
    match MARKS.iter().find(|mark| text.starts_with(**mark)) {
        Some(mark) => Ok((Kind::Mark(mark), &text[mark.len()..])),
        None => Err(format!("{first:?} begins nothing")),
    }
}

fn number(text: &str) -> Result<(Kind, &str), String> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let plain = digits.trim_end_matches(['l', 'L', 'u', 'U']);
    let value = match plain.strip_prefix("0x").or_else(|| plain.strip_prefix("0X")) {
        Some(hex) => i64::from_str_radix(hex, 16),
        None if plain.len() > 1 && plain.starts_with('0') => i64::from_str_radix(plain, 8),
        None => plain.parse(),
    };
    let value = value.ok().filter(|value| *value <= i64::from(u32::MAX));
    value.map(|value| (Kind::Number(value), rest)).ok_or_else(|| format!("{digits} is no number"))
}

fn quoted(text: &str, quote: char) -> Result<(Vec<u8>, &str), String> {
    let mut bytes = Vec::new();
    let mut rest = text.char_indices();
    while let Some((at, c)) = rest.next() {
        match c {
            _ if c == quote => return Ok((bytes, &text[at + c.len_utf8()..])),
            '\\' => bytes.push(match rest.next() {
                Some((_, 'n')) => b'\n',
                Some((_, 't')) => b'\t',
                Some((_, 'r')) => b'\r',
                Some((_, '0')) => 0,
                Some((_, other @ ('\\' | '\'' | '"'))) => other as u8,
                _ => return Err("this escape is not understood".to_owned()),
            }),
            _ => bytes.extend(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Err("a string does not end in its line".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_know_their_place() {
        let all = tokens("# 7 \"a.h\"\nint x; 'a' 0x1F\n\"s\\n\" >>= ->", "x.c").unwrap();
        let kinds: Vec<&Kind> = all.iter().map(|token| &token.kind).collect();
        assert_eq!(kinds[3..6], [&Kind::Number(97), &Kind::Number(31), &Kind::Text(b"s\n".into())]);
        assert_eq!(kinds[6..], [&Kind::Mark(">>="), &Kind::Mark("->"), &Kind::End]);
        assert_eq!((&*all[0].file, all[0].line, all[5].line), ("a.h", 7, 8));
        for bad in ["@", "'ab'", "\"x", "12x", "99999999999"] {
            assert!(tokens(bad, "x.c").is_err(), "{bad}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in ".{0,60}") {
            let _ = tokens(&text, "x");
        }
    }
}
