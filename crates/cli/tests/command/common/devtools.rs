//! A page that stays open in Chromium, controlled through a pipe (its DevTools protocol).

use super::path;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Names under which the browser may be installed.
pub const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// The longest wait for an answer, and for what a page is to show.
const PATIENCE: Duration = Duration::from_secs(120);
/// Pause between two checks of a page.
const LOOK: Duration = Duration::from_millis(50);

/// A page, its browser, and its console messages.
pub struct Page {
    browser: Child,
    to: File,
    from: Receiver<Value>,
    session: String,
    asked: u64,
    said: Vec<String>,
    _place: tempfile::TempDir,
}

impl Page {
    /// Opens an address in a window `width` pixels wide; `None` without a browser.
    pub fn open(address: &str, width: u32) -> Option<Self> {
        let is_here = |name: &&str| Command::new(name).arg("--version").output().is_ok();
        let name = BROWSERS.into_iter().find(is_here)?;
        let place = tempfile::tempdir().expect("a folder");
        let [to, from] = ["to", "from"].map(|name| place.path().join(name));
        for pipe in [&to, &from] {
            mknodat(CWD, pipe, FileType::Fifo, Mode::RWXU, 0).expect("a pipe");
        }
        // The browser reads from descriptor 3 and answers on 4.
        let script = format!("exec {name} \"$@\" 3<\"$0\" 4>\"{}\"", path(&from));
        let browser = Command::new("sh")
            .args(["-c", &script, path(&to)])
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", path(&place.path().join("profile"))))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let to = File::options().write(true).open(&to).expect("a pipe");
        let from = answers(File::open(&from).expect("a pipe"));
        let mut page = Self {
            browser,
            to,
            from,
            session: String::new(),
            asked: 0,
            said: Vec::new(),
            _place: place,
        };
        page.begin(address, width);
        Some(page)
    }

    fn begin(&mut self, address: &str, width: u32) {
        let target = self.ask("Target.createTarget", json!({ "url": "about:blank" }));
        let which = json!({ "targetId": target["targetId"], "flatten": true });
        let session = self.ask("Target.attachToTarget", which);
        self.session = session["sessionId"].as_str().expect("a session").to_owned();
        self.ask("Runtime.enable", json!({}));
        self.ask("Log.enable", json!({}));
        self.be_wide(width);
        self.ask("Page.navigate", json!({ "url": address }));
    }

    fn be_wide(&mut self, width: u32) {
        let size =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.ask("Emulation.setDeviceMetricsOverride", size);
    }

    /// Sends a message and waits for its answer; keeps console messages that arrive meanwhile.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let mut message = json!({ "id": self.asked, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = self.session.as_str().into();
        }
        self.to.write_all(format!("{message}\0").as_bytes()).expect("the browser listens");
        loop {
            let told = self.from.recv_timeout(PATIENCE).expect("the browser answers");
            if told["id"] == self.asked {
                assert!(told["error"].is_null(), "{method}: {told}");
                return told["result"].clone();
            }
            if let Some("Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded") =
                told["method"].as_str()
            {
                self.said.push(told.to_string());
            }
        }
    }

    /// The value of a JavaScript expression in the page.
    pub fn value(&mut self, expression: &str) -> Value {
        let found = self
            .ask("Runtime.evaluate", json!({ "expression": expression, "returnByValue": true }));
        found["result"]["value"].clone()
    }

    /// Presses and releases a key, `Enter` or a character, where the focus is.
    pub fn press(&mut self, key: &str) {
        let text = if key == "Enter" { "\r" } else { key };
        self.ask("Input.dispatchKeyEvent", json!({ "type": "keyDown", "key": key, "text": text }));
        self.ask("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key }));
    }

    /// Shows the page as it would be printed on paper of this width in pixels.
    pub fn show_as_printed(&mut self, width: u32) {
        self.be_wide(width);
        self.ask("Emulation.setEmulatedMedia", json!({ "media": "print" }));
    }

    /// Waits until a JavaScript expression in the page is true.
    pub fn wait_until(&mut self, expression: &str) {
        let begun = Instant::now();
        while self.value(expression) != true {
            assert!(begun.elapsed() < PATIENCE, "never true: {expression}; {:?}", self.said);
            std::thread::sleep(LOOK);
        }
    }

    /// The console messages so far, including errors and exceptions.
    pub fn said(&self) -> &[String] {
        &self.said
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.browser.kill();
        let _ = self.browser.wait();
    }
}

/// The browser's messages, each terminated by a zero byte.
fn answers(from: File) -> Receiver<Value> {
    let (give, answers) = channel();
    std::thread::spawn(move || {
        for message in BufReader::new(from).split(0) {
            let told = message.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
            if told.is_none_or(|told| give.send(told).is_err()) {
                break;
            }
        }
    });
    answers
}
