//! How evenly the clients of a run were served, for every format: a sentence, and the share of
//! each.
//!
//! The submodules are about evaluations by several clients.

pub mod borders;
pub mod curve;
pub mod measured;

use crate::html::tables::table as html_table;
use crate::terminal::Style;
use crate::terminal::tables::of_rows;
use crate::text::{esc, none};
use ioscape_schema::units::{Nanos, Rate};
use ioscape_schema::{Client, Clients, Evaluation};

/// What the response times of several clients mean; shown wherever clients are.
pub const TIMES_NOTE: &str = "Mean response times are of all requests; medians and percentiles are those of the client with the longest.";

/// The column heads of the table of clients.
const HEAD: [&str; 4] = ["Client", "Host", "Throughput", "Mean response time"];

/// The clients at each region's focal vector, when all of them ran at once.
///
/// A row has a client's name, its host, and its throughput in every region where it is known.
pub fn by_region(evaluation: &Evaluation) -> Vec<Vec<String>> {
    let regions = || evaluation.regions.iter();
    let at: Vec<Option<&Clients>> = regions().map(curve::all_together).collect();
    let Some(most) = at.iter().flatten().max_by_key(|clients| clients.each.len()) else {
        return Vec::new();
    };
    let row = |one: &Client| {
        let rate = |clients: &Option<&Clients>| {
            let own = clients.and_then(|all| all.each.iter().find(|own| own.rank == one.rank));
            own.map_or_else(none, |own| {
                let mark = if own.straggles { " (straggles)" } else { "" };
                format!("{}{mark}", Rate(own.throughput_bytes_per_s))
            })
        };
        let names = [one.rank.to_string(), one.host.clone()];
        names.into_iter().chain(at.iter().map(rate)).collect()
    };
    most.each.iter().map(row).collect()
}

/// The column heads for [`by_region`].
pub fn by_region_head(evaluation: &Evaluation) -> Vec<&str> {
    let regions = evaluation.regions.iter().map(|region| region.name.as_str());
    ["Client", "Host"].into_iter().chain(regions).collect()
}

fn cells(client: &Client) -> Vec<String> {
    let name = format!("{}{}", client.rank, if client.straggles { " (straggles)" } else { "" });
    let rate = Rate(client.throughput_bytes_per_s).to_string();
    vec![name, client.host.clone(), rate, Nanos(client.response_time_mean_ns).to_string()]
}

fn sentence(clients: &Clients) -> String {
    format!(
        "{} together: fairness {:.2} (Jain), least {:.2} and greatest {:.2} of the mean client's throughput; began {} apart, by clocks that \
         may be {} wrong. {TIMES_NOTE}",
        clients.each.len(),
        clients.fairness,
        clients.spread[0],
        clients.spread[1],
        Nanos(clients.start_skew_ns as f64),
        Nanos(clients.clock_error_ns as f64),
    )
}

/// The clients as text, under `name` if there are several runs; empty if one machine measured.
pub fn text(clients: Option<&Clients>, name: &str, style: &Style) -> String {
    let Some(clients) = clients else { return String::new() };
    let sentence = format!("Clients{name}: {}", sentence(clients));
    let rows: Vec<_> = clients.each.iter().map(cells).collect();
    let shown = of_rows(&HEAD, &rows, |at| at == 1, style);
    format!("\n{}{shown}", style.paragraph("", "  ", &sentence))
}

/// The clients as part of the page; empty if one machine measured.
pub fn html(clients: Option<&Clients>, name: &str) -> String {
    let Some(clients) = clients else { return String::new() };
    let rows = html_table("", &HEAD, clients.each.iter().map(cells));
    format!("<h3>Clients{}</h3><p>{}</p>{rows}", esc(name), esc(&sentence(clients)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_straggles_and_whose_the_times_are_is_told_in_both_formats_and_names_do_nothing() {
        let client = |rank, straggles| Client {
            rank,
            host: "<b>\u{1b}".into(),
            throughput_bytes_per_s: 1e8,
            straggles,
            ..Client::default()
        };
        let each = vec![client(0, false), client(1, true)];
        let clients = Clients {
            each,
            fairness: 0.9,
            spread: [0.5, 1.5],
            start_skew_ns: 2_000_000,
            ..Clients::default()
        };
        let text = text(Some(&clients), " of run 2", &Style::default());
        assert!(text.contains("Clients of run 2: 2 together: fairness 0.90"), "{text}");
        assert!(text.contains("1 (straggles)") && !text.contains('\u{1b}'), "{text}");
        let page = html(Some(&clients), "");
        assert!(page.contains("1 (straggles)") && !page.contains("<b>"), "{page}");
        assert_eq!(html(None, ""), "");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(TIMES_NOTE) && page.contains(TIMES_NOTE), "{words} {page}");
    }
}
