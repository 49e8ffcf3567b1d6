//! How this kernel lays out pages and events: tracefs's `events/header_page` and
//! `events/block/*/format`.

use crate::read::Kind;
use rustc_hash::FxHashMap;

/// The largest page size accepted.
const MOST_PAGE: usize = 1 << 20;

/// Why a layout could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the kernel's {what} cannot be understood: {reason}")]
pub struct LayoutError {
    what: String,
    reason: &'static str,
}

/// The position of a field in an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub offset: usize,
    pub size: usize,
}

/// One kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EventLayout {
    pub kind: Kind,
    pub pid: Field,
    pub device: Field,
    pub sector: Field,
    pub sectors: Field,
    pub bytes: Option<Field>,
    pub error: Option<Field>,
    pub rwbs: Field,
    pub comm: Option<Field>,
    /// For a remapping, the other device and sector; for a split, the other sector.
    pub old_device: Option<Field>,
    pub old_sector: Option<Field>,
}

/// Layout of pages and events; event numbers change at every boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Size of a page in bytes.
    pub(super) page: usize,
    /// Where the page's events begin.
    pub(super) data: usize,
    /// The field with the number of bytes used in the page.
    pub(super) commit: Field,
    pub(super) events: FxHashMap<u16, EventLayout>,
}

impl Layout {
    /// Parses the texts of `header_page` and of the events' `format` files; skips events that are
    /// no requests.
    ///
    /// # Errors
    /// A text lacks a required field.
    pub fn parse(header_page: &str, formats: &[impl AsRef<str>]) -> Result<Self, LayoutError> {
        let bad = |reason| LayoutError { what: "header_page".to_owned(), reason };
        let data = field(header_page, "data").ok_or(bad("no field data"))?;
        let commit = field(header_page, "commit").ok_or(bad("no field commit"))?;
        let page = data.offset + data.size;
        // With empty pages, reading would never end.
        if page > MOST_PAGE || data.size == 0 || commit.offset + commit.size > data.offset {
            return Err(bad("pages that are too large, empty, or without a head"));
        }
        let mut events = FxHashMap::default();
        for text in formats {
            if let Some((number, event)) = event(text.as_ref())? {
                events.insert(number, event);
            }
        }
        Ok(Self { page, data: data.offset, commit, events })
    }
}

/// Finds `name` in lines such as `field:unsigned int nr_sector; offset:24; size:4;`.
fn field(text: &str, name: &str) -> Option<Field> {
    text.lines().find_map(|line| {
        let mut parts = line.trim().strip_prefix("field:")?.split(';').map(str::trim);
        let declared = parts.next()?.rsplit([' ', '*']).next()?;
        if declared.split('[').next()? != name {
            return None;
        }
        let number = |part: Option<&str>, key: &str| part?.strip_prefix(key)?.trim().parse().ok();
        let offset: usize = number(parts.next(), "offset:")?;
        let size = number(parts.next(), "size:")?;
        let end = offset.checked_add(size)?;
        (end <= MOST_PAGE).then_some(Field { offset, size })
    })
}

fn event(text: &str) -> Result<Option<(u16, EventLayout)>, LayoutError> {
    let value = |key| text.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
    let name = value("name:").unwrap_or_default();
    let bad = |reason| LayoutError { what: format!("format of the event {name:?}"), reason };
    let Some(kind) = kind(name) else { return Ok(None) };
    let number = value("ID:").and_then(|id| id.parse().ok()).ok_or(bad("no ID"))?;
    let needed = |field_name| field(text, field_name);
    let layout = EventLayout {
        kind,
        pid: needed("common_pid").ok_or(bad("no field common_pid"))?,
        device: needed("dev").ok_or(bad("no field dev"))?,
        sector: needed("sector").ok_or(bad("no field sector"))?,
        sectors: needed("nr_sector").or(needed("new_sector")).ok_or(bad("no field nr_sector"))?,
        bytes: needed("bytes"),
        error: needed("error").or(needed("errors")),
        rwbs: needed("rwbs").ok_or(bad("no field rwbs"))?,
        comm: needed("comm"),
        old_device: needed("old_dev"),
        old_sector: needed("old_sector").or(needed("new_sector")),
    };
    Ok(Some((number, layout)))
}

/// The events that make rows.
fn kind(name: &str) -> Option<Kind> {
    crate::read::kernel_event(name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    pub const HEADER: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
        \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
        \tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

    #[test]
    fn fields_are_found_where_the_kernel_says() {
        let text = "name: block_rq_issue\nID: 2104\nformat:\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
            \tfield:dev_t dev;\toffset:8;\tsize:4;\n\tfield:sector_t sector;\toffset:16;\tsize:8;\n\
            \tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\n\tfield:unsigned int bytes;\toffset:28;\tsize:4;\n\
            \tfield:char rwbs[10];\toffset:34;\tsize:10;\n\tfield:char comm[16];\toffset:44;\tsize:16;\n";
        let layout = Layout::parse(HEADER, &[text, "name: sched_switch\nID: 1\n"]).unwrap();
        assert_eq!((layout.page, layout.data, layout.events.len()), (4096, 16, 1));
        let event = layout.events[&2104];
        assert_eq!(event.rwbs, Field { offset: 34, size: 10 });
        assert_eq!((event.bytes.map(|f| f.offset), event.error), (Some(28), None));
        let error = Layout::parse(HEADER, &["name: block_rq_issue\nID: 3\n"]).unwrap_err();
        assert!(error.to_string().contains("block_rq_issue"), "{error}");
        assert!(Layout::parse("", &[""]).is_err());
    }

    /// Once, reading such pages never ended.
    #[test]
    fn pages_without_a_byte_are_refused() {
        for place in ["offset:0; size:0;", "offset:18446744073709551600; size:16;"] {
            let header =
                format!("field: local_t commit; offset:0; size:0;\nfield: char data; {place}\n");
            assert!(Layout::parse(&header, &[""]).is_err(), "{place}");
        }
    }
}
