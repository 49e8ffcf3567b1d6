//! libCacheSim's own format, `lcs`: a header of 8192 bytes, then packed little-endian records (its `lcs.h`).
//!
//! Version 1: `u32 seconds, u64 object, u32 size, i64 next access`. Version 2 puts
//! `u8 operation, u24 tenant` before the next access. Version 3 also has an `i64 size` and a `u32`
//! time to live. An object of a block trace is a sector of 512 bytes.

use crate::error::Error;
use crate::read::decode::{Decode, Epoch};
use crate::read::head::{Head, Likeness};
use crate::read::input::Input;
use crate::read::lines::{Pieces, cut_rest};
use crate::read::record::{bytes, long, word};
use crate::read::row::at;
use crate::read::source::Opened;
use crate::read::tables::{Bad, Sink, in_seconds, of_objects, without_operations};
use crate::read::text::object;
use ioscape_schema::Op;

/// Size of the header in bytes, and the number that it begins and ends with.
const HEADER: usize = 8192;
const MAGIC: u64 = 0x1234_5678_9abc_def0;

/// Operations (`req_op_e`). Cache operations stand for the I/O that they cause.
const READS: [u8; 4] = [0, 1, 2, 12];
const WRITES: [u8; 2] = [3, 13];

/// Recognizes the format by its magic number.
pub(super) fn looks_like(head: &Head<'_>) -> Likeness {
    Likeness::certain_if(head.bytes.starts_with(&MAGIC.to_le_bytes()))
}

/// Opens a decoder for each source, by the version in its header.
pub(super) fn open(
    name: &'static str,
    sources: Vec<Opened>,
    skip_bad: bool,
) -> Result<Vec<Box<dyn Decode>>, Error> {
    sources.into_iter().map(|source| decoder(name, source.into_input()?, skip_bad)).collect()
}

fn decoder(name: &'static str, mut input: Input, skip_bad: bool) -> Result<Box<dyn Decode>, Error> {
    let header = input.peek(HEADER)?;
    if header.len() < HEADER || [0, HEADER - 8].map(|at| long(header, at)) != [MAGIC; 2] {
        return Err(input.bad_header("no whole header of lcs, which has 8192 bytes"));
    }
    let version = long(header, 8);
    input.consume(HEADER);
    match version {
        1 => Ok(cut_rest(name, input, Lcs::<24>, skip_bad)),
        2 => Ok(cut_rest(name, input, Lcs::<28>, skip_bad)),
        3 => Ok(cut_rest(name, input, Lcs::<36>, skip_bad)),
        _ => Err(input.bad_header(format!("lcs version {version}: 1, 2 and 3 can be read"))),
    }
}

/// Parses records of `SIZE` bytes, a size that identifies the version.
#[derive(Default)]
pub(super) struct Lcs<const SIZE: usize>;

impl<const SIZE: usize> Pieces for Lcs<SIZE> {
    const EPOCH: Epoch = Epoch::Clock { unix_offset_ns: None };
    const RECORD: usize = SIZE;

    fn piece(&mut self, record: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
        let (len, after) = match SIZE {
            36 => (long(record, 12), 20),
            _ => (u64::from(word(record, 12)), 16),
        };
        let (op, device) = match SIZE {
            24 => {
                without_operations(sink);
                (Op::Read, sink.tables.only_device()?)
            }
            _ => {
                let [op, tenant @ ..] = bytes::<4>(record, after);
                let number = u32::from_le_bytes([tenant[0], tenant[1], tenant[2], 0]);
                (operation(op)?, sink.tables.device(&tenant, || format!("tenant {number}"))?)
            }
        };
        if u32::try_from(len).is_err() {
            return Err("a request of 4 GiB or more".into());
        }
        let request = object(op, long(record, 4), len)?;
        of_objects(sink);
        in_seconds(sink);
        let time_ns = u64::from(word(record, 0)) * 1_000_000_000;
        sink.rows.push(at(time_ns, request, device));
        Ok(())
    }
}

fn operation(number: u8) -> Result<Op, Bad> {
    match number {
        _ if READS.contains(&number) => Ok(Op::Read),
        _ if WRITES.contains(&number) => Ok(Op::Write),
        _ => {
            Err(format!("operation {number}, which is not one of read, write, get and set").into())
        }
    }
}
