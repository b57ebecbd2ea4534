//! The packets that the interface of a node has sent.

use std::fs;

use units::Bytes;

use super::Node;
use os::error::{Error, OperationContext, Result};

/// Bytes of an Ethernet header, which the kernel counts [LinuxUapi if_ether.h].
const ETHERNET_HEADER: u64 = 14;

/// The columns of `/proc/net/dev` behind the name: eight of received packets, and then
/// those of sent ones, bytes first [proc(5)].
const SENT: usize = 8;

/// Packets and bytes since the creation of the node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SentPackets {
    /// Packets; those that the kernel left to the interface to cut count once.
    pub packets: u64,
    /// Bytes of IP packets.
    pub bytes: Bytes,
}

impl SentPackets {
    /// The change since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            packets: self.packets.saturating_sub(earlier.packets),
            bytes: Bytes::new(self.bytes.get().saturating_sub(earlier.bytes.get())),
        }
    }

    /// The counters of `interface` in the text of `/proc/net/dev`.
    fn read(text: &str, interface: &str) -> Option<Self> {
        let named = |line: &str| {
            let (name, counters) = line.split_once(':')?;
            (name.trim() == interface).then(|| counters.to_owned())
        };
        let line = text.lines().find_map(named)?;
        let mut counters = line.split_whitespace().skip(SENT);
        let bytes: u64 = counters.next()?.parse().ok()?;
        let packets: u64 = counters.next()?.parse().ok()?;
        let headers = packets.saturating_mul(ETHERNET_HEADER);
        Some(Self {
            packets,
            bytes: Bytes::new(bytes.saturating_sub(headers)),
        })
    }
}

impl Node {
    /// The packets that its first interface has sent.
    ///
    /// # Errors
    /// If the kernel's counters cannot be read.
    pub fn sent(&self) -> Result<SentPackets> {
        let file = "/proc/thread-self/net/dev";
        let read = || fs::read_to_string(file).during(|| format!("reading {file}"));
        let text = self.namespace.within(read)?;
        let name = self.interfaces.first().map_or("", |first| &first.name);
        SentPackets::read(&text, name)
            .ok_or_else(|| Error::new(format!("reading {file}"), format!("it has no `{name}`")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_an_interface_are_read_without_ethernet_headers() {
        let text = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:     100       1    0    0    0     0          0         0      100       1    0    0    0     0       0          0
  veth: 1234567    1000    0    0    0     0          0         0     3028       2    0    0    0     0       0          0
";
        let sent = SentPackets {
            packets: 2,
            bytes: Bytes::new(3000),
        };
        assert_eq!(SentPackets::read(text, "veth"), Some(sent));
        assert_eq!(SentPackets::read(text, "eth"), None);
        assert_eq!(SentPackets::read("veth: 1 2 3", "veth"), None);
        assert_eq!(sent.since(sent), SentPackets::default());
    }
}
