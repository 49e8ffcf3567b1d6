//! What `ioscape trace record` had gathered when it was killed: one file per CPU. Each has a line
//! that describes the kernel's layout of events, then pages of events.

use crate::error::Error;
use crate::read::decode::{Decode, Epoch};
use crate::read::head::{Head, Likeness};
use crate::read::input::{Input, LONGEST};
use crate::read::source::Opened;
use crate::ring::decoder::Ring;
use crate::ring::layout::Layout;
use crate::ring::part::{NextPart, Part};
use ioscape_schema::text::RECORDING_MARK;
use ioscape_schema::{Io, RecordingSource, TraceInfo};

/// Recognizes the format by its first words.
pub(super) fn looks_like(head: &Head<'_>) -> Likeness {
    Likeness::certain_if(head.bytes.starts_with(RECORDING_MARK.as_bytes()))
}

/// Opens one decoder for all files of one recording.
pub(super) fn open(
    _name: &'static str,
    sources: Vec<Opened>,
    _skip_bad: bool,
) -> Result<Vec<Box<dyn Decode>>, Error> {
    let mut recordings: Vec<(RecordingSource, Vec<Input>)> = Vec::new();
    for source in sources {
        let mut input = source.into_input()?;
        let head = head(&mut input)?;
        match recordings.iter_mut().find(|(known, _)| *known == head) {
            Some((_, inputs)) => inputs.push(input),
            None => recordings.push((head, vec![input])),
        }
    }
    recordings.into_iter().map(|(head, inputs)| Killed::boxed(head, inputs)).collect()
}

fn head(input: &mut Input) -> Result<RecordingSource, Error> {
    let mut wanted = 1 << 12;
    let line = loop {
        let bytes = input.peek(wanted)?;
        let all = bytes.len();
        match memchr::memchr(b'\n', bytes) {
            Some(end) => break bytes[..end].to_vec(),
            None if all < wanted || wanted > LONGEST => {
                return Err(input.bad_header("its first line has no end"));
            }
            None => wanted *= 2,
        }
    };
    let text = line.strip_prefix(RECORDING_MARK.as_bytes());
    let text = text.ok_or_else(|| input.bad_header("it is no recording of ioscape"))?;
    let head = serde_json::from_slice(text).map_err(|why| input.bad_header(why.to_string()))?;
    input.consume(line.len() + 1);
    Ok(head)
}

/// The note about a recording whose recorder was killed.
const KILLED: &str = "the recorder was killed: what its files cost is among the requests, and what blocks hold is not known";

/// Adds this note to what the recorder said about itself.
fn note(info: &mut TraceInfo) {
    let told = info.notes.entry("recording".to_owned()).or_default();
    if !told.is_empty() {
        told.push_str("; ");
    }
    told.push_str(KILLED);
}

/// Decodes the events, without those of the recorder itself.
struct Killed {
    ring: Ring,
    recorder: u32,
}

impl Killed {
    fn boxed(head: RecordingSource, inputs: Vec<Input>) -> Result<Box<dyn Decode>, Error> {
        let unsupported = |e: crate::ring::LayoutError| Error::Unsupported(e.to_string());
        let layout = Layout::parse(&head.header_page, &head.formats).map_err(unsupported)?;
        let mut info = head.info;
        note(&mut info);
        let next = NextPart::default();
        next.set(inputs, Part::default());
        let ring = Ring::new(layout, &head.devices, info, next);
        Ok(Box::new(Self { ring, recorder: head.recorder }))
    }
}

impl Decode for Killed {
    fn decode(&mut self, into: &mut Vec<Io>) -> Result<bool, Error> {
        let mut fresh = Vec::new();
        let more = self.ring.decode(&mut fresh)?;
        into.extend(fresh.into_iter().filter(|io| io.process != self.recorder));
        Ok(more)
    }

    fn info(&self) -> &TraceInfo {
        self.ring.info()
    }

    fn epoch(&self) -> Epoch {
        self.ring.epoch()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_recorder_said_of_itself_stays() {
        let mut info = TraceInfo::default();
        note(&mut info);
        assert_eq!(info.notes["recording"], KILLED);
        info.notes.insert("recording".to_owned(), "in a container".to_owned());
        note(&mut info);
        assert_eq!(info.notes["recording"], format!("in a container; {KILLED}"));
    }
}
