//! Reads the queue of a link: `buffer`, and the parameters of `queue` in a
//! table with the discipline's name.

use anyhow::{Error, Result};
use keyfile::quantity::size;
use keyfile::{Parsed, Value};
use link::written::{self, BadQueue, Planned, checked, visit};
use plan::setting::Queue;
use plan::{Backend, Hosts};
use queue::{Choice, DISCIPLINES, Limit, Reaction, Spec};
use tcp::React;
use units::text::packets;
use units::{Bytes, Framing};

use super::link::Keys;
use crate::cell::UnusedKey;
use crate::reader::{Reader, Spanned};

/// The maximum capacity of a buffer in packets.
const MOST_PACKETS: u32 = 10_000_000;

/// The capacity of a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Buffer {
    Bytes(Bytes),
    Packets(u32),
}

impl Buffer {
    pub(super) const fn packets(self) -> Option<u32> {
        match self {
            Self::Bytes(_) => None,
            Self::Packets(packets) => Some(packets),
        }
    }

    const fn limit(self) -> Limit {
        match self {
            Self::Bytes(bytes) => Limit::Bytes(bytes),
            Self::Packets(packets) => Limit::Packets(packets),
        }
    }
}

/// `500kB`, or `35 packets`.
pub(super) fn buffer(value: &Value) -> Parsed<Buffer> {
    let number = match value {
        Value::Text(text) => packets(text),
        _ => None,
    };
    let Some(number) = number else {
        let (bytes, canonical) = size(value).map_err(|why| format!("{why}, or \"35 packets\""))?;
        return Ok((Buffer::Bytes(bytes), canonical));
    };
    match number.parse() {
        Ok(packets @ 1..=MOST_PACKETS) => Ok((
            Buffer::Packets(packets),
            Value::Text(format!("{packets} packets")),
        )),
        _ => Err(format!(
            "write from 1 to {MOST_PACKETS} packets, for instance \"35 packets\""
        )),
    }
}

/// The parameters in one table, in the order of the format.
pub(super) struct Written(Vec<Given>);

struct Given {
    discipline: &'static str,
    name: &'static str,
    value: Spanned<Value>,
}

impl Written {
    pub(super) fn read(reader: &mut Reader<'_>, table: &str) -> Result<Self> {
        let mut written = Vec::new();
        let mut failed = Ok(());
        for choice in DISCIPLINES {
            let discipline = choice.name;
            visit(choice, |key, field| {
                if failed.is_err() {
                    return;
                }
                let path = format!("{table}.{discipline}.{}", key.name);
                match reader.optional(&path, |value| checked(field, value)) {
                    Ok(found) => written.extend(found.map(|value| Given {
                        discipline,
                        name: key.name,
                        value,
                    })),
                    Err(error) => failed = Err(error),
                }
            });
        }
        failed.map(|()| Self(written))
    }
}

impl Keys {
    /// The queue of this link, from its own parameters and, by default, those
    /// of `all` links.
    pub(super) fn planned_queue(&self, all: &Self) -> Result<Queue> {
        let limit = self.buffer.value.limit();
        let spec = self
            .planned(all)
            .spec()
            .map_err(|bad| self.at_fault(all, &bad))?;
        Ok(match spec {
            Spec::DropTail { limit: most } if most == limit => Queue::DropTail,
            Spec::DropFront { limit: most } if most == limit => Queue::DropFront,
            spec => Queue::Discipline(Box::new(spec)),
        })
    }

    /// The reaction of sources to drop notifications of this link's queue, if
    /// it sends any; only in the backend `sim`.
    pub(super) fn notices(&self, all: &Self, backend: Backend) -> Result<Option<React>> {
        let notices = self.planned(all).notices.map(react);
        match backend.profile().hosts {
            Hosts::Kernels if notices.is_some() => {}
            Hosts::Kernels | Hosts::Simulated => return Ok(notices),
        }
        let bad = BadQueue {
            key: "mred.notify".into(),
            why:
                "only the sources of the backend `sim` understand it: --on sim, or write notify = off"
                    .into(),
        };
        Err(self.at_fault(all, &bad))
    }

    /// The parameters without effect: those of this table for all `links` that
    /// none of them uses, and those of links that they do not use themselves.
    pub(super) fn unused_parameters(&self, links: &[Self]) -> Vec<UnusedKey> {
        let idle = |link: &Self, given: &Given, queue: &Choice| {
            let planned = link.planned(self);
            planned.idle(given.discipline, given.name, queue.name)
        };
        let of_all = self.parameters.0.iter().filter_map(|given| {
            let mut whys = links.iter().map(|link| idle(link, given, self.queue.value));
            let first = whys.next()??;
            whys.all(|why| why.is_some()).then(|| given.unused(&first))
        });
        let of_each = links.iter().flat_map(|link| {
            let own = link.parameters.0.iter();
            own.filter_map(|given| Some(given.unused(&idle(link, given, link.queue.value)?)))
        });
        of_each.chain(of_all).collect()
    }

    /// The queue of this link, valid or not.
    fn planned(&self, all: &Self) -> Planned {
        let framing = self.framing.as_ref();
        let framing = framing.map_or(Framing::Ethernet, |found| found.value);
        let largest = framing.frame_size(self.mtu.value.bytes());
        let given = all.parameters.0.iter().chain(&self.parameters.0);
        let given = given.map(|given| written::Given {
            discipline: given.discipline,
            name: given.name,
            value: &given.value.value,
        });
        let room = (self.buffer.value.limit(), largest);
        Planned::new(self.queue.value, given, room, self.rate.value)
    }

    /// The key that makes the queue invalid: as written, or the key that
    /// selects the discipline.
    fn at_fault(&self, all: &Self, bad: &BadQueue) -> Error {
        let why = &bad.why;
        match bad.key.as_str() {
            "buffer" => return self.buffer.reject(why),
            "rate" => return self.rate.reject(why),
            _ => {}
        }
        let table = bad.key.split('.').next().unwrap_or_default();
        let written = || self.parameters.0.iter().chain(&all.parameters.0);
        let same_table = |given: &&Given| given.discipline == table;
        let found = written()
            .find(|given| format!("{}.{}", given.discipline, given.name) == bad.key)
            .or_else(|| written().find(same_table));
        match found {
            Some(given) => given.value.reject(why),
            None => self.queue.reject(why),
        }
    }
}

const fn react(reaction: Reaction) -> React {
    match reaction {
        Reaction::Retransmit => React::Retransmit,
        Reaction::RetransmitAndReduce => React::RetransmitAndReduce,
    }
}

impl Given {
    /// The error for a parameter without effect.
    fn unused(&self, why: &str) -> UnusedKey {
        UnusedKey {
            path: self.value.path().to_owned(),
            is_set: self.value.origin.is_option("set"),
            why: self.value.reject(why),
        }
    }
}
