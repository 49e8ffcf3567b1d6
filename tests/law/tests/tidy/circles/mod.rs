//! No circle of files inside a crate: whoever reads one file never needs, at the end of the chain, the same file.
//!
//! A file stands on another when it names something that the other defines: a type, a function, a constant. What is
//! named through a re-export is looked up where it is defined, so a `mod.rs` that only declares and re-exports stands on
//! nothing, and nothing on it. A child that uses its parent's type while the parent calls the child is a circle. So is
//! a method added to another file's type and called there. Tests are left out.

mod graph;
mod modules;
mod names;

use super::sources;
use modules::Modules;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The one circle that stays, with its crate and its reason.
const STAYS: (&str, [&str; 2], &str) = (
    "andrew",
    ["compiler/declare.rs", "compiler/expression.rs"],
    "the grammar of C: an expression may hold a type (a cast, sizeof), and a type an expression (the size of an array)",
);

/// The modules of the library and of the program of the crate in `folder`, but for those of tests.
fn modules_of(folder: &Path) -> impl Iterator<Item = Modules> {
    let roots = ["src/lib.rs", "src/main.rs"].map(|r| folder.join(r));
    let parse = |path: &Path| path.exists().then(|| sources::parsed(path));
    roots.into_iter().filter_map(move |r| Modules::load(&r, &parse))
}

/// The files of those modules, one for each module.
pub fn files_of_modules(folder: &Path) -> Vec<PathBuf> {
    modules_of(folder).flat_map(|m| m.all).map(|m| m.file).collect()
}

/// The circles of the crate in `folder`, each as its files and what they stand on.
fn circles_of(folder: &Path) -> Vec<Vec<String>> {
    modules_of(folder).flat_map(|m| graph::circles(&m)).collect()
}

/// The files of a circle that is given by its lines.
fn files_of(circle: &[String]) -> Vec<&str> {
    circle.iter().filter_map(|line| Some(line.split_once(" stands on ")?.0)).collect()
}

#[test]
fn no_circle_of_files_inside_a_crate() {
    let (of, files, why) = STAYS;
    for name in sources::crates() {
        let mut circles = circles_of(&sources::root().join("crates").join(&name));
        if name == of {
            let all = circles.len();
            circles.retain(|circle| files_of(circle) != files);
            assert_eq!(
                circles.len() + 1,
                all,
                "the circle of {name} is another one now ({why}): {circles:#?}"
            );
        }
        assert!(circles.is_empty(), "{name}: {circles:#?}");
    }
}

/// The circles of a made-up crate, given as `(path, source)`; every circle as its lines joined.
fn circles_among(files: &[(&str, &str)]) -> Vec<String> {
    let files: BTreeMap<PathBuf, &str> =
        files.iter().map(|(p, s)| (PathBuf::from(p), *s)).collect();
    let parse = |path: &Path| files.get(path).map(|s| syn::parse_file(s).expect("Rust"));
    let modules = Modules::load(Path::new("/c/src/lib.rs"), &parse).expect("a root");
    graph::circles(&modules).into_iter().map(|c| c.join("; ")).collect()
}

#[test]
fn a_child_on_its_parent_and_back_is_a_circle() {
    let child = ("/c/src/a.rs", "use super::Plan; pub fn run(p: Plan) {}");
    let calls = ("/c/src/lib.rs", "mod a; pub struct Plan; pub fn all() { a::run(Plan) }");
    let expected = "a.rs stands on lib.rs (Plan); lib.rs stands on a.rs (a::run)";
    assert_eq!(circles_among(&[child, calls]), [expected]);
    let declares = ("/c/src/lib.rs", "mod a; pub struct Plan; pub use a::run;");
    assert!(circles_among(&[child, declares]).is_empty(), "a re-export alone is no use");
}

#[test]
fn what_a_parent_re_exports_is_looked_up_where_it_is_defined() {
    let parent = ("/c/src/lib.rs", "mod a; mod b; pub use a::*; pub use b::make;");
    let a = ("/c/src/a.rs", "use crate::make; pub struct Plan;");
    let b = ("/c/src/b.rs", "pub fn make() -> crate::Plan { todo!() }");
    let expected = "a.rs stands on b.rs (crate::make); b.rs stands on a.rs (crate::Plan)";
    assert_eq!(circles_among(&[parent, a, b]), [expected]);
    let alone = ("/c/src/a.rs", "pub struct Plan;");
    assert!(circles_among(&[parent, alone, b]).is_empty());
}

#[test]
fn a_module_and_a_function_of_one_name_are_told_apart() {
    let root = ("/c/src/lib.rs", "mod predict; mod system; pub use system::predict;");
    let child = ("/c/src/predict.rs", "pub struct Estimate;");
    let both =
        "use crate::predict::Estimate; use crate::predict; pub fn f() -> Estimate { predict() }";
    let asks = ("/c/src/system.rs", "mod inner; pub fn predict() { inner::g() }");
    let estimate = ("/c/src/system/inner.rs", "use crate::predict::Estimate; pub fn g() {}");
    assert!(circles_among(&[root, child, asks, estimate]).is_empty());
    assert_eq!(circles_among(&[root, child, asks, ("/c/src/system/inner.rs", both)]).len(), 1);
}

#[test]
fn methods_macros_and_inline_modules_are_seen_and_tests_are_not() {
    let root =
        ("/c/src/lib.rs", "mod a; pub struct Plan; impl Plan { fn go(&self) { self.step() } }");
    let method = ("/c/src/a.rs", "impl super::Plan { pub fn step(&self) {} }");
    assert_eq!(circles_among(&[root, method]).len(), 1, "a method given to another file's type");
    let in_macro = ("/c/src/lib.rs", "mod a; pub struct Plan; fn f() { vec![a::Part] }");
    let inline = ("/c/src/a.rs", "pub struct Part; mod inner { use crate::Plan; }");
    assert_eq!(circles_among(&[in_macro, inline]).len(), 1);
    let tests = ("/c/src/a.rs", "pub struct Part; #[cfg(test)] mod tests { use crate::Plan; }");
    assert!(circles_among(&[in_macro, tests]).is_empty());
}
