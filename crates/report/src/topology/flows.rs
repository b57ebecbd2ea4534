//! The traffic in words, a line for each flow.

use plan::Setting;
use plan::setting::{Echo, Flow, Sends, Traffic};
use units::{Span, Transport};

use super::property::{Property, spaced};

/// The traffic of a trial.
pub(super) fn lines(setting: &Setting) -> Vec<Property> {
    let to = "sender → receiver:";
    let both = "sender ⇄ receiver:";
    match &setting.traffic {
        Traffic::Transfer(transfer) => {
            let size = spaced(&transfer.size.to_string());
            let protocol = transport(transfer.protocol);
            let echo = match transfer.echo {
                Echo::Off => None,
                Echo::Headers => Some("headers of messages"),
                Echo::Whole => Some("whole messages"),
            };
            vec![
                Property::one(to, format!("{size} over {protocol}")),
                Property::one("Messages of", format!("{} B", transfer.message.get())),
                Property::unless(
                    "receiver → sender: echoes of",
                    "nothing",
                    echo.map(ToOwned::to_owned),
                ),
            ]
        }
        Traffic::Command(command) => vec![Property::one(
            "Program in the sender:",
            command.sender.to_string(),
        )],
        Traffic::Flows(flows) => flows.flows.iter().map(flow).collect(),
        Traffic::LatencyBreakdown(trips) => vec![
            Property::one(both, transport(trips.protocol)),
            Property::one("Messages of", format!("{} B", trips.message.get())),
        ],
        Traffic::RequestResponse(requests) => vec![
            Property::one(
                both,
                format!("requests over {}", transport(requests.protocol)),
            ),
            Property::one(
                "Messages of",
                format!("{} to {} B", requests.sizes.from, requests.sizes.to),
            ),
        ],
        Traffic::Probe(probe) => vec![Property::one(
            both,
            format!("probes of up to {} B", probe.up_to.get()),
        )],
    }
}

/// A flow: its name and ends, then its traffic.
fn flow(flow: &Flow) -> Property {
    let arrow = if flow.round_trip { "⇄" } else { "→" };
    let Flow { name, from, to, .. } = flow;
    let protocol = match &flow.sends {
        Sends::Datagrams { .. } => "UDP",
        Sends::Messages { .. } => "messages over TCP",
        Sends::Bytes { .. } => "TCP",
    };
    let several = match flow.count {
        1 => String::new(),
        count => format!("{count} × "),
    };
    let start = match flow.start {
        Span::ZERO => String::new(),
        start => format!(" from {}", spaced(&start.to_string())),
    };
    let stop = flow.stop.map_or_else(String::new, |stop| {
        format!(" until {}", spaced(&stop.to_string()))
    });
    let words = format!("{several}{protocol}{start}{stop}");
    Property::one(format!("{name}: {from} {arrow} {to},"), words)
}

const fn transport(transport: Transport) -> &'static str {
    match transport {
        Transport::Tcp => "TCP",
        Transport::Udp => "UDP",
    }
}
