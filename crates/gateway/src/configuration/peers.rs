//! The peers of a gateway, as a configuration names them.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;
use std::str::FromStr as _;

use anyhow::{Result, anyhow, bail};
use keyfile::Section;
use link::edge::Prefix;
use os::secrecy::read_secret;
use units::{Bytes, IpMtu};
use wire::bundle::PORT;
use wire::dscp;
use wire::protocol::ip::Addresses;

use super::mtu_of;
use super::sections::Sections;
use crate::machine::{
    BadKey, Encapsulation, Identity, Padding, Peer, PresharedKey, PublicKey, Sealing, is_local,
};

/// The largest step of padding.
const LARGEST: Bytes = Bytes::new(IpMtu::LARGEST as u64);

/// The peers as they were read.
#[derive(Default)]
pub(super) struct Peers {
    pub(super) names: Vec<String>,
    pub(super) peers: Vec<Peer>,
    pub(super) rows: Vec<Prefix>,
    /// The egress of each row's network.
    egresses: BTreeMap<(IpAddr, u8), usize>,
    pub(super) next_hops: Vec<(IpAddr, usize)>,
    pub(super) label_next_hops: Vec<Option<IpAddr>>,
    /// The keys of this gateway.
    identity: Option<Identity>,
}

impl Peers {
    /// None yet, of the gateway with this table `core`.
    pub(super) fn new(core: &Section) -> Result<Self> {
        let identity = core.read_by("private_key_file", |path| {
            key_file(path, "FILE", Identity::parse)
        })?;
        Ok(Self {
            identity,
            ..Self::default()
        })
    }

    /// The keys by which bundles to a peer are sealed, if it has a public key.
    fn sealing(&self, section: &Section) -> Result<Option<Sealing>> {
        let preshared = section.read_by("preshared_key_file", |path| {
            key_file(path, "--preshared FILE", PresharedKey::parse)
        })?;
        let padding = section.read_by("padding", padding)?;
        let Some(peer) = section.read_by("public_key", PublicKey::from_str)? else {
            let alone = match (preshared, padding) {
                (Some(_), _) => "preshared_key_file",
                (None, Some(padding)) if padding != Padding::NONE => "padding",
                (None, _) => return Ok(None),
            };
            let why = "only sealed bundles have it; write the peer's public_key, too";
            return Err(section.reject(alone, why));
        };
        let Some(identity) = self.identity.clone() else {
            let why = "this gateway needs a key of its own, too; create one: jumbolab gateway keygen FILE, and name FILE in core.private_key_file (--private-key-file)";
            return Err(section.reject("public_key", why));
        };
        if *identity.public() == peer {
            let why = "it is the key of this gateway; write the one that the peer printed";
            return Err(section.reject("public_key", why));
        }
        let others = self.names.iter().zip(&self.peers);
        let mut others =
            others.filter_map(|(name, other)| Some((name, other.sealing.as_ref()?.peer)));
        if let Some((name, _)) = others.find(|(_, key)| *key == peer) {
            let why = format!("it is also that of {name}; write the one that this peer printed");
            return Err(section.reject("public_key", why));
        }
        let mut sealing = Sealing::new(identity, peer);
        sealing.preshared = preshared.unwrap_or_default();
        sealing.padding = padding.unwrap_or(Padding::NONE);
        Ok(Some(sealing))
    }

    /// Rejects a private key that seals nothing.
    pub(super) fn reject_unused_key(&self, core: &Section) -> Result<()> {
        let is_used = self.peers.iter().any(|peer| peer.sealing.is_some());
        if self.identity.is_some() && !is_used {
            let why = "no bundle is sealed, as no peer has a public key; write its public_key (--public-key)";
            return Err(core.reject("private_key_file", why));
        }
        Ok(())
    }

    /// Reads one more.
    pub(super) fn add(
        &mut self,
        number: usize,
        name: &str,
        section: &Section,
        core: &Section,
    ) -> Result<()> {
        let like = "an IP address, for instance 192.0.2.2";
        let needed = |key| -> Result<IpAddr> {
            let address = section.parsed(key, like)?;
            address.ok_or_else(|| section.reject(key, format!("write {like}")))
        };
        let (there, here) = (needed("address")?, needed("local")?);
        let addresses = match (here, there) {
            (IpAddr::V4(here), IpAddr::V4(there)) => Addresses::V4([here, there]),
            (IpAddr::V6(here), IpAddr::V6(there)) => Addresses::V6([here, there]),
            _ => {
                return Err(section.reject(
                    "local",
                    "its version of IP is not that of the peer's address; write two of one version",
                ));
            }
        };
        if here == there {
            return Err(section.reject(
                "local",
                "it is the address of the peer; write the address of this gateway",
            ));
        }
        let kind = core.word(
            "encapsulation",
            "udp",
            &[("udp", 0), ("ip", 1), ("mpls", 2)],
        )?;
        let labels = [
            section.parsed("label_to", "a label")?,
            section.parsed("label_from", "a label")?,
        ];
        let encapsulation = match (kind, labels) {
            (2, [Some(to), Some(from)]) => Encapsulation::Label { to, from },
            (2, _) => {
                return Err(section.reject(
                    "label_to",
                    "mpls needs two labels; write label_to and label_from",
                ));
            }
            (_, [None, None]) if kind == 1 => Encapsulation::Ip { addresses },
            (_, [None, None]) => Encapsulation::Udp {
                addresses,
                port: PORT,
            },
            _ => {
                return Err(section.reject(
                    "label_to",
                    "labels need core.encapsulation = \"mpls\"; write it, or leave them out",
                ));
            }
        };
        let sealing = self.sealing(section)?;
        self.peers.push(Peer {
            encapsulation,
            mtu: mtu_of(section, "mtu", 9_000)?,
            dscp: section.read_by("dscp", dscp::parse)?,
            sealing,
        });
        let next_as = section
            .parsed("next_as", "the number of an autonomous system")?
            .unwrap_or(0);
        for text in section.texts("prefixes") {
            let row = prefix(text, next_as, number).ok_or_else(|| {
                section.reject("prefixes", format!("`{text}` is no network; write for instance 10.2.0.0/16, without bits behind the prefix"))
            })?;
            if is_local(row.network, row.length) {
                let why =
                    format!("no router forwards packets to `{text}`; write a network of hosts");
                return Err(section.reject("prefixes", why));
            }
            if let Some(egress) = self.egresses.insert((row.network, row.length), number) {
                let other = self.names.get(egress).map_or(name, String::as_str);
                return Err(section.reject(
                    "prefixes",
                    format!("`{text}` is also behind {other}; write it for one of them, or a part of it for each"),
                ));
            }
            self.rows.push(row);
        }
        self.next_hops.push((there, number));
        for hop in section.all_parsed::<IpAddr>("next_hops", like)? {
            self.next_hops.push((hop, number));
        }
        let label_next_hop = section.parsed("next_hop", like)?.unwrap_or(there);
        self.label_next_hops.push(Some(label_next_hop));
        self.names.push(name.to_owned());
        Ok(())
    }

    /// Rejects prefixes through which bundles themselves would be aggregated.
    pub(super) fn reject_loops(&self, sections: &Sections) -> Result<()> {
        for (hop, _) in &self.next_hops {
            let longest = if hop.is_ipv4() { 32 } else { 128 };
            // A look-up for each length, as there may be many prefixes and peers.
            let mut networks = (0..=longest).map(|length| (network_of(*hop, length), length));
            let covering = networks.find_map(|network| {
                let egress = self.egresses.get(&network)?;
                Some((network, *egress))
            });
            let Some(((network, length), egress)) = covering else {
                continue;
            };
            let why = format!(
                "{network}/{length} covers the peer {hop}, so that bundles to it would be aggregated again; name the interface toward the core (core.interface)"
            );
            match sections.peers.get(egress) {
                Some((_, section)) => return Err(section.reject("prefixes", why)),
                None => bail!("{why}"),
            }
        }
        Ok(())
    }
}

/// Reads the key in a file; `option` is how to create one.
pub(super) fn key_file<T>(
    path: &str,
    option: &str,
    parse: impl FnOnce(&str) -> Result<T, BadKey>,
) -> Result<T> {
    let secret = read_secret(Path::new(path))?;
    let text = str::from_utf8(secret.bytes()).map_err(|_| BadKey::Text);
    text.and_then(parse)
        .map_err(|bad| anyhow!("{bad}; create one: jumbolab gateway keygen {option}"))
}

/// The value of the key `padding`.
fn padding(text: &str) -> Result<Padding> {
    match text {
        "off" => Ok(Padding::NONE),
        "full" => Ok(Padding::FULL),
        size => match size.parse() {
            Ok(step) if step > Bytes::ZERO && step <= LARGEST => Ok(Padding::multiples_of(step)),
            _ => bail!("write full, off, or a size up to {LARGEST}, for instance 128B"),
        },
    }
}

fn prefix(text: &str, next_as: u32, egress: usize) -> Option<Prefix> {
    let (network, length) = text.split_once('/')?;
    let row = Prefix {
        network: network.parse().ok()?,
        length: length.parse().ok()?,
        next_as,
        egress,
    };
    row.is_sound().then_some(row)
}

/// The network of this length that has `address`.
fn network_of(address: IpAddr, length: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0);
            IpAddr::V4((address.to_bits() & mask).into())
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
            IpAddr::V6((address.to_bits() & mask).into())
        }
    }
}
