//! The preprocessor: comments, `#include` with a search path, macros, and conditionals.

use super::Fault;
use super::lex::{Kind, tokens};
use ioscape_schema::toolchain::FindHeader;
use std::collections::HashMap;

/// The deepest nesting of header inclusions.
const DEPTH: usize = 40;

/// The most characters to which a macro may expand a line.
const LONGEST: usize = 1 << 16;

#[derive(Clone, Debug)]
struct Macro {
    parameters: Option<Vec<String>>,
    body: String,
}

/// State of one conditional: whether its current part is active, whether an earlier part was, and
/// whether its surroundings are.
struct Condition {
    active: bool,
    taken: bool,
    around: bool,
}

struct Preprocessor<'a> {
    macros: HashMap<String, Macro>,
    conditions: Vec<Condition>,
    out: String,
    find: &'a mut FindHeader<'a>,
}

/// Preprocesses `text` of the file `name` into one text, with markers for the origin of its lines.
///
/// # Errors
/// A directive cannot be understood, or a header is not found.
pub(crate) fn preprocess<'a>(
    text: &str,
    name: &str,
    find: &'a mut FindHeader<'a>,
) -> Result<String, Fault> {
    let mut state =
        Preprocessor { macros: HashMap::new(), conditions: Vec::new(), out: String::new(), find };
    state.file(text, name, 0)?;
    Ok(state.out)
}

/// Joins continued lines and replaces comments by a space, keeping the number of lines.
fn plain(text: &str) -> String {
    let text = text.replace("\\\n", " ");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    let mut quote = None;
    while let Some(c) = rest.next() {
        match (quote, c) {
            (None, '/') if rest.peek() == Some(&'*') => {
                out.push(' ');
                let mut last = ' ';
                rest.next();
                for inside in rest.by_ref() {
                    if inside == '\n' {
                        out.push('\n');
                    }
                    if last == '*' && inside == '/' {
                        break;
                    }
                    last = inside;
                }
                continue;
            }
            (None, '"' | '\'') => quote = Some(c),
            (Some(_), '\\') => {
                out.push(c);
                out.extend(rest.next());
                continue;
            }
            (Some(q), _) if c == q || c == '\n' => quote = None,
            _ => {}
        }
        out.push(c);
    }
    out
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Splits `text` after the word at its start.
fn word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c| !is_word(c)).unwrap_or(text.len()))
}

impl Preprocessor<'_> {
    fn active(&self) -> bool {
        self.conditions.last().is_none_or(|c| c.active)
    }

    fn file(&mut self, text: &str, name: &str, depth: usize) -> Result<(), Fault> {
        if depth > DEPTH {
            return Err(Fault::new(name, 0, "headers include one another too deep"));
        }
        self.out += &format!("# 1 \"{name}\"\n");
        let open = self.conditions.len();
        for (line, number) in plain(text).lines().zip(1..) {
            let trimmed = line.trim_start();
            if let Some(directive) = trimmed.strip_prefix('#') {
                self.directive(directive.trim(), name, number, depth)?;
            } else if self.active() && !trimmed.is_empty() {
                let fault = |message: String| Fault::new(name, number, message);
                let expanded = self.expand(line, &[]).map_err(fault)?;
                self.out += &expanded;
            }
            self.out.push('\n');
        }
        if self.conditions.len() != open {
            return Err(Fault::new(name, 0, "an #if is not closed"));
        }
        Ok(())
    }

    fn directive(&mut self, text: &str, name: &str, line: u32, depth: usize) -> Result<(), Fault> {
        let fault = |message: &str| Fault::new(name, line, message);
        let (what, rest) = word(text);
        let rest = rest.trim();
        match what {
            "ifdef" | "ifndef" | "if" => {
                let around = self.active();
                let holds = match what {
                    "if" => around && self.condition(rest, name, line)?,
                    _ => self.macros.contains_key(word(rest).0) == (what == "ifdef"),
                };
                let active = around && holds;
                self.conditions.push(Condition { active, taken: holds, around });
            }
            "else" => {
                let last = self.conditions.last_mut().ok_or(fault("#else without #if"))?;
                last.active = last.around && !last.taken;
                last.taken = true;
            }
            "endif" => {
                self.conditions.pop().ok_or(fault("#endif without #if"))?;
            }
            _ if !self.active() => {}
            "define" => self.define(rest).ok_or(fault("this #define is not understood"))?,
            "undef" => {
                self.macros.remove(word(rest).0);
            }
            "include" => self.include(rest, name, line, depth)?,
            "" => {}
            _ => return Err(fault("this directive is not understood")),
        }
        Ok(())
    }

    fn define(&mut self, text: &str) -> Option<()> {
        let (name, rest) = word(text);
        if name.is_empty() {
            return None;
        }
        let (parameters, body) = match rest.strip_prefix('(') {
            Some(rest) => {
                let (list, body) = rest.split_once(')')?;
                let names = list.split(',').map(|p| p.trim().to_owned());
                (Some(names.filter(|p| !p.is_empty()).collect()), body)
            }
            None => (None, rest),
        };
        self.macros.insert(name.to_owned(), Macro { parameters, body: body.trim().to_owned() });
        Some(())
    }

    fn include(&mut self, text: &str, from: &str, line: u32, depth: usize) -> Result<(), Fault> {
        let quoted = text.starts_with('"');
        let name = text.trim_matches(['"', '<', '>', ' ']);
        let (found, body) = (self.find)(name, quoted, from)
            .ok_or_else(|| Fault::new(from, line, format!("there is no header {name}")))?;
        self.file(&body, &found, depth + 1)?;
        self.out += &format!("# {} \"{from}\"", line + 1);
        Ok(())
    }

    /// Replaces macros in `line`, except those already being expanded.
    fn expand(&self, line: &str, busy: &[&str]) -> Result<String, String> {
        let mut out = String::with_capacity(line.len() + 16);
        let mut rest = line;
        while let Some(c) = rest.chars().next() {
            if c == '"' || c == '\'' {
                let end = quoted_end(rest, c);
                out += &rest[..end];
                rest = &rest[end..];
            } else if is_word(c) {
                let (name, after) = word(rest);
                rest = self.replace(name, after, busy, &mut out)?;
            } else {
                out.push(c);
                rest = &rest[c.len_utf8()..];
            }
            if out.len() > LONGEST {
                return Err("a macro expands without end".to_owned());
            }
        }
        Ok(out)
    }

    /// Writes the expansion of `name`; returns what follows it.
    fn replace<'t>(
        &self,
        name: &str,
        after: &'t str,
        busy: &[&str],
        out: &mut String,
    ) -> Result<&'t str, String> {
        let known = self.macros.get_key_value(name).filter(|_| !busy.contains(&name));
        let Some((key, found)) = known else {
            out.push_str(name);
            return Ok(after);
        };
        let mut inner = busy.to_vec();
        inner.push(key);
        let Some(parameters) = &found.parameters else {
            out.push_str(&self.expand(&found.body, &inner)?);
            return Ok(after);
        };
        let Some(list) = after.trim_start().strip_prefix('(') else {
            out.push_str(name);
            return Ok(after);
        };
        let (arguments, rest) = arguments(list)
            .ok_or_else(|| format!("the call of {name} does not end in its line"))?;
        if arguments.len() != parameters.len() {
            return Err(format!("{name} takes {} arguments", parameters.len()));
        }
        let mut values = HashMap::new();
        for (parameter, argument) in parameters.iter().zip(arguments) {
            values.insert(parameter.as_str(), self.expand(argument.trim(), busy)?);
        }
        let mut body = String::new();
        let mut left = found.body.as_str();
        while let Some(c) = left.chars().next() {
            let (piece, next) = if is_word(c) { word(left) } else { left.split_at(c.len_utf8()) };
            body.push_str(values.get(piece).map_or(piece, String::as_str));
            left = next;
        }
        out.push_str(&self.expand(&body, &inner)?);
        Ok(rest)
    }

    /// Evaluates the condition of an `#if`.
    fn condition(&self, text: &str, name: &str, line: u32) -> Result<bool, Fault> {
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("defined") {
            plain += &rest[..at];
            let after = rest[at + 7..].trim_start();
            let bare = after.trim_start_matches(['(', ' ']);
            let (what, left) = word(bare);
            plain += if self.macros.contains_key(what) { "1" } else { "0" };
            rest = if after.starts_with('(') {
                left.trim_start().trim_start_matches(')')
            } else {
                left
            };
        }
        plain += rest;
        let fault = |message: String| Fault::new(name, line, message);
        let expanded = self.expand(&plain, &[]).map_err(fault)?;
        let all = tokens(&expanded, name)?;
        let kinds: Vec<Kind> = all.into_iter().map(|token| token.kind).collect();
        let mut at = 0;
        let value = condition_value(&kinds, &mut at, 0);
        value.map(|value| value != 0).ok_or_else(|| fault("this #if is not understood".into()))
    }
}

/// Returns the end of the string or character literal at the start of `text`.
fn quoted_end(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Splits `a, (b, c)) rest` at the commas outside of parentheses.
fn arguments(text: &str) -> Option<(Vec<&str>, &str)> {
    let (mut depth, mut begin, mut all) = (0, 0, Vec::new());
    let mut at = 0;
    while at < text.len() {
        let c = text[at..].chars().next()?;
        match c {
            '"' | '\'' => {
                at += quoted_end(&text[at..], c);
                continue;
            }
            '(' => depth += 1,
            ')' if depth == 0 => {
                all.push(&text[begin..at]);
                if all.len() == 1 && all[0].trim().is_empty() {
                    all.clear();
                }
                return Some((all, &text[at + 1..]));
            }
            ')' => depth -= 1,
            ',' if depth == 0 => {
                all.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
        at += c.len_utf8();
    }
    None
}

/// Evaluates a constant expression whose operators bind at least as tightly as `least`.
fn condition_value(all: &[Kind], at: &mut usize, least: u8) -> Option<i64> {
    let mut left = match all.get(*at)? {
        Kind::Number(value) => Some(*value),
        // A word that is no macro has the value 0.
        Kind::Word(_) => Some(0),
        Kind::Mark("!") => {
            *at += 1;
            let value = condition_value(all, at, 9)?;
            *at -= 1;
            Some(i64::from(value == 0))
        }
        Kind::Mark("(") => {
            *at += 1;
            let value = condition_value(all, at, 0)?;
            (all.get(*at) == Some(&Kind::Mark(")"))).then_some(value)
        }
        _ => None,
    }?;
    *at += 1;
    while let Some(Kind::Mark(mark)) = all.get(*at) {
        let strength = match *mark {
            "||" => 1,
            "&&" => 2,
            "==" | "!=" => 3,
            "<" | ">" | "<=" | ">=" => 4,
            "+" | "-" => 5,
            _ => break,
        };
        if strength < least {
            break;
        }
        *at += 1;
        let right = condition_value(all, at, strength + 1)?;
        left = match *mark {
            "||" => i64::from(left != 0 || right != 0),
            "&&" => i64::from(left != 0 && right != 0),
            "==" => i64::from(left == right),
            "!=" => i64::from(left != right),
            "<" => i64::from(left < right),
            ">" => i64::from(left > right),
            "<=" => i64::from(left <= right),
            ">=" => i64::from(left >= right),
            "+" => left.wrapping_add(right),
            _ => left.wrapping_sub(right),
        };
    }
    Some(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Result<Vec<String>, Fault> {
        let mut find = |name: &str, _: bool, _: &str| {
            (name == "one.h").then(|| {
                (
                    "inc/one.h".to_owned(),
                    "#ifndef ONE\n#define ONE 1\nint one;\n#endif\n".to_owned(),
                )
            })
        };
        let out = preprocess(text, "x.c", &mut find)?;
        Ok(out
            .lines()
            .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect())
    }

    #[test]
    fn macros_headers_and_conditions() {
        let text = "#include <one.h>\n#include \"one.h\"\n#define MAX(a, b) ((a) > (b) ? (a) : (b))\n\
            #define TWO (ONE + 1)\nx = MAX(f(1, 2), TWO); /* gone\n#define NOT */\ny = \"MAX(1,2) /* \\\" \";\n\
            #if defined(ONE) && ONE + 1 >= 2 && !NOTHING\nyes\n#else\nno\n#endif\n#ifdef NOT\nno\n#endif\n";
        let found = lines(text).unwrap();
        assert_eq!(
            found,
            [
                "int one;",
                "x = ((f(1, 2)) > ((1 + 1)) ? (f(1, 2)) : ((1 + 1)));",
                "y = \"MAX(1,2) /* \\\" \";",
                "yes"
            ]
        );
    }

    #[test]
    fn faults_name_their_line() {
        for (text, message) in [
            ("\n#include <two.h>", "x.c:2: there is no header two.h"),
            ("#if 1", "x.c:0: an #if is not closed"),
            ("#endif", "x.c:1: #endif without #if"),
            ("#if (1", "x.c:1: this #if is not understood"),
            ("#define F(a) a\nF(1,2)", "x.c:2: F takes 1 arguments"),
            ("#define F(a) a\nF(1", "x.c:2: the call of F does not end in its line"),
        ] {
            assert_eq!(lines(text).unwrap_err().to_string(), message);
        }
        // A macro that names itself is not expanded again.
        assert_eq!(lines("#define A A B\n#define B A\nA").unwrap(), ["A A"]);
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "(#(define|if|else|endif|include) ?)?[A-C(),\"'/* \n\\\\]{0,60}") {
            let _ = lines(&text);
        }
    }
}
