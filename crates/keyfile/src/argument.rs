//! The value in an argument `key=value` of an option.

use super::tree::{Node, Origin, Value};

/// The values in `text`: one, or several separated by commas.
pub fn values(text: &str, origin: &Origin) -> Vec<Node> {
    parts(text)
        .into_iter()
        .map(|part| value(part.trim(), origin))
        .collect()
}

/// One value: a TOML value if it is valid TOML, otherwise bare text such as
/// `1gbit`.
fn value(text: &str, origin: &Origin) -> Node {
    let parsed = text.parse::<toml_edit::Value>().ok();
    let node = parsed.map(|value| Node::of(&value, &|_| origin.clone()));
    match node {
        // `inf`, `nan` and dates are text here.
        Some(Node {
            value: Value::Date(_),
            ..
        })
        | None => bare(text, origin),
        Some(Node {
            value: Value::Float(number),
            ..
        }) if !number.is_finite() => bare(text, origin),
        Some(node) => node,
    }
}

fn bare(text: &str, origin: &Origin) -> Node {
    Node {
        value: text.into(),
        origin: origin.clone(),
    }
}

/// Splits `text` at commas outside of brackets and quotes.
fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0_usize, None);
    let mut escaped = false;
    for (position, letter) in text.char_indices() {
        match (quote, letter) {
            (Some('"'), '\\') if !escaped => {
                escaped = true;
                continue;
            }
            (Some(open), _) if letter == open && !escaped => quote = None,
            (Some(_), _) => {}
            // An apostrophe within a word does not open a quote.
            (None, '"' | '\'') if begins_value(&text[start..position]) => quote = Some(letter),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                parts.push(&text[start..position]);
                start = position + 1;
            }
            (None, _) => {}
        }
        escaped = false;
    }
    parts.push(&text[start..]);
    parts
}

/// Whether a value may start after `before`.
fn begins_value(before: &str) -> bool {
    before
        .trim_end()
        .chars()
        .next_back()
        .is_none_or(|last| matches!(last, '[' | '{' | ',' | '='))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, wanted: &[&str]) {
        let shown: Vec<_> = values(text, &Origin::Default)
            .iter()
            .map(|node| node.value.to_string())
            .collect();
        assert_eq!(shown, wanted, "{text}");
    }

    #[test]
    fn commas_make_a_list_but_not_within_brackets_or_quotes() {
        check("1500,9000", &["1500", "9000"]);
        check("1gbit, 100mbit", &["\"1gbit\"", "\"100mbit\""]);
        check("[1500, 9000]", &["[1500, 9000]"]);
        check("\"a, b\",'c, d'", &["\"a, b\"", "\"c, d\""]);
        check("\"a\\\", b\"", &["\"a\\\", b\""]);
        check("don't, stop", &["\"don't\"", "\"stop\""]);
        check("[1500", &["\"[1500\""]);
        check("", &["\"\""]);
    }

    #[test]
    fn a_value_is_read_as_toml_where_it_is_toml() {
        check("true", &["true"]);
        check("0.5", &["0.5"]);
        check("nan", &["\"nan\""]);
        check("1979-05-27", &["\"1979-05-27\""]);
        check("mtu-72", &["\"mtu-72\""]);
        check("{ a = 1 }", &["{ a = 1 }"]);
    }
}
