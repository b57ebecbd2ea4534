//! Findings about a path in words.

use std::net::IpAddr;

use link::{Direction, Protocol};
use units::IpVersion;

use super::super::local;
use super::super::sentence::{bytes, capitalised};
use super::{Probed, direction_name};
use crate::machine::{Evidence, Finding, FindingKind, Hop, Limit, Loss, Place, Tunnel};

/// The most lines of evidence of a finding; JSON has all.
const MOST_EVIDENCE: usize = 8;

/// Why no larger size was confirmed.
pub(super) const fn limit(limit: Limit, direction: Direction) -> &'static str {
    match limit {
        Limit::Asked => "the size tested",
        Limit::Interface => "the MTU of the local interface",
        Limit::Rejected => "a router rejects larger packets",
        Limit::Vanish => "larger packets are dropped silently",
        Limit::Fragmented => match direction {
            Direction::Forward => "larger packets arrive in fragments",
            Direction::Reverse => "larger answers arrive in fragments",
        },
        Limit::SegmentSize => "larger TCP segments were not sent",
        Limit::Unstated => "the largest packets pass; this system does not state their size",
        Limit::NotSeen => "larger answers were not seen",
    }
}

/// A router by its address. Some systems do not tell which one it was.
fn named(router: IpAddr) -> String {
    match router.is_unspecified() {
        true => "a router without a name".to_owned(),
        false => format!("the router {router}"),
    }
}

/// A finding with its evidence, a line each; the lines of the evidence are indented.
pub(super) fn finding(finding: &Finding, probed: &Probed<'_>) -> Vec<String> {
    let mut lines = vec![format!("{}.", capitalised(&phrase(&finding.kind, probed)))];
    lines.extend(cause(&finding.kind).map(|cause| format!("  {cause}")));
    let groups = groups(&finding.evidence);
    let shown = groups.iter().take(MOST_EVIDENCE);
    let rejected = match finding.kind {
        FindingKind::ForwardFragments { .. } => "arrived in fragments",
        _ => "rejected as too big",
    };
    lines.extend(shown.map(|(one, flows)| format!("  {}", evidence(one, flows, rejected))));
    if groups.len() > MOST_EVIDENCE {
        let more = groups.len() - MOST_EVIDENCE;
        lines.push(format!("  and {more} more: see --json"));
    }
    lines
}

/// The evidence of all flows together, with their numbers.
fn groups(evidence: &[Evidence]) -> Vec<(Evidence, Vec<u16>)> {
    let kind = |one: &Evidence| {
        let Evidence {
            protocol,
            size,
            hop_limit,
            router,
            fragments,
            ..
        } = *one;
        (protocol, size, hop_limit, router, fragments)
    };
    let mut groups: Vec<(Evidence, Vec<u16>)> = Vec::new();
    for one in evidence {
        let group = groups
            .iter_mut()
            .find(|(group, _)| kind(group) == kind(one));
        match group {
            Some((group, flows)) => {
                group.sent += one.sent;
                group.answered += one.answered;
                group.rejected += one.rejected;
                // Replies of two sizes may have been asked for.
                if !flows.contains(&one.flow) {
                    flows.push(one.flow);
                }
            }
            None => groups.push((*one, vec![one.flow])),
        }
    }
    groups
}

/// A finding as the rest of a sentence.
pub(super) fn phrase(kind: &FindingKind, probed: &Probed<'_>) -> String {
    match kind {
        FindingKind::NoAnswer => "nothing answers".to_owned(),
        FindingKind::Interface { mtu } => format!(
            "the MTU of the local interface {} is {}",
            probed.interface,
            bytes(*mtu)
        ),
        FindingKind::FirstLink { from, first } => format!(
            "packets of {} and more are dropped silently on the first link, before {}",
            bytes(*from),
            system(first)
        ),
        FindingKind::BlackHole {
            direction,
            from,
            place,
        } => format!(
            "an MTU black hole {} drops packets of {} and more, and no ICMP error arrives",
            match (place.is_known, direction) {
                (false, Some(direction)) => format!("on the {} path", direction_name(*direction)),
                (true, Some(direction)) => format!(
                    "{} on the {} path",
                    self::place(place),
                    direction_name(*direction)
                ),
                (_, None) => self::place(place),
            },
            bytes(*from)
        ),
        FindingKind::Rejected { mtu, router, hop } => format!(
            "{}{} rejects packets larger than {} with an ICMP error",
            named(*router),
            in_brackets(*hop),
            bytes(*mtu)
        ),
        FindingKind::RejectsAll {
            router,
            hop,
            size,
            announced,
        } => format!(
            "{}{} rejects packets of {} as too big, and announces an MTU of {}",
            named(*router),
            in_brackets(*hop),
            bytes(*size),
            bytes(*announced)
        ),
        FindingKind::BelowIpv6 { direction, .. } => format!(
            "the {} path drops packets of {} bytes, which each link must deliver over IPv6",
            direction_name(*direction),
            IpVersion::V6.smallest_mtu()
        ),
        FindingKind::LostRange {
            direction,
            from,
            to,
            protocol,
            place,
        } => format!(
            "{}packets of {} to {} are dropped silently{}{}, although {}",
            protocol.map_or_else(String::new, |one| format!("{} ", one.title())),
            from.get(),
            bytes(*to),
            place
                .as_ref()
                .map_or_else(String::new, |place| format!(" {}", self::place(place))),
            direction.map_or_else(String::new, |direction| format!(
                " on the {} path",
                direction_name(direction)
            )),
            match protocol {
                Some(_) => "smaller and larger ones pass, and other protocols deliver these sizes",
                None => "smaller and larger ones pass",
            }
        ),
        FindingKind::OuterFragments { made, fits } => format!(
            "this host sends packets of {} larger than {} bytes in fragments outside of its tunnel ({made} fragments)",
            probed.interface,
            fits.get()
        ),
        FindingKind::ForwardFragments { mtu, cleared } => {
            let cleared = cleared.as_ref().map_or_else(String::new, |place| {
                let itself = place.before.as_ref().map_or_else(String::new, |hop| {
                    format!(", or by hop {} itself", hop.number)
                });
                format!(
                    ": DF (don't fragment) is cleared {}{itself}",
                    self::place(place)
                )
            });
            format!(
                "packets larger than {} arrive in fragments, although no router may fragment them{cleared}",
                bytes(*mtu)
            )
        }
        FindingKind::ReverseLimit { mtu } => format!(
            "larger answers arrive in fragments of at most {}",
            bytes(*mtu)
        ),
        FindingKind::AnnouncedTooSmall {
            router,
            announced,
            passes,
        } => format!(
            "{} announces an MTU of {}, although {} pass",
            named(*router),
            bytes(*announced),
            bytes(*passes)
        ),
        FindingKind::AnnouncedTooLarge {
            router,
            announced,
            fails_from,
        } => format!(
            "{} announces an MTU of {}, although {} do not pass",
            named(*router),
            bytes(*announced),
            bytes(*fails_from)
        ),
        FindingKind::AnswersLimited {
            router,
            sent,
            answered,
        } => format!(
            "{} answered {answered} of {sent} packets that were too large",
            named(*router)
        ),
        FindingKind::OneProtocol {
            protocol: one,
            from,
            others,
            place,
        } => {
            let dropped = place.as_ref().map_or_else(String::new, |place| {
                format!(": they are dropped {}", self::place(place))
            });
            format!(
                "{} packets of {} and more do not pass{dropped}, although {} of other protocols do{}",
                one.title(),
                bytes(*from),
                bytes(*others),
                match one {
                    Protocol::Icmp =>
                        "; unless it is a filter of ICMP, the last link loses large packets on the \
                         way back, which `jumbolab probe HOST:PORT` to an open TCP port would show",
                    Protocol::Tcp | Protocol::Udp => "",
                }
            )
        }
        FindingKind::Branches {
            flows,
            of,
            small,
            large,
            place,
        } => format!(
            "{} of {of} flows pass packets of up to {}, the others of up to {}: branches of the path differ{}",
            flows.len(),
            bytes(*small),
            bytes(*large),
            place
                .as_ref()
                .map_or_else(String::new, |place| format!(" {}", self::place(place)))
        ),
        FindingKind::MssClamped { seen, expected } => {
            format!("the far end's MSS arrives as {seen}, although the path allows {expected}")
        }
        FindingKind::MssTooLarge { seen, expected } => format!(
            "the far end's MSS of {seen} exceeds the {expected} that the path allows, and no device lowers it"
        ),
        FindingKind::SmallMss {
            direction: Direction::Forward,
            seen,
            expected,
        } => format!(
            "the far end's MSS arrives as {seen}, and the MTU of {} allows {expected}",
            probed.interface
        ),
        FindingKind::SmallMss {
            direction: Direction::Reverse,
            seen,
            expected,
        } => format!(
            "the far end sends segments of at most {seen} bytes with their options, although {expected} are allowed"
        ),
        FindingKind::KnownMtu { mtu } => format!(
            "an ICMP error or a route limits packets of this host to {}",
            bytes(*mtu)
        ),
        FindingKind::ClosedPort => "the TCP port is closed".to_owned(),
        FindingKind::FragmentsDropped => "fragments do not pass".to_owned(),
        FindingKind::MtuChanged { before, after } if before < after => format!(
            "packets of up to {} pass again: the path MTU was {} at first",
            bytes(*after),
            bytes(*before)
        ),
        FindingKind::MtuChanged { before, after } => format!(
            "the path MTU was {} at first and {} at the end",
            bytes(*before),
            bytes(*after)
        ),
        FindingKind::Tunnel(tunnel) => self::tunnel(tunnel),
        FindingKind::LossBySize {
            direction,
            small,
            large,
            per_bit,
        } => format!(
            "{} of packets of {}{} are lost, of {} {}{}",
            lost(&large.loss),
            bytes(large.size),
            match direction {
                Some(direction) => format!(" on the {} path", direction_name(*direction)),
                None => String::new(),
            },
            bytes(small.size),
            lost(&small.loss),
            per_bit.map_or_else(String::new, |per_bit| format!(
                ": the loss grows with the size as bit errors with a probability of {per_bit:.1e} do"
            )),
        ),
        FindingKind::AnswerRate {
            protocol,
            per_second,
            instead,
        } => format!(
            "the far end answers about {per_second:.0} {} packets a second, whatever their size: a rate limit, not loss; {}",
            protocol.title(),
            match instead {
                Some(instead) => format!("{} was used instead", instead.title()),
                None => "the probes were sent at that rate".to_owned(),
            }
        ),
        FindingKind::Loss(loss) => format!(
            "{} of {} small packets got no answer ({})",
            loss.lost,
            loss.sent,
            shares(loss)
        ),
        FindingKind::Local(local) => local::phrase(&local.problem),
    }
}

/// What explains a path MTU.
fn tunnel(tunnel: &Tunnel) -> String {
    let size = bytes(tunnel.mtu);
    let products = one_of(&tunnel.products);
    let headers = tunnel.below.map(|below| {
        let names = one_of(&tunnel.names);
        format!("{size} are {} less the headers of {names}", below.get())
    });
    match headers {
        Some(headers) if tunnel.products.is_empty() => headers,
        Some(headers) => format!("{headers}, and the MTU of {products}"),
        None => format!("{size} are the MTU of {products}"),
    }
}

/// The loss in one direction.
pub(super) fn loss(loss: &Loss) -> String {
    format!("{} of {} ({})", loss.lost, loss.sent, shares(loss))
}

/// The share that is lost, with its interval, for instance `19 % [15, 24]`.
pub(super) fn lost(loss: &Loss) -> String {
    let [share, low, high] = [loss.share, loss.low, loss.high].map(|share| per_cent(100.0 * share));
    match loss.lost {
        0 => format!("none [0, {high}]"),
        _ => format!("{share} % [{low}, {high}]"),
    }
}

/// A percentage with two digits.
fn per_cent(value: f64) -> String {
    match value {
        ..9.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

fn shares(loss: &Loss) -> String {
    let [share, low, high] = [loss.share, loss.low, loss.high].map(|share| 100.0 * share);
    format!("{share:.1} %; 95 % interval {low:.1} to {high:.1} %")
}

/// The possible causes of a finding, where there is more than one.
const fn cause(kind: &FindingKind) -> Option<&'static str> {
    match kind {
        FindingKind::NoAnswer => Some(
            "The host is down, or a filter drops all probes: name an open TCP port with --port, or a web server, https://HOST.",
        ),
        FindingKind::FirstLink { .. } => Some(
            "The MTU of this host's interface is larger than that of the other end of the link, or of a switch between.",
        ),
        FindingKind::BlackHole { .. } => Some(
            "The MTU of a link is smaller than its routers are configured for, or ICMP errors (packet too big) are filtered. Both look the same from outside.",
        ),
        FindingKind::RejectsAll { .. } => Some(
            "Packets of this size fit any link, so its ICMP errors are wrong. It forwards none of them.",
        ),
        FindingKind::BelowIpv6 { .. } => Some(
            "Path MTU discovery over IPv6 ends at 1280 bytes, so connections stall. A link with a smaller MTU has to fragment packets itself.",
        ),
        FindingKind::ForwardFragments { .. } => Some(
            "A router, a firewall or a tunnel clears DF (don't fragment), or a link fragments packets itself. The loss of one fragment loses the whole packet.",
        ),
        FindingKind::LostRange { .. } => Some(
            "A network interface or its driver, a switch, a tunnel or a filter loses packets of these sizes. Connections stall although large packets pass.",
        ),
        FindingKind::SmallMss { .. } => Some(
            "The MTU of the far end is smaller, a device of the path lowers the MSS of TCP, or the far end knows a smaller path MTU.",
        ),
        FindingKind::ClosedPort => Some("Name an open port: HOST:PORT."),
        FindingKind::KnownMtu { .. } if cfg!(not(target_os = "linux")) => {
            Some("TCP then sends smaller segments by itself.")
        }
        FindingKind::KnownMtu { .. } => Some(
            "TCP then sends smaller segments by itself. `ip route get` shows the value; a value of an ICMP error ends after ten minutes.",
        ),
        FindingKind::LossBySize {
            per_bit: Some(_), ..
        } => Some(
            "A cable, connector or radio link damages bits: `jumbolab predict optimal` with `--bit-error-rate` shows which MTU delivers most.",
        ),
        FindingKind::LossBySize { .. } => Some(
            "A link, tunnel or queue drops large packets at random, for instance the fragments of a tunnel. Path MTU discovery does not notice.",
        ),
        FindingKind::MssClamped { .. } => {
            Some("A device of the path lowers the MSS of TCP, as in front of tunnels.")
        }
        FindingKind::Local(local) => local::effect(&local.problem),
        _ => None,
    }
}

/// The outcome of the probes of one kind, by flows of these numbers; `rejected` says what
/// became of those that were too big.
fn evidence(evidence: &Evidence, flows: &[u16], rejected: &str) -> String {
    let Evidence {
        protocol: one,
        size,
        hop_limit,
        router,
        fragments,
        sent,
        answered,
        rejected: number,
        ..
    } = evidence;
    let mut text = format!("{}, {}", one.title(), bytes(*size));
    if *fragments {
        text += " in fragments";
    }
    if let Some(router) = router {
        text += &format!(", to {router}");
    }
    if let Some(hops) = hop_limit {
        text += &format!(", hop limit {hops}");
    }
    match flows {
        [] | [0] => {}
        [flow] => text += &format!(", flow {flow}"),
        flows => text += &format!(", {} flows", flows.len()),
    }
    text += &format!(": {answered} of {sent} answered");
    if *number > 0 {
        text += &format!(", {number} {rejected}");
    }
    text
}

/// The number of a hop, if it is known.
fn in_brackets(hop: Option<u8>) -> String {
    hop.map_or_else(String::new, |hop| format!(" (hop {hop})"))
}

/// A place of the path.
pub(super) fn place(place: &Place) -> String {
    match (place.is_known, &place.behind, &place.before) {
        (false, _, _) => "somewhere on the path".to_owned(),
        (true, None, None) => "behind this host".to_owned(),
        (true, None, Some(before)) => format!("between this host and {}", system(before)),
        (true, Some(behind), None) => format!("behind {}", system(behind)),
        (true, Some(behind), Some(before)) => {
            format!("between {} and {}", system(behind), system(before))
        }
    }
}

/// A system of the path.
pub(super) fn system(hop: &Hop) -> String {
    match hop.address {
        Some(address) => format!("hop {} ({address})", hop.number),
        None => format!("hop {}", hop.number),
    }
}

fn one_of(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [name] => name.clone(),
        [names @ .., last] => format!("{} or {last}", names.join(", ")),
    }
}
