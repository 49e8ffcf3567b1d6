//! Reads traces: turns bytes of any known format into rows in the order of their arrival.

mod arrival_step;
mod damage;
mod decode;
mod decompress;
mod events;
mod formats;
mod gaps;
mod head;
mod input;
mod lines;
mod members;
mod order;
mod ordered;
mod plausible;
mod reader;
mod record;
mod restarts;
mod row;
mod source;
mod steps;
mod tables;
mod text;

pub use decode::BATCH;
pub(crate) use decode::{Decode, Epoch};
pub(crate) use events::{
    Event, Kind, ONE_END, Pairing, UNARRIVED, UNISSUED, add_levels, doubt_of_levels,
    is_passed_through, keep_levels, kernel_event, kernel_rwbs,
};
pub use formats::Format;
pub(crate) use formats::{Tells, Types};
pub(crate) use input::Input;
pub use reader::{ReadOptions, Reader, open};
pub(crate) use source::input_of;
pub use source::{ReadSeek, Source, needs_file};
pub(crate) use tables::{Sink, Tables};
