//! `ioscape trace top`: the recorder's events, second by second, on the terminal, as text, as lines
//! of JSON or as a page.

use super::record::{part_of, tell_notes};
use crate::failure::{Failure, no_thread};
use crate::output;
use crate::outputs;
use ioscape_arguments::TopArgs;
use ioscape_machine::interrupt;
use ioscape_machine::output::Outputs;
use ioscape_machine::serve::Server;
use ioscape_machine::terminal::Screen;
use ioscape_machine::thread::builder;
use ioscape_observe::record::{
    BUFFER_BYTES, Cuts, RecordOptions, RecordedDisk, RecordedPart, Recorder, RecordingSource,
    gather, is_recorded, maps_beside,
};
use ioscape_report::{TOP_PAGE, draw_top, top_openmetrics, top_text};
use ioscape_schema::TopSecond;
use ioscape_trace::ring::{Layout, Parts};
use ioscape_trace::{BlockTypes, Live, classify};
use std::collections::VecDeque;
use std::io::{self, IsTerminal};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// The argument for the OpenMetrics text.
const METRICS: &str = "--openmetrics";
/// Time between two pictures, in seconds.
const EVERY_S: f64 = 1.0;
/// Seconds kept for the heat map.
const MOST_SECONDS: usize = 600;
/// Longest delay between a key and its effect.
const LOOK: Duration = Duration::from_millis(100);
/// How long the first second waits to learn what the blocks hold.
const FIRST_MAP: Duration = Duration::from_secs(3);

/// Runs the command.
///
/// # Errors
/// No permission to record, a disk does not exist, or a place cannot be written.
pub fn main(args: &TopArgs) -> Result<(), Failure> {
    let disks = RecordedDisk::chosen(&args.device, &args.path)?;
    let names = outputs::names(args.force).writes(METRICS, args.openmetrics.as_deref());
    let outputs = names.open()?;
    let over = interrupt::flag();
    let options = RecordOptions {
        disks: disks.clone(),
        buffer_bytes: args.buffer.unwrap_or(BUFFER_BYTES),
        spool: None,
    };
    let mut recorder = Recorder::start(&options)?;
    let server = args.serve.map(serve).transpose()?;
    let source = recorder.source();
    tell_notes(&source);
    let mut top = Top::new(source, disks, recorder.elsewhere().to_vec())?;
    let (give, parts) = channel();
    thread::scope(|scope| {
        let over = &*over;
        let work = move || {
            let shown = show(args, &mut top, server, outputs, &parts, over);
            over.store(true, Ordering::Relaxed);
            shown
        };
        let shown = builder().and_then(|one| one.spawn_scoped(scope, work)).map_err(no_thread)?;
        // Dropping the receiver ends the gathering.
        let mut on_part = |part| drop(give.send(part));
        let mut cuts = Cuts { every_s: Some(EVERY_S), on_part: &mut on_part };
        let gathered = gather(&mut recorder, None, None, over, &mut cuts, &mut |_| {});
        drop(give);
        shown.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        gathered.map(drop).map_err(Failure::from)
    })
}

/// Shows each second as it arrives, until there are no more or the user quits.
fn show(
    args: &TopArgs,
    top: &mut Top,
    server: Option<Server>,
    mut outputs: Outputs,
    parts: &Receiver<RecordedPart>,
    over: &AtomicBool,
) -> Result<(), Failure> {
    let is_quiet = args.json || args.once || server.is_some();
    let takes_screen = io::stdout().is_terminal() && !is_quiet;
    let of_screen = |e: io::Error| Failure::of_write("the terminal", &e);
    let mut screen = takes_screen.then(Screen::open).transpose().map_err(of_screen)?;
    let (style, mut seconds) = (output::style(), VecDeque::new());
    while !over.load(Ordering::Relaxed) {
        match parts.recv_timeout(if screen.is_some() { Duration::ZERO } else { LOOK }) {
            Ok(part) => seconds.push_back(top.second(part)?),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                let Some(screen) = &mut screen else { continue };
                screen.draw(|frame| draw_top(frame, &seconds, &style)).map_err(of_screen)?;
                if screen.is_left_within(LOOK).map_err(of_screen)? {
                    break;
                }
                continue;
            }
        }
        let Some(last) = seconds.back() else { continue };
        let metrics = top_openmetrics(last);
        let written = outputs.text(METRICS, &metrics);
        let line = serde_json::to_string(last).map_err(|e| Failure::Failed(e.to_string()))?;
        if args.json {
            output::print(&format!("{line}\n"))?;
        } else if screen.is_none() && server.is_none() {
            output::print(&top_text(last, &style))?;
        }
        written?;
        server.iter().for_each(|server| server.tell(&line, metrics.clone()));
        if args.once {
            break;
        }
        if seconds.len() > MOST_SECONDS {
            seconds.pop_front();
        }
    }
    Ok(())
}

/// Serves the page, and reports its address.
fn serve(address: SocketAddr) -> Result<Server, Failure> {
    let server = Server::start(address, TOP_PAGE.to_owned())?;
    let at = server.address();
    output::tell(&format!("http://{at}/ shows it; Ctrl-C ends it"));
    let who = match at.ip().is_loopback() {
        true => "every user of this machine",
        false => "whoever reaches this address",
    };
    output::tell(&format!("{who} can read it: names of disks and processes, and what they do"));
    Ok(server)
}

/// Turns the parts of a recording into seconds.
struct Top {
    disks: Vec<RecordedDisk>,
    /// The indices of the disks whose requests are recorded elsewhere.
    elsewhere: Vec<u16>,
    parts: Parts,
    /// When the next second begins, on the events' clock.
    begins_ns: u64,
    /// What the blocks hold, as far as it is known so far.
    types: Option<BlockTypes>,
    next_types: Receiver<BlockTypes>,
    /// The thread that asks for it; its requests are left out.
    asks: u32,
    /// How long the next second waits for it.
    patience: Duration,
}

impl Top {
    fn new(
        source: RecordingSource,
        disks: Vec<RecordedDisk>,
        elsewhere: Vec<u16>,
    ) -> Result<Self, Failure> {
        let layout = Layout::parse(&source.header_page, &source.formats)
            .map_err(|e| Failure::Failed(e.to_string()))?;
        let beside = maps_beside(disks.clone(), BlockTypes::new);
        let (next_types, asks) = beside.map_err(no_thread)?;
        let (begins_ns, parts) =
            (source.begins_ns, Parts::new(layout, &source.devices, source.info));
        let (types, patience) = (None, FIRST_MAP);
        Ok(Self { disks, elsewhere, parts, begins_ns, types, next_types, asks, patience })
    }

    /// Returns what completed in the next part.
    fn second(&mut self, part: RecordedPart) -> Result<TopSecond, Failure> {
        self.learn_types();
        let until_ns = part.until_ns.unwrap_or(self.begins_ns);
        let ended_unix_ns = until_ns.saturating_add_signed(part.unix_offset_ns);
        let mut reader = self.parts.begin(part_of(part)?)?;
        let (mut live, mut batch) = (Live::default(), Vec::new());
        let maps: Vec<&BlockTypes> = self.types.iter().collect();
        while reader.next_batch(&mut batch)? {
            batch.retain(|io| {
                io.process != self.asks && is_recorded(io, self.disks.len(), &self.elsewhere)
            });
            for io in &mut batch {
                let command = reader.info().commands.get(io.command as usize);
                io.io_type = classify(io, command.map_or("", String::as_str), &maps);
            }
            live.update(&batch);
        }
        let elapsed_s = until_ns.saturating_sub(self.begins_ns) as f64 / 1e9;
        let mut second = live.finish(reader.info(), elapsed_s, ended_unix_ns);
        self.parts.end(reader);
        self.begins_ns = until_ns;
        let own = (0..=u16::MAX).zip(&self.disks).filter(|(at, _)| !self.elsewhere.contains(at));
        let own: Vec<(&str, Option<u64>)> =
            own.map(|(_, disk)| (disk.name.as_str(), disk.in_flight())).collect();
        set_in_flight(&mut second, &own);
        Ok(second)
    }

    fn learn_types(&mut self) {
        if let Ok(types) = self.next_types.recv_timeout(std::mem::take(&mut self.patience)) {
            self.types = Some(types);
        }
    }
}

/// Sets how many requests are in flight on the named disks and in total. Requests of other layers
/// are on these disks too, so only these count.
fn set_in_flight(second: &mut TopSecond, own: &[(&str, Option<u64>)]) {
    for row in &mut second.devices {
        row.in_flight = own.iter().find(|(name, _)| *name == row.name).and_then(|(_, now)| *now);
    }
    second.all.in_flight = own.iter().map(|(_, now)| *now).sum();
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::TopRow;

    #[test]
    fn a_request_that_is_under_way_counts_in_one_layer_only() {
        let row = |name: &str| TopRow { name: name.to_owned(), ..TopRow::default() };
        let devices = ["dm-1", "dm-0", "md0", "nvme0n1", "nvme1n1"].map(row).to_vec();
        let mut second = TopSecond { devices, ..TopSecond::default() };
        set_in_flight(&mut second, &[("nvme0n1", Some(16)), ("nvme1n1", Some(16))]);
        let told: Vec<Option<u64>> = second.devices.iter().map(|row| row.in_flight).collect();
        assert_eq!(told, [None, None, None, Some(16), Some(16)]);
        assert_eq!(second.all.in_flight, Some(32));
        set_in_flight(&mut second, &[("nvme0n1", Some(16)), ("nvme1n1", None)]);
        assert_eq!(second.all.in_flight, None, "one does not tell");
    }
}
