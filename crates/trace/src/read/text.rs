//! Parses numbers and fields of text traces from bytes.

use super::tables::Bad;
use ioscape_schema::{Op, Request};

/// Size of the block layer's sector, in bytes.
pub(crate) const SECTOR: u64 = 512;

/// Parses a whole number in decimal digits.
#[inline]
pub(crate) fn whole(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 20 {
        return None;
    }
    let (eights, rest) = text.as_chunks::<8>();
    let mut value = 0u64;
    for eight in eights {
        // Sixteen digits do not overflow.
        value = value * 100_000_000 + eight_digits(*eight)?;
    }
    for byte in rest {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

/// Parses eight digits at once: adds up pairs, then fours, then all within a word, each step by one
/// multiplication (Lemire 2018).
#[inline]
fn eight_digits(text: [u8; 8]) -> Option<u64> {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let word = u64::from_le_bytes(text);
    let high = 0xf0 * EACH;
    // A digit's upper half is 3, and still is after adding 6.
    if (word & high) | ((word.wrapping_add(6 * EACH) & high) >> 4) != 0x33 * EACH {
        return None;
    }
    let digits = word - 0x30 * EACH;
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let fours = |word: u64| word & 0x0000_00ff_0000_00ff;
    let sum = fours(pairs)
        .wrapping_mul(100 + (1_000_000 << 32))
        .wrapping_add(fours(pairs >> 16).wrapping_mul(1 + (10_000 << 32)));
    Some(sum >> 32)
}

/// Parses a hexadecimal number.
pub(crate) fn hex(text: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(text).ok()?;
    if digits.starts_with('+') {
        return None;
    }
    u64::from_str_radix(digits, 16).ok()
}

/// Parses a decimal number and multiplies it by 10^`places`. Further digits are cut off: `1.5` with
/// 3 places is 1500.
pub(crate) fn decimal(text: &[u8], places: u32) -> Option<u64> {
    let (before, after) = match memchr::memchr(b'.', text) {
        Some(point) => (&text[..point], &text[point + 1..]),
        None => (text, &[][..]),
    };
    if text.iter().any(|byte| matches!(byte, b'e' | b'E')) {
        return scientific(text, places);
    }
    let mut value = if before.is_empty() && !after.is_empty() { 0 } else { whole(before)? };
    if !after.iter().all(u8::is_ascii_digit) {
        return None;
    }
    for place in 0..places as usize {
        let digit = after.get(place).map_or(0, |digit| digit - b'0');
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

fn scientific(text: &[u8], places: u32) -> Option<u64> {
    let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    let scaled = value * 10f64.powi(places as i32);
    (0.0..1.8e19).contains(&scaled).then_some(scaled as u64)
}

/// Returns `text` without whitespace at its ends.
pub(crate) fn trim(text: &[u8]) -> &[u8] {
    text.trim_ascii()
}

/// An iterator over the places of a byte in a text. Fields are so short that a search call for each
/// would take longer than scanning a field.
#[derive(Clone, Copy)]
pub(crate) struct Places<'a> {
    text: &'a [u8],
    byte: u8,
    /// Where the next word begins.
    next: usize,
    /// The highest bit of each byte in the previous word that matches and was not yet returned.
    found: u64,
}

impl<'a> Places<'a> {
    /// Iterates over the places of `byte`, which is not 0, from `start` on.
    pub fn of(byte: u8, text: &'a [u8], start: usize) -> Self {
        Self { text, byte, next: start, found: 0 }
    }
}

impl Iterator for Places<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        const EACH: u64 = 0x0101_0101_0101_0101;
        const LOW: u64 = 0x7f * EACH;
        while self.found == 0 {
            let rest = self.text.get(self.next..).filter(|rest| !rest.is_empty())?;
            let word = rest.first_chunk::<8>().copied().unwrap_or_else(|| {
                let mut last = [0; 8];
                last[..rest.len()].copy_from_slice(rest);
                last
            });
            let others = u64::from_le_bytes(word) ^ (u64::from(self.byte) * EACH);
            self.found = !(((others & LOW) + LOW) | others | LOW);
            self.next += 8;
        }
        let at = self.found.trailing_zeros() as usize / 8;
        self.found &= self.found - 1;
        Some(self.next - 8 + at)
    }
}

/// Returns the first `N` fields between `separator`s, trimmed, and the number of all fields.
#[inline]
pub(crate) fn fields<const N: usize>(line: &[u8], separator: u8) -> Option<([&[u8]; N], usize)> {
    let mut found: [&[u8]; N] = [&[]; N];
    let (mut count, mut start) = (0, 0);
    for at in Places::of(separator, line, 0).chain([line.len()]) {
        if let Some(place) = found.get_mut(count) {
            *place = trim(&line[start..at]);
        }
        count += 1;
        start = at + 1;
    }
    (count >= N).then_some((found, count))
}

/// Returns the first `N` words between blanks, and the number of all words.
pub(crate) fn words<const N: usize>(line: &[u8]) -> Option<([&[u8]; N], usize)> {
    let mut found: [&[u8]; N] = [&[]; N];
    let mut count = 0;
    for word in line.split(|byte| matches!(byte, b' ' | b'\t')).filter(|word| !word.is_empty()) {
        if let Some(place) = found.get_mut(count) {
            *place = word;
        }
        count += 1;
    }
    (count >= N).then_some((found, count))
}

/// Returns the fields or words of a line that must have exactly `N`.
#[inline]
pub(crate) fn only<const N: usize>(found: Option<([&[u8]; N], usize)>) -> Result<[&[u8]; N], Bad> {
    match found {
        Some((found, count)) if count == N => Ok(found),
        Some(_) => Err(format!("more than {N} fields").into()),
        None => Err(format!("fewer than {N} fields").into()),
    }
}

/// Returns the operation of a word from its first letter: `R`, `Read`, `w`, ...
pub(crate) fn letter(text: &[u8]) -> Option<Op> {
    match text.first()? {
        b'R' | b'r' => Some(Op::Read),
        b'W' | b'w' => Some(Op::Write),
        _ => None,
    }
}

/// Returns the operation in formats where 1 is a read and 0 a write.
pub(crate) fn one_is_read(op: &[u8]) -> Result<Op, Bad> {
    match op {
        b"1" => Ok(Op::Read),
        b"0" => Ok(Op::Write),
        _ => Err(wrong("the type", op)),
    }
}

/// Returns a request from an offset and length in bytes.
pub(crate) fn request(op: Op, offset: u64, len: u64) -> Result<Request, Bad> {
    let len = u32::try_from(len).map_err(|_| Bad::from("a request longer than 4 GiB"))?;
    // Columns are signed, as in most programs.
    if offset.checked_add(u64::from(len)).is_none_or(|end| i64::try_from(end).is_err()) {
        return Err("a request that ends beyond 2^63 bytes".into());
    }
    Ok(Request { op, offset, len })
}

/// Returns a request from sectors of 512 bytes.
pub(crate) fn sectors(op: Op, sector: u64, count: u64) -> Result<Request, Bad> {
    let bytes = |sectors: u64| sectors.checked_mul(SECTOR).ok_or("a sector beyond 2^64 bytes");
    request(op, bytes(sector)?, bytes(count)?)
}

/// Returns a request for an object, which is taken for a sector.
pub(crate) fn object(op: Op, number: u64, len: u64) -> Result<Request, Bad> {
    let start = sectors(op, number, 0)
        .map_err(|_| Bad::from("an object number of 2^54 or more, which is no sector"))?;
    request(op, start.offset, len)
}

/// Returns the value of a number field, or a sentence that names the wrong field.
pub(crate) fn field(value: Option<u64>, name: &str, text: &[u8]) -> Result<u64, Bad> {
    value.ok_or_else(|| wrong(name, text))
}

/// Returns the whole number in a field, or a sentence that names the wrong field.
#[inline]
pub(crate) fn number(name: &str, text: &[u8]) -> Result<u64, Bad> {
    let must = || format!("{name} {:?} cannot be: it must be a whole number", shown(text));
    whole(text).ok_or_else(|| Bad::from(must()))
}

/// Returns the sentence that a field is wrong.
pub(crate) fn wrong(name: &str, text: &[u8]) -> Bad {
    Bad::from(format!("{name} {:?} cannot be", shown(text)))
}

/// Returns the sentence that a field is none of the allowed words.
pub(crate) fn other(name: &str, text: &[u8], words: &str) -> Bad {
    Bad::from(format!("{name} {:?} is none of {words}", shown(text)))
}

fn shown(text: &[u8]) -> String {
    String::from_utf8_lossy(text).chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn decimals_are_scaled_exactly() {
        for (text, places, value) in [
            ("1.5", 3, Some(1500)),
            ("0.000001", 9, Some(1000)),
            ("12", 9, Some(12_000_000_000)),
            (".5", 1, Some(5)),
            ("1.23456789", 3, Some(1234)),
            ("1e-3", 9, Some(1_000_000)),
            ("-1", 3, None),
            ("1.x", 3, None),
            (".", 3, None),
            ("", 3, None),
            ("99999999999999999999", 3, None),
        ] {
            assert_eq!(decimal(text.as_bytes(), places), value, "{text}");
        }
    }

    #[test]
    fn fields_and_words_are_trimmed_and_counted() {
        let (found, count) = fields::<2>(b"a, b ,c", b',').unwrap();
        assert_eq!((found, count), ([&b"a"[..], b"b"], 3));
        assert!(fields::<3>(b"a,b", b',').is_none());
        let (found, count) = words::<2>(b"  a \t b  c").unwrap();
        assert_eq!((found, count), ([&b"a"[..], b"b"], 3));
    }

    proptest! {
        #[test]
        fn places_are_those_of_a_search(text in "[,\\-a+,]{0,40}", start in 0usize..41) {
            let text = text.as_bytes();
            let start = start.min(text.len());
            let found: Vec<usize> = Places::of(b',', text, start).collect();
            let expected: Vec<usize> = (start..text.len()).filter(|&at| text[at] == b',').collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn whole_numbers_survive(value: u64) {
            prop_assert_eq!(whole(value.to_string().as_bytes()), Some(value));
            prop_assert_eq!(whole(format!("{value:020}").as_bytes()), Some(value));
            prop_assert_eq!(hex(format!("{value:x}").as_bytes()), Some(value));
        }

        #[test]
        fn one_wrong_byte_is_no_number(value: u64, at in 0usize..20, byte: u8) {
            let mut text = format!("{value:020}").into_bytes();
            text[at] = byte;
            let plain = std::str::from_utf8(&text).ok().filter(|text| !text.starts_with('+'));
            prop_assert_eq!(whole(&text), plain.and_then(|text| text.parse().ok()));
        }

        #[test]
        fn decimals_agree_with_their_text(whole in 0u64..1 << 40, part in 0u64..1_000_000) {
            let text = format!("{whole}.{part:06}");
            prop_assert_eq!(decimal(text.as_bytes(), 6), Some(whole * 1_000_000 + part));
        }
    }
}
