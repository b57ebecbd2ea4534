//! Tables of what commands print, and the JSON Schemas of them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// What a command prints.
pub(crate) struct Table<'a> {
    title: &'a str,
    blocks: Vec<Block<'a>>,
}

/// An object, or another type.
pub(crate) struct Block<'a> {
    pub(crate) name: &'a str,
    is_kind: bool,
    /// Of a type that is no object: what it is.
    alias: Option<&'a str>,
    pub(crate) description: &'a str,
    fields: Vec<Field<'a>>,
}

/// A line of a block.
enum Field<'a> {
    /// A key: its name, whether it is always there, its type and its meaning.
    Key(&'a str, bool, &'a str, &'a str),
    /// Keys of any other name.
    Others(&'a str),
    /// The keys of a type.
    Of(&'a str),
}

impl<'a> Table<'a> {
    /// Reads a table, and the types of `common` where it uses them.
    pub(crate) fn parse(text: &'a str, common: &'a str) -> Self {
        let mut parts = text.split("\n\n");
        let head = parts.next().unwrap();
        let (title, is_using) = match head.split_once("\nuse common") {
            Some((title, _)) => (title, true),
            None => (head, false),
        };
        let common = common.split("\n\n").filter(|_| is_using);
        Self {
            title,
            blocks: parts.chain(common).map(Block::parse).collect(),
        }
    }

    /// The objects.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = &Block<'a>> {
        self.blocks.iter().filter(|block| block.is_kind)
    }

    /// The schema of a line.
    pub(crate) fn schema(&self) -> Value {
        let mut definitions = BTreeMap::new();
        let mut open: Vec<&str> = self.kinds().map(|block| block.name).collect();
        let lines: Vec<Value> = open.iter().map(|name| reference(name)).collect();
        while let Some(name) = open.pop() {
            if !definitions.contains_key(name) {
                let schema = self.definition(self.block(name));
                open.extend(self.named_in(&schema));
                definitions.insert(name, schema);
            }
        }
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": self.title,
            "anyOf": lines,
            "$defs": definitions,
        })
    }

    #[track_caller]
    fn block(&self, name: &str) -> &Block<'a> {
        let block = self.blocks.iter().find(|block| block.name == name);
        block.unwrap_or_else(|| panic!("{}: no type {name}", self.title))
    }

    /// The types that a definition refers to.
    fn named_in(&self, schema: &Value) -> Vec<&str> {
        let text = schema.to_string();
        let blocks = self.blocks.iter().map(|block| block.name);
        let is_named = |name: &&str| text.contains(&format!("\"#/$defs/{name}\""));
        blocks.filter(is_named).collect()
    }

    fn definition(&self, block: &Block<'a>) -> Value {
        if let Some(alias) = block.alias {
            return described(of_type(alias), block.description);
        }
        let mut properties = Map::new();
        let mut required = Vec::new();
        let mut others = Value::Bool(false);
        if block.is_kind {
            properties.insert("kind".into(), json!({ "const": block.name }));
            required.push("kind");
        }
        for field in self.fields(block) {
            match *field {
                Field::Key(name, is_required, kind, meaning) => {
                    let schema = described(of_type(kind), meaning);
                    let former = properties.insert(name.into(), schema);
                    assert!(former.is_none(), "{} twice in {}", name, block.name);
                    required.extend(is_required.then_some(name));
                }
                Field::Others(kind) => others = of_type(kind),
                Field::Of(_) => unreachable!("they are resolved"),
            }
        }
        json!({
            "description": block.description,
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": others,
        })
    }

    /// The fields of a block, with those of types that it has whole.
    fn fields<'b>(&'b self, block: &'b Block<'a>) -> Vec<&'b Field<'a>> {
        let each = block.fields.iter();
        let each = each.flat_map(|field| match field {
            Field::Of(name) => self.block(name).fields.iter().collect(),
            own => vec![own],
        });
        each.collect()
    }
}

impl<'a> Block<'a> {
    #[track_caller]
    fn parse(text: &'a str) -> Self {
        let mut lines = text.trim_end().lines();
        let head = lines.next().expect("a block has a head");
        let (word, rest) = head.split_once(' ').expect(head);
        let (name, what) = rest.split_once(" = ").unwrap_or((rest, "object"));
        Self {
            name,
            is_kind: word == "kind",
            alias: (what != "object").then_some(what),
            description: lines.next().expect(head),
            fields: lines.map(Field::parse).collect(),
        }
    }
}

impl<'a> Field<'a> {
    #[track_caller]
    fn parse(line: &'a str) -> Self {
        let line = line.strip_prefix("  ").expect(line);
        if let Some(name) = line.strip_prefix('+') {
            return Self::Of(name);
        }
        let (name, rest) = line.split_once("  ").expect(line);
        let (kind, meaning) = rest.split_once("  ").expect(line);
        match name.strip_suffix('?') {
            _ if name == "*" => Self::Others(kind),
            Some(name) => Self::Key(name, false, kind, meaning),
            None => Self::Key(name, true, kind, meaning),
        }
    }
}

/// The schema of a type: `T?` may be null, `T*2` is a pair, `[T]` a list, `{T}` an object
/// with any keys, `T/U` one of both. Small words with bars between are values.
fn of_type(text: &str) -> Value {
    if let Some(some) = text.strip_suffix('?') {
        return nullable(of_type(some));
    }
    if let Some(each) = text.strip_suffix("*2") {
        return json!({ "type": "array", "items": of_type(each), "minItems": 2, "maxItems": 2 });
    }
    let within = |open, close| text.strip_prefix(open)?.strip_suffix(close);
    if let Some(each) = within('[', ']') {
        return json!({ "type": "array", "items": of_type(each) });
    }
    if let Some(each) = within('{', '}') {
        return json!({ "type": "object", "additionalProperties": of_type(each) });
    }
    if text.contains('/') {
        let all: Vec<Value> = text.split('/').map(of_type).collect();
        return json!({ "anyOf": all });
    }
    match text {
        "any" => json!({}),
        "string" | "integer" | "number" | "boolean" | "null" => json!({ "type": text }),
        _ if text.starts_with(|c: char| c.is_ascii_uppercase()) => reference(text),
        words => json!({ "enum": words.split('|').collect::<Vec<_>>() }),
    }
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn nullable(mut schema: Value) -> Value {
    if let Some(words) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        words.push(Value::Null);
    } else if schema["type"].is_string() {
        schema["type"] = json!([schema["type"], "null"]);
    } else {
        return json!({ "anyOf": [schema, { "type": "null" }] });
    }
    schema
}

fn described(mut schema: Value, meaning: &str) -> Value {
    schema["description"] = meaning.into();
    schema
}
