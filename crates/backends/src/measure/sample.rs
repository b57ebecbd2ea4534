//! Sample traffic that reveals the frames of a path.

use plan::setting::{Echo, Traffic, Transfer};
use units::{Bytes, Span, Transport};

use super::latency_breakdown::as_transfer;

/// The bytes sent once through a new test network to inspect its frames: enough
/// for TCP to build its largest segments, and few enough for a capture.
pub(crate) const INSPECTION: Bytes = Bytes::new(300_000);

/// The size of warm-up messages before goodput is counted: long enough for a
/// sender to exceed the rate of any link that the kernel can shape.
pub(crate) const OUTRUNNING: Bytes = Bytes::new(64_000);

/// The time limit of the sample traffic.
const LOOK: Span = Span::from_secs(30);

/// The transfer for an inspection before `traffic`. If `traffic` is not a
/// transfer, a short TCP transfer inspects the links and offloads; `None`: the
/// traffic looks for what a transfer might not survive.
pub(crate) fn sample(traffic: &Traffic) -> Option<Transfer> {
    Some(match traffic {
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
        Traffic::Probe(_) => return None,
        Traffic::LatencyBreakdown(trips) => Transfer {
            protocol: Transport::Tcp,
            message: OUTRUNNING,
            ..as_transfer(trips)
        },
    })
}

fn little(receive_buffer: Option<Bytes>) -> Transfer {
    Transfer {
        protocol: Transport::Tcp,
        size: INSPECTION,
        message: OUTRUNNING,
        warmup: Bytes::ZERO,
        cpu_bytes: Bytes::ZERO,
        send_buffer: None,
        receive_buffer,
        nagle: false,
        echo: Echo::Off,
        timeout: LOOK,
        tcp: None,
    }
}
