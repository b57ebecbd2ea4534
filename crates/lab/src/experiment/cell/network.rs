//! Reads `[network]` and `[links]`.

use anyhow::Result;
use units::{Bytes, Framing, IpMtu, IpVersion, Rate, Span};

use crate::experiment::quantity::{loss, rate_or_none, size, size_or, span, word};
use crate::experiment::reader::{Found, Meaning, Reader};
use crate::experiment::tree::{KeyPath, Table, Value, fault};
use crate::experiment::{Addresses, Link, LinkKind, Network, Shape};

/// The largest depth of a bucket or buffer: the kernel counts both in 32 bits.
pub const LARGEST_BUFFER: Bytes = Bytes::new(u32::MAX as u64);

const SHAPES: &[(&str, Shape)] = &[
    ("pair", Shape::Pair),
    ("routed", Shape::Routed),
    ("switched", Shape::Switched),
];

/// The depth of a link's token bucket where `burst` is `auto`: the larger of
/// two frames and what the rate carries in 1 ms, in whole octets. Less than a
/// frame passes nothing; little more starves the link whenever the kernel
/// wakes it late, and in a virtual machine that is up to a millisecond; much
/// more would have to be drained before counting.
pub fn auto_burst(mtu: IpMtu, rate: Option<Rate>) -> Bytes {
    const MICROSECONDS: u128 = 1_000;
    let frames = Framing::Ethernet.wire_size(mtu.bytes()) * 2;
    let carried = rate.map_or(0, |rate| {
        (u128::from(rate.bits_per_second()) * MICROSECONDS).div_ceil(8_000_000)
    });
    let carried = Bytes::new(u64::try_from(carried).unwrap_or(u64::MAX));
    frames.max(carried).min(LARGEST_BUFFER)
}

/// The network, and the MTUs of its links with the places they came from.
pub(super) fn read(reader: &mut Reader<'_>) -> Result<(Network, Vec<Found<IpMtu>>)> {
    let shape = reader.read("network.shape", "pair", word(SHAPES))?;
    let link = reader.read(
        "network.link",
        "kernel",
        word(&[("kernel", Some(LinkKind::Kernel)), ("emulated", None)]),
    )?;
    let Some(kind) = link.value else {
        return Err(
            link.refuse("emulated links are not built yet (docs/roadmap.md); write \"kernel\"")
        );
    };
    let ip = reader.read("network.ip", 6, ip_version)?.value;
    let addresses = addresses(reader, shape.value, ip)?;
    let defaults = LinkKeys::read(reader, "network", ip, None)?;
    let mut links = Vec::new();
    let mut mtus = Vec::new();
    for name in shape.value.link_names() {
        let keys = LinkKeys::read(reader, &format!("links.{name}"), ip, Some(&defaults))?;
        links.push(keys.link(name)?);
        mtus.push(keys.mtu);
    }
    unbuilt(reader)?;
    let network = Network {
        shape: shape.value,
        link: kind,
        ip,
        addresses,
        links,
    };
    Ok((network, mtus))
}

/// The keys that a link may have of its own.
struct LinkKeys {
    mtu: Found<IpMtu>,
    rate: Found<Option<Rate>>,
    burst: Found<Option<Bytes>>,
    buffer: Found<Bytes>,
}

impl LinkKeys {
    /// Reads `[table]`, with what it leaves out from `defaults` or the format.
    fn read(
        reader: &mut Reader<'_>,
        table: &str,
        ip: IpVersion,
        defaults: Option<&Self>,
    ) -> Result<Self> {
        let mtu_of = |value: &Value| mtu(value, ip);
        let [mtu, rate, burst, buffer] =
            ["mtu", "rate", "burst", "buffer"].map(|key| format!("{table}.{key}"));
        Ok(match defaults {
            None => Self {
                mtu: reader.read(&mtu, 1500, mtu_of)?,
                rate: reader.read(&rate, "1gbit", rate_or_none)?,
                burst: reader.read(&burst, "auto", size_or("auto"))?,
                buffer: reader.read(&buffer, "500kB", size)?,
            },
            Some(defaults) => Self {
                mtu: own(reader.optional(&mtu, mtu_of)?, &defaults.mtu),
                rate: own(reader.optional(&rate, rate_or_none)?, &defaults.rate),
                burst: own(reader.optional(&burst, size_or("auto"))?, &defaults.burst),
                buffer: own(reader.optional(&buffer, size)?, &defaults.buffer),
            },
        })
    }

    /// The link, if its bucket and its buffer hold the frames of its MTU.
    fn link(&self, name: &'static str) -> Result<Link> {
        let mtu = self.mtu.value;
        let frame = Framing::Ethernet.wire_size(mtu.bytes());
        let check = |size: Bytes, frames: u64| {
            let least = frame * frames;
            let bounds = least..=LARGEST_BUFFER;
            let many = if frames == 1 { "a frame" } else { "two frames" };
            (!bounds.contains(&size)).then(|| {
                format!(
                    "{many} of MTU {} with framing are {} octets: write from {} to {}",
                    mtu.get(),
                    least.get(),
                    least.get(),
                    LARGEST_BUFFER.get()
                )
            })
        };
        if let Some(why) = self.burst.value.and_then(|burst| check(burst, 1)) {
            return Err(self.burst.refuse_with(&self.mtu.origin, why));
        }
        if let Some(why) = check(self.buffer.value, 2) {
            return Err(self.buffer.refuse_with(&self.mtu.origin, why));
        }
        Ok(Link {
            name,
            mtu,
            rate: self.rate.value,
            burst: self
                .burst
                .value
                .unwrap_or_else(|| auto_burst(mtu, self.rate.value)),
            buffer: self.buffer.value,
        })
    }
}

fn own<T: Clone>(own: Option<Found<T>>, default: &Found<T>) -> Found<T> {
    own.unwrap_or_else(|| default.clone())
}

fn mtu(value: &Value, ip: IpVersion) -> Meaning<IpMtu> {
    let octets = match value {
        Value::Integer(octets) => u64::try_from(*octets).unwrap_or(0),
        _ => 0,
    };
    let mtu = IpMtu::new(octets, ip).map_err(|error| error.to_string())?;
    Ok((mtu, i64::from(mtu.get()).into()))
}

fn ip_version(value: &Value) -> Meaning<IpVersion> {
    match value {
        Value::Integer(4) => Ok((IpVersion::V4, 4.into())),
        Value::Integer(6) => Ok((IpVersion::V6, 6.into())),
        _ => Err("write 4 or 6".into()),
    }
}

fn addresses(reader: &mut Reader<'_>, shape: Shape, ip: IpVersion) -> Result<Addresses> {
    let words = word(&[
        ("auto", None),
        ("static", Some(Addresses::Static)),
        ("router", Some(Addresses::Router)),
    ]);
    let addresses = reader.read("network.addresses", "auto", words)?;
    let advertised = shape == Shape::Routed && ip == IpVersion::V6;
    match addresses.value {
        Some(Addresses::Router) if !advertised => Err(addresses.refuse(
            "Router Advertisements are IPv6's and need shape = \"routed\"; write \"auto\" or \"static\"",
        )),
        Some(addresses) => Ok(addresses),
        None if advertised => Ok(Addresses::Router),
        None => Ok(Addresses::Static),
    }
}

/// Reads the keys that no link of this build honours, and refuses them by
/// name wherever they ask for something.
fn unbuilt(reader: &mut Reader<'_>) -> Result<()> {
    let above_zero = |value: &Value| {
        let (span, canonical) = span(value)?;
        Ok((span > Span::from_picos(0), canonical))
    };
    for (key, found) in [
        ("delay", reader.read("network.delay", "0s", above_zero)?),
        ("loss", reader.read("network.loss", "0%", loss)?),
        ("jitter", reader.read("network.jitter", "0s", above_zero)?),
    ] {
        if found.value {
            return Err(found.refuse(format!(
                "`{key}` needs link = \"emulated\", which this build does not have yet (docs/roadmap.md)"
            )));
        }
    }
    Ok(())
}

/// Refuses a table below `[links]` that is no link of `shape`.
pub(super) fn known_links(tree: &Table, shape: Shape) -> Result<()> {
    let names = shape.link_names();
    let stranger = tree
        .table("links")
        .and_then(|links| links.iter().find(|(name, _)| !names.contains(name)));
    match stranger {
        None => Ok(()),
        Some((name, node)) => {
            let shape = SHAPES.iter().find(|(_, other)| *other == shape);
            Err(fault(
                &node.origin,
                format!(
                    "{}: the links of shape = \"{}\" are {}",
                    KeyPath(vec!["links".into(), name.into()]),
                    shape.map_or("", |(word, _)| word),
                    names.join(" and ")
                ),
            ))
        }
    }
}
