//! Which file stands on which, and the circles among them.

use super::modules::{ModuleId, Modules};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// How many re-exports and globs are followed before a name counts as unknown.
const DEPTH: usize = 24;

/// What a path leads to.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Found {
    Module(ModuleId),
    /// An item defined in this module, or something within it.
    Item(ModuleId),
}

impl Modules {
    /// Where a path that is written in module `from` leads, if into this crate.
    fn resolve(&self, from: ModuleId, path: &[String], depth: usize) -> Option<Found> {
        self.follow(from, path, true, depth)
    }

    /// The same; `whole` says that the path is not the beginning of a longer one, whose last part would be a module.
    fn follow(&self, from: ModuleId, path: &[String], whole: bool, depth: usize) -> Option<Found> {
        let depth = depth.checked_sub(1)?;
        let (head, mut rest) = path.split_first()?;
        let mut at = match head.as_str() {
            "crate" => 0,
            "self" => from,
            "super" => self.all[from].parent?,
            _ => match self.look_up(from, head, whole && rest.is_empty(), depth)? {
                Found::Item(m) => return Some(Found::Item(m)),
                Found::Module(m) => m,
            },
        };
        while let Some((segment, further)) = rest.split_first() {
            let found = match segment.as_str() {
                "super" => Some(Found::Module(self.all[at].parent?)),
                _ => self.look_up(at, segment, whole && further.is_empty(), depth),
            };
            match found {
                Some(Found::Module(m)) => at = m,
                Some(Found::Item(m)) => return Some(Found::Item(m)),
                // Something made by a macro: it is in this module, whatever it is.
                None => return Some(Found::Item(at)),
            }
            rest = further;
        }
        Some(Found::Module(at))
    }

    /// What `name` means in module `at`: as the last part of a path an item, before that a module, where both exist.
    fn look_up(&self, at: ModuleId, name: &str, last: bool, depth: usize) -> Option<Found> {
        let depth = depth.checked_sub(1)?;
        let module = &self.all[at];
        let child = module.children.get(name).map(|&m| Found::Module(m));
        if let (Some(found), false) = (child, last) {
            return Some(found);
        }
        if module.contents.defined.contains(name) {
            return Some(Found::Item(at));
        }
        let imported = module.contents.imports.iter().filter(|i| i.name.as_deref() == Some(name));
        let imported = imported.filter_map(|i| self.resolve_import(at, &i.path, last, depth));
        let found = imported.max_by_key(|f| matches!(f, Found::Item(_)) == last).or(child);
        found.or_else(|| {
            let globs = module.contents.imports.iter().filter(|i| i.name.is_none());
            globs.filter_map(|g| self.through_glob(at, &g.path, name, last, depth)).next()
        })
    }

    fn resolve_import(
        &self,
        at: ModuleId,
        path: &[String],
        last: bool,
        depth: usize,
    ) -> Option<Found> {
        let (name, parents) = path.split_last()?;
        if parents.is_empty() && self.all[at].children.contains_key(name) {
            return Some(Found::Module(self.all[at].children[name]));
        }
        if parents.is_empty() {
            return None;
        }
        match self.follow(at, parents, false, depth)? {
            Found::Module(m) => self.look_up(m, name, last, depth).or(Some(Found::Item(m))),
            item => Some(item),
        }
    }

    fn through_glob(
        &self,
        at: ModuleId,
        path: &[String],
        name: &str,
        last: bool,
        depth: usize,
    ) -> Option<Found> {
        match self.follow(at, path, false, depth)? {
            Found::Module(m) if m != at => self.look_up(m, name, last, depth),
            _ => None,
        }
    }

    /// For each file the files that it stands on, each with one name that shows it.
    pub fn edges(&self) -> BTreeMap<&Path, BTreeMap<&Path, String>> {
        let methods = self.foreign_methods();
        let mut edges: BTreeMap<&Path, BTreeMap<&Path, String>> = BTreeMap::new();
        for (id, module) in self.all.iter().enumerate() {
            let from: &Path = &module.file;
            let stands_on = edges.entry(from).or_default();
            let mut add = |to: ModuleId, why: String| {
                let to: &Path = &self.all[to].file;
                if to != from {
                    stands_on.entry(to).or_insert(why);
                }
            };
            for path in self.used(id) {
                if let Some(Found::Item(m)) = self.resolve(id, path, DEPTH) {
                    add(m, path.join("::"));
                }
            }
            for method in &module.contents.mentions.methods {
                if let Some(&m) = methods.get(&(method.as_str(), from)) {
                    add(m, format!(".{method}()"));
                }
            }
        }
        edges
    }

    /// Paths that the module's code depends on: all that it mentions, and what it imports for itself.
    fn used(&self, id: ModuleId) -> impl Iterator<Item = &Vec<String>> {
        let module = &self.all[id];
        let private = module.contents.imports.iter().filter(|i| !i.public && i.name.is_some());
        module.contents.mentions.paths.iter().chain(private.map(|i| &i.path))
    }

    /// Inherent methods given to a type outside its own file: by name and by every file that shares the type.
    ///
    /// Only there is `.name()` taken for a call of it; and only where no other type of the crate has such a method.
    fn foreign_methods(&self) -> BTreeMap<(&str, &Path), ModuleId> {
        let mut count: BTreeMap<&str, usize> = BTreeMap::new();
        let mut shared: BTreeMap<(ModuleId, &String), BTreeSet<&Path>> = BTreeMap::new();
        let mut foreign = Vec::new();
        for (id, module) in self.all.iter().enumerate() {
            for (of, method) in &module.contents.methods {
                *count.entry(method).or_default() += 1;
                let Some(Found::Item(home)) = self.resolve(id, of, DEPTH) else { continue };
                let Some(name) = of.last() else { continue };
                let files = shared.entry((home, name)).or_default();
                files.extend([&*self.all[home].file, &*module.file]);
                if self.all[home].file != module.file {
                    foreign.push((method.as_str(), id, (home, name)));
                }
            }
        }
        foreign.retain(|(method, ..)| count[method] == 1);
        let by_file = foreign
            .into_iter()
            .flat_map(|(method, id, of)| shared[&of].iter().map(move |&file| ((method, file), id)));
        by_file.collect()
    }
}

/// Groups of files that each stand on all others of the group, as lines `file: stands on (by what name), ...`.
pub fn circles(modules: &Modules) -> Vec<Vec<String>> {
    let edges = modules.edges();
    let reach: BTreeMap<&Path, BTreeSet<&Path>> =
        edges.keys().map(|&f| (f, reachable(f, &edges))).collect();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for &file in edges.keys() {
        if !reach[file].contains(file) || seen.contains(file) {
            continue;
        }
        let members: BTreeSet<&Path> =
            reach[file].iter().copied().filter(|f| reach[f].contains(file)).collect();
        seen.extend(members.iter().copied());
        found.push(members.iter().map(|&f| describe(f, &edges[f], &members)).collect());
    }
    found
}

/// Files that `from` stands on, near or far; itself only where it lies in a circle.
fn reachable<'a>(
    from: &'a Path,
    edges: &BTreeMap<&'a Path, BTreeMap<&'a Path, String>>,
) -> BTreeSet<&'a Path> {
    let mut reached = BTreeSet::new();
    let mut left = vec![from];
    while let Some(file) = left.pop() {
        left.extend(edges[file].keys().copied().filter(|&to| reached.insert(to)));
    }
    reached
}

fn describe(file: &Path, edges: &BTreeMap<&Path, String>, members: &BTreeSet<&Path>) -> String {
    let short = |p: &Path| {
        let text = p.to_string_lossy().into_owned();
        text.rsplit_once("/src/").map_or(text.clone(), |(_, s)| s.to_owned())
    };
    let inner = edges.iter().filter(|(to, _)| members.contains(*to));
    let inner: Vec<String> = inner.map(|(to, why)| format!("{} ({why})", short(to))).collect();
    format!("{} stands on {}", short(file), inner.join(", "))
}
