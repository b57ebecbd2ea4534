//! The time that the links of a path are busy with one message.

use plan::setting::Network;
use units::{Bytes, Framing, Span, Transport};

use crate::pace::Paced;

/// The time from the first byte on the first link to the last one off the last
/// link, if every node stores and forwards and propagation takes no time.
/// Kernel links, whose buckets pass a single message without delay, and links
/// without a rate contribute zero.
pub(super) fn transmission(
    network: &Network,
    paced: Paced,
    protocol: Transport,
    message: Bytes,
) -> Span {
    let (Some(mtu), Paced::Emulator) = (network.path_mtu(), paced) else {
        return Span::ZERO;
    };
    let packets = model::packets(message, mtu, network.ip, protocol);
    // The time at which each packet has left the links so far.
    let mut off = vec![Span::ZERO; packets.len()];
    for link in &network.links {
        let Some(rate) = link.rate else { continue };
        let mut free = Span::ZERO;
        for (off, packet) in off.iter_mut().zip(&packets) {
            let takes = model::serialisation(rate, *packet, Framing::Ethernet);
            // Cut-through switches begin when the frame begins to arrive.
            let begins = match network.cut_through {
                true => free,
                false => free.max(*off),
            };
            free = (begins + takes).max(*off);
            *off = free;
        }
    }
    off.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::Experiment;
    use plan::Backend;

    fn of(shape: &str, mtu: u32, message: u64) -> Span {
        let text = format!(
            "format = 1\nname = \"t\"\n[network]\nshape = \"{shape}\"\nlink = \"emulated\"\nrate = \"1gbit\"\nip = 4\n[sweep]\nmtu = [{mtu}]\n[aliases]\nmtu = \"network.mtu\"\n"
        );
        let experiment = Experiment::parse(&text, "t").unwrap();
        let plan = crate::backend::plan(experiment, Backend::Netns).unwrap();
        let setting = plan.cells[0].setting.as_ref().unwrap();
        let message = Bytes::new(message);
        transmission(&setting.network, Paced::Emulator, Transport::Udp, message)
    }

    #[test]
    fn one_link_takes_the_bytes_of_wire_and_each_switch_the_last_frame_once_more() {
        // 11 000 bytes are eight fragments of up to 1518 and 20 of preamble and
        // gap, or two of up to 9018: 91.8 us, and 89.0 us.
        let micros = |span: Span| span.as_secs_f64() * 1e6;
        assert!((micros(of("pair", 1500, 11_000)) - 91.8).abs() < 0.1);
        assert!((micros(of("pair", 9000, 11_000)) - 89.0).abs() < 0.1);
        assert!((micros(of("switched", 1500, 11_000)) - 104.1).abs() < 0.1);
        assert!((micros(of("switched", 9000, 11_000)) - 161.3).abs() < 0.1);
    }
}
