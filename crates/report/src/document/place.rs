//! Finds the path of a value in a JSON text.

/// An object or list that the text has begun but not ended.
enum Open<'a> {
    Object { key: &'a str },
    List { index: usize },
}

/// The path of the last value of a JSON text that is cut off after it, such as `runs[2].seconds`.
///
/// With `next`, the path of the value that would follow. `None` for the whole document.
pub(super) fn last_value(text: &str, next: bool) -> Option<String> {
    let (mut open, mut rest) = (Vec::new(), text);
    let mut is_past_comma = false;
    while let Some(sign) = rest.chars().next() {
        if is_past_comma && !sign.is_whitespace() {
            advance(&mut open);
            is_past_comma = false;
        }
        let len = match sign {
            '"' => string_len(rest),
            _ => sign.len_utf8(),
        };
        let (word, behind) = rest.split_at(len);
        match sign {
            '{' => open.push(Open::Object { key: "" }),
            '[' => open.push(Open::List { index: 0 }),
            '}' | ']' => drop(open.pop()),
            ',' => is_past_comma = true,
            '"' if behind.trim_start().starts_with(':') => {
                if let Some(Open::Object { key }) = open.last_mut() {
                    *key = word.trim_matches('"');
                }
            }
            _ => {}
        }
        rest = behind;
    }
    if is_past_comma && next {
        advance(&mut open);
    }
    path(&open)
}

/// Moves on to the next value of a list; the next value of an object gets its place from its key.
fn advance(open: &mut [Open<'_>]) {
    if let Some(Open::List { index }) = open.last_mut() {
        *index += 1;
    }
}

/// The length in bytes of the string at the start of a text.
fn string_len(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

fn path(open: &[Open<'_>]) -> Option<String> {
    let mut path = String::new();
    for one in open {
        match one {
            Open::Object { key: "" } => {}
            Open::Object { key } if path.is_empty() => path.push_str(key),
            Open::Object { key } => path.push_str(&format!(".{key}")),
            Open::List { index } => path.push_str(&format!("[{index}]")),
        }
    }
    Some(path).filter(|path| !path.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_by_what_is_open_before_it() {
        for (text, last, next) in [
            (r#"{"a": 1"#, "a", "a"),
            (r#"{"a": {"b": [1, {"c": null}, "x\"],{"#, "a.b[2]", "a.b[2]"),
            (r#"{"a": {"b": [1, {"c": null}, "x\"],{", "#, "a.b[2]", "a.b[3]"),
            (r#"{"a": {"b": [1, {"c": null}"#, "a.b[1]", "a.b[1]"),
            (r#"{"a": {"b": [ "#, "a.b[0]", "a.b[0]"),
            (r#"{"a": 1, "e": "#, "e", "e"),
            (r#"{"a": 1}"#, "", ""),
            (r#"[[true, 2.5e-3"#, "[0][1]", "[0][1]"),
            (r#"{"a": ":", "é": {"#, "é", "é"),
        ] {
            let of = |next| last_value(text, next).unwrap_or_default();
            assert_eq!((of(false).as_str(), of(true).as_str()), (last, next), "{text}");
        }
    }
}
