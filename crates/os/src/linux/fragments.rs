//! Counters of a network namespace: fragmentation and reassembly.

use std::fs;

use units::IpVersion;

use crate::error::{Error, OperationContext, Result};

/// Counters since the creation of the namespace [RFC4293].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Fragments {
    /// Packets that were fragmented.
    pub cut: u64,
    /// Fragments created.
    pub made: u64,
    /// Packets too big for the next link that must not be fragmented here.
    pub too_big: u64,
    /// Fragments received for reassembly.
    pub taken: u64,
    /// Packets reassembled.
    pub joined: u64,
    /// Packets whose reassembly failed, mostly because a fragment was missing.
    pub given_up: u64,
}

/// Names of the kernel's counters for IPv4, as in the MIB [RFC4293 s4]; those of IPv6
/// have the prefix `Ip6`, except for the third.
const NAMES: [&str; 6] = [
    "FragOKs",
    "FragCreates",
    "FragFails",
    "ReasmReqds",
    "ReasmOKs",
    "ReasmFails",
];

/// The counter of an IPv6 router for packets that it must not fragment.
const TOO_BIG: &str = "InTooBigErrors";

impl Fragments {
    /// The counters of one version of IP, in the network namespace of the caller.
    ///
    /// # Errors
    /// If the kernel's counters cannot be read.
    pub fn here(ip: IpVersion) -> Result<Self> {
        let file = match ip {
            IpVersion::V4 => "/proc/thread-self/net/snmp",
            IpVersion::V6 => "/proc/thread-self/net/snmp6",
        };
        let text = fs::read_to_string(file).during(|| format!("reading {file}"))?;
        read(&text, ip)
            .ok_or_else(|| Error::new(format!("reading {file}"), "a counter is missing there"))
    }

    /// The change since `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            cut: self.cut.saturating_sub(earlier.cut),
            made: self.made.saturating_sub(earlier.made),
            too_big: self.too_big.saturating_sub(earlier.too_big),
            taken: self.taken.saturating_sub(earlier.taken),
            joined: self.joined.saturating_sub(earlier.joined),
            given_up: self.given_up.saturating_sub(earlier.given_up),
        }
    }
}

fn read(text: &str, ip: IpVersion) -> Option<Fragments> {
    let counter = |name: &str| match ip {
        IpVersion::V4 => in_columns(text, name),
        IpVersion::V6 => in_rows(text, &format!("Ip6{name}")),
    };
    let [cut, made, failed, taken, joined, given_up] = NAMES.map(counter);
    Some(Fragments {
        cut: cut?,
        made: made?,
        too_big: match ip {
            IpVersion::V4 => failed?,
            IpVersion::V6 => counter(TOO_BIG)?,
        },
        taken: taken?,
        joined: joined?,
        given_up: given_up?,
    })
}

/// Reads a value from two lines `Ip: ..` with names and values.
fn in_columns(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Ip: "));
    let (names, values) = (lines.next()?, lines.next()?);
    let mut columns = names.split(' ').zip(values.split(' '));
    columns.find(|(column, _)| *column == name)?.1.parse().ok()
}

/// Reads a value from lines with a name and a value each.
fn in_rows(text: &str, name: &str) -> Option<u64> {
    let mut rows = text.lines().map(|line| line.split_whitespace());
    let mut row = rows.find_map(|mut row| (row.next() == Some(name)).then_some(row))?;
    row.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_found_by_their_names() {
        let four = "Ip: Forwarding ReasmReqds ReasmOKs ReasmFails FragOKs FragFails FragCreates OutTransmits\n\
                    Ip: 1 50 10 2 3 4 12 9\nIcmp: InMsgs\nIcmp: 7\n";
        let expected = Fragments {
            cut: 3,
            made: 12,
            too_big: 4,
            taken: 50,
            joined: 10,
            given_up: 2,
        };
        assert_eq!(read(four, IpVersion::V4), Some(expected));
        let six = "Ip6InTooBigErrors \t5\nIp6ReasmReqds 50\nIp6ReasmOKs 10\nIp6ReasmFails 2\n\
                   Ip6FragOKs 3\nIp6FragFails 1\nIp6FragCreates 12\n";
        let six = read(six, IpVersion::V6).unwrap();
        assert_eq!(
            six,
            Fragments {
                too_big: 5,
                ..expected
            }
        );
        assert_eq!(read("Ip: ReasmReqds\nIp: 1\n", IpVersion::V4), None);
        assert_eq!(read("", IpVersion::V6), None);
        let earlier = Fragments {
            cut: 1,
            ..Fragments::default()
        };
        assert_eq!(expected.since(&earlier).cut, 2);
    }
}
