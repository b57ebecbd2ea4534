//! Checks a value against a schema. The schemas use a part of JSON Schema only.

use serde_json::Value;

/// Why `value` is not as `schema` says, with the path; `None` if it is. `root` has the
/// definitions.
pub(super) fn differs(schema: &Value, root: &Value, value: &Value) -> Option<String> {
    let mut keywords = schema.as_object()?.iter();
    keywords.find_map(|(keyword, rule)| match keyword.as_str() {
        "$ref" => {
            let name = rule.as_str()?.strip_prefix("#/$defs/")?;
            differs(&root["$defs"][name], root, value)
        }
        "anyOf" => {
            let each = rule.as_array()?.iter();
            let each = each.map(|one| differs(one, root, value));
            let all: Option<Vec<String>> = each.collect();
            Some(all?.join(", or "))
        }
        "type" => {
            let names = rule.as_array();
            let names = names.map_or_else(|| std::slice::from_ref(rule), Vec::as_slice);
            let fits = names.iter().any(|name| is_of_type(value, name));
            (!fits).then(|| format!("{value} is no {rule}"))
        }
        "const" => (value != rule).then(|| format!("{value} is not {rule}")),
        "enum" => {
            let is_one = rule.as_array()?.contains(value);
            (!is_one).then(|| format!("{value} is none of {rule}"))
        }
        "required" => {
            let mut names = rule.as_array()?.iter().filter_map(Value::as_str);
            let name = names.find(|name| value.get(name).is_none())?;
            Some(format!("{name} is missing"))
        }
        "properties" => {
            let mut own = value.as_object()?.iter();
            own.find_map(|(name, value)| at(name, differs(rule.get(name)?, root, value)))
        }
        "additionalProperties" => {
            let is_named = |name: &str| schema["properties"].get(name).is_some();
            let mut others = value
                .as_object()?
                .iter()
                .filter(|(name, _)| !is_named(name));
            others.find_map(|(name, value)| match rule {
                Value::Bool(false) => Some(format!("{name} is unknown")),
                rule => at(name, differs(rule, root, value)),
            })
        }
        "items" => {
            let mut items = value.as_array()?.iter().enumerate();
            items.find_map(|(place, item)| at(&place.to_string(), differs(rule, root, item)))
        }
        "minItems" => {
            let count = value.as_array()?.len() as u64;
            (Some(count) < rule.as_u64()).then(|| format!("{count} items"))
        }
        "maxItems" => {
            let count = value.as_array()?.len() as u64;
            (Some(count) > rule.as_u64()).then(|| format!("{count} items"))
        }
        "description" => None,
        other => panic!("{other} is not checked"),
    })
}

fn at(name: &str, why: Option<String>) -> Option<String> {
    Some(format!("{name}: {}", why?))
}

fn is_of_type(value: &Value, name: &Value) -> bool {
    match name.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        Some("number") => value.is_number(),
        Some("integer") => value.is_u64() || value.is_i64(),
        _ => panic!("{name} is no type"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_have_their_lengths_and_values() {
        let schema = json!({ "items": { "enum": ["a", null] }, "maxItems": 2, "minItems": 1 });
        let is_fine = |value: Value| differs(&schema, &Value::Null, &value).is_none();
        assert!(is_fine(json!(["a", null])));
        for wrong in [json!(["b"]), json!([]), json!(["a", "a", "a"])] {
            assert!(!is_fine(wrong.clone()), "{wrong}");
        }
    }
}
