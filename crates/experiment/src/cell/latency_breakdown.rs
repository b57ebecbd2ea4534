//! Reads `[traffic]` of `kind = "latency-breakdown"`: round trips split into
//! stages.

use anyhow::Result;
use keyfile::quantity::{number, span, switch, word};
use plan::setting::{Inject, InjectionPoint, LatencyBreakdown, LinkKind, Network};
use units::{IpMtu, Span, Transport};

use super::traffic::{message, socket_buffer, timeout};
use crate::reader::{Reader, Spanned};

/// The maximum number of messages; both ends keep all round trips until the
/// trial ends.
const MOST_MESSAGES: u32 = 10_000;

/// The longest time that can be injected, to avoid timeouts.
const LONGEST: Span = Span::from_millis(100);

/// The latency breakdown over `network`, whose links have these MTUs.
pub(super) fn read(
    reader: &mut Reader<'_>,
    network: &Network,
    mtus: &[Spanned<IpMtu>],
) -> Result<LatencyBreakdown> {
    let protocols = word(&[("tcp", Transport::Tcp), ("udp", Transport::Udp)]);
    let protocol = reader.read("traffic.protocol", protocols)?.value;
    let message = message(reader, protocol, network.ip, mtus)?;
    let messages = reader.read("traffic.messages", number(1, MOST_MESSAGES.into()))?;
    let copy = reader.read("traffic.copying", switch)?.value;
    let checksum = reader.read("traffic.checksum", switch)?;
    if !checksum.value && protocol == Transport::Tcp {
        return Err(checksum.reject("TCP has no segment without a checksum; write \"on\""));
    }
    let nagle = reader.read("traffic.nagle", switch)?.value;
    Ok(LatencyBreakdown {
        protocol,
        message,
        messages: u32::try_from(messages.value).unwrap_or(MOST_MESSAGES),
        copy,
        checksum: checksum.value,
        inject: inject(reader, network.link)?,
        send_buffer: socket_buffer(reader, "traffic.send_buffer")?,
        receive_buffer: socket_buffer(reader, "traffic.receive_buffer")?,
        nagle,
        timeout: timeout(reader, "round trip")?,
    })
}

/// The deliberate extra time, if any.
fn inject(reader: &mut Reader<'_>, link: LinkKind) -> Result<Option<Inject>> {
    let points = word(&[
        ("none", None),
        ("send", Some(InjectionPoint::Send)),
        ("wire", Some(InjectionPoint::Wire)),
        ("receive", Some(InjectionPoint::Receive)),
        ("echo", Some(InjectionPoint::Echo)),
    ]);
    let point = reader.read("traffic.inject.place", points)?;
    let length = reader.read("traffic.inject.span", span)?;
    if length.value > LONGEST {
        return Err(length.reject("write at most \"100ms\""));
    }
    if point.value == Some(InjectionPoint::Wire) && link == LinkKind::Kernel {
        return Err(point.reject("only an emulated link can be longer; write link = \"emulated\""));
    }
    Ok(point.value.map(|point| Inject {
        point,
        span: length.value,
    }))
}
