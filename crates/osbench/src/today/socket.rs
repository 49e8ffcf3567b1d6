//! The round trip of one byte to another process and back through sockets.

use crate::case::{Case, Op, Scene, repeated, wrong};
use crate::cswitch::{echo, round_trip};
use ioscape_machine::affinity::pin;
use ioscape_machine::crew::Crew;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

/// The cases.
pub(crate) fn cases() -> Vec<Case> {
    let unix = "The round trip of cswitch through a socket pair: the cost of a request to a local service.";
    let tcp = "The same through TCP on the loopback device: the network stack without a network.";
    vec![
        Case::new("socket", "unix, same CPU", unix, |scene| {
            let (mine, theirs) = UnixStream::pair()?;
            operation(mine.into(), theirs.into(), scene)
        }),
        Case::new("socket", "tcp, same CPU", tcp, |scene| {
            let (mine, theirs) = loopback()?;
            operation(mine.into(), theirs.into(), scene)
        }),
    ]
}

/// Returns a connection within this machine, without delays for collecting small packets.
fn loopback() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let mine = TcpStream::connect(listener.local_addr()?)?;
    let theirs = listener.accept()?.0;
    for end in [&mine, &theirs] {
        end.set_nodelay(true)?;
    }
    Ok((mine, theirs))
}

fn operation(mine: OwnedFd, theirs: OwnedFd, scene: &Scene) -> io::Result<Op> {
    let cpu = scene.cpu;
    let partner = Crew::fork(1, |_| if pin(cpu).is_ok() { echo(&theirs, &theirs) } else { 1 })?;
    scene.partner.set(Some(partner.first_id()));
    drop(theirs);
    round_trip(&mine, &mine).map_err(|_| wrong("the other process could not start"))?;
    Ok(repeated(move || {
        let _alive = &partner;
        round_trip(&mine, &mine)
    }))
}
