//! The generator: frames of many flows through a packet socket.

use os::clock::monotonic;
use os::frames::{Frame, Pool};
use os::kernel_clock::monotonic_nanos;
use os::pacing::Pacer;
use os::port::{Port, Purpose};
use units::Span;
use wire::datagram::Datagram;
use wire::protocol::ip::Addresses;

use crate::Result;
use crate::load::{FLOWS, Load};
use crate::sink::PORT;

/// The time between bursts of a paced load.
const GAP: Span = Span::from_micros(50);
/// Frames per call.
const BATCH: usize = 64;
/// Bytes of headers in front of the payload.
const HEADERS: usize = 14 + 20 + 8;

/// Sends the load to the Ethernet address `to`. Prints how many datagrams were sent.
pub(crate) fn run(load: &str, to: &str) -> Result<()> {
    let load = Load::of_name(load)?;
    let mut link = [0; 6];
    for (byte, digits) in link.iter_mut().zip(to.split(':')) {
        *byte = u8::from_str_radix(digits, 16)?;
    }
    let purpose = Purpose {
        noun: "a generator",
        verb: "sending",
    };
    let mut port = Port::open("eth0", purpose)?;
    let pool = Pool::default();
    let frames = (0..FLOWS).map(|flow| Ok(pool.frame(&frame(&load, link, flow, None)?)));
    let mut frames: Vec<Frame> = frames.collect::<Result<_>>()?;
    let pacer = Pacer::sleeping()?;
    let begun = monotonic();
    let length = Span::from_millis(load.millis);
    let (mut sent, mut place) = (0_u64, 0);
    loop {
        let elapsed = monotonic().since(begun).unwrap_or_default();
        if elapsed >= length {
            break;
        }
        let due = load.pace.map_or(u64::MAX, |pace| {
            pace * elapsed.as_nanos() / 1_000_000_000 + 1
        });
        let count = usize::try_from(due - sent.min(due))?.min(BATCH);
        let count = count.min(FLOWS - place);
        if count == 0 {
            // Others use the processor until then.
            pacer.wait_until(monotonic() + GAP);
            continue;
        }
        let batch = &mut frames[place..place + count];
        for (flow, one) in (place..).zip(batch.iter_mut()) {
            if flow % load.probes == 0 {
                *one = pool.frame(&frame(&load, link, flow, Some(monotonic_nanos()))?);
            }
        }
        port.send(batch)?;
        sent += count as u64;
        place = (place + count) % FLOWS;
    }
    println!("{}", sent - port.rejected().unsent);
    Ok(())
}

/// A frame of a flow; a probe carries the time at which it is sent.
fn frame(load: &Load, to: [u8; 6], flow: usize, probe: Option<u64>) -> Result<Vec<u8>> {
    let length = load.frame - 4 - 14 - 20;
    let (host, port) = match probe {
        Some(_) => (2, PORT),
        None => (3, 9),
    };
    let addresses = Addresses::V4([[10, 1, 0, 2].into(), [10, 2, 0, host].into()]);
    let ports = [10_000 + u16::try_from(flow)?, port];
    let datagram = Datagram {
        ethernet: Some([to, [2, 0, 0, 0, 0, 1]]),
        ..Datagram::unfragmented(addresses, ports, length)
    };
    let mut bytes = vec![0; datagram.packet_len()];
    datagram.emit(&mut bytes)?;
    bytes[HEADERS..HEADERS + 8].copy_from_slice(&probe.unwrap_or(0).to_be_bytes());
    Ok(bytes)
}
