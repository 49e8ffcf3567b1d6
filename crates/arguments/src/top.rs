//! Options of `trace top`.

use super::value::bytes;
use clap::Args;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// `ioscape trace top`.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub struct TopArgs {
    /// Disk to watch, such as vda [default: all]
    pub device: Vec<String>,
    /// Watch the disk that DIR is on
    #[arg(long, value_name = "DIR")]
    pub path: Vec<PathBuf>,
    /// Show one second, then end
    #[arg(long)]
    pub once: bool,
    /// Print each second as one line of JSON
    #[arg(long)]
    pub json: bool,
    /// Show it as a page at ADDR, to be opened in a browser, with figures for a scraper at /metrics [default: 127.0.0.1:8017]
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "8017", value_parser = address, conflicts_with = "once")]
    pub serve: Option<SocketAddr>,
    /// Also write the figures of the last second to FILE as OpenMetrics text (.prom), each second anew
    #[arg(long, value_name = "FILE")]
    pub openmetrics: Option<PathBuf>,
    /// Overwrite FILE even if it is not an ioscape result
    #[arg(long)]
    pub force: bool,
    /// Trace buffer per CPU [default: 16M]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub buffer: Option<u64>,
}

const AFTER: &str = "On a terminal q, Escape or Ctrl-C end it; in a pipe it prints each second below the one before.";

/// An address with its port, or a port on this machine only.
fn address(text: &str) -> Result<SocketAddr, String> {
    let local = |port: u16| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    let port = text.trim_start_matches("localhost:").parse::<u16>();
    port.map(local).or_else(|_| text.parse()).map_err(|_| {
        "give a port, such as 8017, or an address and a port, such as 0.0.0.0:8017".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_one_of_this_machine() {
        for text in ["8017", "localhost:8017", "127.0.0.1:8017"] {
            assert_eq!(address(text), Ok(([127, 0, 0, 1], 8017).into()), "{text}");
        }
        assert!(address("[::]:80").unwrap().is_ipv6());
        assert!(address("example.org").is_err() && address("70000").is_err());
    }
}
