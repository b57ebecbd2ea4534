//! The table of keys as a JSON Schema, by which editors complete and check
//! experiments.

use link::written::queues;
use serde_json::{Map, Value, json};

use super::index::{KeyNode, joined, root};
use super::page::LISTS;
use super::row::QUEUES;
use super::{DefaultValue, Key, cell_roots};

/// The tables of a run that `[on.BACKEND]` may have besides those of a cell.
const IN_BACKENDS: [&str; 4] = ["choices", "sweep", "trials", "report"];

/// The JSON Schema of experiments, draft 7, as text: names, places and words of
/// keys. Everything else about values is left to `jumbolab run --dry-run`.
pub fn schema() -> String {
    let mut all = of_table(root(), "");
    let roots = cell_roots().iter().chain(&IN_BACKENDS);
    let in_backends = roots.map(|root| {
        let same = json!({ "$ref": format!("#/properties/{root}") });
        ((*root).to_owned(), same)
    });
    let mut backend = object(in_backends.collect(), &Value::Bool(false));
    let place = "/properties/on/additionalProperties";
    if let Some(old) = all.pointer_mut(place) {
        if let (Some(about), Some(backend)) = (old.get("description"), backend.as_object_mut()) {
            backend.insert("description".into(), about.clone());
        }
        *old = backend;
    }
    let required = ["format", "name", "sweep"];
    let head = [
        ("$schema", json!("http://json-schema.org/draft-07/schema#")),
        ("title", json!("Experiment of Jumbolab")),
        ("required", json!(required)),
    ];
    if let Some(all) = all.as_object_mut() {
        all.extend(head.map(|(key, value)| (key.to_owned(), value)));
    }
    format!("{all:#}\n")
}

/// The table at `path`, or the list of such tables.
fn of_table(node: &KeyNode, path: &str) -> Value {
    let inner = node.inner().map(|(name, node)| {
        let schema = of_node(node, &joined(path, name));
        (name.to_owned(), schema)
    });
    let others = node.any().map_or(Value::Bool(false), |(name, node)| {
        of_node(node, &joined(path, name))
    });
    let mut table = object(inner.collect(), &others);
    let about = node.table().map(|section| section.about);
    if let (Some(table), Some(about)) = (table.as_object_mut(), about.filter(|it| !it.is_empty())) {
        table.insert("description".into(), about.into());
    }
    match LISTS.contains(&path) {
        true => json!({ "type": "array", "items": table }),
        false => table,
    }
}

/// A key, a table, or what may be both.
fn of_node(node: &KeyNode, path: &str) -> Value {
    let mut found: Vec<Value> = node.keys().map(of_key).collect();
    if found.is_empty() || node.inner().next().is_some() || node.any().is_some() {
        found.push(of_table(node, path));
    }
    found.dedup();
    match found.as_slice() {
        [one] => one.clone(),
        _ => json!({ "anyOf": found }),
    }
}

fn object(properties: Map<String, Value>, others: &Value) -> Value {
    json!({ "type": "object", "properties": properties, "additionalProperties": others })
}

fn of_key(key: &Key) -> Value {
    let default = match key.default {
        DefaultValue::Text(text) => format!(" Default: {text}."),
        DefaultValue::Number(number) => format!(" Default: {number}."),
        DefaultValue::Follows(words) => format!(" Default: {words}."),
        DefaultValue::Required => " Required.".to_owned(),
        DefaultValue::Absent => String::new(),
    };
    let mut schema = Map::new();
    let description = format!("{} Type: {}.{default}", key.meaning, key.kind);
    schema.insert("description".into(), description.into());
    schema.extend(constraint(key.kind));
    Value::Object(schema)
}

/// The keyword that follows from a type in a user's terms, if one does.
fn constraint(kind: &str) -> Option<(String, Value)> {
    let words = match kind {
        QUEUES => Some(queues().into_iter().map(Value::from).collect()),
        "boolean" => Some(vec!["on".into(), "off".into(), true.into(), false.into()]),
        kind => words(kind),
    };
    if let Some(words) = words {
        return Some(("enum".into(), Value::Array(words)));
    }
    let first = kind.split([' ', ',']).next().unwrap_or_default();
    let types = match first {
        "number" if !kind.contains("quantity") => json!("number"),
        "time" | "size" | "rate" | "share" => json!(["string", "number"]),
        _ => return None,
    };
    Some(("type".into(), types))
}

/// The words of a type that is nothing but words: `a`, `b` or `c`.
fn words(kind: &str) -> Option<Vec<Value>> {
    let mut words = Vec::new();
    for (place, part) in kind.split('`').enumerate() {
        let is_word = place % 2 == 1;
        match part {
            "" | ", " | " or " if !is_word => {}
            word if is_word && !word.contains(['"', ' ']) => {
                let number: Option<i64> = word.parse().ok();
                words.push(number.map_or_else(|| word.into(), Value::from));
            }
            _ => return None,
        }
    }
    (!words.is_empty()).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Experiment, TEMPLATE, shipped, text_of};

    /// The first place of `value` that `schema` rejects: an interpreter of the
    /// keywords that [`schema`] writes.
    fn rejected(all: &Value, schema: &Value, value: &Value, place: &str) -> Option<String> {
        if let Some(path) = schema["$ref"].as_str() {
            let same = all.pointer(path.trim_start_matches('#')).unwrap();
            return rejected(all, same, value, place);
        }
        if let Some(any) = schema["anyOf"].as_array() {
            let mut rejections = any.iter().map(|one| rejected(all, one, value, place));
            return match rejections.any(|rejection| rejection.is_none()) {
                true => None,
                false => Some(place.to_owned()),
            };
        }
        let is = |name: &str| match name {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "number" => value.is_number(),
            other => panic!("{other}"),
        };
        let has_type = match &schema["type"] {
            Value::Null => true,
            Value::String(name) => is(name),
            names => (names.as_array().unwrap().iter()).any(|name| is(name.as_str().unwrap())),
        };
        let words = schema["enum"].as_array();
        let required = schema["required"].as_array().into_iter().flatten();
        let lacks = |name: &Value| value.get(name.as_str().unwrap()).is_none();
        if !has_type
            || words.is_some_and(|words| !words.contains(value))
            || required.into_iter().any(lacks)
        {
            return Some(place.to_owned());
        }
        let items = value.as_array().into_iter().flatten().enumerate();
        let of_items = items.map(|(at, value)| (format!("{place}[{at}]"), &schema["items"], value));
        let keys = value.as_object().into_iter().flatten();
        let of_keys = keys.map(|(key, value)| {
            let own = schema["properties"].get(key);
            let schema = own.unwrap_or_else(|| &schema["additionalProperties"]);
            (format!("{place}.{key}"), schema, value)
        });
        let of_items: Vec<_> = of_items.collect();
        of_items
            .into_iter()
            .chain(of_keys)
            .find_map(|(place, schema, value)| match schema {
                Value::Bool(false) => Some(place),
                Value::Null | Value::Bool(true) => None,
                schema => rejected(all, schema, value, &place),
            })
    }

    fn check(text: &str) -> Option<String> {
        let all: Value = serde_json::from_str(&schema()).unwrap();
        let value: toml::Table = text.parse().unwrap();
        rejected(&all, &all, &serde_json::to_value(value).unwrap(), "")
    }

    #[test]
    fn the_file_is_current() {
        let file = include_str!("../../../../docs/reference/experiment.schema.json");
        assert!(
            file == schema(),
            "print docs/reference/experiment.schema.json anew: cargo run -p jumbolab-experiment --example schema"
        );
    }

    #[test]
    fn every_shipped_experiment_and_its_plan_are_valid() {
        assert_eq!(check(TEMPLATE), None);
        for shipped in shipped() {
            let text = text_of(shipped.name).unwrap();
            assert_eq!(check(&text), None, "{}", shipped.name);
        }
        let plan = Experiment::load("red-increase").unwrap();
        let plan = plan.plan(plan::Backend::Sim, |_| Ok(())).unwrap();
        assert_eq!(check(&plan.text), None);
    }

    #[test]
    fn misspelt_keys_and_words_and_missing_tables_are_rejected_where_they_are() {
        const TEXT: &str =
            "format = 1\nname = \"x\"\n[network]\nmtu = 1500\n[sweep]\nmtu = [1500]\n";
        assert_eq!(check(TEXT), None);
        for (old, new, place) in [
            ("mtu = 1500", "mut = 1500", ".network.mut"),
            ("mtu = 1500", "queue = \"cdel\"", ".network.queue"),
            ("mtu = 1500", "rate = [1]", ".network.rate"),
            ("mtu = 1500", "red.mn = 5", ".network.red.mn"),
            ("format = 1", "format = 2", ".format"),
            ("[network]", "[netwrok]", ".netwrok"),
            ("[network]", "[on.sim.netwrok]", ".on.sim.netwrok"),
            ("mtu = 1500", "[[claim]]\ntxt = \"a\"", ".claim[0].txt"),
            ("[sweep]\nmtu = [1500]\n", "", ""),
        ] {
            let text = TEXT.replace(old, new);
            assert_eq!(check(&text).as_deref(), Some(place), "{text}");
        }
    }

    #[test]
    fn types_of_words_become_lists_of_words() {
        assert_eq!(
            words("`tcp` or `udp`"),
            Some(vec!["tcp".into(), "udp".into()])
        );
        assert_eq!(words("`4` or `6`"), Some(vec![4.into(), 6.into()]));
        assert_eq!(words("size, or `auto`"), None);
        assert_eq!(words("time"), None);
    }
}
