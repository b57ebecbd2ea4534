//! The settings that are advised, and the questions that stay open.

use os::host_changes::mtu_command;
use units::Bytes;

use super::super::sentence::{bytes, capitalised};
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
            Device::Own => own_mtu(probed, *mtu),
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

/// The command that gives this host's interface an MTU.
fn own_mtu(probed: &Probed<'_>, mtu: Bytes) -> String {
    if IS_LINUX {
        return format!("ip link set {} mtu {}", probed.interface, mtu.get());
    }
    let mtu = u32::try_from(mtu.get()).unwrap_or(u32::MAX);
    mtu_command(&os::machine::system(), probed.interface, mtu)
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

/// Findings that other systems cannot show, and the systems that can.
const ABSENT: [(NotSeen, &str, &str); 2] = [
    (
        NotSeen::TcpSizes,
        "TCP segments of other sizes",
        "Linux, or a server: `jumbolab probe HOST:PORT`",
    ),
    (NotSeen::Fragments, "fragments", "Linux"),
];

/// Why echo requests were not sent.
const NO_ECHOES: &str = match (IS_LINUX, cfg!(target_os = "freebsd")) {
    (true, _) => {
        "Echo requests: this user may not send them; type: sudo sysctl net.ipv4.ping_group_range='0 2147483647'"
    }
    (false, true) => "Echo requests: need root.",
    (false, false) => "Echo requests: the system rejects them; `jumbolab doctor` shows its reason.",
};

/// Findings of a probe on Linux that this system lacks.
pub fn on_linux_alone() -> Vec<String> {
    let absent = ABSENT.iter();
    absent.map(|(_, what, _)| (*what).to_owned()).collect()
}

/// One thing that could not be seen.
pub(super) fn missing(not_seen: NotSeen, asked: Bytes) -> String {
    let absent = ABSENT.iter().find(|(one, ..)| *one == not_seen);
    if let Some((_, what, systems)) = absent.filter(|_| !IS_LINUX) {
        return format!("{}: needs {systems}.", capitalised(what));
    }
    match not_seen {
        NotSeen::Echo => NO_ECHOES.to_owned(),
        NotSeen::TcpSizes => "TCP segments of other sizes: needs root (CAP_NET_RAW), or a web server: `jumbolab probe https://HOST`.".to_owned(),
        NotSeen::Fragments => "Fragments: needs root (CAP_NET_RAW).".to_owned(),
        NotSeen::Reverse => "Each direction by itself: needs `jumbolab recv` or another STAMP reflector at the far end.".to_owned(),
        NotSeen::Mss if !IS_LINUX => "The far end's MSS: `jumbolab probe HOST:PORT` shows it where this system states it.".to_owned(),
        NotSeen::Mss => "The far end's MSS: needs an open TCP port; name one with --port.".to_owned(),
        NotSeen::LargeAnswers => "Larger answers: the server's answer fills no larger packet; name a page of several kilobytes, http://HOST/PAGE.".to_owned(),
        NotSeen::ExactSize => "The exact size: a test opens no more connections to a server.".to_owned(),
        NotSeen::Unanswered => "The forward path: the server answers no request, and this system does not state what was acknowledged.".to_owned(),
        NotSeen::SentSizes => format!("The MSS and the size of the packets sent: this system does not state them; they have at most {}.", bytes(asked)),
        NotSeen::ArrivedSizes => format!("The size of the packets that arrived: this system does not state it; they have at most {}.", bytes(asked)),
        NotSeen::Options => "The exact size on the forward path: this system does not state TCP's options, which have up to 12 bytes.".to_owned(),
        NotSeen::ReverseSize => "The exact size on the reverse path: this system lets no program choose the MSS that it announces.".to_owned(),
        NotSeen::Acknowledgements => "What was acknowledged and sent again: this system does not state it; whether packets arrive is judged by the answers.".to_owned(),
        NotSeen::Cut => format!("The rest: time or probes ran out before {} were decided.", bytes(asked)),
    }
}
