//! The rules of nftables that lower the MSS of TCP connections, read without the program
//! `nft`.

#[cfg(test)]
mod fuzz;
mod rule;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;

use netlink_packet_core::{
    NLM_F_DUMP, NetlinkDeserializable, NetlinkHeader, NetlinkSerializable, NlasIterator,
};
use netlink_sys::protocols::NETLINK_NETFILTER;
use units::IpVersion;

use super::exchange::{exchange, open};
use crate::error::{OperationContext, Result};
use rule::{InterfaceOf, Rule};

/// A rule that lowers the MSS in the SYNs of TCP connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MssClamp {
    /// The address family of its table, as `nft` writes it.
    pub family: &'static str,
    pub table: String,
    pub chain: String,
    /// Its place in the chain, from 1.
    pub place: u32,
    /// The kernel's number of the rule, by which `nft` deletes it.
    pub handle: u64,
    pub traffic: ClampedTraffic,
    /// The largest MSS that it lets pass, in bytes.
    pub mss: u16,
    /// The version of IP that it is for; `None`: both.
    pub version: Option<IpVersion>,
    /// The interface through which its packets come or go; `None`: any.
    pub interface: Option<String>,
    /// Whether it has conditions that are not understood, such as addresses or ports.
    pub is_conditional: bool,
}

/// The packets that pass a hook of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClampedTraffic {
    /// Those that enter this host.
    Arriving,
    /// Those that this host forwards, and no others.
    Forwarded,
    /// Those that leave this host.
    Leaving,
}

impl MssClamp {
    /// The command that deletes the rule.
    pub fn deletion(&self) -> String {
        let quoted = |name: &str| shlex::try_quote(name).map_or_else(|_| String::new(), Into::into);
        let (table, chain) = (quoted(&self.table), quoted(&self.chain));
        format!(
            "nft delete rule {} {table} {chain} handle {}",
            self.family, self.handle
        )
    }
}

/// The rules in the calling thread's namespace that write a fixed MSS. A chain counts as far
/// as jumps lead to it from one that the kernel calls; `None`: this process may not see rules.
///
/// # Errors
/// The kernel does not list its rules.
pub fn mss_clamps() -> Result<Option<Vec<MssClamp>>> {
    match read() {
        Ok(rules) => Ok(Some(rules.clamps())),
        Err(error) => match error.raw_os_error() {
            Some(libc::EPERM | libc::EACCES) => Ok(None),
            // The kernel has no nftables.
            Some(libc::EINVAL | libc::EOPNOTSUPP | libc::EPROTONOSUPPORT) => Ok(Some(Vec::new())),
            _ => Err(error).during(|| "listing the rules of nftables"),
        },
    }
}

fn read() -> io::Result<Ruleset> {
    let socket = open(NETLINK_NETFILTER)?;
    let mut rules = Ruleset::default();
    for kind in [libc::NFT_MSG_GETCHAIN, libc::NFT_MSG_GETRULE] {
        let request = Message {
            kind: number(kind),
            family: number(libc::NFPROTO_UNSPEC),
            attributes: Vec::new(),
        };
        exchange(&socket, request, NLM_F_DUMP, |answer| rules.add(&answer))?;
    }
    Ok(rules)
}

/// A chain: the family and the name of its table, and its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Chain {
    family: u8,
    table: String,
    name: String,
}

/// The chains that the kernel calls, with their packets, and the rules of all chains.
#[derive(Debug, Default)]
struct Ruleset {
    called: Vec<(Chain, ClampedTraffic)>,
    rules: BTreeMap<Chain, Vec<Rule>>,
}

impl Ruleset {
    fn add(&mut self, message: &Message) {
        let (family, bytes) = (message.family, message.attributes.as_slice());
        if message.kind == number(libc::NFT_MSG_NEWCHAIN) {
            let chain = chain(family, bytes, [NFTA_CHAIN_TABLE, NFTA_CHAIN_NAME]);
            let traffic = attribute(bytes, NFTA_CHAIN_HOOK)
                .and_then(|hook| be32(attribute(hook, NFTA_HOOK_HOOKNUM)?))
                .and_then(|hook| traffic(family, hook));
            self.called.extend(chain.zip(traffic));
        } else if message.kind == number(libc::NFT_MSG_NEWRULE)
            && let Some(chain) = chain(family, bytes, [NFTA_RULE_TABLE, NFTA_RULE_CHAIN])
        {
            let rules = self.rules.entry(chain).or_default();
            rules.push(Rule::read(family, bytes));
        }
    }

    fn clamps(&self) -> Vec<MssClamp> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        // Chains that are called on a condition come last: they may be called without, too.
        let called = self.called.iter();
        let mut open: VecDeque<_> = called
            .map(|(chain, traffic)| (chain.clone(), *traffic, false))
            .collect();
        while let Some((chain, traffic, is_conditional)) = open.pop_front() {
            if !seen.insert((chain.clone(), traffic)) {
                continue;
            }
            let rules = self.rules.get(&chain).map_or(&[][..], Vec::as_slice);
            for (rule, place) in rules.iter().zip(1..) {
                found.extend(clamp(&chain, place, rule, traffic).map(|clamp| MssClamp {
                    is_conditional: clamp.is_conditional || is_conditional,
                    ..clamp
                }));
                let is_conditional =
                    is_conditional || rule.is_conditional || rule.interface.is_some();
                for name in &rule.calls {
                    let name = name.clone();
                    let chain = Chain {
                        name,
                        ..chain.clone()
                    };
                    match is_conditional {
                        true => open.push_back((chain, traffic, true)),
                        false => open.push_front((chain, traffic, false)),
                    }
                }
            }
        }
        found
    }
}

fn clamp(chain: &Chain, place: u32, rule: &Rule, traffic: ClampedTraffic) -> Option<MssClamp> {
    let is_of_packets = |of: InterfaceOf| match traffic {
        ClampedTraffic::Arriving => of == InterfaceOf::Arrival,
        ClampedTraffic::Forwarded => true,
        ClampedTraffic::Leaving => of == InterfaceOf::Departure,
    };
    let interface = rule.interface.as_ref();
    let known = interface.filter(|(of, _)| is_of_packets(*of));
    Some(MssClamp {
        family: family_name(chain.family)?,
        table: chain.table.clone(),
        chain: chain.name.clone(),
        place,
        handle: rule.handle?,
        traffic,
        mss: rule.mss?,
        version: rule.version,
        interface: known.map(|(_, name)| name.clone()),
        is_conditional: rule.is_conditional || interface.is_some() && known.is_none(),
    })
}

// The attributes of chains and rules [LinuxUapi nf_tables.h].
const NFTA_CHAIN_TABLE: u16 = 1;
const NFTA_CHAIN_NAME: u16 = 3;
const NFTA_CHAIN_HOOK: u16 = 4;
const NFTA_HOOK_HOOKNUM: u16 = 1;
const NFTA_RULE_TABLE: u16 = 1;
const NFTA_RULE_CHAIN: u16 = 2;

fn chain(family: u8, bytes: &[u8], [table, name]: [u16; 2]) -> Option<Chain> {
    Some(Chain {
        family,
        table: text(attribute(bytes, table)?)?,
        name: text(attribute(bytes, name)?)?,
    })
}

/// The packets of a hook; `None`: none of IP.
fn traffic(family: u8, hook: u32) -> Option<ClampedTraffic> {
    let hook = i32::try_from(hook).ok()?;
    if family == number(libc::NFPROTO_NETDEV) {
        return match hook {
            libc::NF_NETDEV_INGRESS => Some(ClampedTraffic::Arriving),
            libc::NF_NETDEV_EGRESS => Some(ClampedTraffic::Leaving),
            _ => None,
        };
    }
    match hook {
        libc::NF_INET_PRE_ROUTING | libc::NF_INET_LOCAL_IN | libc::NF_INET_INGRESS => {
            Some(ClampedTraffic::Arriving)
        }
        libc::NF_INET_FORWARD => Some(ClampedTraffic::Forwarded),
        libc::NF_INET_LOCAL_OUT | libc::NF_INET_POST_ROUTING => Some(ClampedTraffic::Leaving),
        _ => None,
    }
}

fn family_name(family: u8) -> Option<&'static str> {
    let names = [
        (libc::NFPROTO_INET, "inet"),
        (libc::NFPROTO_IPV4, "ip"),
        (libc::NFPROTO_IPV6, "ip6"),
        (libc::NFPROTO_NETDEV, "netdev"),
        (libc::NFPROTO_BRIDGE, "bridge"),
    ];
    let mut names = names.into_iter();
    let (_, name) = names.find(|(of, _)| number(*of) == family)?;
    Some(name)
}

/// A message of nftables: `struct nfgenmsg` and attributes [LinuxUapi nfnetlink.h].
#[derive(Debug)]
struct Message {
    /// The message without its subsystem.
    kind: u8,
    family: u8,
    attributes: Vec<u8>,
}

impl NetlinkSerializable for Message {
    fn message_type(&self) -> u16 {
        u16::from_be_bytes([number(libc::NFNL_SUBSYS_NFTABLES), self.kind])
    }

    fn buffer_len(&self) -> usize {
        4 + self.attributes.len()
    }

    fn serialize(&self, buffer: &mut [u8]) {
        // The version of the format is 0, and no resource is meant.
        let (head, rest) = buffer.split_at_mut(4);
        head.copy_from_slice(&[self.family, 0, 0, 0]);
        rest.copy_from_slice(&self.attributes);
    }
}

impl NetlinkDeserializable for Message {
    type Error = io::Error;

    fn deserialize(header: &NetlinkHeader, payload: &[u8]) -> io::Result<Self> {
        let [_, kind] = header.message_type.to_be_bytes();
        let (&[family, ..], attributes) = payload
            .split_first_chunk::<4>()
            .ok_or(io::ErrorKind::InvalidData)?;
        Ok(Self {
            kind,
            family,
            attributes: attributes.to_vec(),
        })
    }
}

/// A number of the kernel's interface that is a byte there.
const fn number(constant: i32) -> u8 {
    constant.to_be_bytes()[3]
}

/// The attributes in some bytes, up to the first that is malformed.
fn attributes(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    NlasIterator::new(bytes).map_while(|attribute| {
        let attribute = attribute.ok()?;
        let (kind, length) = (attribute.kind(), usize::from(attribute.length()));
        Some((kind, attribute.into_inner().get(4..length)?))
    })
}

/// The first attribute of a kind.
fn attribute(bytes: &[u8], kind: u16) -> Option<&[u8]> {
    let mut all = attributes(bytes);
    Some(all.find(|(of, _)| *of == kind)?.1)
}

/// A name; `None` for one that would change a terminal.
fn text(bytes: &[u8]) -> Option<String> {
    let end = bytes.iter().position(|byte| *byte == 0);
    let text = std::str::from_utf8(&bytes[..end.unwrap_or(bytes.len())]).ok()?;
    (!text.contains(char::is_control)).then(|| text.to_owned())
}

fn be32(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}
