//! Packets through the core of a gateway, on one processor: into bundles, and into them
//! and out again, over 1000 flows. Prints allocations, too: in the steady state there is
//! one for a bundle and none for a packet in it.
//!
//!     cargo bench -p jumbolab-gateway

use std::net::Ipv4Addr;

use divan::counter::ItemsCount;
use divan::{AllocProfiler, Bencher};
use jumbolab_gateway::machine::{
    Encapsulation, Gateway, Identity, Peer, Sealing, Settings, Table, Transmit,
};
use link::edge::Prefix;
use units::{IpMtu, IpVersion, Span, Time};
use wire::datagram::Datagram;
use wire::protocol::ip::Addresses;

#[global_allocator]
static ALLOC: AllocProfiler = AllocProfiler::system();

const FLOWS: usize = 1_000;
/// Packets that come before the gateway is asked for what to send, as from a socket.
const BATCH: usize = 32;
/// Bytes of IP: frames of 64 and of 200 bytes.
const SIZES: [usize; 2] = [46, 182];

fn main() {
    divan::main();
}

fn packets(size: usize) -> Vec<Vec<u8>> {
    let packet = |flow: usize| {
        let length = u16::try_from(size - 20).unwrap();
        let [high, low] = u16::try_from(flow).unwrap().to_be_bytes();
        let addresses = Addresses::V4([
            Ipv4Addr::new(10, 0, high, low),
            Ipv4Addr::new(192, 0, high, low),
        ]);
        let datagram = Datagram::unfragmented(addresses, [4_000, 5_000], length);
        let mut bytes = vec![0; datagram.packet_len()];
        datagram.emit(&mut bytes).unwrap();
        bytes
    };
    (0..FLOWS).map(packet).collect()
}

fn gateways(sealed: bool) -> [Gateway; 2] {
    let ends: [Ipv4Addr; 2] = [[198, 51, 100, 1].into(), [198, 51, 100, 2].into()];
    [(ends, 1), ([ends[1], ends[0]], 2)].map(|(ends, entropy)| {
        let peer = Peer {
            encapsulation: Encapsulation::Udp {
                addresses: Addresses::V4(ends),
                port: 49_152,
            },
            mtu: IpMtu::new(9_000, IpVersion::V4).unwrap(),
            dscp: None,
            sealing: sealed.then(|| {
                let [here, there] =
                    [entropy, 3 - entropy].map(|byte| Identity::new([byte; 32].into()));
                Sealing::new(here, *there.public())
            }),
        };
        let settings = Settings {
            shaping: false,
            entropy: [entropy; 32],
            ..Settings::new(vec![peer])
        };
        let mut gateway = Gateway::new(settings).unwrap();
        gateway.set_table(Table::new(&[Prefix {
            network: [192, 0, 0, 0].into(),
            length: 16,
            next_as: 0,
            egress: 0,
        }]));
        gateway
    })
}

/// Lets the gateways agree on keys.
fn shake_hands(gateways: &mut [Gateway; 2]) {
    for from in [0, 1, 0, 1, 0, 1, 0, 1] {
        let [one, other] = gateways;
        let (here, there) = if from == 0 {
            (one, other)
        } else {
            (other, one)
        };
        while let Some(Transmit::Core { bytes, .. }) = here.poll_transmit(Time::ZERO) {
            there.receive_core(Time::ZERO, bytes);
        }
    }
}

/// Sends `BATCH` packets, and hands what is due to `carry`.
fn step(
    gateway: &mut Gateway,
    packets: &[Vec<u8>],
    next: &mut usize,
    now: &mut Time,
    mut carry: impl FnMut(Time, &[u8]),
) {
    for _ in 0..BATCH {
        *now += Span::from_nanos(500);
        gateway.receive_inside(*now, &packets[*next]);
        *next = (*next + 1) % FLOWS;
    }
    gateway.handle_timeout(*now);
    while let Some(transmit) = gateway.poll_transmit(*now) {
        if let Transmit::Core { bytes, .. } = transmit {
            carry(*now, bytes);
        }
    }
}

/// Packets to so many peers in turn, with all that a driver asks after each batch.
#[divan::bench(args = [1, 100, 1_000])]
fn into_bundles_to_many_peers(bencher: Bencher<'_, '_>, peers: usize) {
    let packets = packets(SIZES[0]);
    let peer = |number: usize| {
        let [high, low] = u16::try_from(number).unwrap().to_be_bytes();
        let ends = [[198, 51, 100, 1].into(), [198, 18, high, low].into()];
        Peer {
            encapsulation: Encapsulation::Udp {
                addresses: Addresses::V4(ends),
                port: 49_152,
            },
            mtu: IpMtu::new(9_000, IpVersion::V4).unwrap(),
            dscp: None,
            sealing: None,
        }
    };
    let mut gateway = Gateway::new(Settings::new((0..peers).map(peer).collect())).unwrap();
    let row = |flow: usize| {
        let [high, low] = u16::try_from(flow).unwrap().to_be_bytes();
        Prefix {
            network: [192, 0, high, low].into(),
            length: 32,
            next_as: 0,
            egress: flow % peers,
        }
    };
    gateway.set_table(Table::new(&(0..FLOWS).map(row).collect::<Vec<_>>()));
    let (mut next, mut now) = (0, Time::ZERO);
    bencher.counter(ItemsCount::new(BATCH)).bench_local(|| {
        step(&mut gateway, &packets, &mut next, &mut now, |_, _| ());
        divan::black_box((gateway.next_timeout(now), gateway.waiting()));
    });
}

#[divan::bench(args = SIZES)]
fn into_bundles(bencher: Bencher<'_, '_>, size: usize) {
    let packets = packets(size);
    let [mut gateway, _] = gateways(false);
    let (mut next, mut now) = (0, Time::ZERO);
    bencher
        .counter(ItemsCount::new(BATCH))
        .bench_local(|| step(&mut gateway, &packets, &mut next, &mut now, |_, _| ()));
}

fn there_and_out(bencher: Bencher<'_, '_>, size: usize, sealed: bool) {
    let packets = packets(size);
    let mut both = gateways(sealed);
    shake_hands(&mut both);
    let [mut one, mut other] = both;
    let (mut next, mut now) = (0, Time::ZERO);
    bencher.counter(ItemsCount::new(BATCH)).bench_local(|| {
        step(&mut one, &packets, &mut next, &mut now, |now, bytes| {
            other.receive_core(now, bytes);
            while let Some(transmit) = other.poll_transmit(now) {
                divan::black_box(transmit);
            }
        });
    });
}

#[divan::bench(args = SIZES)]
fn into_bundles_and_out(bencher: Bencher<'_, '_>, size: usize) {
    there_and_out(bencher, size, false);
}

#[divan::bench(args = SIZES)]
fn into_sealed_bundles_and_out(bencher: Bencher<'_, '_>, size: usize) {
    there_and_out(bencher, size, true);
}
