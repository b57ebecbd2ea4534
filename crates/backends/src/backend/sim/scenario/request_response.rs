//! One request and its response through a simulated network.
//!
//! If nothing else is in flight and nothing is random, each message of a size
//! takes as long as the first, and one of each size is sufficient.

use experiment::MESSAGE_HEADER;
use meter::departures::Distribution;
use plan::setting::{Answer, Link};
use plan::{Setting, setting as spec};
use sim::{Datagrams, Flow, Messages, Tcp};
use units::{Bytes, Span, Time};

use super::elements::{ECHO, TRANSFER, bytes, place, slowest_gap, whole};

/// The time limit of a simulated message as a multiple of its time on the
/// slowest link, and the minimum.
const TIMEOUT_FACTOR: f64 = 1_000.0;
const LEAST_TIMEOUT: Span = Span::from_secs(600);

/// The lead time of cross traffic before a message, in its packets. At four
/// fifths of the link rate the queue forgets its initial state within about
/// fifty packets: 1 / (1 - load)^2, twice over.
const SETTLING: u64 = 300;
/// The maximum time in flight of a message on each link with cross traffic, as
/// a multiple of its time on the slowest link, and the minimum.
const UNDER_WAY: f64 = 10.0;
const LEAST: Span = Span::from_millis(1);

/// The lead time of cross traffic before a message of `size` bytes, and its
/// maximum time beside it; `None` without randomness.
pub(in crate::backend::sim) fn settling(setting: &Setting, size: Bytes) -> Option<Span> {
    let links = &setting.network.links;
    let by_chance = |link: &Link| {
        let wire = setting.network.emulated(link);
        let rare = [wire.loss, wire.bit_error_rate, wire.reorder];
        link.cross.is_some() || wire.jitter > Span::ZERO || rare.iter().any(|&share| share > 0.0)
    };
    if !links.iter().any(by_chance) {
        return None;
    }
    let of_others = links.iter().filter_map(|link| {
        let packet = link.framing.wire_size(link.cross?.packet);
        Some(link.rate?.serialise(packet))
    });
    let travel = links.iter().fold(Span::ZERO, |sum, link| {
        let own = Span::from_picos(whole(UNDER_WAY * slowest_gap(setting, size)));
        sum + own + setting.network.emulated(link).delay * 2
    });
    Some((of_others.max().unwrap_or_default() * SETTLING + travel).max(LEAST))
}

/// The flows of a message of `size` bytes and of its answer, and the time
/// at which the last source stops.
pub(super) fn of(
    setting: &Setting,
    graph: &spec::Graph,
    request_response: &spec::RequestResponse,
    size: u32,
) -> (Vec<Flow>, Time) {
    let size = Bytes::new(u64::from(size));
    let answer = match request_response.answer {
        Answer::Acknowledgement => MESSAGE_HEADER,
        Answer::Whole | Answer::Pieces => size,
    };
    let slowest = Span::from_picos(whole(TIMEOUT_FACTOR * slowest_gap(setting, size)));
    let long = slowest.max(LEAST_TIMEOUT);
    let settling = settling(setting, size);
    let timeout = settling.unwrap_or(long);
    let flow = |name: &str, [from, to]: [&str; 2], traffic| Flow {
        name: name.to_owned(),
        from: place(graph, from),
        to: place(graph, to),
        ip: setting.network.ip,
        start: Time::ZERO,
        stop: None,
        traffic,
    };
    let (forth, back) = (["sender", "receiver"], ["receiver", "sender"]);
    let flows = match &request_response.tcp {
        Some(settings) => {
            let connection = |messages: Messages| {
                // The connection exists already: its handshake did not precede
                // the message.
                sim::Traffic::Tcp(Tcp {
                    bytes: messages.answers.is_none().then_some(messages.size),
                    handed: settling.map(|settling| Time::ZERO + settling),
                    messages: Some(messages),
                    ..Tcp::new(settings.clone())
                })
            };
            let messages = |size: Bytes, answers| Messages {
                size: size.get(),
                warmup: 0,
                answers,
            };
            // The kernel's answers share the connection of the messages; here
            // they have their own, with headers of the same size.
            vec![
                flow(TRANSFER, forth, connection(messages(size, None))),
                flow(ECHO, back, connection(messages(answer, Some(0)))),
            ]
        }
        None => {
            // A datagram is answered on arrival. If the answer does not
            // interact with traces of the message, this is equivalent to
            // sending it long after the message.
            let datagram = |size: Bytes, later: u64| {
                sim::Traffic::Datagrams(Datagrams {
                    limit: Some(1),
                    ..Datagrams::new(
                        Distribution::Constant(bytes(Bytes::new(timeout.as_picos() * later))),
                        Distribution::Constant(bytes(size)),
                    )
                })
            };
            vec![
                flow(TRANSFER, forth, datagram(size, 1)),
                flow(ECHO, back, datagram(answer, 2)),
            ]
        }
    };
    (flows, Time::ZERO + long * 4)
}
