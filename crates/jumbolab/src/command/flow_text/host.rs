//! What this host makes of the packets of a sender: fragments and super-packets, which
//! change the meaning of its results.

use std::fmt::Write as _;
use std::net::SocketAddr;

use os::fragments::Fragments;
use os::nic;
use probe::driver::Outgoing;
use traffic::driver::sessions::{Flow, FlowOutcome, Meter, Outcome, Protocol};
use units::{Bytes, IpVersion};

/// The largest super-packet, for which two segments must have room.
const SUPER_PACKET: u64 = 1 << 16;

/// Drivers of interfaces that pass super-packets on without cutting them.
const VIRTUAL: [&str; 3] = ["veth", "tun", "virtio_net"];

/// Bytes of UDP's header [RFC768], and of that of an ICMP echo [RFC792].
const HEADER: u64 = 8;

/// This host as it was before the flows.
pub(in super::super) struct Host {
    ip: IpVersion,
    /// The interface through which the flows leave, and its MTU.
    interface: Option<(String, Bytes)>,
    /// Whether it passes super-packets of TCP on.
    passes_super_packets: bool,
    fragments: Option<Fragments>,
}

impl Host {
    /// Looks at the interface towards `to`, or at the one that is chosen.
    pub(in super::super) fn look(to: SocketAddr, device: Option<&str>) -> Self {
        let ip = match to {
            SocketAddr::V4(_) => IpVersion::V4,
            SocketAddr::V6(_) => IpVersion::V6,
        };
        // Without a route the session says so.
        let outgoing = Outgoing::toward(to, device, None).ok();
        let nic = outgoing
            .as_ref()
            .and_then(|one| nic::named(&one.interface).ok());
        let cuts = |nic: &nic::Nic| nic.offloads.iter().any(|name| name.starts_with("tx-tcp"));
        let is_virtual = nic.as_ref().is_some_and(|nic| {
            let driver = nic.driver.as_deref();
            driver.is_some_and(|driver| VIRTUAL.contains(&driver))
        });
        let loopback = outgoing.as_ref().is_some_and(|one| one.loopback);
        Self {
            ip,
            passes_super_packets: (is_virtual || loopback) && nic.as_ref().is_some_and(cuts),
            interface: outgoing.map(|one| (one.interface, one.mtu)),
            fragments: Fragments::here(ip).ok(),
        }
    }

    /// The line about fragments that this host made of messages since then.
    pub(in super::super) fn fragments(&self, flows: &[Flow], outcome: &Outcome) -> String {
        let now = Fragments::here(self.ip).ok();
        let made = self
            .fragments
            .zip(now)
            .map(|(before, now)| now.since(&before).made);
        let (Some(made), Some((_, mtu))) = (made, &self.interface) else {
            return String::new();
        };
        let room = mtu.get().saturating_sub(self.ip.header().get() + HEADER);
        let of_datagrams = |flow: &Flow| {
            flow.transport.is_none_or(Protocol::is_of_datagrams) && flow.reverse.is_none()
        };
        let large = |(flow, result): (&Flow, &FlowOutcome)| {
            let sent = result.sent.as_ref().filter(|_| of_datagrams(flow))?;
            let mean = sent.bytes.get().checked_div(sent.messages)?;
            let largest = flow.largest.map_or(mean, Bytes::get);
            (largest > room).then_some(sent.messages)
        };
        let sent = flows.iter().zip(&outcome.flows).filter_map(large);
        words(made, sent.sum(), room, self.ip)
    }

    /// A warning where packets of the flow's size are in super-packets only.
    pub(super) fn warning(&self, flow: &Flow, result: &FlowOutcome) -> String {
        let mut text = String::new();
        let (sent, report) = (result.sent.as_ref(), result.report.as_ref());
        let tcp = sent.and_then(|sent| sent.tcp.as_ref());
        let fit = |size: u64| size > 0 && size.saturating_mul(2) < SUPER_PACKET;
        if let (Some(tcp), Some((name, _))) = (tcp, &self.interface)
            && flow.reverse.is_none()
            && self.passes_super_packets
            && fit(tcp.segment_size)
        {
            let _ = writeln!(
                text,
                "  warning     {name} passes super-packets of up to 64 KiB on: they are the packets, not segments of {} bytes; type: ethtool -K {name} tso off gso off",
                tcp.segment_size
            );
        }
        let merged = report.is_some_and(|report| report.merged > 0);
        let group = flow.options.segmentation;
        let why = match (group > 1, merged) {
            (true, _) => format!("leave {group} at a time (--gso)"),
            (_, true) => "arrive merged (--gro)".to_owned(),
            _ => return text,
        };
        let what = match flow.meter {
            Meter::OneWay => "gaps and jitter are",
            Meter::RoundTrip => "gaps are",
        };
        let _ = writeln!(
            text,
            "  warning     messages {why}: {what} those of super-packets"
        );
        text
    }
}

/// The line about `made` fragments of `messages` that are larger than `room`.
fn words(made: u64, messages: u64, room: u64, ip: IpVersion) -> String {
    if made == 0 || messages == 0 {
        return String::new();
    }
    let counter = match ip {
        IpVersion::V4 => "IpFragCreates",
        IpVersion::V6 => "Ip6FragCreates",
    };
    let what = match (made / messages, made % messages) {
        (each, 0) if each > 1 => format!("this host sent each message as {each} fragments"),
        _ => format!("this host sent fragments of {messages} messages"),
    };
    format!(
        "fragments: {what} ({counter} grew by {made}); write --message {room} or --pmtudisc do\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_are_told_for_each_message_where_all_have_as_many() {
        assert_eq!(
            words(28, 2, 1_472, IpVersion::V4),
            "fragments: this host sent each message as 14 fragments (IpFragCreates grew by 28); write --message 1472 or --pmtudisc do\n"
        );
        assert_eq!(
            words(29, 2, 8_952, IpVersion::V6),
            "fragments: this host sent fragments of 2 messages (Ip6FragCreates grew by 29); write --message 8952 or --pmtudisc do\n"
        );
        assert_eq!(words(0, 5, 1_472, IpVersion::V4), "");
        // Those of others.
        assert_eq!(words(7, 0, 1_472, IpVersion::V4), "");
    }
}
