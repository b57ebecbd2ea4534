//! A little traffic like that of a trial, which shows what frames a path has.

use plan::setting::{Echo, Traffic, Transfer};
use units::{Bytes, Span, Transport};

use super::latency_breakdown::as_transfer;

/// What is sent once through a new test bed to see its frames: enough for
/// TCP to build its largest segments, little enough for a capture to hold.
pub(crate) const INSPECTION: Bytes = Bytes::new(300_000);

/// A message of the pre-roll where goodput counts: long enough for a sender to
/// be faster than any link that the kernel can shape.
pub(crate) const OUTRUNNING: Bytes = Bytes::new(64_000);

/// How long a little traffic that shows the links may take.
const LOOK: Span = Span::from_secs(30);

/// The transfer that an inspection for `traffic` resembles. Where `traffic` is
/// not a transfer itself, a little TCP shows the links and the offloads that it
/// meets.
pub(crate) fn sample(traffic: &Traffic) -> Transfer {
    match traffic {
        Traffic::Transfer(transfer) => transfer.clone(),
        Traffic::Command(command) => Transfer {
            timeout: command.timeout,
            ..little(None)
        },
        Traffic::Flows(flows) => {
            let sockets = flows.sockets.as_ref();
            little(sockets.and_then(|sockets| sockets.receive_buffer))
        }
        Traffic::RequestResponse(request_response) => little(request_response.receive_buffer),
        Traffic::LatencyBreakdown(trips) => Transfer {
            protocol: Transport::Tcp,
            message: OUTRUNNING,
            ..as_transfer(trips)
        },
    }
}

fn little(receive_buffer: Option<Bytes>) -> Transfer {
    Transfer {
        protocol: Transport::Tcp,
        size: INSPECTION,
        message: OUTRUNNING,
        preroll: Bytes::ZERO,
        cpu_size: Bytes::ZERO,
        send_buffer: None,
        receive_buffer,
        nagle: false,
        echo: Echo::Off,
        timeout: LOOK,
        tcp: None,
    }
}
