//! Parses values: sizes, rates, spans, words, numbers.

use units::{Bytes, Rate, Span};

use super::Parsed;
use super::shown::acts_on_terminals;
use super::tree::Value;

/// A size in bytes: `5MB`, `64KiB`, `1428`.
pub fn size(value: &Value) -> Parsed<Bytes> {
    let size: Bytes = written(value, "\"5MB\", \"64KiB\" or 1428")?
        .parse()
        .map_err(|error: units::BadText| error.to_string())?;
    Ok((size, Value::Text(size.to_string())))
}

/// A size, or the `word` that leaves it to another component.
pub fn size_or(word: &'static str) -> impl Fn(&Value) -> Parsed<Option<Bytes>> {
    move |value| either(value, word, size)
}

/// A rate: `1gbit`.
pub fn rate(value: &Value) -> Parsed<Rate> {
    let rate: Rate = written(value, "\"1gbit\" or \"100mbit\"")?
        .parse()
        .map_err(|error: units::BadText| error.to_string())?;
    Ok((rate, Value::Text(rate.to_string())))
}

/// A span of time: `30s`, `10ms`.
pub fn span(value: &Value) -> Parsed<Span> {
    let span: Span = written(value, "\"30s\" or \"10ms\"")?
        .parse()
        .map_err(|error: units::BadText| error.to_string())?;
    match span == Span::from_picos(0) {
        true => Ok((span, "0s".into())),
        false => Ok((span, Value::Text(span.to_string()))),
    }
}

/// A span of time, or the `word` that leaves it to another component.
pub fn span_or(word: &'static str) -> impl Fn(&Value) -> Parsed<Option<Span>> {
    move |value| either(value, word, span)
}

/// A share of packets such as `0.1%`, or 0; parsed into a probability.
pub fn share(value: &Value) -> Parsed<f64> {
    const EXAMPLE: &str = "write a share of packets in per cent, for instance \"0.1%\"";
    let percent = match value {
        Value::Integer(0) => 0.0,
        Value::Float(number) if *number == 0.0 => 0.0,
        Value::Float(number) if *number > 0.0 && *number < 1.0 => {
            let percent = rounded(number * 100.0);
            return Err(format!("write \"{number}%\", or \"{percent}%\""));
        }
        Value::Text(text) => text
            .strip_suffix('%')
            .and_then(|number| number.trim().parse().ok())
            .ok_or(EXAMPLE)?,
        _ => return Err(EXAMPLE.into()),
    };
    match (0.0..=100.0).contains(&percent) {
        true => Ok((percent / 100.0, Value::Text(format!("{percent}%")))),
        false => Err(EXAMPLE.into()),
    }
}

/// A number without the digits that a multiplication by 100 leaves behind.
fn rounded(number: f64) -> f64 {
    format!("{number:.10}").parse().unwrap_or(number)
}

/// A probability from 0 to 1, such as a bit error rate.
pub fn probability(value: &Value) -> Parsed<f64> {
    match float(value) {
        Some(number) if (0.0..=1.0).contains(&number) => Ok((number, Value::Float(number))),
        _ => Err("write a probability from 0 to 1, for instance 1e-9".into()),
    }
}

/// One of `words`.
pub fn word<T: Copy>(words: &'static [(&'static str, T)]) -> impl Fn(&Value) -> Parsed<T> {
    move |value| {
        let found = words
            .iter()
            .find(|(name, _)| matches!(value, Value::Text(text) if text == name));
        match found {
            Some((name, parsed)) => Ok((*parsed, (*name).into())),
            None => Err(format!(
                "write {}",
                choices(words.iter().map(|(name, _)| *name))
            )),
        }
    }
}

/// `on` or `off`, or a TOML boolean.
pub fn switch(value: &Value) -> Parsed<bool> {
    match value {
        Value::Boolean(truth) => Ok((*truth, on_off(*truth).into())),
        value => word(&[("on", true), ("off", false)])(value),
    }
}

/// The text of a switch.
pub fn on_off(truth: bool) -> &'static str {
    if truth { "on" } else { "off" }
}

/// A whole number within a range.
pub fn number(least: i64, most: i64) -> impl Fn(&Value) -> Parsed<i64> {
    move |value| match value {
        Value::Integer(number) if (least..=most).contains(number) => {
            Ok((*number, (*number).into()))
        }
        _ => Err(format!("write a number from {least} to {most}")),
    }
}

/// A positive number.
pub fn positive(value: &Value) -> Parsed<f64> {
    match float(value) {
        Some(number) if number > 0.0 => Ok((number, Value::Float(number))),
        _ => Err("write a number above 0".into()),
    }
}

/// A finite number.
pub fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number).filter(|number| number.is_finite()),
        _ => None,
    }
}

/// A non-empty line of text.
pub fn line(value: &Value) -> Parsed<String> {
    match value {
        Value::Text(text) if !text.trim().is_empty() && !text.contains(acts_on_terminals) => {
            Ok((text.clone(), value.clone()))
        }
        _ => Err("write one line of text in quotes".into()),
    }
}

/// A name that is valid in folder and kernel module names.
pub fn name(longest: usize) -> impl Fn(&Value) -> Parsed<String> {
    move |value| match value {
        Value::Text(text)
            if (1..=longest).contains(&text.len())
                && text.starts_with(|letter: char| letter.is_ascii_alphanumeric())
                && text.chars().all(|letter| {
                    letter.is_ascii_alphanumeric() || letter == '-' || letter == '_'
                }) =>
        {
            Ok((text.clone(), value.clone()))
        }
        _ => Err(format!(
            "write 1 to {longest} letters, digits, \"-\" and \"_\", a letter or digit first"
        )),
    }
}

/// `"a", "b" or "c"`.
pub fn choices<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<_> = words
        .into_iter()
        .map(|word| format!("\"{word}\""))
        .collect();
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => "nothing".into(),
    }
}

/// The value parsed by `parse`, or `None` for `word`.
pub fn either<T>(
    value: &Value,
    word: &str,
    parse: impl Fn(&Value) -> Parsed<T>,
) -> Parsed<Option<T>> {
    match value {
        Value::Text(text) if text == word => Ok((None, word.into())),
        value => match parse(value) {
            Ok((parsed, canonical)) => Ok((Some(parsed), canonical)),
            Err(why) => Err(format!("{why}, or {word}")),
        },
    }
}

/// The text of a quantity; an error if it lacks a unit.
fn written(value: &Value, example: &str) -> Result<String, String> {
    match value {
        Value::Text(text) => Ok(text.clone()),
        Value::Integer(number) if *number >= 0 => Ok(number.to_string()),
        // `1e6` is a float in TOML.
        Value::Float(number) if *number >= 0.0 && number.is_finite() => Ok(number.to_string()),
        Value::Integer(_) | Value::Float(_) => Err(format!(
            "must not be negative; write for instance {example}"
        )),
        _ => Err(format!("write for instance {example}")),
    }
}
