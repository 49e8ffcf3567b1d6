//! SYSTOR '17 traces: `Timestamp,Response,IOType,LUN,Offset,Size`, in Unix seconds and bytes (see
//! its README).

use crate::read::decode::Epoch;
use crate::read::lines::Pieces;
use crate::read::row::answered;
use crate::read::tables::{Bad, Sink};
use crate::read::text::{decimal, field, fields, letter, number, only, request, wrong};

/// Parses SYSTOR lines.
#[derive(Default)]
pub(crate) struct Systor {
    unanswered: u64,
}

impl Pieces for Systor {
    const EPOCH: Epoch = Epoch::Unix;
    const NAMES: &'static str = "Timestamp,Response,IOType,LUN,Offset,Size";

    fn piece(&mut self, line: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
        let [time, response, op, unit, offset, size] = only(fields::<6>(line, b','))?;
        if op.is_empty() {
            // A request without its kind never got an answer at the source, so it makes no row.
            self.unanswered += 1;
            let notes = &mut sink.tables.info.notes;
            notes.insert("requests without kind".to_owned(), self.unanswered.to_string());
            return Ok(());
        }
        let op = letter(op).ok_or_else(|| wrong("the type", op))?;
        let time_ns = field(decimal(time, 9), "the time", time)?;
        let response_ns = match response {
            [] => None,
            _ => Some(field(decimal(response, 9), "the response time", response)?),
        };
        let request = request(op, number("the offset", offset)?, number("the size", size)?)?;
        let number = number("the LUN", unit)?;
        let device = sink.tables.device(unit, || format!("LUN {number}"))?;
        sink.rows.push(answered(time_ns, response_ns, request, device));
        Ok(())
    }
}
