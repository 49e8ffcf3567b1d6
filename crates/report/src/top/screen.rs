//! The terminal screen: total activity, latencies over time, and the busiest disks, types and
//! processes.

use super::heat::Heat;
use super::words::{HEADS, cells, headline, losses, name, tables};
use crate::terminal::Style;
use ioscape_schema::{TopRow, TopSecond};
use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style as Ink};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Cell, Paragraph, Row, Table, Wrap};
use std::collections::VecDeque;

/// The rows of the heat map, if there is room.
const HEAT_ROWS: u16 = 12;
/// The width of its labels.
const LABEL: u16 = 8;
/// The minimum width of a name in a table.
const NAME: usize = 8;
/// The widths of the number columns: enough for most numbers, so that tables seldom shift.
const USUAL: [usize; HEADS.len()] = [8, 6, 10, 10, 8, 8, 13];
/// The shades as characters and, in `COLOURS`, as background colours of the 256-colour palette.
const CHARACTERS: [&str; super::heat::SHADES] = [" ", ".", ":", "+", "#", "@"];
const BLOCKS: [&str; super::heat::SHADES] =
    [" ", "\u{2591}", "\u{2592}", "\u{2593}", "\u{2588}", "\u{2588}"];
const COLOURS: [u8; super::heat::SHADES] = [0, 18, 25, 37, 184, 208];

/// Draws the latest second and the latencies up to it; before the first second, a notice.
pub fn draw_top(frame: &mut Frame<'_>, seconds: &VecDeque<TopSecond>, style: &Style) {
    let Some(second) = seconds.back() else {
        frame.render_widget("The first second is being gathered; q ends it.", frame.area());
        return;
    };
    let width = usize::from(frame.area().width.max(1));
    let headline = style.clean(&headline(second));
    let lost = losses(seconds.iter().map(|second| second.lost_events).sum());
    let [head, warning, heat, below] = Layout::vertical([
        Constraint::Length(headline.chars().count().div_ceil(width).min(2) as u16),
        Constraint::Length(u16::from(lost.is_some())),
        Constraint::Length((frame.area().height / 3).min(HEAT_ROWS) + 1),
        Constraint::Fill(1),
    ])
    .areas(frame.area());
    let headline = Paragraph::new(headline).style(bold()).wrap(Wrap { trim: true });
    frame.render_widget(headline, head);
    frame.render_widget(Line::styled(lost.unwrap_or_default(), ink(style, Color::Red)), warning);
    draw_heat(frame, heat, seconds, style);
    draw_tables(frame, below, second, style);
}

fn bold() -> Ink {
    Ink::new().add_modifier(Modifier::BOLD)
}

/// A colour, if colours are on.
fn ink(style: &Style, colour: Color) -> Ink {
    if style.colour { Ink::new().fg(colour) } else { Ink::new() }
}

fn draw_heat(frame: &mut Frame<'_>, area: Rect, seconds: &VecDeque<TopSecond>, style: &Style) {
    let rows = usize::from(area.height.saturating_sub(1));
    let columns = usize::from(area.width.saturating_sub(LABEL + 1));
    let heat = Heat::of(seconds.iter(), rows, columns);
    let mut lines = vec![Line::styled("latency, a column a second", bold())];
    for (label, shades) in heat.rows {
        let mut spans = vec![Span::raw(format!("{label:>width$} ", width = usize::from(LABEL)))];
        spans.extend(shades.into_iter().map(|shade| shaded(shade, style)));
        lines.push(Line::from(spans));
    }
    frame.render_widget(Text::from(lines), area);
}

fn shaded(shade: usize, style: &Style) -> Span<'static> {
    let characters = if style.unicode { BLOCKS } else { CHARACTERS };
    let character = characters.get(shade).copied().unwrap_or(" ");
    let colour = COLOURS.get(shade).copied().unwrap_or(0);
    Span::styled(character, ink(style, Color::Indexed(colour)))
}

/// Draws the tables one below the other, each with all the rows that fit.
fn draw_tables(frame: &mut Frame<'_>, area: Rect, second: &TopSecond, style: &Style) {
    let all = tables(second);
    let numbers = number_widths(second, usize::from(area.width));
    let columns = 1 + numbers.len();
    // Usually there are few disks and types; processes get the remaining room.
    let most = usize::from(area.height / 3).max(2);
    let height = |rows: &[TopRow]| Constraint::Length((rows.len() + 1).min(most) as u16);
    let [disks, types, processes] =
        Layout::vertical([height(all[0].1), height(all[1].1), Constraint::Fill(1)]).areas(area);
    for ((what, rows), area) in all.into_iter().zip([disks, types, processes]) {
        let heads = std::iter::once(what).chain(HEADS).take(columns).enumerate();
        let header = Row::new(heads.map(|(at, head)| cell(at, head.to_owned()))).style(bold());
        let shown = rows.iter().take(usize::from(area.height)).map(|row| {
            let words = std::iter::once(style.clean(&name(row))).chain(cells(second, row));
            Row::new(words.take(columns).enumerate().map(|(at, text)| cell(at, text)))
        });
        let lengths = numbers.iter().copied().map(Constraint::Length);
        let widths = std::iter::once(Constraint::Fill(1)).chain(lengths);
        frame.render_widget(Table::new(shown, widths).header(header), area);
    }
}

/// The widths of the leftmost number columns that fit whole: a cut number would be wrong.
fn number_widths(second: &TopSecond, room: usize) -> Vec<u16> {
    let mut widths = USUAL;
    for row in tables(second).into_iter().flat_map(|(_, rows)| rows) {
        for (width, text) in widths.iter_mut().zip(cells(second, row)) {
            *width = (*width).max(text.chars().count());
        }
    }
    let mut left = room.saturating_sub(NAME);
    let fitting = widths.into_iter().map_while(|width| {
        left = left.checked_sub(width + 1)?;
        u16::try_from(width).ok()
    });
    fitting.collect()
}

/// A cell: words are aligned to the left, numbers to the right.
fn cell(at: usize, text: String) -> Cell<'static> {
    let side = if at == 0 { Alignment::Left } else { Alignment::Right };
    Cell::from(Text::from(text).alignment(side))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::top::sample;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn screen(seconds: &VecDeque<TopSecond>, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw_top(frame, seconds, &Style::default())).unwrap();
        let lines: Vec<String> = terminal
            .backend()
            .buffer()
            .content
            .chunks(usize::from(width))
            .map(|cells| cells.iter().map(ratatui::buffer::Cell::symbol).collect::<String>())
            .collect();
        lines.iter().map(|line| line.trim_end().to_owned() + "\n").collect()
    }

    #[test]
    fn everything_has_its_place() {
        insta::assert_snapshot!(screen(&sample::seconds(), 90, 26));
    }

    #[test]
    fn a_number_is_whole_or_not_there() {
        let mut seconds = sample::seconds();
        let busy = &mut seconds.back_mut().unwrap().devices[0];
        (busy.queue_length, busy.in_flight) = (128.0, Some(128));
        assert!(screen(&seconds, 90, 26).contains(" 128.0 (128 now)"));
        let second = seconds.back().unwrap();
        let cells = cells(second, &second.devices[0]);
        let whole: Vec<String> = (0..=cells.len()).map(|at| cells[..at].join(" ")).collect();
        for width in 20..=120 {
            let drawn = screen(&seconds, width, 26);
            let row = drawn.lines().find_map(|line| line.strip_prefix("vda")).unwrap();
            let words: Vec<&str> = row.split_whitespace().collect();
            assert!(whole.contains(&words.join(" ")), "{width}: {row}");
        }
    }

    #[test]
    fn any_size_is_drawn() {
        for (width, height) in [(1, 1), (20, 3), (40, 10), (300, 100)] {
            assert_eq!(
                screen(&sample::seconds(), width, height).lines().count(),
                usize::from(height)
            );
        }
        assert!(screen(&VecDeque::new(), 60, 5).contains("first second"));
    }
}
