//! Parses values of `[tcp]`.

use keyfile::quantity::{number, word};
use keyfile::{Parsed, Value};
use units::Span;

/// A threshold as written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Threshold {
    None,
    Window,
    Segments(u32),
}

pub(super) fn threshold(value: &Value) -> Parsed<Threshold> {
    let words = word(&[("none", Threshold::None), ("window", Threshold::Window)]);
    match value {
        Value::Text(_) => words(value),
        value => segments(value)
            .map(|(segments, canonical)| (Threshold::Segments(segments), canonical))
            .map_err(|why| format!("{why}, \"window\" or \"none\"")),
    }
}

pub(super) fn segments(value: &Value) -> Parsed<u32> {
    let (segments, canonical) = number(1, 1_000_000_000)(value)?;
    let segments = u32::try_from(segments).map_err(|error| error.to_string())?;
    Ok((segments, canonical))
}

/// A number of segments, or `none`.
pub(super) fn limit(window: u32) -> Value {
    match window {
        u32::MAX => "none".into(),
        window => whole(window),
    }
}

pub(super) fn whole(number: u32) -> Value {
    i64::from(number).into()
}

pub(super) fn written(span: Span) -> Value {
    Value::Text(span.to_string())
}

pub(super) fn name_of<T: PartialEq>(words: &[(&'static str, T)], wanted: T) -> &'static str {
    let found = words.iter().find(|(_, value)| *value == wanted);
    found.map_or("", |(name, _)| name)
}
