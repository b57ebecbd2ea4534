//! Stacks as people write them: `eth,ipv4,udp,vxlan,eth,ipv6,tcp+ts`.

use super::layer::Layer;
use super::protocol::Protocol;
use super::protocols::PROTOCOLS;

/// Text that is no stack, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadStack(String);

/// The most layers of a stack.
const MOST_LAYERS: usize = 32;

/// The protocols that a stack may begin with.
const FIRST: [&str; 3] = ["eth", "ipv4", "ipv6"];

/// The layers of a stack, outermost first.
pub(super) fn parse(text: &str) -> Result<Vec<Layer>, BadStack> {
    let mut layers: Vec<Layer> = Vec::new();
    if text.trim().is_empty() {
        return bad("a stack has at least one layer; write for instance eth,ipv6,tcp+ts");
    }
    for word in text.split(',') {
        let layer = layer(word.trim())?;
        let (before, allowed): (&str, &[&str]) = match layers.last() {
            None => ("", &FIRST),
            Some(last) => (last.protocol.name, last.protocol.carries),
        };
        let name = layer.protocol.name;
        if !allowed.contains(&name) {
            return bad(match before {
                "" => format!(
                    "a stack does not begin with {name}; begin with {}",
                    list(allowed)
                ),
                _ if allowed.is_empty() => {
                    format!(
                        "{name} does not follow {before}, which has only a payload; leave it out"
                    )
                }
                _ => format!(
                    "{name} does not follow {before}; write {} behind it",
                    list(allowed)
                ),
            });
        }
        layers.push(layer);
        if layers.len() > MOST_LAYERS {
            return bad(format!(
                "a stack has at most {MOST_LAYERS} layers; write fewer"
            ));
        }
    }
    Ok(layers)
}

/// A protocol with its options: `tcp+ts+sack=3`.
fn layer(word: &str) -> Result<Layer, BadStack> {
    let mut parts = word.split('+');
    let name = parts.next().unwrap_or_default();
    let Some(protocol) = PROTOCOLS.iter().find(|protocol| protocol.name == name) else {
        let names: Vec<&str> = PROTOCOLS.iter().map(|protocol| protocol.name).collect();
        return bad(format!(
            "{} is no layer; write {}",
            shortened(name),
            list(&names)
        ));
    };
    let mut bytes = protocol.bytes;
    let mut sources = vec![protocol.source];
    let mut groups = Vec::new();
    for part in parts {
        let (name, number) = match part.split_once('=') {
            Some((name, number)) => (name, Some(number)),
            None => (part, None),
        };
        let Some(choice) = protocol.options.iter().find(|choice| choice.name == name) else {
            return bad(unknown(protocol, name));
        };
        let number = match (choice.number, number) {
            (None, None) => 0,
            (Some([_, _, usual]), None) => usual,
            (None, Some(_)) => {
                return bad(format!(
                    "{}+{name} takes no number; write {}+{name}",
                    protocol.name, protocol.name
                ));
            }
            (Some([least, most, usual]), Some(text)) => match text.parse::<u64>() {
                Ok(number) if (least..=most).contains(&number) => number,
                _ => {
                    return bad(format!(
                        "{}+{name}={}: the number is from {least} to {most}; write for instance {}+{name}={usual}",
                        protocol.name,
                        shortened(text),
                        protocol.name
                    ));
                }
            },
        };
        if groups.contains(&choice.group) {
            return bad(format!(
                "{}: only one {} can be there; leave {name} out",
                shortened(word),
                choice.group
            ));
        }
        groups.push(choice.group);
        bytes = (choice.apply)(bytes, number);
        if !sources.contains(&choice.source) {
            sources.push(choice.source);
        }
    }
    if let Some(most) = protocol.longest_header.filter(|most| bytes.header > *most) {
        let own = protocol.bytes.header;
        return bad(format!(
            "{}: {} bytes of options, but {} has room for {}; leave some out",
            shortened(word),
            bytes.header - own,
            protocol.name,
            most - own
        ));
    }
    Ok(Layer {
        word: word.to_owned(),
        protocol,
        bytes,
        sources,
    })
}

/// The answer to an option that a protocol does not have.
fn unknown(protocol: &Protocol, name: &str) -> String {
    let options: Vec<&str> = protocol.options.iter().map(|choice| choice.name).collect();
    let own = protocol.name;
    let name = shortened(name);
    match options.is_empty() {
        true => format!("{own} has no option {name}; write {own}"),
        false => format!(
            "{own} has no option {name}; write {own}+ and {}",
            list(&options)
        ),
    }
}

/// `a, b or c`.
fn list(names: &[&str]) -> String {
    match names.split_last() {
        None => String::new(),
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
    }
}

/// A word as an error repeats it.
fn shortened(word: &str) -> String {
    match word.char_indices().nth(40) {
        Some((end, _)) => format!("`{}...`", &word[..end]),
        None => format!("`{word}`"),
    }
}

fn bad<T>(words: impl Into<String>) -> Result<T, BadStack> {
    Err(BadStack(words.into()))
}
