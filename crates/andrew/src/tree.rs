//! The source tree that the benchmark copies, reads and compiles: generated here, and the same on
//! every machine.
//!
//! It resembles the original's tree: 70 files of 363,174 bytes, including 37 C sources of 276,838
//! bytes and 31 headers of 83,015 bytes in three directories. Of the sources, 17 with 185,195 bytes
//! in total, 0.4 to 45 KB each, are compiled.

use crate::words::{HEADERS, UNITS, Words};
use ioscape_schema::toolchain::Named;
use std::fmt::Write as _;

/// Sizes of the compiled sources, in bytes.
const COMPILED: [usize; 17] = [
    45_000, 27_000, 20_000, 17_000, 14_000, 12_000, 10_000, 8_500, 7_000, 6_000, 5_000, 4_200,
    3_500, 2_600, 1_800, 1_200, 395,
];

/// Sources that are only copied and read: their number and total bytes.
const OTHERS: (usize, usize) = (20, 91_643);

/// Total bytes of the headers.
const HEADER_BYTES: usize = 83_015;

/// Sizes of the makefile and of the only assembly file, in bytes.
const MAKEFILE: usize = 1_500;
const ASSEMBLY: usize = 1_821;

/// Directories of the tree, outer ones first.
pub(crate) const DIRECTORIES: [&str; 3] = ["include", "include/sys", "include/netinet"];

/// Returns the whole tree, in the order in which it is copied.
pub(crate) fn files() -> Vec<Named<String>> {
    let mut all = vec![("makefile".to_owned(), makefile())];
    for (number, bytes) in shares(HEADER_BYTES, HEADERS.len()).into_iter().enumerate() {
        let path = header_path(number);
        all.push((path.clone(), padded(header(number, bytes), bytes, ["/*", "*/"])));
    }
    for (number, bytes) in COMPILED.into_iter().enumerate() {
        let name = format!("{}.c", UNITS[number]);
        all.push((name, padded(unit(number, bytes), bytes, ["/*", "*/"])));
    }
    for (number, bytes) in shares(OTHERS.1, OTHERS.0).into_iter().enumerate() {
        let text = unit(COMPILED.len() + number, bytes);
        all.push((format!("extra{number:02}.c"), padded(text, bytes, ["/*", "*/"])));
    }
    let text = "# A line drawn by adding and comparing: kept beside the sources, not assembled.\n\t.text\n\t.globl bres\nbres:\n";
    all.push(("bres.s".to_owned(), padded(text.to_owned(), ASSEMBLY, ["#", ""])));
    all
}

/// Divides `total` into `count` parts, the last a little larger.
fn shares(total: usize, count: usize) -> Vec<usize> {
    let mut all = vec![total / count; count];
    all[count - 1] += total % count;
    all
}

/// Pads `text` with a comment of words to exactly `bytes`.
fn padded(mut text: String, bytes: usize, comment: [&str; 2]) -> String {
    let [open, close] = comment;
    let mut words = Words::new(bytes as u64);
    let end = if close.is_empty() { "\n".to_owned() } else { format!("\n{close}\n") };
    if text.len() + open.len() + end.len() >= bytes {
        // Too little room for a comment: add blank lines.
        text.extend(std::iter::repeat_n('\n', bytes.saturating_sub(text.len())));
        return text;
    }
    text.push_str(open);
    while text.len() + end.len() < bytes {
        let room = bytes - text.len() - end.len();
        let line = text.len() - text.rfind('\n').unwrap_or(0);
        let piece = if line > 70 && close.is_empty() {
            format!("\n# {}", words.word())
        } else if line > 70 {
            format!("\n {}", words.word())
        } else {
            format!(" {}", words.word())
        };
        text.push_str(if piece.len() <= room {
            &piece
        } else {
            "............"[..room.min(12)].trim_end()
        });
    }
    text + &end
}

fn header_path(number: usize) -> String {
    let folder = match number {
        0..14 => "include",
        14..25 => "include/sys",
        _ => "include/netinet",
    };
    format!("{folder}/{}.h", HEADERS[number])
}

/// Returns the line by which a source includes a header.
fn include(number: usize) -> String {
    let path = header_path(number);
    format!("#include <{}>\n", path.strip_prefix("include/").unwrap_or(&path))
}

/// Appends pieces to `text` as long as they leave room for the end.
fn fill(text: &mut String, bytes: usize, mut piece: impl FnMut() -> String) {
    loop {
        let next = piece();
        if text.len() + next.len() + 120 > bytes {
            return;
        }
        text.push_str(&next);
    }
}

fn header(number: usize, bytes: usize) -> String {
    let name = HEADERS[number];
    let upper = name.to_uppercase();
    let mut words = Words::new(1000 + number as u64);
    let mut text = format!(
        "/* {name}: what its users need to know. */\n#ifndef _{upper}_\n#define _{upper}_\n"
    );
    if number != 14 {
        text += &include(14);
    }
    let _ = write!(
        text,
        "#define {upper}_LIMIT {}\n#define {upper}_SCALE(x, y) (((x) * {} + (y)) >> {})\n#define {upper}_MASK 0x{:x}\n\
         typedef int {name}_t;\nstruct {name} {{\n    int key;\n    char tag;\n    struct {name} *next;\n    int cells[{}];\n    char label[12];\n}};\n",
        words.number(8, 30),
        words.number(3, 40),
        words.number(1, 5),
        words.number(15, 4000),
        words.number(4, 12)
    );
    if number < UNITS.len() {
        let _ = write!(
            text,
            "extern int {name}_total;\nextern int {name}_find(struct {name} *list, int key);\n"
        );
    }
    let mut count = 0;
    fill(&mut text, bytes, || {
        count += 1;
        let word = words.word();
        format!(
            "#define {upper}_{}_{count} {} /* {word} */\n",
            word.to_uppercase(),
            words.number(1, 9999)
        )
    });
    text + "#endif\n"
}

/// Returns a source: its headers, its data, and functions until it is large enough.
fn unit(number: usize, bytes: usize) -> String {
    let mut words = Words::new(5000 + number as u64);
    let own = number % HEADERS.len();
    let name = UNITS.get(number).map_or_else(|| format!("extra{number}"), |&n| n.to_owned());
    let mut text = include(own);
    let mut used = vec![own];
    for _ in 0..(bytes / 900).min(9) {
        let other = words.number(0, HEADERS.len() as u64 - 1) as usize;
        if !used.contains(&other) {
            text += &include(other);
            used.push(other);
        }
    }
    let home = HEADERS[own];
    if number < UNITS.len() {
        let _ = write!(
            text,
            "int {home}_total;\nint {home}_find(struct {home} *list, int key)\n{{\n    while (list && list->key != key)\n        list = list->next;\n    return list ? list->tag : -1;\n}}\n"
        );
    }
    let mut made = 0;
    fill(&mut text, bytes, || {
        made += 1;
        let other = HEADERS[used[words.number(0, used.len() as u64 - 1) as usize]];
        crate::words::function(&mut words, &name, made, home, other)
    });
    text
}

fn makefile() -> String {
    let objects = |range: std::ops::Range<usize>| {
        UNITS[range].iter().map(|name| format!("{name}.o")).collect::<Vec<_>>().join(" ")
    };
    let text = format!(
        "# Compiles the sources, makes two libraries, and links what the first objects need of them.\n\
         CC = cc\nCFLAGS = -c -Iinclude\nMAIN = {}\nDRAW = {}\nTEXT = {}\n\
         wm: $(MAIN) libdraw.a libtext.a\n\tld -r -o wm $(MAIN) libdraw.a libtext.a\n\
         libdraw.a: $(DRAW)\n\tar r libdraw.a $(DRAW)\n\tranlib libdraw.a\n\
         libtext.a: $(TEXT)\n\tar r libtext.a $(TEXT)\n\tranlib libtext.a\n\
         objects: $(MAIN) $(DRAW) $(TEXT)\n.c.o:\n\t$(CC) $(CFLAGS) $<\n",
        objects(0..5),
        objects(5..11),
        objects(11..17)
    );
    padded(text, MAKEFILE, ["#", ""])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_tree_has_the_originals_profile() {
        let all = files();
        let bytes = |ending: &str| -> (usize, usize) {
            let some = || all.iter().filter(|(path, _)| path.ends_with(ending));
            (some().count(), some().map(|(_, text)| text.len()).sum())
        };
        assert_eq!(bytes(""), (70, 363_174));
        assert_eq!(bytes(".c"), (37, 276_838));
        assert_eq!(bytes(".h"), (31, 83_015));
        assert_eq!(COMPILED.iter().sum::<usize>(), 185_195);
        let paths: BTreeSet<&String> = all.iter().map(|(path, _)| path).collect();
        assert_eq!(paths.len(), 70);
        assert!(all.iter().all(|(_, text)| text.is_ascii() && !text.contains("kangaroo")));
        assert_eq!(files(), all);
    }

    #[test]
    fn padding_is_exact() {
        for bytes in 0..400 {
            for comment in [["/*", "*/"], ["#", ""]] {
                assert_eq!(padded(String::new(), bytes, comment).len(), bytes);
            }
        }
    }
}
