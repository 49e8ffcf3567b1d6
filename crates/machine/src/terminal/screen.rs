//! The whole terminal as a screen that is redrawn until the user leaves it.

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::{DefaultTerminal, Frame};
use std::io;
use std::time::Duration;

/// The terminal in full-screen mode; dropping this, or a panic, restores it.
#[derive(Debug)]
pub struct Screen {
    terminal: DefaultTerminal,
}

impl Screen {
    /// Takes over the terminal.
    ///
    /// # Errors
    /// Standard output is not a terminal.
    pub fn open() -> io::Result<Self> {
        ratatui::try_init().map(|terminal| Self { terminal })
    }

    /// Redraws the screen.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(draw).map(drop)
    }

    /// Waits up to `wait` for the user to leave by q, Escape or Ctrl-C. Returns whether that
    /// happened.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn is_left_within(&self, wait: Duration) -> io::Result<bool> {
        let mut wait = wait;
        while event::poll(wait)? {
            if leaves(&event::read()?) {
                return Ok(true);
            }
            wait = Duration::ZERO;
        }
        Ok(false)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

fn leaves(event: &Event) -> bool {
    let Event::Key(key) = event else { return false };
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    key.kind == KeyEventKind::Press
        && match key.code {
            KeyCode::Char('c') => control,
            KeyCode::Char('q' | 'Q') | KeyCode::Esc => true,
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::crossterm::event::KeyEvent;

    #[test]
    fn three_keys_leave() {
        let key = |code, with| Event::Key(KeyEvent::new(code, with));
        let none = KeyModifiers::NONE;
        assert!(leaves(&key(KeyCode::Char('q'), none)) && leaves(&key(KeyCode::Esc, none)));
        assert!(leaves(&key(KeyCode::Char('c'), KeyModifiers::CONTROL)));
        assert!(!leaves(&key(KeyCode::Char('c'), none)) && !leaves(&Event::Resize(80, 24)));
    }
}
