//! What packages install beside the program: completions and manual pages.

use super::common::{path, read, run};

#[test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    run(&["man", path(folder.path())]).ended(0);
    let page = read(&folder.path().join("ioscape-trace-analyze.1"));
    assert!(page.contains(".TH ioscape-trace-analyze 1"), "{page}");
    assert!(page.contains("exact\\-blocks"), "{page}");
    let help = run(&["--help"]).ended(0).out;
    let commands = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let commands: Vec<&str> = commands
        .take_while(|line| line.starts_with("  "))
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(commands.len() > 12, "{help}");
    for name in commands {
        assert!(folder.path().join(format!("ioscape-{name}.1")).exists(), "{name}");
    }
}

#[test]
fn our_manual_pages_are_replaced_and_others_are_not() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    run(&["man", path(folder.path())]).ended(0);
    run(&["man", path(folder.path())]).ended(0);
    let foreign = folder.path().join("ioscape-run.1");
    std::fs::write(&foreign, "precious").expect("a file");
    run(&["man", path(folder.path())]).ended(2).says(&["ioscape-run.1", "--force"]);
    assert_eq!(read(&foreign), "precious");
    run(&["man", "--force", path(folder.path())]).ended(0);
    assert_ne!(read(&foreign), "precious");
}

#[test]
fn shells_complete_commands_and_options() {
    for shell in ["bash", "zsh", "fish"] {
        let script = run(&["completions", shell]).ended(0).out;
        assert!(script.contains("evaluate") && script.contains("max-unique-bytes"), "{shell}");
    }
    run(&["completions", "tcsh"]).ended(2).says(&["tcsh", "bash"]);
}
