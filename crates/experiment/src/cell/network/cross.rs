//! Reads `[links.NAME.cross]`, `network.load` and `[network.cross]`: cross
//! traffic on one emulated link, or on all.

use anyhow::Result;
use keyfile::quantity::{share, size_or, word};
use keyfile::{Node, Parsed, Value, rejection};
use plan::setting::{Cross, Gaps, Heading, Link, LinkKind};
use units::{Bytes, Framing, IpVersion, Rate, Transport};

use super::needs::EMULATED_ONLY;
use crate::reader::{Reader, Spanned};

/// The maximum number of packets per second: the emulator generates them
/// besides carrying frames.
const MOST_PACKETS: u64 = 500_000;

const GAPS: &[(&str, Gaps)] = &[
    ("exponential", Gaps::Exponential),
    ("constant", Gaps::Constant),
    ("uniform", Gaps::Uniform),
];

const DIRECTIONS: &[(&str, Heading)] = &[
    ("forward", Heading::Forward),
    ("reverse", Heading::Reverse),
    ("both", Heading::Both),
];

/// The key for cross traffic on all links.
const EVERYWHERE: &str = "network.load";

/// The error for settings of cross traffic that does not exist.
const NO_LOAD: &str =
    "there is no cross traffic without `load`; write for instance cross.load = \"30%\"";

/// The keywords for loads, as shares of a link's rate. At half the rate, a
/// packet of a Poisson process waits on average for half its transmission time,
/// and at four fifths for twice that time [Kleinrock1975].
const WORDS: [(&str, f64); 4] = [
    ("none", 0.0),
    ("light", 0.2),
    ("moderate", 0.5),
    ("heavy", 0.8),
];

/// The requested load of a link.
#[derive(Clone)]
enum Load {
    /// A share of its rate.
    Share(f64),
    /// A rate, including framing.
    Rate(Rate),
}

/// The settings in `[network]` for cross traffic on all links.
pub(super) struct AllLinksCrossTraffic {
    load: Option<Spanned<Load>>,
    size: Option<Spanned<Option<Bytes>>>,
    gaps: Option<Spanned<Gaps>>,
    direction: Option<Spanned<Heading>>,
}

impl AllLinksCrossTraffic {
    /// Reads `network.load` and `[network.cross]`.
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            load: reader.optional(EVERYWHERE, load)?,
            size: reader.optional("network.cross.size", size_or("mtu"))?,
            gaps: reader.optional("network.cross.interarrival", word(GAPS))?,
            direction: reader.optional("network.cross.direction", word(DIRECTIONS))?,
        })
    }

    /// Rejects settings of cross traffic if no link has any.
    pub(super) fn is_of_use(&self, links: &[Link]) -> Result<()> {
        if self.load.is_some() || links.iter().any(|link| link.cross.is_some()) {
            return Ok(());
        }
        let unused = [
            self.size.as_ref().map(|found| found.reject(NO_LOAD)),
            self.gaps.as_ref().map(|found| found.reject(NO_LOAD)),
            self.direction.as_ref().map(|found| found.reject(NO_LOAD)),
        ];
        match unused.into_iter().flatten().next() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

/// The cross traffic of `link`, if there is any; the defaults are those of
/// `everywhere`.
pub(super) fn read(
    reader: &mut Reader<'_>,
    link: &Link,
    ip: IpVersion,
    kind: LinkKind,
    everywhere: &AllLinksCrossTraffic,
) -> Result<Option<Cross>> {
    let path = |key: &str| format!("links.{}.cross.{key}", link.name);
    let own = reader.optional(&path("load"), load)?;
    let Some(found) = own.as_ref().or(everywhere.load.as_ref()) else {
        for key in ["size", "interarrival", "direction"].map(path) {
            if let Some(Node { value, origin }) = reader.find(&key)? {
                return Err(rejection(origin, &key, value, NO_LOAD));
            }
        }
        return Ok(None);
    };
    let size = own_or(
        reader,
        &path("size"),
        everywhere.size.as_ref(),
        size_or("mtu"),
    )?;
    let gaps = own_or(
        reader,
        &path("interarrival"),
        everywhere.gaps.as_ref(),
        word(GAPS),
    )?;
    let direction = own_or(
        reader,
        &path("direction"),
        everywhere.direction.as_ref(),
        word(DIRECTIONS),
    )?;
    let (gaps, heading) = (gaps.value, direction.value);
    let bytes = size;
    let mtu = link.mtu.bytes();
    let packet = bytes.value.unwrap_or(mtu);
    let least = ip.header() + Transport::Udp.header();
    if !(least..=mtu).contains(&packet) {
        return Err(bytes.reject(format!(
            "an IP packet with a datagram has {} to {} bytes on this link; write a size between",
            least.get(),
            mtu.get()
        )));
    }
    let rate = match (&found.value, link.rate) {
        (Load::Rate(rate), _) => Some(*rate),
        (Load::Share(share), _) if *share <= 0.0 => None,
        (Load::Share(share), Some(rate)) => part_of(rate, *share),
        (Load::Share(_), None) => {
            return Err(found.reject(
                "the link has no rate of which this could be a share; write for instance \"100mbit\"",
            ));
        }
    };
    let Some(rate) = rate else { return Ok(None) };
    let each = Framing::Ethernet.wire_size(packet).bits();
    if rate.bits_per_second() / each > MOST_PACKETS {
        return Err(found.reject(format!(
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
            Err(found.reject(format!("cross traffic {EMULATED_ONLY}")))
        }
    }
}

/// The link's own value, or the value for all links, or the default.
fn own_or<T: Clone>(
    reader: &mut Reader<'_>,
    path: &str,
    everywhere: Option<&Spanned<T>>,
    parse: impl Fn(&Value) -> Parsed<T>,
) -> Result<Spanned<T>> {
    match everywhere {
        None => reader.read(path, parse),
        Some(everywhere) => {
            let own = reader.optional(path, parse)?;
            Ok(own.unwrap_or_else(|| everywhere.clone()))
        }
    }
}

fn load(value: &Value) -> Parsed<Load> {
    const EXAMPLE: &str = "write a share of the link's rate, for instance \"30%\", or a rate, for instance \"30mbit\", or none, light, moderate or heavy";
    let text = match value {
        Value::Text(text) => text.as_str(),
        _ => "%",
    };
    if let Some((_, share)) = WORDS.iter().find(|(word, _)| *word == text) {
        return Ok((Load::Share(*share), value.clone()));
    }
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
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a rate lies between 0 and the rate"
    )]
    let bits = (rate.bits_per_second() as f64 * share).round() as u64;
    Rate::from_bits_per_second(bits)
}
