//! What it costs to pack a bundle, to inspect it, to drop packets out of it, and
//! to unpack it; and how many octets are moved for each packet that is dropped.
//!
//!     cargo bench -p jumbolab-wire
//!
//! A bundle is of packets of one size, as many as fit the MTU. Times are of a
//! packet: of a bundle divided by its packets, or by those that are dropped.

use core::net::Ipv6Addr;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use jumbolab_wire::bundle::{Carriage, Carried, Packing, Piece, Unit};
use jumbolab_wire::protocol::ip::Addresses;

/// Octets of IP that a bundle may have, and of the packets in it.
const SIZES: [(usize, usize); 4] = [(3_000, 64), (9_000, 64), (9_000, 576), (9_000, 1_460)];

/// Bundles of a sample.
const BUNDLES: usize = 64;

fn main() {
    print_moved();
    divan::main();
}

/// How packets are dropped out of a bundle.
#[derive(Clone, Copy, Debug)]
enum DropMethod {
    /// From the front on, all at once, nothing moved.
    Front,
    /// Likewise, one by one.
    FrontEach,
    /// Anywhere in it, what is left moved together at the end.
    Random,
    /// Anywhere in it, all that follows moved up each time.
    RandomEach,
}

const DROP_METHODS: [DropMethod; 4] = [
    DropMethod::Front,
    DropMethod::FrontEach,
    DropMethod::Random,
    DropMethod::RandomEach,
];

/// The carriages that differ in what an inner drop must change: with UDP there is a
/// checksum over all.
fn carriages() -> [(&'static str, Carriage); 2] {
    let ends = [1, 2].map(|end| Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, end));
    let (addresses, service) = (Addresses::V6(ends), 0);
    let udp = Carriage::Udp {
        addresses,
        service,
        port: 49_152,
    };
    [("ip", Carriage::Ip { addresses, service }), ("udp", udp)]
}

/// What carries, the MTU, and the size of packets.
type Case = (&'static str, Carriage, usize, usize);

fn cases() -> Vec<String> {
    all().iter().map(name).collect()
}

fn all() -> Vec<Case> {
    let sizes = SIZES.into_iter();
    sizes
        .flat_map(|(mtu, size)| carriages().map(|(name, carriage)| (name, carriage, mtu, size)))
        .collect()
}

fn name((name, _, mtu, size): &Case) -> String {
    format!("{size} B in {mtu} B over {name}")
}

fn case(wanted: &str) -> Case {
    let mut all = all().into_iter();
    all.find(|case| name(case) == wanted)
        .expect("it is one of them")
}

fn packing(carriage: Carriage) -> Packing {
    Packing {
        carriage,
        unit: Unit::Microsecond,
        sequence: 0,
    }
}

/// The packets of a case.
fn packets((_, carriage, mtu, size): Case) -> Vec<Vec<u8>> {
    let empty = packing(carriage).packet_len(0, 0);
    let each = packing(carriage).packet_len(1, size) - empty;
    let octets = (0u8..=255).cycle();
    (0..(mtu - empty) / each)
        .map(|number| octets.clone().skip(number % 256).take(size).collect())
        .collect()
}

fn pieces(packets: &[Vec<u8>]) -> Vec<Piece<'_>> {
    let waited = 0;
    packets
        .iter()
        .map(|octets| Piece { octets, waited })
        .collect()
}

fn packed(case: Case) -> Vec<u8> {
    let packets = packets(case);
    let mut octets = vec![0; case.2];
    let length = packing(case.1).emit(&pieces(&packets), &mut octets);
    octets.truncate(length.expect("it fits"));
    octets
}

/// Every other packet, in no order.
fn victims(count: u16) -> Vec<u16> {
    let mut victims: Vec<u16> = (0..count).collect();
    victims.sort_by_key(|number| u32::from(*number).wrapping_mul(2_654_435_761) >> 7 & 0xffff);
    victims.truncate(usize::from(count / 2));
    victims
}

/// Drops half of its packets. Returns how many octets were moved.
fn halve(carried: &mut Carried<Vec<u8>>, method: DropMethod, victims: &[u16]) -> usize {
    match method {
        DropMethod::Front => {
            carried.drop_inner(carried.header().count / 2);
            0
        }
        DropMethod::FrontEach => {
            victims.iter().for_each(|_| {
                carried.drop_inner(1);
            });
            0
        }
        DropMethod::Random => {
            victims.iter().for_each(|index| {
                carried.discard(*index);
            });
            carried.compact()
        }
        DropMethod::RandomEach => {
            let each = |index: &u16| {
                carried.discard(*index);
                carried.compact()
            };
            victims.iter().map(each).sum()
        }
    }
}

#[divan::bench(args = cases())]
fn pack(bencher: Bencher<'_, '_>, wanted: &str) {
    let case = case(wanted);
    let packets = packets(case);
    let pieces = pieces(&packets);
    let mut octets = vec![0; case.2];
    let items = ItemsCount::new(BUNDLES * packets.len());
    bencher.counter(items).bench_local(|| {
        for _ in 0..BUNDLES {
            let length = packing(case.1).emit(black_box(&pieces), &mut octets);
            black_box(length.expect("it fits"));
        }
    });
}

#[divan::bench(args = cases())]
fn inspect(bencher: Bencher<'_, '_>, wanted: &str) {
    let octets = packed(case(wanted));
    let bundle = Carried::parse(&octets).expect("it is one");
    let items = ItemsCount::new(BUNDLES * usize::from(bundle.header().count));
    bencher.counter(items).bench_local(|| {
        for _ in 0..BUNDLES {
            let bundle = Carried::parse(black_box(&octets)).expect("it is one");
            black_box((bundle.live(), bundle.live_octets()));
        }
    });
}

#[divan::bench(args = cases())]
fn unpack(bencher: Bencher<'_, '_>, wanted: &str) {
    let octets = packed(case(wanted));
    let bundle = Carried::parse(&octets).expect("it is one");
    let items = ItemsCount::new(BUNDLES * usize::from(bundle.header().count));
    let mut out = Vec::with_capacity(octets.len());
    bencher.counter(items).bench_local(|| {
        for _ in 0..BUNDLES {
            let bundle = Carried::parse(black_box(&octets)).expect("it is one");
            assert!(bundle.checksum_holds());
            for inner in bundle.packets() {
                out.clear();
                out.extend_from_slice(inner.octets);
                black_box((&out, inner.waited));
            }
        }
    });
}

#[divan::bench(args = cases())]
fn thin_front(bencher: Bencher<'_, '_>, wanted: &str) {
    drop_inner(bencher, case(wanted), DropMethod::Front);
}

#[divan::bench(args = cases())]
fn thin_front_one_by_one(bencher: Bencher<'_, '_>, wanted: &str) {
    drop_inner(bencher, case(wanted), DropMethod::FrontEach);
}

#[divan::bench(args = cases())]
fn thin_random_and_compact(bencher: Bencher<'_, '_>, wanted: &str) {
    drop_inner(bencher, case(wanted), DropMethod::Random);
}

#[divan::bench(args = cases())]
fn thin_random_and_compact_each(bencher: Bencher<'_, '_>, wanted: &str) {
    drop_inner(bencher, case(wanted), DropMethod::RandomEach);
}

fn drop_inner(bencher: Bencher<'_, '_>, case: Case, method: DropMethod) {
    let bundle = Carried::parse(packed(case)).expect("it is one");
    let victims = victims(bundle.header().count);
    bencher
        .counter(ItemsCount::new(BUNDLES * victims.len()))
        .with_inputs(|| vec![bundle.clone(); BUNDLES])
        .bench_local_values(|mut bundles| {
            for bundle in &mut bundles {
                black_box(halve(bundle, method, &victims));
            }
            bundles
        });
}

/// Says how many octets each method moves.
#[expect(clippy::print_stdout, reason = "figures of a benchmark")]
fn print_moved() {
    println!("octets moved for each packet dropped, half of a bundle; from the front none:");
    for case in all().into_iter().step_by(2) {
        let (_, _, mtu, size) = case;
        let [_, _, once, each] = DROP_METHODS.map(|method| {
            let mut bundle = Carried::parse(packed(case)).expect("it is one");
            let victims = victims(bundle.header().count);
            halve(&mut bundle, method, &victims) / victims.len()
        });
        println!("  {size} B in {mtu} B: random {once}, moved up each time {each}");
    }
}
