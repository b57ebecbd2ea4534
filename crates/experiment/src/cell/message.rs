//! Message lengths: in bytes, or relative to the MTU.

use keyfile::quantity::size;
use keyfile::{Parsed, Value};
use units::{Bytes, IpMtu};

/// A message length as written.
#[derive(Clone, Copy)]
pub(super) enum Message {
    /// `mtu-N`.
    BelowMtu(u32),
    /// A size.
    Bytes(Bytes),
}

pub(super) fn written(value: &Value) -> Parsed<Message> {
    let below = match value {
        Value::Text(text) => text.strip_prefix("mtu"),
        _ => None,
    };
    match below {
        Some(rest) => match number_below(rest) {
            Some(bytes) => {
                let canonical = format!("mtu-{bytes}");
                Ok((Message::BelowMtu(bytes), Value::Text(canonical)))
            }
            None => Err("write for instance \"mtu-72\"".into()),
        },
        None => size(value)
            .map(|(bytes, canonical)| (Message::Bytes(bytes), canonical))
            .map_err(|why| format!("{why}, or \"mtu-72\"")),
    }
}

impl Message {
    /// The bytes for this smallest MTU of the path, and the derivation if they
    /// were not written.
    pub(super) fn bytes(self, smallest: Option<IpMtu>) -> (Bytes, String) {
        match self {
            Self::Bytes(bytes) => (bytes, String::new()),
            Self::BelowMtu(below) => {
                let mtu = smallest.map_or(0, IpMtu::get);
                let bytes = i64::from(mtu) - i64::from(below);
                let comes_to = format!("{bytes} bytes on MTU {mtu}; ");
                (Bytes::new(u64::try_from(bytes).unwrap_or(0)), comes_to)
            }
        }
    }
}

/// The number N in `-N`.
fn number_below(text: &str) -> Option<u32> {
    let digits = text.trim().strip_prefix('-')?.trim();
    let plain = digits.starts_with(|first: char| first.is_ascii_digit());
    digits.parse().ok().filter(|_| plain)
}
