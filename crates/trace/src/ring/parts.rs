//! A recording in consecutive parts: a request belongs to the part in which it completes, wherever
//! it began.

use super::decoder::Ring;
use super::layout::Layout;
use super::part::{NextPart, Part};
use crate::error::Error;
use crate::read::{Decode, Reader, input_of};
use ioscape_schema::TraceInfo;

/// A recording whose parts are read as they are recorded.
pub struct Parts {
    next: NextPart,
    /// `None` while a part is being read.
    decoder: Option<Box<dyn Decode>>,
}

impl Parts {
    /// A recording that has no parts yet; the arguments are those of [`open`](super::open).
    pub fn new(layout: Layout, devices: &[u32], info: TraceInfo) -> Self {
        let next = NextPart::default();
        let ring = Ring::new(layout, devices, info, next.clone());
        Self { next, decoder: Some(Box::new(ring)) }
    }

    /// Begins the next part.
    ///
    /// # Errors
    /// Pages that cannot be read, or a previous part that [did not end](Self::end).
    pub fn begin(&mut self, mut part: Part) -> Result<Reader, Error> {
        let inputs = std::mem::take(&mut part.cpus).into_iter().map(input_of);
        self.next.set(inputs.collect::<Result<_, _>>()?, part);
        let unfinished = || Error::Unsupported("the part before is still being read".to_owned());
        self.decoder.take().ok_or_else(unfinished).map(Reader::new)
    }

    /// Ends a part that was read completely.
    pub fn end(&mut self, part: Reader) {
        self.decoder = Some(part.into_decoder());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Source;
    use std::io::Cursor;

    const HEADER: &str = "field: u64 timestamp; offset:0; size:8;\nfield: local_t commit; offset:8; size:8;\nfield: char data; offset:16; size:240;\n";
    const QUEUE: u16 = 9;
    const COMPLETE: u16 = 8;

    fn layout() -> Layout {
        let format = |name: &str, id: u16| {
            format!(
                "name: {name}\nID: {id}\nfield:int common_pid; offset:4; size:4;\nfield:dev_t dev; offset:8; size:4;\n\
                field:sector_t sector; offset:16; size:8;\nfield:unsigned int nr_sector; offset:24; size:4;\n\
                field:char rwbs[8]; offset:28; size:8;\n"
            )
        };
        let events = [("block_bio_queue", QUEUE), ("block_rq_complete", COMPLETE)];
        Layout::parse(HEADER, &events.map(|(name, id)| format(name, id))).unwrap()
    }

    /// A page of write events: the kind, the sector, and the nanoseconds since the previous event
    /// of each.
    fn page(time_ns: u64, events: &[(u16, u64, u32)]) -> Source {
        let mut entries = Vec::new();
        for &(id, sector, after_ns) in events {
            entries.extend((9u32 | after_ns << 5).to_le_bytes());
            entries.extend(u32::from(id).to_le_bytes());
            entries.extend([0; 4]);
            entries.extend((8u32 << 20).to_le_bytes());
            entries.extend([0; 4]);
            entries.extend(sector.to_le_bytes());
            entries.extend(8u32.to_le_bytes());
            entries.extend(b"W\0\0\0\0\0\0\0");
        }
        let mut page = time_ns.to_le_bytes().to_vec();
        page.extend((entries.len() as u64).to_le_bytes());
        page.extend(entries);
        page.resize(256, 0);
        Source::stream("cpu0", Cursor::new(page))
    }

    #[test]
    fn each_part_tells_what_is_missing_in_it_and_when_it_began() {
        let info = TraceInfo { started_unix_ns: Some(1_000_000), ..TraceInfo::default() };
        let mut parts = Parts::new(layout(), &[], info);
        let mut told = |page, part| {
            let part = Part { cpus: vec![page], ..part };
            let (mut reader, mut batch) = (parts.begin(part).unwrap(), Vec::new());
            while reader.next_batch(&mut batch).unwrap() {}
            let info = reader.info().clone();
            parts.end(reader);
            (info.notes.get("completions without a beginning").cloned(), info.started_unix_ns)
        };
        let first = page(1000, &[(COMPLETE, 99, 0), (QUEUE, 8, 1), (COMPLETE, 8, 10)]);
        let until = |time_ns| Part { until_ns: Some(time_ns), ..Part::default() };
        assert_eq!(told(first, until(5000)), (Some("1".to_owned()), Some(1_001_001)));
        let second = page(6000, &[(QUEUE, 8, 0), (COMPLETE, 8, 10)]);
        let suspended = Part { unix_offset_ns: Some(9_000_000), ..until(7000) };
        assert_eq!(told(second, suspended), (None, Some(9_006_000)), "suspended");
        let third = page(8000, &[(COMPLETE, 7, 0), (COMPLETE, 99, 5), (COMPLETE, 8, 5)]);
        let stopped = Part { stopped_ns: Some(8005), ..Part::default() };
        assert_eq!(told(third, stopped).0.as_deref(), Some("1"), "what began later is not lost");
    }
}
