//! Text and record formats, one file each: a line or record becomes a row.

mod alibaba;
mod cloudphysics;
mod disksim;
mod fio;
mod fiu;
mod msr;
mod oracle;
mod replayer;
mod spc;
mod ssdsim;
mod systor;
mod tencent;
mod vscsi;

pub(crate) use alibaba::Alibaba;
pub(crate) use cloudphysics::CloudPhysics;
pub(crate) use disksim::{Ascii, Validate};
pub(crate) use fio::{FioLog, MAGICS as FIO_MAGICS};
pub(crate) use fiu::Fiu;
pub(crate) use msr::Msr;
pub(crate) use oracle::{OracleGeneral, looks_like as looks_like_oracle};
pub(crate) use replayer::Replayer;
pub(crate) use spc::Spc;
pub(crate) use ssdsim::SsdSim;
pub(crate) use systor::Systor;
pub(crate) use tencent::Tencent;
pub(crate) use vscsi::{VscsiOne, VscsiTwo, is_one as is_vscsi_one, is_two as is_vscsi_two};

use ioscape_schema::{Io, Op, Request};

/// A row of a source that tells one time only.
fn at(time_ns: u64, request: Request, device: u16) -> Io {
    answered(time_ns, 0, request, device)
}

/// A row of a source that tells an arrival and how long the answer took.
fn answered(time_ns: u64, response_ns: u64, request: Request, device: u16) -> Io {
    Io {
        request,
        queued_ns: time_ns,
        issued_ns: time_ns,
        completed_ns: time_ns.saturating_add(response_ns),
        device,
        ..Io::default()
    }
}

/// `R`, `Read`, `w`, ...
fn letter(text: &[u8]) -> Option<Op> {
    match text.first()? {
        b'R' | b'r' => Some(Op::Read),
        b'W' | b'w' => Some(Op::Write),
        _ => None,
    }
}
