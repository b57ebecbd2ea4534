//! A transfer over a simulated connection.

use experiment::MESSAGE_HEADER;
use plan::{Setting, setting as spec};

use sim::{Flow, Messages, Tcp};
use units::{Bytes, Span, Time};

use super::elements::{ECHO, TRANSFER, bytes, place, slowest_gap, whole};

/// The time limit of a transfer as a multiple of its time on an idle path, and
/// the additional margin. An incomplete transfer has failed then.
const TIMEOUT_FACTOR: f64 = 100.0;
const TIMEOUT_MARGIN: Span = Span::from_secs(3_600);

/// The flows of a transfer, and the time at which the last source stops.
pub(super) fn of(
    setting: &Setting,
    graph: &spec::Graph,
    transfer: &spec::Transfer,
    settings: &tcp::Settings,
) -> (Vec<Flow>, Time) {
    let all = transfer.warmup + transfer.size;
    let messages = all.get().div_ceil(transfer.message.get());
    let gap = slowest_gap(setting, transfer.message);
    let flow = |name: &str, [from, to]: [&str; 2], bytes, messages| Flow {
        name: name.to_owned(),
        from: place(graph, from),
        to: place(graph, to),
        ip: setting.network.ip,
        start: Time::ZERO,
        stop: None,
        traffic: sim::Traffic::Tcp(Tcp {
            bytes,
            messages: Some(messages),
            ..Tcp::new(settings.clone())
        }),
    };
    let forth = Messages {
        size: transfer.message.get(),
        warmup: transfer.warmup.get(),
        answers: None,
    };
    let mut flows = vec![flow(
        TRANSFER,
        ["sender", "receiver"],
        Some(all.get()),
        forth,
    )];
    if transfer.echo != spec::Echo::Off {
        // The kernel's answers share the connection of the messages; here they
        // have their own, with headers of the same size.
        let back = Messages {
            size: MESSAGE_HEADER.get(),
            warmup: 0,
            answers: Some(0),
        };
        flows.push(flow(ECHO, ["receiver", "sender"], None, back));
    }
    let idle = gap * bytes(Bytes::new(messages));
    let end = Time::ZERO + Span::from_picos(whole(TIMEOUT_FACTOR * idle)) + TIMEOUT_MARGIN;
    (flows, end)
}
