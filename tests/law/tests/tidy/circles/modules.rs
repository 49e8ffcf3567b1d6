//! The modules of one crate: in which file each lies, what it defines and imports, and what it mentions.

use super::names::{self, Contents};
use crate::sources::{only_for_tests, path_attribute};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Index of a module in [`Modules::all`].
pub type ModuleId = usize;

/// One module, whether a file of its own or written inline.
#[derive(Debug)]
pub struct Module {
    /// The file that it is written in.
    pub file: PathBuf,
    pub parent: Option<ModuleId>,
    pub children: BTreeMap<String, ModuleId>,
    pub contents: Contents,
}

/// All modules of one crate; the first is its root.
pub struct Modules {
    pub all: Vec<Module>,
}

/// Gives the contents of the file at a path, if there is one.
type Parse<'a> = &'a dyn Fn(&Path) -> Option<syn::File>;

impl Modules {
    /// Follows `mod` declarations from the crate's root file; `None` where that is not there.
    pub fn load(root: &Path, parse: Parse) -> Option<Self> {
        let mut modules = Self { all: Vec::new() };
        let folder = root.parent()?;
        modules.add(None, root, folder, &parse(root)?.items, parse);
        Some(modules)
    }

    /// Adds a module that is written in `file` and whose children lie in `folder`.
    fn add(
        &mut self,
        parent: Option<ModuleId>,
        file: &Path,
        folder: &Path,
        items: &[syn::Item],
        parse: Parse,
    ) -> ModuleId {
        let id = self.all.len();
        let contents = names::contents(items);
        let children = BTreeMap::new();
        self.all.push(Module { file: file.to_owned(), parent, children, contents });
        for item in items {
            let syn::Item::Mod(declared) = item else { continue };
            if only_for_tests(&declared.attrs) {
                continue;
            }
            let name = declared.ident.to_string();
            let below = folder.join(&name);
            let child = match &declared.content {
                Some((_, items)) => self.add(Some(id), file, &below, items, parse),
                None => {
                    let (path, contents) = declared_file(declared, folder, file, parse);
                    self.add(Some(id), &path, &below, &contents.items, parse)
                }
            };
            self.all[id].children.insert(name, child);
        }
        id
    }
}

/// The file of a module that is declared without its contents, and what it holds.
fn declared_file(
    declared: &syn::ItemMod,
    folder: &Path,
    declared_in: &Path,
    parse: Parse,
) -> (PathBuf, syn::File) {
    let name = declared.ident.to_string();
    let given = path_attribute(&declared.attrs).and_then(|p| Some(declared_in.parent()?.join(p)));
    let usual = [folder.join(format!("{name}.rs")), folder.join(&name).join("mod.rs")];
    let found = given.into_iter().chain(usual).find_map(|p| parse(&p).map(|f| (p, f)));
    found.unwrap_or_else(|| panic!("{}: no file for `mod {name};`", declared_in.display()))
}
