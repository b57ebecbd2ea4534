//! Parses values of the disciplines' keys.

use keyfile::quantity::{choices, float, number, probability, size, span, span_or, switch};
use keyfile::{Parsed, Value};
use queue::{Field, NamedChoice};

/// Reads `value` into `field`.
pub(super) fn read(field: &mut Field<'_>, value: &Value) -> Parsed<()> {
    match field {
        Field::Span(span_of) => put(*span_of, span(value)),
        Field::SpanOrNone(span_of) => put(*span_of, span_or("none")(value)),
        Field::Size(size_of) => put(*size_of, size(value)),
        Field::Frames(number) | Field::Number(number) => put(*number, from_zero(value)),
        Field::Threshold { length, bytes } => threshold(value, length, bytes),
        Field::Probability(number) => put(*number, probability(value)),
        Field::Shares(low, high) => shares(value, low, high),
        Field::Weight(number) => put(*number, weight(value)),
        Field::Count { most, count } => {
            let (read, canonical) = number(1, (*most).into())(value)?;
            let read = u16::try_from(read).map_err(|_| format!("write a number from 1 to {most}"));
            put(*count, read.map(|read| (read, canonical)))
        }
        Field::Switch(truth) => put(*truth, switch(value)),
        Field::Word(words) | Field::Queue(words) => choose(*words, value),
    }
}

/// One of `words`.
pub(super) fn choose(words: &mut dyn NamedChoice, value: &Value) -> Parsed<()> {
    match value {
        Value::Text(text) if words.choose(text) => Ok(((), value.clone())),
        _ => Err(format!("write {}", choices(words.words()))),
    }
}

/// Stores a parsed value.
fn put<T>(place: &mut T, parsed: Parsed<T>) -> Parsed<()> {
    let (read, canonical) = parsed?;
    *place = read;
    Ok(((), canonical))
}

/// A queue length: a number, or bytes with a unit.
fn threshold(value: &Value, length: &mut f64, bytes: &mut bool) -> Parsed<()> {
    let Value::Text(_) = value else {
        return put(length, from_zero(value));
    };
    let (size, canonical) = size(value)?;
    let bytes_of = size.get() as f64;
    *bytes = true;
    put(length, Ok((bytes_of, canonical)))
}

/// A non-negative number.
fn from_zero(value: &Value) -> Parsed<f64> {
    match float(value) {
        Some(number) if number >= 0.0 => Ok((number, value.clone())),
        _ => Err("write a number from 0 on".into()),
    }
}

fn weight(value: &Value) -> Parsed<f64> {
    match float(value) {
        Some(weight) if weight > 0.0 && weight <= 1.0 => Ok((weight, value.clone())),
        _ => Err("write what one arrival counts: above 0, at most 1, for instance 0.002".into()),
    }
}

/// `0.01..0.5`.
fn shares(value: &Value, low: &mut f64, high: &mut f64) -> Parsed<()> {
    const EXAMPLE: &str = "write the least and the largest share of a frame's packets, from 0 to 1, for instance \"0.01..0.5\"";
    let Value::Text(text) = value else {
        return Err(EXAMPLE.into());
    };
    let (least, largest) = text.split_once("..").ok_or(EXAMPLE)?;
    let share = |text: &str| -> Result<f64, String> {
        let number = text.trim().parse().map_err(|_| EXAMPLE)?;
        let (share, _) = from_zero(&Value::Float(number)).map_err(|_| EXAMPLE)?;
        if share > 1.0 {
            return Err(EXAMPLE.into());
        }
        Ok(share)
    };
    let (least, largest) = (share(least)?, share(largest)?);
    if least > largest {
        return Err("the lower bound is above the upper one; swap them".into());
    }
    (*low, *high) = (least, largest);
    Ok(((), Value::Text(format!("{low}..{high}"))))
}
