//! Branches of the path that carry different sizes, by probes of several flows.

use super::super::Protocol;
use super::super::asker::{Asker, Outcome};
use super::super::kind::{Kind, SMALL};
use super::super::search::Found;
use super::KnownPath;
use super::locate::{self, Boundary};

/// Probes of each flow of a size that the first flow does not carry.
const ATTEMPTS: u32 = 2;

/// Probes of each flow of a size that the first flow carries and another does not.
const ATTEMPTS_TO_FAIL: u32 = 3;

/// Flows by a protocol whose answers are limited in rate.
const FEW_FLOWS: u16 = 4;

/// One of so many bytes of a round is for packets of other flows, and one of so many of
/// those that are left.
const SHARE: u64 = 6;
const SHARE_OF_LEFT: u64 = 2;

/// Branches with different sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::machine) struct Branches {
    pub(in crate::machine) protocol: Protocol,
    /// The flows that carry less, of so many.
    pub(in crate::machine) flows: Vec<u16>,
    pub(in crate::machine) of: u16,
    pub(in crate::machine) small: u32,
    pub(in crate::machine) large: u32,
    pub(in crate::machine) fails: u32,
    pub(in crate::machine) boundary: Boundary,
}

/// Sends packets of other flows with the size that passes and the size that does not.
pub(in crate::machine) fn walk(
    ask: &mut Asker<'_>,
    walked: &KnownPath,
    found: Found,
) -> Option<Branches> {
    let (protocol, found) = by(ask, walked, found)?;
    let is_limited = ask.history.is_limited(protocol)
        || protocol == Protocol::Udp && !ask.settings.reflector.is_there();
    let of = match is_limited {
        true => ask.settings.flows.min(FEW_FLOWS),
        false => flows(ask, found.mtu),
    };
    let kind = walked.main.filter(|main| main.protocol == protocol);
    let kind = kind.unwrap_or_else(|| Kind::far_end(protocol, found.mtu));
    // Where another protocol carries less, its flow may be of another branch: then the
    // smallest size that it does not carry tells as much as the largest one.
    let fails = walked.carried.iter().filter_map(|one| one.fails);
    let smallest = fails.map(|(size, _)| size).min();
    let narrow = smallest.map_or(found.mtu, |size| size.min(found.mtu));
    let narrower = narrower_flows(ask, kind.with_size(narrow), of);
    if let Some(&flow) = narrower.first() {
        let search = kind.with_flow(flow).with_size(narrow - 1);
        let less = ask.search(search)?;
        let fails = less.fails.map_or(narrow, |(fails, _)| fails);
        let kind = kind.with_flow(flow).with_size(fails);
        return Some(Branches {
            protocol,
            flows: narrower,
            of,
            small: less.mtu,
            large: found.mtu,
            fails,
            boundary: locate::walk(ask, kind, &walked.route),
        });
    }
    let (fails, _) = found.fails?;
    let wider = wider_flows(ask, kind.with_size(fails), of);
    let more = ask.search(kind.with_flow(*wider.first()?).with_size(walked.up_to))?;
    Some(Branches {
        protocol,
        flows: (0..of).filter(|flow| !wider.contains(flow)).collect(),
        of,
        small: found.mtu,
        large: more.mtu.max(fails),
        fails,
        boundary: locate::walk(ask, kind.with_size(fails), &walked.route),
    })
}

/// The number of flows whose packets of this size are a fair share of all bytes.
fn flows(ask: &Asker<'_>, size: u32) -> u16 {
    let is_of_flow = |kind: Kind| kind.flow > 0;
    let [_, left] = ask.history.left_for(ask.settings, is_of_flow);
    let bytes = ask.history.bytes_of_round(ask.settings) / SHARE;
    let fitting = bytes.min(left / SHARE_OF_LEFT) / u64::from(size);
    let fitting = u16::try_from(fitting).unwrap_or(u16::MAX);
    ask.settings.flows.min(fitting.max(2))
}

/// The protocol to send flows by, and what its first flow carries. Routers choose branches
/// by ports rather than by identifiers of echo requests.
fn by(ask: &Asker<'_>, walked: &KnownPath, found: Found) -> Option<(Protocol, Found)> {
    let main = walked.main?.protocol;
    let order = match ask.settings.reflector.is_short() {
        true => [Protocol::Udp, Protocol::Tcp, Protocol::Icmp],
        false => [Protocol::Tcp, Protocol::Icmp, Protocol::Udp],
    };
    for protocol in order {
        if protocol == main {
            return Some((protocol, found));
        }
        let carried = walked.carried.iter().find(|one| one.protocol == protocol);
        match carried.map(|one| (one.largest, one.fails)) {
            Some((Some(mtu), fails)) => return Some((protocol, Found { mtu, fails })),
            // It may carry them: flows of another protocol would be sent in vain.
            Some((None, _)) if ask.is_open() => return None,
            _ => {}
        }
    }
    None
}

/// The flows that do not carry packets of this kind.
fn narrower_flows(ask: &mut Asker<'_>, kind: Kind, of: u16) -> Vec<u16> {
    let fail = |flow: &u16| {
        let few = ask.tries(kind.with_flow(*flow), ATTEMPTS_TO_FAIL);
        matches!(few, Outcome::Rejected | Outcome::Unclear)
    };
    let flows: Vec<u16> = (1..of).filter(fail).collect();
    for &flow in &flows {
        if ask.is_open() {
            break;
        }
        // One of them proves that there are branches.
        let kind = kind.with_flow(flow);
        if ask.fails_for_good(kind, Some(kind.with_size(SMALL))) {
            return flows;
        }
    }
    Vec::new()
}

/// The flows that carry packets of this kind.
fn wider_flows(ask: &mut Asker<'_>, kind: Kind, of: u16) -> Vec<u16> {
    (1..of)
        .filter(|&flow| ask.tries(kind.with_flow(flow), ATTEMPTS) == Outcome::Passes)
        .collect()
}
