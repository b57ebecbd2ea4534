//! The links that a setting fills, and the smallest packets with which it does.

use plan::Setting;
use plan::setting::{Flow, LinkKind, Sends, Traffic};
use units::{Bytes, Framing, IpVersion, Rate, Transport};

use crate::doctor::attempt::FilledLinks;
use crate::pace::Paced;

/// The share of a link's rate from which a flow counts as filling it.
const MUCH: f64 = 0.5;

/// The most links in a row to fill: each costs the machine the same work.
const MOST_LINKS: usize = 4;

/// The links in a row of a network that is no path: access, bottleneck, access.
const LINKS_OF_NETWORK: usize = 3;

/// The smallest packets to fill links with: TCP of Linux makes no smaller segments than 88
/// bytes.
const SMALLEST: Bytes = Bytes::new(20 + 20 + 88);

/// The links of a setting, of each kind that paces them.
pub(super) fn loads(setting: &Setting) -> Vec<FilledLinks> {
    let network = &setting.network;
    let Some(mtu) = network.path_mtu() else {
        return Vec::new();
    };
    let packet = smallest(setting).map_or_else(|| mtu.bytes(), |packet| packet.min(mtu.bytes()));
    let packet = packet.max(SMALLEST);
    // Packets of a size cost the same in both versions of IP, and IPv6 has no small MTU.
    let smallest_of_six = Bytes::new(IpVersion::V6.smallest_mtu().into());
    let ip = match packet < smallest_of_six {
        true => IpVersion::V4,
        false => network.ip,
    };
    let count = match network.graph {
        Some(_) => LINKS_OF_NETWORK,
        None => network.links.len().min(MOST_LINKS),
    };
    let kinds: &[Paced] = match network.link {
        LinkKind::Kernel => &[Paced::Kernel],
        LinkKind::Emulated => &[Paced::Emulator],
        LinkKind::Mixed => &[Paced::Kernel, Paced::Emulator],
    };
    let load = |&paced: &Paced| FilledLinks {
        paced,
        ip,
        mtu: u32::try_from(packet.get()).unwrap_or_else(|_| mtu.get()),
        count,
        // Super packets cross no emulated link.
        offloads: paced == Paced::Kernel && setting.host.offloads,
    };
    kinds.iter().map(load).collect()
}

/// The smallest packets with which the setting fills its slowest link, if they are smaller
/// than its MTU.
fn smallest(setting: &Setting) -> Option<Bytes> {
    let network = &setting.network;
    let slowest = network.links.iter().filter_map(|link| link.rate).min()?;
    let datagram = |payload: Bytes| payload + network.ip.header() + Transport::Udp.header();
    match &setting.traffic {
        Traffic::Transfer(transfer) if transfer.protocol == Transport::Udp => {
            Some(datagram(transfer.message))
        }
        Traffic::Flows(flows) => {
            let flows = flows.flows.iter();
            let packets = flows.filter_map(|flow| datagrams(flow, slowest, datagram));
            packets.min()
        }
        _ => None,
    }
}

/// The packets of a flow of datagrams that asks for much of a link.
fn datagrams(flow: &Flow, link: Rate, datagram: impl Fn(Bytes) -> Bytes) -> Option<Bytes> {
    let Sends::Datagrams { gaps, payloads, .. } = &flow.sends else {
        return None;
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a conversion of doubles to integers saturates"
    )]
    let payload = Bytes::new(payloads.mean() as u64);
    let packet = datagram(payload);
    let bits = Framing::Ethernet.wire_size(packet).bits() as f64;
    let asked = f64::from(flow.count) * bits / (gaps.mean() / 1e12);
    (asked >= MUCH * link.bits_per_second() as f64).then_some(packet)
}
