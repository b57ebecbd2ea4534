//! Reads `[links.NAME.cross]`: traffic of others on one emulated link.

use anyhow::Result;
use model::Transport;
use units::{Framing, IpVersion, Rate};

use super::EMULATED_ONLY;
use crate::experiment::quantity::{share, size_or, word};
use crate::experiment::reader::{Meaning, Reader, refusal};
use crate::experiment::tree::{Node, Value};
use crate::experiment::{Cross, Gaps, Heading, Link, LinkKind};

/// Its keys, below a link's.
pub(crate) const CROSS_KEYS: [&str; 4] = ["cross.load", "cross.size", "cross.gaps", "cross.way"];

/// The most packets a second: the emulator makes each, and has frames to carry.
const MOST_PACKETS: u64 = 500_000;

const GAPS: &[(&str, Gaps)] = &[
    ("exponential", Gaps::Exponential),
    ("constant", Gaps::Constant),
    ("uniform", Gaps::Uniform),
];

const WAYS: &[(&str, Heading)] = &[
    ("with", Heading::With),
    ("against", Heading::Against),
    ("both", Heading::Both),
];

/// How much of a link is asked for.
enum Load {
    /// A part of its rate.
    Share(f64),
    /// So much, framing included.
    Rate(Rate),
}

/// The cross traffic of `link`, if there is any.
pub(super) fn read(
    reader: &mut Reader<'_>,
    link: &Link,
    ip: IpVersion,
    kind: LinkKind,
) -> Result<Option<Cross>> {
    let path = |key: &str| format!("links.{}.cross.{key}", link.name);
    let Some(found) = reader.optional(&path("load"), load)? else {
        for key in ["size", "gaps", "way"].map(path) {
            if let Some(Node { value, origin }) = reader.find(&key)? {
                let why = "there is no cross traffic without `load`; write for instance cross.load = \"30%\"";
                return Err(refusal(origin, &key, value, why));
            }
        }
        return Ok(None);
    };
    let octets = reader.read(&path("size"), "mtu", size_or("mtu"))?;
    let gaps = reader.read(&path("gaps"), "exponential", word(GAPS))?.value;
    let heading = reader.read(&path("way"), "with", word(WAYS))?.value;
    let mtu = link.mtu.bytes();
    let packet = octets.value.unwrap_or(mtu);
    let least = ip.header() + Transport::Udp.header();
    if !(least..=mtu).contains(&packet) {
        return Err(octets.refuse(format!(
            "an IP packet with a datagram in it has {} to {} octets on this link",
            least.get(),
            mtu.get()
        )));
    }
    let rate = match (&found.value, link.rate) {
        (Load::Rate(rate), _) => Some(*rate),
        (Load::Share(share), _) if *share <= 0.0 => None,
        (Load::Share(share), Some(rate)) => part_of(rate, *share),
        (Load::Share(_), None) => {
            return Err(found.refuse(
                "the link has no rate of which this could be a share; write for instance \"100mbit\"",
            ));
        }
    };
    let Some(rate) = rate else { return Ok(None) };
    let each = Framing::Ethernet.wire_size(packet).bits();
    if rate.bits_per_second() / each > MOST_PACKETS {
        return Err(found.refuse(format!(
            "more than {MOST_PACKETS} packets a second; write less, or a larger `size`"
        )));
    }
    match kind {
        LinkKind::Emulated => Ok(Some(Cross {
            rate,
            packet,
            gaps,
            heading,
        })),
        LinkKind::Kernel | LinkKind::Mixed => {
            Err(found.refuse(format!("cross traffic {EMULATED_ONLY}")))
        }
    }
}

fn load(value: &Value) -> Meaning<Load> {
    const EXAMPLE: &str = "write a share of the link's rate, for instance \"30%\", or a rate, for instance \"30mbit\"";
    let text = match value {
        Value::Text(text) => text.as_str(),
        _ => "%",
    };
    if text.ends_with('%') {
        let (share, canonical) = share(value).map_err(|_| EXAMPLE)?;
        return Ok((Load::Share(share), canonical));
    }
    let rate: Rate = text.parse().map_err(|_| EXAMPLE)?;
    Ok((Load::Rate(rate), Value::Text(rate.to_string())))
}

/// A share of a rate, to the nearest whole bit per second.
fn part_of(rate: Rate, share: f64) -> Option<Rate> {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a rate lies between 0 and the rate"
    )]
    let bits = (rate.bits_per_second() as f64 * share).round() as u64;
    Rate::from_bits_per_second(bits)
}
