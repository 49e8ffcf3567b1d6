//! The tree compiled in memory, as the steps do it in processes.

use super::cc::{archive, assemble, compile, link, preprocess};
use super::*;
use std::collections::HashMap;

/// All that the makefile makes of `files`.
fn build(files: &[tree::File]) -> Vec<(String, Vec<u8>)> {
    let texts: HashMap<&str, &str> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let mut find = |name: &str, _: bool, _: &str| {
        let path = format!("include/{name}");
        texts.get(path.as_str()).map(|text| (path.clone(), (*text).to_owned()))
    };
    let mut objects: Vec<(String, Vec<u8>)> = Vec::new();
    for unit in words::UNITS {
        let name = format!("{unit}.c");
        let text = preprocess::preprocess(texts[name.as_str()], &name, &mut find).unwrap();
        let assembly = compile(&text, &name).unwrap();
        let object = assemble::assemble(&assembly, &name).unwrap();
        objects.push((format!("{unit}.o"), object.encode()));
    }
    let library =
        |range: std::ops::Range<usize>| archive::with_table(objects[range].to_vec()).unwrap();
    let libraries = [library(5..11), library(11..17)];
    let (linked, _) = link::link(&objects[..5], &libraries).unwrap();
    let mut all = objects.clone();
    all.push(("libdraw.a".into(), archive::encode(&libraries[0])));
    all.push(("libtext.a".into(), archive::encode(&libraries[1])));
    all.push(("wm".into(), linked.encode()));
    all.sort();
    all
}

#[test]
fn the_whole_tree_is_compiled_to_the_known_bytes() {
    let all = build(&tree::files());
    assert_eq!(all.len(), 17 + 2 + 1);
    let bytes: usize = all.iter().filter(|(n, _)| n.ends_with(".o")).map(|(_, b)| b.len()).sum();
    assert_eq!(bytes, 147_904);
    assert_eq!(hash(&all), KNOWN_HASH, "a changed compiler or tree is another benchmark");
}

#[test]
fn work_left_out_on_purpose_changes_the_hash() {
    let whole = build(&tree::files());
    let run = |made: &[(String, Vec<u8>)]| Run { phases: [1, 2, 3, 4, 5], hash: hash(made) };
    assert!(run(&whole).proof(None).whole);
    let mut shortened = whole.clone();
    shortened.remove(3);
    assert!(!run(&shortened).proof(None).whole);
    let mut files = tree::files();
    let unit = files.iter_mut().find(|(path, _)| path == "wm.c").unwrap();
    unit.1.truncate(unit.1.rfind("\nint ").unwrap());
    assert!(!run(&build(&files)).proof(None).whole);
}

#[test]
fn every_case_has_its_value() {
    let run = Run { phases: [1, 2, 3, 4, 5], hash: String::new() };
    assert_eq!(run.values(false), [1.0, 2.0, 3.0, 4.0, 10.0, 5.0, 15.0]);
    assert_eq!(run.values(true), [2.0, 4.0, 10.0, 5.0, 15.0]);
    let (cold, warm): (Vec<Case>, Vec<Case>) =
        cases((0, Place::Local)).into_iter().partition(is_cold);
    assert_eq!((warm.len(), cold.len()), (run.values(false).len(), run.values(true).len()));
    assert_eq!((warm[6].case.as_str(), cold[4].case.as_str()), ("total", "total, cold"));
}
