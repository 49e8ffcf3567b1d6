//! A local page with a stream of server-sent events, for browsers and scrapers.

use crate::error::Error;
use crate::thread::builder;
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Largest number of concurrent visitors; more are turned away.
const MOST_VISITORS: usize = 64;
/// Longest request head, in bytes.
const MOST_HEAD: u64 = 16 << 10;
/// Longest time for a visitor to send a request, or to receive the answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Number of past events that a new visitor gets at once.
const MOST_EVENTS: usize = 600;
/// Content security policy: nothing is loaded from elsewhere, and only the page's own script runs.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Answer to requests for a host name that may not be this machine's.
const FOREIGN: &str =
    "only requests whose Host is localhost or a loopback address (127.x, ::1) are answered\n";

/// A page served until this is dropped. Connected visitors lose the connection when the program
/// ends.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    feed: Arc<Feed>,
}

/// The content for visitors.
#[derive(Debug)]
struct Feed {
    page: String,
    /// Whether only names of this machine are accepted, so that a page of another site cannot read
    /// along through a name that it points here.
    local: bool,
    state: Mutex<State>,
    news: Condvar,
    visitors: AtomicUsize,
}

#[derive(Debug, Default)]
struct State {
    events: VecDeque<Arc<str>>,
    /// Number of the next event.
    next: u64,
    metrics: String,
}

impl Server {
    /// Serves `page` at `/`, events at `/events` and metrics at `/metrics`.
    ///
    /// # Errors
    /// The address is in use or does not belong to this machine.
    pub fn start(address: SocketAddr, page: String) -> Result<Self, Error> {
        let failed = |e| Error::io("serve at", Path::new(&address.to_string()), e);
        let listener = TcpListener::bind(address).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let feed = Arc::new(Feed {
            page,
            local: address.ip().is_loopback(),
            state: Mutex::default(),
            news: Condvar::new(),
            visitors: AtomicUsize::new(0),
        });
        let all = Arc::clone(&feed);
        let serve = move || {
            for stream in listener.incoming().flatten() {
                all.visit(stream);
            }
        };
        let started = builder().and_then(|one| one.spawn(serve));
        started.map_err(|e| Error::io("start a thread for", Path::new("visitors"), e))?;
        Ok(Self { address, feed })
    }

    /// Returns its address, with the port that was chosen if 0 was requested.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sends all visitors an event, one line of text, and replaces the metrics.
    pub fn tell(&self, event: &str, metrics: String) {
        let mut state = self.feed.state();
        state.events.push_back(event.into());
        if state.events.len() > MOST_EVENTS {
            state.events.pop_front();
        }
        state.next += 1;
        state.metrics = metrics;
        drop(state);
        self.feed.news.notify_all();
    }
}

impl Feed {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers one visitor in its own thread.
    fn visit(self: &Arc<Self>, mut stream: TcpStream) {
        let feed = Arc::clone(self);
        let _ = stream.set_write_timeout(Some(PATIENCE));
        if self.visitors.fetch_add(1, Ordering::Relaxed) >= MOST_VISITORS {
            let _ = plain(&mut stream, "503 Service Unavailable", "too many visitors\n");
            self.visitors.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let answer = move || {
            // A visitor who leaves is not an error.
            let _ = feed.answer(&mut stream);
            feed.visitors.fetch_sub(1, Ordering::Relaxed);
        };
        if builder().and_then(|one| one.spawn(answer)).is_err() {
            // The visitor loses the connection and may come again.
            self.visitors.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn answer(&self, stream: &mut TcpStream) -> io::Result<()> {
        let (line, host) = request(stream, Instant::now() + PATIENCE)?;
        let mut words = line.split(' ');
        let (method, place) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        if self.local && !host.as_deref().is_some_and(is_local) {
            return plain(stream, "403 Forbidden", FOREIGN);
        }
        if method != "GET" {
            return plain(stream, "405 Method Not Allowed", "only GET\n");
        }
        match place.split('?').next().unwrap_or("") {
            "/" => whole(stream, "200 OK", "text/html; charset=utf-8", &self.page),
            "/events" => self.events(stream),
            "/metrics" => {
                let metrics = self.state().metrics.clone();
                let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
                whole(stream, "200 OK", kind, if metrics.is_empty() { "# EOF\n" } else { &metrics })
            }
            _ => plain(stream, "404 Not Found", "there are /, /events and /metrics\n"),
        }
    }

    /// Sends all remembered events, then each new one, until the visitor leaves.
    fn events(&self, stream: &mut TcpStream) -> io::Result<()> {
        head(stream, "200 OK", "text/event-stream; charset=utf-8", None)?;
        let mut seen = 0;
        loop {
            let mut state = self.state();
            while state.next == seen {
                state = self.news.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            let fresh = usize::try_from(state.next - seen).unwrap_or(usize::MAX);
            let from = state.events.len().saturating_sub(fresh);
            let events: Vec<Arc<str>> = state.events.iter().skip(from).cloned().collect();
            seen = state.next;
            drop(state);
            for event in events {
                stream.write_all(format!("data: {event}\n\n").as_bytes())?;
            }
            stream.flush()?;
        }
    }
}

/// Reads from a visitor until a deadline. With only a timeout per read, a visitor that sends a byte
/// now and then would keep its place for days.
struct Until<'a> {
    stream: &'a TcpStream,
    end: Instant,
}

impl Read for Until<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        self.stream.read(buffer)
    }
}

/// Returns the first line of a request, which must be complete by `end`, and the host it asks for.
fn request(stream: &TcpStream, end: Instant) -> io::Result<(String, Option<String>)> {
    let mut lines = BufReader::new(Until { stream, end }.take(MOST_HEAD)).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    let mut host = None;
    for line in lines {
        let line = line?;
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("host")
        {
            host = Some(value.trim().to_owned());
        }
    }
    Ok((first, host))
}

/// Returns whether a host, with or without a port, is a name of this machine for itself.
fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn head(stream: &mut TcpStream, status: &str, kind: &str, length: Option<usize>) -> io::Result<()> {
    let length = length.map(|bytes| format!("Content-Length: {bytes}\r\n")).unwrap_or_default();
    let text = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{length}Cache-Control: no-store\r\nConnection: close\r\n\
         X-Content-Type-Options: nosniff\r\nContent-Security-Policy: {POLICY}\r\n\r\n"
    );
    stream.write_all(text.as_bytes())
}

fn whole(stream: &mut TcpStream, status: &str, kind: &str, body: &str) -> io::Result<()> {
    head(stream, status, kind, Some(body.len()))?;
    stream.write_all(body.as_bytes())
}

fn plain(stream: &mut TcpStream, status: &str, body: &str) -> io::Result<()> {
    whole(stream, status, "text/plain; charset=utf-8", body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(server: &Server, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    fn answer(server: &Server, request: &str) -> String {
        let mut text = String::new();
        ask(server, request).read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn page_metrics_and_refusals() {
        let server = Server::start(([127, 0, 0, 1], 0).into(), "<p>page</p>".to_owned()).unwrap();
        let get = |place: &str| {
            answer(&server, &format!("GET {place} HTTP/1.1\r\nHost: localhost:1\r\n\r\n"))
        };
        assert!(get("/").ends_with("\r\n\r\n<p>page</p>") && get("/").contains("script-src"));
        assert!(get("/metrics").ends_with("# EOF\n"));
        server.tell("{}", "a 1\n".to_owned());
        assert!(get("/metrics?x").ends_with("a 1\n"));
        assert!(get("/else").starts_with("HTTP/1.1 404"));
        for (request, status) in [
            ("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "405"),
            ("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "403"),
            ("GET / HTTP/1.1\r\n\r\n", "403"),
        ] {
            assert!(answer(&server, request).starts_with(&format!("HTTP/1.1 {status}")));
        }
        assert!(answer(&server, "GET / HTTP/1.1\r\n\r\n").ends_with(FOREIGN));
        assert!(Server::start(server.address(), String::new()).is_err(), "one at a time");
    }

    #[test]
    fn a_visitor_gets_what_was_told_and_what_is_told_next() {
        let server = Server::start(([127, 0, 0, 1], 0).into(), String::new()).unwrap();
        server.tell("first", String::new());
        let stream = ask(&server, "GET /events HTTP/1.1\r\nHost: [::1]:80\r\n\r\n");
        let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
        assert!(lines.any(|line| line == "data: first"));
        server.tell("second", String::new());
        assert!(lines.any(|line| line == "data: second"));
    }

    #[test]
    fn a_visitor_that_asks_byte_by_byte_is_not_waited_for() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let mut slow = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (asked, _) = listener.accept().unwrap();
        let ask = move || {
            while slow.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(10));
            }
        };
        let asks = builder().unwrap().spawn(ask).unwrap();
        let begin = Instant::now();
        assert!(request(&asked, begin + Duration::from_millis(200)).is_err());
        assert!(begin.elapsed() < PATIENCE);
        drop(asked);
        asks.join().unwrap();
    }

    #[test]
    fn names_of_this_machine_are_known() {
        assert!(
            ["localhost", "LOCALHOST:80", "127.0.0.1:8017", "[::1]:1", "[::1]"]
                .iter()
                .all(|host| is_local(host))
        );
        assert!(
            !["localhost.example", "10.0.0.1:80", "", "example:localhost"]
                .iter()
                .any(|host| is_local(host))
        );
    }
}
