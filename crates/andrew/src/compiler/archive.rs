//! Archives of object files, in the form of `ar`, with a table of their symbols.

use super::object::{Object, Section};
use ioscape_schema::toolchain::Named;

/// The first bytes of an archive.
const MAGIC: &[u8] = b"!<arch>\n";

/// Name of the member that lists symbols.
pub(crate) const TABLE: &str = "__.SYMDEF";

/// Length of a member's header.
const HEADER: usize = 60;

/// A member: its name and its bytes.
pub(crate) type Member = Named<Vec<u8>>;

/// Returns the archive of these members.
pub(crate) fn encode(members: &[Member]) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    for (name, bytes) in members {
        // Date and owner are always 0, so that the same members give the same archive.
        let header =
            format!("{name:<16.16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 100_644, bytes.len());
        out.extend(header.as_bytes());
        out.extend(bytes);
        if bytes.len() % 2 == 1 {
            out.push(b'\n');
        }
    }
    out
}

/// Returns the members of an archive; `None` if the bytes are no archive, or a truncated one.
pub(crate) fn decode(bytes: &[u8]) -> Option<Vec<Member>> {
    let mut rest = bytes.strip_prefix(MAGIC)?;
    let mut members = Vec::new();
    while !rest.is_empty() {
        let (header, after) = rest.split_at_checked(HEADER)?;
        let header = std::str::from_utf8(header).ok()?;
        let size: usize = header.get(48..58)?.trim().parse().ok()?;
        let (body, after) = after.split_at_checked(size)?;
        members.push((header.get(..16)?.trim().to_owned(), body.to_vec()));
        rest = after.get(size % 2..)?;
    }
    Some(members)
}

/// Returns the members preceded by a table of the names that they define; `None` if one is no
/// object.
pub(crate) fn with_table(members: Vec<Member>) -> Option<Vec<Member>> {
    let mut table = String::new();
    let objects: Vec<Member> = members.into_iter().filter(|(name, _)| name != TABLE).collect();
    for (name, bytes) in &objects {
        for symbol in Object::decode(bytes).ok()?.symbols {
            if symbol.global && symbol.section != Section::Undefined {
                table.push_str(&format!("{} {name}\n", symbol.name));
            }
        }
    }
    let mut all = vec![(TABLE.to_owned(), table.into_bytes())];
    all.extend(objects);
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_back() {
        let members = vec![("a.o".to_owned(), vec![1, 2, 3]), ("b.o".to_owned(), Vec::new())];
        let bytes = encode(&members);
        assert_eq!(decode(&bytes), Some(members));
        assert_eq!(decode(&bytes[..bytes.len() - 61]), None);
        assert_eq!(decode(b"x"), None);
    }

    #[test]
    fn the_table_lists_what_is_defined() {
        let object = super::super::assemble::assemble("\t.globl f\nf:\n\tjal g\n", "x").unwrap();
        let table = with_table(vec![("x.o".into(), object.encode())]).unwrap();
        assert_eq!(table[0].1, b"f x.o\n");
        assert!(with_table(vec![("x.o".into(), vec![0])]).is_none());
    }
}
