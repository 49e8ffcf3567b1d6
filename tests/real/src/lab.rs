//! Brings the laboratory's systems up and down, and runs the command under test on them.

use ioscape_schema::Document;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where the laboratory's scripts expect to stand.
const PLACE: &str = "/tmp/ioscape-lab";

/// The small programs of the laboratory and what each links with.
const PROGRAMS: [(&str, &str); 3] = [
    ("simdisk", "$(pkg-config fuse3 --cflags --libs) -lpthread -lm"),
    ("wire", "-lpthread"),
    ("uio", "-lm -lpthread"),
];

/// The laboratory, ready to use, and the command under test.
pub struct Lab {
    command: PathBuf,
}

/// A system that is up; it is taken down when this goes out of scope.
pub struct Up<'a> {
    lab: &'a Lab,
    down: Vec<String>,
}

impl Drop for Up<'_> {
    fn drop(&mut self) {
        for line in self.down.iter().rev() {
            // Taking down what is half up may fail; the next `up` starts by taking down again.
            let _ = self.lab.shell(line);
        }
    }
}

impl Lab {
    /// Copies and builds the laboratory's programs.
    pub fn set_up() -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("needs root".to_owned());
        }
        let source = std::env::var_os("IOSCAPE_LAB").map_or_else(
            || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/lab"),
            PathBuf::from,
        );
        let source = source
            .canonicalize()
            .map_err(|e| format!("no laboratory at {} ({e}); set IOSCAPE_LAB", source.display()))?;
        let lab = Self { command: command_under_test()? };
        lab.build(&source)?;
        Ok(lab)
    }

    fn build(&self, source: &Path) -> Result<(), String> {
        std::fs::create_dir_all(PLACE).map_err(|e| format!("{PLACE}: {e}"))?;
        self.shell(&format!("mkdir -p mnt w; cp -f '{}'/* . && chmod -R u+w .", source.display()))?;
        for (program, libraries) in PROGRAMS {
            self.shell(&format!("gcc -O2 -w -o {program}.new {program}.c {libraries} && mv -f {program}.new {program}"))
                .map_err(|e| format!("building the laboratory's {program} failed: {e}"))?;
        }
        Ok(())
    }

    /// Runs a line of shell where the laboratory stands and gives what it printed.
    pub fn shell(&self, line: &str) -> Result<String, String> {
        let output = Command::new("bash")
            .args(["-c", line])
            .current_dir(PLACE)
            .stdin(Stdio::null())
            .output()
            .map_err(|e| format!("bash: {e}"))?;
        let printed = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if output.status.success() {
            Ok(printed)
        } else {
            let why = String::from_utf8_lossy(&output.stderr);
            Err(format!("`{line}`: {}: {}", output.status, why.trim()))
        }
    }

    /// Brings a system up by `up`, to be taken down by `down`.
    pub fn up(&self, up: &str, down: &str) -> Result<Up<'_>, String> {
        let mut system = Up { lab: self, down: Vec::new() };
        system.and(up, down)?;
        Ok(system)
    }

    /// Path of the command under test.
    pub fn binary(&self) -> String {
        self.command.display().to_string()
    }

    /// Whether a program is installed.
    pub fn has(&self, program: &str) -> bool {
        self.shell(&format!("command -v {program}")).is_ok()
    }

    /// Evaluates `target` (relative to the laboratory) with further options; `under` wraps the command.
    pub fn evaluate(&self, under: &str, target: &str, options: &str) -> Result<Document, String> {
        self.under(under, &format!("evaluate {target} --json {options}"))
    }

    /// Runs the command under test with arguments that ask for JSON.
    pub fn command(&self, arguments: &str) -> Result<Document, String> {
        self.under("", arguments)
    }

    fn under(&self, wrapper: &str, arguments: &str) -> Result<Document, String> {
        let command = self.command.display();
        let text = self.shell(&format!("{wrapper} '{command}' {arguments}"))?;
        let name: String =
            arguments.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
        let kept = Path::new(PLACE).join("w").join(format!("{:.60}.ioscape.json", name));
        std::fs::write(&kept, &text).map_err(|e| format!("{}: {e}", kept.display()))?;
        serde_json::from_str(&text).map_err(|e| format!("the result cannot be read: {e}"))
    }
}

impl Up<'_> {
    /// Adds a part to the system.
    pub fn and(&mut self, up: &str, down: &str) -> Result<(), String> {
        self.down.push(down.to_owned());
        // Daemons keep the pipe open, so their output goes to a file.
        self.lab.shell(&format!("{{ {up} ; }} > w/up.log 2>&1")).map(drop).map_err(|e| {
            let log = self.lab.shell("tail -n 5 w/up.log").unwrap_or_default();
            format!("{e} {log}")
        })
    }
}

/// The binary to try: `IOSCAPE_BIN`, or the one built beside this program.
fn command_under_test() -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os("IOSCAPE_BIN") {
        return Ok(PathBuf::from(named));
    }
    let own = std::env::current_exe().map_err(|e| format!("where am I: {e}"))?;
    let beside = own.with_file_name("ioscape");
    if beside.is_file() {
        Ok(beside)
    } else {
        Err(format!("{} is not built: run `cargo build --release` first", beside.display()))
    }
}
