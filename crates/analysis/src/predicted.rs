//! Predicts goodput from a setting by closed forms.

use model::Growth;
use plan::Setting;
use plan::setting::{Link, Network};
use units::{Bytes, Framing, IpMtu, Rate, Span, Transport};

/// The goodput in Mbit/s of one long TCP flow, or `None` without a closed form.
/// There is none without delay, loss or bit errors, when hosts and framing
/// decide; with jitter or reordering, which TCP sometimes takes for loss;
/// through a link that silently drops full packets; and for anything but Reno
/// and CUBIC over TCP.
///
/// The flow is in its steady state: start-up and timeouts are not included.
pub fn goodput(setting: &Setting) -> Option<f64> {
    let network = &setting.network;
    let transfer = setting.traffic.transfer()?;
    let tcp = transfer.protocol == Transport::Tcp;
    let alone = network.links.iter().all(|link| link.cross.is_none());
    if !tcp || !alone || !decides(network) || !in_order(network) || swallows(network) {
        return None;
    }
    let mtu = network.path_mtu()?;
    let segment = model::payload_per_packet(mtu, network.ip, Transport::Tcp)?;
    let frame = Framing::Ethernet.frame_size(mtu.bytes());
    let losses = network.links.iter().map(|link| &link.impairments);
    let loss = model::path_loss(
        losses.map(|impairments| (impairments.loss, impairments.bit_error_rate)),
        frame,
    );
    let trip = round_trip(network, mtu);
    let window = match setting.host.congestion.as_str() {
        // Linux counts segments, not acknowledgements (`tcp_reno_cong_avoid`),
        // so delayed acknowledgements do not slow it down.
        "reno" => model::reno_window(loss, Growth::Segments),
        "cubic" => model::cubic_window(loss, trip),
        _ => return None,
    };
    let by_loss = window.and_then(|window| model::window_rate(window, segment, trip));
    let limit =
        |rate: Rate| model::goodput_limit(rate, mtu, network.ip, Transport::Tcp, Framing::Ethernet);
    let by_links = network.links.iter().filter_map(|link| limit(link.rate?));
    by_links
        .chain(by_loss)
        .min_by(f64::total_cmp)
        .map(|bits| bits / 1e6)
}

/// Whether a closed form adds information beyond framing.
fn decides(network: &Network) -> bool {
    network.links.iter().any(|Link { impairments, .. }| {
        impairments.delay > Span::ZERO || impairments.loss > 0.0 || impairments.bit_error_rate > 0.0
    })
}

fn in_order(network: &Network) -> bool {
    let mut links = network.links.iter();
    links.all(|Link { impairments, .. }| {
        impairments.jitter == Span::ZERO && impairments.reorder <= 0.0
    })
}

/// Whether a link silently drops packets that are too large for it.
fn swallows(network: &Network) -> bool {
    let mut narrow = network
        .links
        .iter()
        .filter_map(|link| link.impairments.narrow);
    narrow.any(|narrow| !narrow.answers)
}

/// The round-trip time of a full frame and its acknowledgement with empty
/// queues: every link delays both, and stores them unless it cuts through.
fn round_trip(network: &Network, mtu: IpMtu) -> Span {
    let acknowledgement = network.ip.header() + Transport::Tcp.header();
    let header = Framing::PREAMBLE + Framing::MAC_HEADER;
    let crossing = |link: &Link, packet: Bytes, stored: bool| {
        let serialise = |rate: Rate| match stored {
            true => model::serialisation(rate, packet, Framing::Ethernet),
            false => rate.serialise(header),
        };
        link.impairments.delay + link.rate.map_or(Span::ZERO, serialise)
    };
    // A host waits for the whole frame; a cut-through switch does not.
    let last = network.links.len().saturating_sub(1);
    let stored = |hop: usize| !network.cut_through || hop == last;
    let links = network.links.iter().enumerate();
    links.fold(Span::ZERO, |sum, (hop, link)| {
        sum + crossing(link, mtu.bytes(), stored(hop))
            + crossing(link, acknowledgement, stored(last - hop))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::setting::{Narrow, Traffic};
    use plan::synthetic;
    use units::IpVersion;

    /// 100 Mbit/s, two links of `millis` in each direction and `loss` altogether.
    fn setting(mtu: i64, congestion: &str, millis: u64, loss: f64) -> Setting {
        let mut setting = synthetic::setting(mtu, false);
        setting.host.congestion = congestion.into();
        for link in &mut setting.network.links {
            link.rate = Rate::from_bits_per_second(100_000_000);
            link.impairments.delay = Span::from_millis(millis);
        }
        setting.network.links[0].impairments.loss = loss;
        setting
    }

    fn near(value: Option<f64>, expected: f64) {
        let off = (value.unwrap() / expected - 1.0).abs();
        assert!(off < 1e-3, "{value:?} is not {expected}");
    }

    #[test]
    fn goodput_is_a_window_a_round_trip_where_loss_decides() {
        // 12.247 segments of 1428 bytes in 40 ms, 2 (123 + 9) us of them on the impairments.
        let trip = 0.040 + 2.0 * (1538.0 + 110.0) * 8.0 / 1e8;
        let expected = 12.247 * 1428.0 * 8.0 / trip / 1e6;
        near(goodput(&setting(1500, "reno", 10, 0.01)), expected);
        near(goodput(&setting(1500, "cubic", 10, 0.01)), expected);
    }

    #[test]
    fn a_larger_segment_gains_almost_its_ratio_where_loss_decides() {
        let of = |mtu| goodput(&setting(mtu, "reno", 10, 0.01)).unwrap();
        let gain = of(9000) / of(1500);
        assert!((6.05..8928.0 / 1428.0).contains(&gain), "{gain}");
    }

    #[test]
    fn goodput_is_never_above_what_framing_leaves() {
        for loss in [0.0, 1e-9, 1e-6] {
            near(
                goodput(&setting(1500, "reno", 1, loss)),
                100.0 * 1428.0 / 1538.0,
            );
        }
    }

    #[test]
    fn both_links_lose_and_bit_errors_hit_the_whole_frame() {
        let mut one = setting(9000, "reno", 25, 0.0);
        one.network.links[0].impairments.bit_error_rate = 1e-7;
        let mut both = one.clone();
        both.network.links[1].impairments.bit_error_rate = 1e-7;
        let (one, both) = (goodput(&one).unwrap(), goodput(&both).unwrap());
        // Twice the loss, but for frames that both links would have lost.
        let ratio = one / both;
        assert!((1.40..2f64.sqrt()).contains(&ratio), "{ratio}");
    }

    #[test]
    fn a_switch_that_cuts_through_shortens_the_trip_by_what_it_does_not_store() {
        let stored = setting(1500, "reno", 10, 0.01);
        let mut cut = stored.clone();
        cut.network.cut_through = true;
        let mtu = stored.network.path_mtu().unwrap();
        let trips = [&stored, &cut].map(|setting| round_trip(&setting.network, mtu));
        // A frame of 1538 bytes and one of 110, but for 22 bytes of each.
        let saved = Span::from_nanos((1538 + 110 - 2 * 22) * 80);
        assert_eq!(trips[0] - trips[1], saved);
    }

    #[test]
    fn where_no_closed_form_holds_there_is_none() {
        assert_eq!(goodput(&synthetic::setting(1500, false)), None);
        assert_eq!(goodput(&setting(1500, "bbr", 10, 0.01)), None);
        let mut overtaken = setting(1500, "reno", 10, 0.01);
        overtaken.network.links[0].impairments.reorder = 0.01;
        let mut swallowed = setting(1500, "reno", 10, 0.01);
        swallowed.network.links[0].impairments.narrow = Some(Narrow {
            mtu: IpMtu::new(1400, IpVersion::V6).unwrap(),
            answers: false,
        });
        assert_eq!(goodput(&overtaken), None);
        assert_eq!(goodput(&swallowed), None);
        let mut datagrams = setting(1500, "reno", 10, 0.01);
        if let Traffic::Transfer(transfer) = &mut datagrams.traffic {
            transfer.protocol = Transport::Udp;
        }
        assert_eq!(goodput(&datagrams), None);
    }
}
