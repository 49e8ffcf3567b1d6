//! What one module's items define, import and mention, read from their tokens.

use crate::sources::{attributes, only_for_tests};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::BTreeSet;

/// One name brought in by a `use`.
#[derive(Debug, Clone, PartialEq)]
pub struct Import {
    /// The name it has here; `None` where everything is imported by `*`.
    pub name: Option<String>,
    pub path: Vec<String>,
    /// Whether others may name it through this module.
    pub public: bool,
}

/// Paths and methods that code mentions.
#[derive(Debug, Default)]
pub struct Mentions {
    /// Paths as written, a lone identifier being a path of one.
    pub paths: BTreeSet<Vec<String>>,
    /// Names after a dot and names that end a path of several: what may be a method.
    pub methods: BTreeSet<String>,
}

/// What [`contents`] finds in a module.
#[derive(Debug, Default)]
pub struct Contents {
    /// Names of the items defined here.
    pub defined: BTreeSet<String>,
    pub imports: Vec<Import>,
    /// What the code mentions outside its imports.
    pub mentions: Mentions,
    /// Inherent methods given to a type, each with the path that names the type.
    pub methods: Vec<(Vec<String>, String)>,
}

/// Reads the items of one module; those of inline modules are not its own, and tests are left out.
pub fn contents(items: &[syn::Item]) -> Contents {
    let mut contents = Contents::default();
    for item in items {
        if only_for_tests(attributes(item)) {
            continue;
        }
        match item {
            syn::Item::Mod(_) => {}
            syn::Item::Use(item) => {
                let public = !matches!(item.vis, syn::Visibility::Inherited);
                flatten(&item.tree, &mut Vec::new(), public, &mut contents.imports);
            }
            other => {
                contents.defined.extend(defined_name(other));
                contents.methods.extend(inherent_methods(other));
                mention(other.to_token_stream(), &mut contents.mentions);
            }
        }
    }
    contents
}

fn defined_name(item: &syn::Item) -> Option<String> {
    let ident = match item {
        syn::Item::Const(i) => &i.ident,
        syn::Item::Enum(i) => &i.ident,
        syn::Item::Fn(i) => &i.sig.ident,
        syn::Item::Macro(i) => i.ident.as_ref()?,
        syn::Item::Static(i) => &i.ident,
        syn::Item::Struct(i) => &i.ident,
        syn::Item::Trait(i) => &i.ident,
        syn::Item::Type(i) => &i.ident,
        syn::Item::Union(i) => &i.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

/// Methods of an `impl Type { ... }`, each with the path that names the type.
fn inherent_methods(item: &syn::Item) -> Vec<(Vec<String>, String)> {
    let syn::Item::Impl(block) = item else { return Vec::new() };
    let (None, syn::Type::Path(of)) = (&block.trait_, &*block.self_ty) else { return Vec::new() };
    let path: Vec<String> = of.path.segments.iter().map(|s| s.ident.to_string()).collect();
    let methods = block.items.iter().filter_map(|i| match i {
        syn::ImplItem::Fn(f) if !only_for_tests(&f.attrs) => Some(f.sig.ident.to_string()),
        _ => None,
    });
    methods.map(|m| (path.clone(), m)).collect()
}

/// Every name that a `use` brings in, with its full path.
fn flatten(tree: &syn::UseTree, path: &mut Vec<String>, public: bool, into: &mut Vec<Import>) {
    let mut import = |name: Option<String>, last: Option<String>| {
        let path: Vec<String> = path.iter().cloned().chain(last).collect();
        let own = path.last().cloned();
        let name = name.map(|n| if n == "self" { own.unwrap_or_default() } else { n });
        into.push(Import { name, path, public });
    };
    match tree {
        syn::UseTree::Name(n) if n.ident == "self" => import(Some("self".to_owned()), None),
        syn::UseTree::Name(n) => import(Some(n.ident.to_string()), Some(n.ident.to_string())),
        syn::UseTree::Rename(r) if r.ident == "self" => import(Some(r.rename.to_string()), None),
        syn::UseTree::Rename(r) => import(Some(r.rename.to_string()), Some(r.ident.to_string())),
        syn::UseTree::Glob(_) => import(None, None),
        syn::UseTree::Path(p) => {
            path.push(p.ident.to_string());
            flatten(&p.tree, path, public, into);
            path.pop();
        }
        syn::UseTree::Group(g) => g.items.iter().for_each(|t| flatten(t, path, public, into)),
    }
}

/// What stood before a token.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    Nothing,
    Dot,
    Colons,
}

/// Collects the paths and the method names of some code, macros' arguments among it.
fn mention(tokens: TokenStream, into: &mut Mentions) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let punct = |at: usize, c: char| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == c);
    let colons = |at: usize| punct(at, ':') && punct(at + 1, ':');
    let mut at = 0;
    let mut before = Before::Nothing;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Group(group) => {
                mention(group.stream(), into);
                before = Before::Nothing;
            }
            TokenTree::Ident(first) => {
                let mut path = vec![first.to_string()];
                while colons(at + 1)
                    && let Some(TokenTree::Ident(next)) = tokens.get(at + 3)
                {
                    path.push(next.to_string());
                    at += 3;
                }
                into.add(path, before);
                before = Before::Nothing;
            }
            TokenTree::Punct(p) if p.as_char() == '\'' => at += 1,
            TokenTree::Punct(p) if p.as_char() == '.' && !punct(at + 1, '.') => {
                before = Before::Dot
            }
            TokenTree::Punct(_) if colons(at) => {
                before = Before::Colons;
                at += 1;
            }
            _ => before = Before::Nothing,
        }
        at += 1;
    }
}

impl Mentions {
    fn add(&mut self, path: Vec<String>, before: Before) {
        if before != Before::Nothing || path.len() > 1 {
            self.methods.extend(path.last().cloned());
        }
        if before == Before::Nothing {
            self.paths.insert(path);
        }
    }
}
