//! The settings that are advised, and the questions that stay open.

use units::Bytes;

use super::super::sentence::bytes;
use super::{Probed, words};
use crate::machine::{Advice, Device, NotSeen, Remedy};

/// Whether this host has the commands and permissions of Linux.
const IS_LINUX: bool = cfg!(target_os = "linux");

/// A line for each piece of advice.
pub(super) fn lines(probed: &Probed<'_>) -> Vec<String> {
    let advice = probed.report.advice.iter();
    advice.map(|advice| line(advice, probed)).collect()
}

/// One piece of advice.
pub(super) fn line(advice: &Advice, probed: &Probed<'_>) -> String {
    format!(
        "{}: {}",
        device(&advice.device, probed),
        remedy(advice, probed)
    )
}

fn device(device: &Device, probed: &Probed<'_>) -> String {
    match device {
        Device::Own => "This host".to_owned(),
        Device::FarEnd => format!("The far end, {}", probed.report.far_end),
        Device::Router(router) if router.is_unspecified() => "That router".to_owned(),
        Device::Router(router) => format!("The router {router}"),
        Device::Link(place) => format!("The link {}", words::place(place)),
        Device::Path => "The path".to_owned(),
    }
}

fn remedy(advice: &Advice, probed: &Probed<'_>) -> String {
    match &advice.remedy {
        Remedy::Command(command) => command.clone(),
        Remedy::Mtu(mtu) => match advice.device {
            // The commands of other systems need the name of the interface.
            Device::Own if !IS_LINUX => format!("send packets of {} at most", bytes(*mtu)),
            Device::Own => format!("send packets of {} at most: {}", bytes(*mtu), route(probed, *mtu)),
            Device::FarEnd => format!("set MTU {} on its route to this host", mtu.get()),
            Device::Link(_) => format!("set MTU {} at both ends, and on the switches between them", mtu.get()),
            Device::Path => format!("set MTU {} on each link with a smaller one", mtu.get()),
            _ => format!("set MTU {}", mtu.get()),
        },
        Remedy::InterfaceMtu(mtu) => match advice.device {
            Device::Own if IS_LINUX => format!("ip link set {} mtu {}", probed.interface, mtu.get()),
            _ => format!("set MTU {} on its interface", mtu.get()),
        },
        Remedy::Mss(mss) => format!("clamp the MSS of TCP to {mss}"),
        Remedy::SendTooBig => {
            "send ICMP errors for packets that are too big, and let them pass (ICMP type 3 code 4, ICMPv6 type 2)"
                .to_owned()
        }
        Remedy::AnnounceMtu(mtu) => format!("announce an MTU of {}", bytes(*mtu)),
        Remedy::PassFragments => "let fragments pass".to_owned(),
        Remedy::UnclampMss(mss) => format!("do not clamp the MSS of TCP below {mss}"),
        Remedy::PassSizes { from, to } => {
            format!("let packets of {} to {} pass", from.get(), bytes(*to))
        }
        Remedy::AcceptPackets(mtu) => format!("forward packets of up to {}", bytes(*mtu)),
        Remedy::PassProtocol(one) => format!("let {} pass at any size", one.title()),
    }
}

/// The command that gives this host's route to the far end an MTU.
fn route(probed: &Probed<'_>, mtu: Bytes) -> String {
    let far_end = probed.report.far_end;
    let family = if far_end.is_ipv6() { "-6 " } else { "" };
    let router = probed.gateway;
    let router = router.map_or_else(String::new, |router| format!(" via {router}"));
    format!(
        "ip {family}route replace {far_end}{router} dev {} mtu {}",
        probed.interface,
        mtu.get()
    )
}

/// A line for each thing that could not be seen, with what would show it.
pub(super) fn not_seen(probed: &Probed<'_>) -> Vec<String> {
    let asked = probed.report.asked;
    let not_seen = probed.report.not_seen.iter();
    not_seen.map(|one| missing(*one, asked)).collect()
}

/// One thing that could not be seen.
pub(super) fn missing(not_seen: NotSeen, asked: Bytes) -> String {
    match not_seen {
        NotSeen::Echo if !IS_LINUX => "Echo requests: needs Linux, or Windows and IPv4.".to_owned(),
        NotSeen::TcpSizes if !IS_LINUX => "TCP segments of other sizes: needs Linux.".to_owned(),
        NotSeen::Fragments if !IS_LINUX => "Fragments: needs Linux.".to_owned(),
        NotSeen::Mss if !IS_LINUX => "The far end's MSS: needs Linux.".to_owned(),
        NotSeen::Echo => "Echo requests: this user may not send them; type: sudo sysctl net.ipv4.ping_group_range='0 2147483647'".to_owned(),
        NotSeen::TcpSizes => "TCP segments of other sizes: needs root (CAP_NET_RAW), or a web server: `jumbolab probe https://HOST`.".to_owned(),
        NotSeen::Fragments => "Fragments: needs root (CAP_NET_RAW).".to_owned(),
        NotSeen::Reverse => "Each direction by itself: needs `jumbolab recv` or another STAMP reflector at the far end.".to_owned(),
        NotSeen::Mss => "The far end's MSS: needs an open TCP port; name one with --port.".to_owned(),
        NotSeen::LargeAnswers => "Larger answers: the server's answer fills no larger packet; name a page of several kilobytes, http://HOST/PAGE.".to_owned(),
        NotSeen::ExactSize => "The exact size: a test opens no more connections to a server.".to_owned(),
        NotSeen::Cut => format!("The rest: time or probes ran out before {} were decided.", bytes(asked)),
    }
}
