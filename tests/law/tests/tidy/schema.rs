//! The published JSON Schema of a document says what the types of `crates/schema` say, and real documents follow it.

use super::sources;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use syn::{Attribute, Fields, GenericArgument, Item, ItemEnum, ItemStruct, PathArguments, Type};

/// The struct whose fields are the keys of a file.
const ROOT: &str = "File";

/// What of serde's attributes changes a schema.
#[derive(Default)]
struct Serde {
    optional: bool,
    flatten: bool,
    skipped_when_none: bool,
    as_text: bool,
    other: bool,
    rename: Option<String>,
    case: Option<String>,
}

fn serde_of(attributes: &[Attribute]) -> Serde {
    let mut found = Serde::default();
    for attribute in attributes.iter().filter(|a| a.path().is_ident("serde")) {
        let parsed = attribute.parse_nested_meta(|meta| {
            let text = match meta.value() {
                Ok(value) => value.parse::<syn::LitStr>()?.value(),
                Err(_) => String::new(),
            };
            match meta.path.get_ident().map(ToString::to_string).unwrap_or_default().as_str() {
                "default" => found.optional = true,
                "flatten" => found.flatten = true,
                "other" => found.other = true,
                "skip_serializing_if" => found.skipped_when_none = true,
                "into" => found.as_text = true,
                "rename" => found.rename = Some(text),
                "rename_all" => found.case = Some(text),
                _ => {}
            }
            Ok(())
        });
        parsed.expect("an attribute of serde");
    }
    found
}

/// The documentation of an item as one paragraph.
fn described(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        syn::Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => {
                Some(text.value().trim().to_owned())
            }
            _ => None,
        },
        _ => None,
    });
    lines.collect::<Vec<_>>().join(" ").trim().to_owned()
}

/// All types of the crate by name.
struct Types {
    structs: BTreeMap<String, ItemStruct>,
    enums: BTreeMap<String, ItemEnum>,
}

fn types() -> Types {
    let mut found = Types { structs: BTreeMap::new(), enums: BTreeMap::new() };
    for path in sources::below(&sources::root().join("crates/schema/src")) {
        for item in sources::parsed(&path).items {
            match item {
                Item::Struct(one) => drop(found.structs.insert(one.ident.to_string(), one)),
                Item::Enum(one) => drop(found.enums.insert(one.ident.to_string(), one)),
                _ => {}
            }
        }
    }
    found
}

/// The last name of a path and the types in its angle brackets.
fn named(kind: &Type) -> (String, Vec<Type>) {
    let Type::Path(path) = kind else { return (String::new(), Vec::new()) };
    let last = path.path.segments.last().expect("a path has a name");
    let inside = match &last.arguments {
        PathArguments::AngleBracketed(inside) => inside
            .args
            .iter()
            .filter_map(|one| match one {
                GenericArgument::Type(kind) => Some(kind.clone()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    (last.ident.to_string(), inside)
}

fn of_type(kind: &Type, wanted: &mut BTreeSet<String>) -> Value {
    match kind {
        Type::Array(array) => {
            let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(length), .. }) = &array.len else {
                return json!({"type": "array", "items": of_type(&array.elem, wanted)});
            };
            let length: u64 = length.base10_parse().expect("a length");
            return json!({"type": "array", "items": of_type(&array.elem, wanted), "minItems": length, "maxItems": length});
        }
        Type::Tuple(tuple) => {
            let items: Vec<Value> = tuple.elems.iter().map(|one| of_type(one, wanted)).collect();
            return json!({"type": "array", "prefixItems": items, "minItems": items.len(), "maxItems": items.len()});
        }
        _ => {}
    }
    let (name, inside) = named(kind);
    match (name.as_str(), &inside[..]) {
        ("Option" | "Box", [one]) => of_type(one, wanted),
        ("Vec" | "BTreeSet", [one]) => json!({"type": "array", "items": of_type(one, wanted)}),
        ("BTreeMap", [_, value]) => {
            json!({"type": "object", "additionalProperties": of_type(value, wanted)})
        }
        ("u8" | "u16" | "u32" | "u64" | "usize", _) => json!({"type": "integer", "minimum": 0}),
        ("i8" | "i16" | "i32" | "i64", _) => json!({"type": "integer"}),
        ("f32" | "f64", _) => json!({"type": "number"}),
        ("bool", _) => json!({"type": "boolean"}),
        ("String" | "str", _) => json!({"type": "string"}),
        _ => {
            wanted.insert(name.clone());
            json!({"$ref": format!("#/$defs/{name}")})
        }
    }
}

/// Adds the keys of a struct, those of flattened ones among them.
fn keys(
    types: &Types,
    one: &ItemStruct,
    wanted: &mut BTreeSet<String>,
    keys_of: &mut (Map<String, Value>, Vec<String>),
) {
    for field in &one.fields {
        let serde = serde_of(&field.attrs);
        let (name, inside) = named(&field.ty);
        if serde.flatten {
            let inner = if name == "Option" { named(&inside[0]).0 } else { name };
            if let Some(inner) = types.structs.get(&inner) {
                keys(types, inner, wanted, keys_of);
            }
            continue;
        }
        let key = serde.rename.unwrap_or_else(|| field.ident.as_ref().expect("a name").to_string());
        let mut value = of_type(&field.ty, wanted);
        if name == "Option" && !serde.skipped_when_none {
            value = json!({"anyOf": [value, {"type": "null"}]});
        }
        let text = described(&field.attrs);
        if !text.is_empty() {
            value["description"] = text.into();
        }
        if name != "Option" && !serde.optional {
            keys_of.1.push(key.clone());
        }
        keys_of.0.insert(key, value);
    }
}

fn of_struct(types: &Types, one: &ItemStruct, wanted: &mut BTreeSet<String>) -> Value {
    let text = described(&one.attrs);
    if let Fields::Unnamed(inner) = &one.fields {
        let mut value = of_type(&inner.unnamed[0].ty, wanted);
        value["description"] = text.into();
        return value;
    }
    if serde_of(&one.attrs).as_text {
        return json!({"type": "string", "description": text});
    }
    let mut found = (Map::new(), Vec::new());
    keys(types, one, wanted, &mut found);
    json!({"type": "object", "description": text, "properties": found.0, "required": found.1})
}

fn in_case(name: &str, case: Option<&str>) -> String {
    let between = match case {
        Some("snake_case") => '_',
        Some("kebab-case") => '-',
        _ => return name.to_owned(),
    };
    let mut word = String::new();
    for (index, c) in name.chars().enumerate() {
        if c.is_uppercase() && index > 0 {
            word.push(between);
        }
        word.extend(c.to_lowercase());
    }
    word
}

fn of_enum(one: &ItemEnum) -> Value {
    let serde = serde_of(&one.attrs);
    let text = described(&one.attrs);
    if serde.as_text || one.variants.iter().any(|v| !matches!(v.fields, Fields::Unit)) {
        // A text that carries values.
        return json!({"description": text});
    }
    let word = |v: &syn::Variant| {
        serde_of(&v.attrs)
            .rename
            .unwrap_or_else(|| in_case(&v.ident.to_string(), serde.case.as_deref()))
    };
    let words: Vec<String> = one.variants.iter().map(word).collect();
    if one.variants.iter().any(|v| serde_of(&v.attrs).other) {
        // Newer versions add words, so these are told, but no others are forbidden.
        let told = one.variants.iter().zip(&words);
        let told = told.map(|(v, word)| format!("\n- `{word}`: {}", described(&v.attrs)));
        let text = text + "\n" + &told.collect::<String>();
        return json!({"type": "string", "description": text, "examples": words});
    }
    json!({"type": "string", "description": text, "enum": words})
}

/// The schema of a document.
fn schema() -> Value {
    let types = types();
    let mut wanted = BTreeSet::new();
    let mut root = of_struct(&types, &types.structs[ROOT], &mut wanted);
    let mut defined = BTreeMap::new();
    while let Some(name) = wanted.iter().find(|name| !defined.contains_key(*name)).cloned() {
        let one = match (types.structs.get(&name), types.enums.get(&name)) {
            (Some(one), _) => of_struct(&types, one, &mut wanted),
            (None, Some(one)) => of_enum(one),
            (None, None) => panic!("{name} is no type of the schema"),
        };
        defined.insert(name, one);
    }
    root["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    root["title"] = "A document of ioscape".into();
    root["description"] = "A result file: where, when and how it was made, and one outcome. Keys are only ever added.".into();
    root["$defs"] = json!(defined);
    root
}

/// Where `value` does not follow `part` of the schema.
fn faults(whole: &Value, part: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
    if let Some(name) = part["$ref"].as_str() {
        return faults(
            whole,
            &whole["$defs"][name.rsplit('/').next().expect("a name")],
            value,
            place,
            found,
        );
    }
    if let Some(either) = part["anyOf"].as_array() {
        return if value.is_null() {
        } else {
            faults(whole, &either[0], value, place, found)
        };
    }
    let fits = match part["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("integer") => value.is_u64() || value.is_i64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("string") => value.is_string(),
        _ => true,
    };
    if !fits || part["enum"].as_array().is_some_and(|words| !words.contains(value)) {
        found.push(format!("{place} is {value}"));
    }
    for key in part["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if value.get(key).is_none() {
            found.push(format!("{place}.{key} is missing"));
        }
    }
    for (key, inner) in value.as_object().into_iter().flatten() {
        match (part["properties"].get(key), part.get("additionalProperties")) {
            (Some(part), _) | (None, Some(part)) => {
                faults(whole, part, inner, &format!("{place}.{key}"), found)
            }
            (None, None) if part.get("properties").is_some() => {
                found.push(format!("{place}.{key} is not in the schema"))
            }
            _ => {}
        }
    }
    for (index, inner) in value.as_array().into_iter().flatten().enumerate() {
        let part =
            if part["items"].is_null() { &part["prefixItems"][index] } else { &part["items"] };
        faults(whole, part, inner, &format!("{place}[{index}]"), found);
    }
}

#[test]
fn the_published_schema_is_that_of_the_types() {
    let path = sources::root().join("crates/schema/src/document.schema.json");
    let text = serde_json::to_string_pretty(&schema()).expect("JSON") + "\n";
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        fs::write(&path, &text).expect("a file");
    }
    let published = fs::read_to_string(&path).unwrap_or_default();
    assert!(published == text, "run UPDATE_SCHEMA=1 cargo test -p ioscape-law schema");
}

/// The page once had some kinds as prose, and the schema none of them.
#[test]
fn the_schema_tells_every_kind_of_warning_and_troubleshooting_md_no_other() {
    let kind = &schema()["$defs"]["WarningKind"];
    let kinds: Vec<&str> =
        kind["examples"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    assert_eq!((&kind["type"], kinds.last()), (&json!("string"), Some(&"other")));
    assert!(kind["description"].as_str().unwrap().contains("\n- `steal`: The hypervisor took"));
    let page = sources::text(&sources::root().join("docs/troubleshooting.md"));
    let table = page.lines().skip_while(|line| !line.starts_with("| kind |")).skip(2);
    let rows =
        table.take_while(|line| line.starts_with('|')).map(|row| row.split('|').nth(1).unwrap());
    let told: Vec<&str> = rows.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    assert!(told.len() >= 17 && told.iter().all(|word| kinds.contains(word)), "{told:?}");
}

#[test]
fn real_documents_follow_the_schema() {
    let schema = schema();
    let path = sources::root().join("crates/cli/tests/command/data/small.ioscape.json");
    let document: Value =
        serde_json::from_str(&fs::read_to_string(path).expect("a file")).expect("JSON");
    let mut found = Vec::new();
    faults(&schema, &schema, &document, "document", &mut found);
    assert_eq!(found, [""; 0]);
    let mut broken = document;
    broken["seed"] = "one".into();
    broken["evaluation"]["points_measured"] = json!(-1.5);
    broken["surprise"] = json!(1);
    faults(&schema, &schema, &broken, "document", &mut found);
    assert_eq!(found.len(), 3, "{found:?}");
}
