//! The text header of an SRT file: when and where it was recorded, and its disks.

use crate::error::Error;
use crate::read::input::{Input, LONGEST};
use ioscape_schema::{Device, Partition};
use std::collections::BTreeMap;

/// First bytes of a file.
pub(super) const MAGIC: &[u8] = b"$$TR_IOREC-";
/// The byte that ends the header.
const FORM_FEED: u8 = 0x0c;
/// The sector size of most disks, used where the header names none.
const SECTOR_BYTES: u32 = 512;
/// The deepest nesting that is followed, of braces and of keys whose value is another key.
const DEEPEST: usize = 16;

/// A disk of the header.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Disk {
    /// Its number in the records.
    pub number: u32,
    /// What the header says about the disk.
    pub device: Device,
}

/// The contents of the header.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Header {
    /// Beginning of the trace, in local time taken as UTC.
    pub started_ns: Option<i64>,
    /// The disks.
    pub disks: Vec<Disk>,
    /// All settings that are single words or strings, by key.
    pub notes: BTreeMap<String, String>,
}

impl Header {
    /// Returns the size of a sector of disk `number`.
    pub fn sector_bytes(&self, number: u32) -> u32 {
        let disk = self.disks.iter().find(|disk| disk.number == number).or(self.disks.first());
        disk.map_or(SECTOR_BYTES, |disk| disk.device.sector_bytes)
    }

    /// Returns a name for a disk that the header does not describe.
    pub fn name(&self, number: u32) -> String {
        if number > 0xff { format!("device {number:#010x}") } else { format!("disk {number}") }
    }
}

/// Reads the header and leaves the input at the first record.
pub(super) fn read(input: &mut Input) -> Result<Header, Error> {
    if !input.peek(MAGIC.len())?.starts_with(MAGIC) {
        return Err(input.bad_header("does not begin with $$TR_IOREC- as an SRT file does"));
    }
    let end = loop {
        if let Some(end) = memchr::memchr(FORM_FEED, input.at_hand()) {
            break end;
        }
        if input.at_hand().len() > LONGEST || !input.more()? {
            return Err(input.bad_header("the SRT header has no end (a form feed)"));
        }
    };
    let text = String::from_utf8_lossy(&input.at_hand()[..end]).replace('\0', "\n");
    input.consume(end + 1);
    Ok(parse(&text))
}

/// Parses the text of the header; ignores what it does not understand.
pub(super) fn parse(text: &str) -> Header {
    let mut tokens = Tokens { rest: text.split_once('\n').map_or("", |(_, rest)| rest) };
    let items = items(&mut tokens, 0);
    let mut header = Header::default();
    for item in &items {
        let Item::Pair(key, value) = item else { continue };
        match value.as_ref() {
            Item::Word(value) => {
                header.notes.insert(key.clone(), value.clone());
            }
            Item::Group(members) if key == "disks" => {
                header.disks = members.iter().filter_map(disk).collect();
            }
            _ => {}
        }
    }
    header.started_ns = header.notes.get("tracedate").and_then(|date| nanoseconds(date));
    header
}

/// Converts a date such as `Sat May 30 00:03:06 1992` to nanoseconds since 1970.
fn nanoseconds(date: &str) -> Option<i64> {
    let time = jiff::civil::DateTime::strptime("%a %b %d %H:%M:%S %Y", date).ok()?;
    let zoned = time.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    i64::try_from(zoned.timestamp().as_nanosecond()).ok()
}

/// One piece of the header's grammar.
#[derive(Clone, Debug, PartialEq)]
enum Item {
    /// A word, number or string.
    Word(String),
    /// `key = value` or `key -> value`.
    Pair(String, Box<Item>),
    /// `{...}` or `(...)`.
    Group(Vec<Item>),
}

impl Item {
    fn value(&self, key: &str) -> Option<&Item> {
        let Self::Group(items) = self else { return None };
        items.iter().find_map(|item| match item {
            Self::Pair(name, value) if name == key => Some(value.as_ref()),
            _ => None,
        })
    }

    fn number(&self, key: &str) -> Option<u64> {
        match self.value(key)? {
            Self::Word(word) => word.parse().ok(),
            _ => None,
        }
    }
}

/// Parses `0 -> { disktype = hp335h, ... }`.
fn disk(item: &Item) -> Option<Disk> {
    let Item::Pair(number, value) = item else { return None };
    let number = number.parse().ok()?;
    let sector = value.number("sectorsize").and_then(|s| u32::try_from(s).ok());
    let sector_bytes = sector.filter(|s| (1..=1 << 16).contains(s)).unwrap_or(SECTOR_BYTES);
    let sectors = ["nspt", "ntpc", "ncyl"]
        .into_iter()
        .try_fold(u64::from(sector_bytes), |all, key| all.checked_mul(value.number(key)?));
    let partitions = match value.value("sections") {
        Some(Item::Group(sections)) => sections.iter().filter_map(section).collect(),
        _ => Vec::new(),
    };
    let name = format!("disk {number}");
    Some(Disk {
        number,
        device: Device { name, sector_bytes, capacity_bytes: sectors, partitions },
    })
}

/// Parses `8 -> { "/", size = (...), ... }`.
fn section(item: &Item) -> Option<Partition> {
    let Item::Pair(number, value) = item else { return None };
    let Item::Group(members) = value.as_ref() else { return None };
    let name = members.iter().find_map(|member| match member {
        Item::Word(name) => Some(name.clone()),
        _ => None,
    });
    Some(Partition { number: number.parse().ok()?, name: name? })
}

/// The words of the header.
struct Tokens<'a> {
    rest: &'a str,
}

/// A word or a sign.
#[derive(Debug, PartialEq)]
enum Token {
    Word(String),
    Open,
    Close,
    Gives,
    Separator,
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        loop {
            self.rest = self.rest.trim_start();
            if !self.rest.starts_with('#') {
                break;
            }
            self.rest = self.rest.split_once('\n').map_or("", |(_, rest)| rest);
        }
        let first = self.rest.chars().next()?;
        let (token, length) = match first {
            '{' | '(' => (Token::Open, 1),
            '}' | ')' => (Token::Close, 1),
            '=' => (Token::Gives, 1),
            ',' | ';' => (Token::Separator, 1),
            '-' if self.rest.starts_with("->") => (Token::Gives, 2),
            '"' => {
                let length = self.rest[1..].find('"').unwrap_or(self.rest.len() - 1);
                (Token::Word(self.rest[1..=length].to_owned()), length + 2)
            }
            _ => {
                let ends = |c: char| c.is_whitespace() || "{}()=,;\"".contains(c);
                let length = self.rest.find(ends).unwrap_or(self.rest.len());
                (Token::Word(self.rest[..length].to_owned()), length)
            }
        };
        self.rest = self.rest.get(length..).unwrap_or("");
        Some(token)
    }
}

/// Parses everything up to the closing brace or the end.
fn items(tokens: &mut Tokens<'_>, depth: usize) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    let mut keys: Vec<String> = Vec::new();
    while let Some(token) = tokens.next() {
        let item = match token {
            Token::Close => break,
            Token::Separator => {
                keys.clear();
                continue;
            }
            Token::Gives => {
                if let Some(Item::Word(_)) = items.last()
                    && let Some(Item::Word(key)) = items.pop()
                    && keys.len() < DEEPEST
                {
                    keys.push(key);
                }
                continue;
            }
            Token::Open if depth < DEEPEST => Item::Group(self::items(tokens, depth + 1)),
            Token::Open => continue,
            Token::Word(word) if keys.last().is_some_and(|key| key == "tracedate") => {
                // Some writers do not quote this value: it takes the rest of its line.
                let (line, rest) = tokens.rest.split_once(['\n', ';']).unwrap_or((tokens.rest, ""));
                let whole = format!("{word}{line}");
                tokens.rest = rest;
                Item::Word(whole.trim().to_owned())
            }
            Token::Word(word) => Item::Word(word),
        };
        let nested = keys.drain(..).rev().fold(item, |item, key| Item::Pair(key, Box::new(item)));
        items.push(nested);
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "$$TR_IOREC-1.3 (x)\0\nversion = 1.3;\n# a note\ntracedate = \"Sat May 30 00:03:06 1992\";\n\
        disks = { 0 -> { disktype = d, nspt = 10, ntpc = 2, ncyl = 5, queue = {fcfs, 1}, adaptor = 1 -> { hp_ib , 1.2 },\n\
        sectorsize = 256, sections = { 8 -> {\"/\", size = (1 2), swap = ( 0 3)} 14 -> {\"<swap>\", size=(4 5)} } } };";

    #[test]
    fn disks_sections_and_the_date_are_found() {
        let header = parse(TEXT);
        assert_eq!(header.started_ns, Some(707_184_186_000_000_000));
        assert_eq!(header.notes["version"], "1.3");
        let partition = |number, name: &str| Partition { number, name: name.to_owned() };
        let device = Device {
            name: "disk 0".to_owned(),
            sector_bytes: 256,
            capacity_bytes: Some(25_600),
            partitions: vec![partition(8, "/"), partition(14, "<swap>")],
        };
        assert_eq!(header.disks, [Disk { number: 0, device }]);
        assert_eq!((header.sector_bytes(0), header.sector_bytes(9)), (256, 256));
    }

    #[test]
    fn a_date_without_quotes_is_read() {
        let header = parse("$$\nversion = 1.7;\ntracedate = Sun May 18 11:04:05 2003\n\nx = 1;");
        assert_eq!(header.started_ns, Some(1_053_255_845_000_000_000));
        assert_eq!(header.notes["x"], "1");
    }

    /// Guards against a stack overflow when the value is dropped: once, each `=` nested it one
    /// level deeper.
    #[test]
    fn keys_without_values_nest_no_deeper_than_braces() {
        let text = format!("$$\n{}{}b;\nx = 1;", "a ".repeat(500_000), "=".repeat(500_000));
        let notes = parse(&text).notes;
        assert_eq!((notes.len(), notes["x"].as_str()), (1, "1"));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[-a-z0-9 ={}()\",;>\n#ü]{0,200}") {
            parse(&text);
        }
    }
}
