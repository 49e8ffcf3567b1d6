//! Code blocks of a page, and the commands in them as a reader would type them.

/// A block of code: fenced, or indented by four spaces, which makes it a shell block.
#[derive(Debug)]
pub struct Block {
    /// Number of its first line in the page, from 1.
    pub line: usize,
    /// The language given after the fence.
    pub language: String,
    /// Its lines.
    pub text: String,
    /// The paragraph before it, on one line.
    pub before: String,
    /// Whether it directly follows another block.
    pub is_next: bool,
    /// The text between it and the next section heading or the end of the page.
    pub after: String,
}

/// A command, and what the page says of it.
#[derive(Debug)]
pub struct Command {
    /// The command as typed.
    pub typed: String,
    /// The exit code that the page states beside it; 0 by default.
    pub code: i32,
    /// The output that the page shows.
    pub states: Vec<String>,
}

/// Index of the line after the block that begins at `start`, and whether it is fenced; `None` if no
/// block begins there.
fn end_of(lines: &[&str], start: usize) -> Option<(usize, bool)> {
    if lines[start].trim_start().starts_with("```") {
        let length =
            lines[start + 1..].iter().position(|line| line.trim_start().starts_with("```"));
        return Some((start + 2 + length.expect("a fence that is closed"), true));
    }
    let is_code = |line: &str| line.starts_with("    ") && !line.trim().is_empty();
    if !is_code(lines[start]) || start > 0 && !lines[start - 1].trim().is_empty() {
        return None;
    }
    let length = lines[start..].iter().take_while(|line| is_code(line)).count();
    Some((start + length, false))
}

/// The paragraph that ends before line `end`.
fn paragraph(lines: &[&str], end: usize) -> String {
    let told = lines[..end].iter().rev().skip_while(|line| line.trim().is_empty());
    let mut words: Vec<&str> = told.take_while(|line| !line.trim().is_empty()).copied().collect();
    words.reverse();
    words.join(" ")
}

/// All blocks of a page, in order.
pub fn blocks(page: &str) -> Vec<Block> {
    let lines: Vec<&str> = page.lines().collect();
    let mut found = Vec::new();
    let (mut at, mut last_end) = (0, 0);
    while at < lines.len() {
        let Some((end, is_fenced)) = end_of(&lines, at) else {
            at += 1;
            continue;
        };
        let inner = if is_fenced { at + 1..end - 1 } else { at..end };
        let language = lines[at].trim_start().trim_start_matches('`');
        let section = lines[end..].iter().take_while(|line| !line.starts_with("## "));
        found.push(Block {
            line: at + 1,
            language: if is_fenced { language.to_owned() } else { "sh".to_owned() },
            text: lines[inner].join("\n"),
            before: paragraph(&lines, at),
            is_next: last_end > 0 && lines[last_end..at].iter().all(|line| line.is_empty()),
            after: section.copied().collect::<Vec<_>>().join("\n"),
        });
        (at, last_end) = (end, end);
    }
    found
}

impl Block {
    /// Whether `next` is the output of this block's last command: it follows directly.
    fn is_answered_by(&self, next: &Block) -> bool {
        next.language == "text" && next.is_next
    }

    /// The exit code stated in the paragraph before it.
    fn code(&self) -> i32 {
        let stated = self.before.split("exit code ").nth(1);
        let digits =
            stated.map(|rest| rest.chars().take_while(char::is_ascii_digit).collect::<String>());
        digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
    }

    /// Joins lines that belong together: continued by a backslash, or within quotes.
    fn typed(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let mut is_open = false;
        for line in self.text.lines().map(without_remark) {
            match found.last_mut().filter(|_| is_open) {
                Some(last) => last.push_str(&format!("\n{line}")),
                None => found.push(line.trim_start().to_owned()),
            }
            let last = found.last().map_or("", String::as_str);
            is_open = last.ends_with('\\') || last.matches('\'').count() % 2 == 1;
        }
        found.retain(|line| !line.is_empty() && !line.starts_with('#'));
        found
    }

    /// The commands of a shell block; `next` is the block after it.
    pub fn commands(&self, next: Option<&Block>) -> Vec<Command> {
        let code = self.code();
        let command = |typed: &str| Command { typed: typed.to_owned(), code, states: Vec::new() };
        let mut found: Vec<Command> = Vec::new();
        if self.language == "yaml" {
            let steps = self.text.lines().map(|line| line.trim_start().trim_start_matches("- "));
            return steps.filter_map(|step| step.strip_prefix("run: ")).map(command).collect();
        }
        if self.text.lines().any(is_shown) {
            for line in self.text.lines().map(str::trim) {
                match (line.strip_prefix("$ "), found.last_mut()) {
                    (Some(typed), _) => found.push(command(typed)),
                    (None, Some(last)) => last.states.push(line.to_owned()),
                    (None, None) => {}
                }
            }
            return found;
        }
        found.extend(self.typed().iter().map(|typed| command(typed)));
        let Some(last) = found.last_mut() else { return found };
        if let Some(next) = next.filter(|next| self.is_answered_by(next)) {
            last.states.extend(next.text.lines().map(str::to_owned));
        }
        if last.typed.ends_with(" --markdown") {
            last.states.extend(
                self.after.lines().filter(|line| line.starts_with("### ")).map(str::to_owned),
            );
        }
        found
    }
}

/// The line without a trailing comment.
fn without_remark(line: &str) -> &str {
    line.split(" # ").next().unwrap_or_default().trim_end()
}

/// Whether the line shows a prompt, so that the lines below it are the command's output.
fn is_shown(line: &str) -> bool {
    line.trim_start().starts_with("$ ")
}

#[test]
fn a_page_is_taken_apart_into_commands_and_what_they_print() {
    let page = "Refused with\nexit code 2:\n\n    $ ioscape predict x\n    ioscape: no\n\n```sh\nioscape run a \\\n  -o b  # a's remark\n# remark\nawk '\n }' | sort\n```\n\n```text\nb 1\n```\n\n```toml\na = 1\n```\n";
    let found = blocks(page);
    let languages: Vec<&str> = found.iter().map(|block| block.language.as_str()).collect();
    assert_eq!(languages, ["sh", "sh", "text", "toml"]);
    let shown = found[0].commands(found.get(1));
    assert_eq!((shown.len(), shown[0].typed.as_str(), shown[0].code), (1, "ioscape predict x", 2));
    assert_eq!(shown[0].states, ["ioscape: no"]);
    let typed = found[1].commands(found.get(2));
    assert_eq!((typed.len(), typed[0].code), (2, 0));
    assert_eq!(typed[0].typed, "ioscape run a \\\n  -o b");
    assert_eq!(typed[1].typed, "awk '\n }' | sort");
    assert_eq!(typed[1].states, ["b 1"]);
}
