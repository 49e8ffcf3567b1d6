//! How long functions are: most fit on half a screen, and none needs scrolling.

use super::sources;
use std::path::Path;
use syn::spanned::Spanned;
use syn::visit::Visit;

/// At most this share of functions may be longer than [`SHORT`] lines.
const LONG_SHARE: f64 = 0.10;
const SHORT: usize = 30;
/// The longest that any function may be, from `fn` to its closing brace.
const LONGEST: usize = 70;

/// Functions of one file as `(lines, name)`.
struct Lengths(Vec<(usize, String)>);

impl Lengths {
    fn add(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let first = signature.span().start().line;
        let last = block.span().end().line;
        self.0.push((last + 1 - first, signature.ident.to_string()));
    }
}

impl<'ast> Visit<'ast> for Lengths {
    fn visit_item_fn(&mut self, f: &'ast syn::ItemFn) {
        self.add(&f.sig, &f.block);
        syn::visit::visit_item_fn(self, f);
    }

    fn visit_impl_item_fn(&mut self, f: &'ast syn::ImplItemFn) {
        self.add(&f.sig, &f.block);
        syn::visit::visit_impl_item_fn(self, f);
    }

    fn visit_trait_item_fn(&mut self, f: &'ast syn::TraitItemFn) {
        if let Some(block) = &f.default {
            self.add(&f.sig, block);
        }
        syn::visit::visit_trait_item_fn(self, f);
    }
}

/// Every function of the crates' sources, tests among them, as `(lines, where)`.
fn lengths_below(folder: &Path) -> Vec<(usize, String)> {
    let mut all = Vec::new();
    for path in sources::below(folder) {
        let mut lengths = Lengths(Vec::new());
        lengths.visit_file(&sources::parsed(&path));
        let named = |(n, name): (usize, String)| (n, format!("{}: {name}", path.display()));
        all.extend(lengths.0.into_iter().map(named));
    }
    all
}

#[test]
fn functions_are_short() {
    let all = lengths_below(&sources::root().join("crates"));
    assert!(all.len() > 3_000, "the walk finds the functions: {}", all.len());
    let too_long: Vec<_> = all.iter().filter(|f| f.0 > LONGEST).collect();
    assert!(too_long.is_empty(), "split what is longer than {LONGEST} lines: {too_long:#?}");
    let long = all.iter().filter(|f| f.0 > SHORT).count();
    let share = long as f64 / all.len() as f64;
    assert!(share <= LONG_SHARE, "{long} of {} functions exceed {SHORT} lines", all.len());
}

#[test]
fn lengths_are_counted_from_signature_to_closing_brace() {
    let source = "/// Three lines.\nfn outer() {\n    fn inner() {}\n}\ntrait T { fn none(); fn one() {} }\n";
    let mut lengths = Lengths(Vec::new());
    lengths.visit_file(&syn::parse_file(source).expect("Rust"));
    let expected = [(3, "outer"), (1, "inner"), (1, "one")].map(|(n, f)| (n, f.to_owned()));
    assert_eq!(lengths.0, expected);
}
