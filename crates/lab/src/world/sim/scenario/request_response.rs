//! One message and its answer through a simulated network.
//!
//! Where nothing else is in flight and nothing is left to chance, each message of a
//! size takes as long as the first: one of each is enough.

use experiment::MESSAGE_HEADER;
use plan::setting::{Answer, Link};
use plan::{Setting, setting as spec};
use proto::traffic::Law;
use sim::{Datagrams, Flow, Messages, Tcp};
use units::{Bytes, Span, Time};

use super::elements::{ECHO, TRANSFER, octets, place, slowest_gap, whole};

/// How many times as long as the slowest link takes for a message anything may
/// take that is simulated of it, and the least of that.
const TIMEOUT_FACTOR: f64 = 1_000.0;
const LEAST_TIMEOUT: Span = Span::from_secs(600);

/// For how many of their packets others have a link to themselves before a message
/// goes. At four fifths of its rate what waits forgets how it began within some
/// fifty: 1 / (1 - load)^2, twice over.
const SETTLING: u64 = 300;
/// How many times as long as the slowest link takes for a message it may be in flight
/// on each link, while others send, and the least of all that.
const UNDER_WAY: f64 = 10.0;
const LEAST: Span = Span::from_millis(1);

/// For how long others send before a message of `size` octets goes, and may send
/// while it does; `None` where nothing is left to chance.
pub(in crate::world::sim) fn settling(setting: &Setting, size: Bytes) -> Option<Span> {
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

/// The flows of a message of `size` octets and of its answer, and when the last
/// source stops.
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
                // It was there before: what a message meets, its handshake has not
                // met just before.
                sim::Traffic::Tcp(Tcp {
                    octets: messages.answers.is_none().then_some(messages.size),
                    handed: settling.map(|settling| Time::ZERO + settling),
                    messages: Some(messages),
                    ..Tcp::new(settings.clone())
                })
            };
            let messages = |size: Bytes, answers| Messages {
                size: size.get(),
                preroll: 0,
                answers,
            };
            // The kernel's answers share the connection of the messages; here
            // they have one of their own, whose headers are as long.
            vec![
                flow(TRANSFER, forth, connection(messages(size, None))),
                flow(ECHO, back, connection(messages(answer, Some(0)))),
            ]
        }
        None => {
            // A datagram is answered when it is there: where the answer meets
            // nothing that the message met, that is the same as if it left long
            // after it.
            let datagram = |size: Bytes, later: u64| {
                sim::Traffic::Datagrams(Datagrams {
                    limit: Some(1),
                    ..Datagrams::new(
                        Law::Constant(octets(Bytes::new(timeout.as_picos() * later))),
                        Law::Constant(octets(size)),
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
