//! Costs of packing, inspecting, dropping from and unpacking a bundle, and the bytes
//! moved for each dropped packet.
//!
//!     cargo bench -p jumbolab-wire
//!
//! All packets of a bundle have one size, and the bundle holds as many as fit the MTU.
//! Times are per packet: the time of a bundle divided by its packets, or by the dropped
//! ones.

use core::net::Ipv6Addr;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use jumbolab_wire::bundle::{Carried, Encapsulation, Packing, Piece, Unit};
use jumbolab_wire::protocol::ip::Addresses;

/// Largest size of a bundle, and the size of its packets, in bytes of IP.
const SIZES: [(usize, usize); 4] = [(3_000, 64), (9_000, 64), (9_000, 576), (9_000, 1_460)];

/// Bundles per sample.
const BUNDLES: usize = 64;

fn main() {
    print_moved();
    divan::main();
}

/// The order in which packets are dropped out of a bundle, and when the rest is moved.
#[derive(Clone, Copy, Debug)]
enum DropMethod {
    /// From the front, all at once; nothing is moved.
    Front,
    /// From the front, one by one; nothing is moved.
    FrontEach,
    /// At random places; the rest is moved together once, at the end.
    Random,
    /// At random places; the packets behind are moved up after each drop.
    RandomEach,
}

const DROP_METHODS: [DropMethod; 4] = [
    DropMethod::Front,
    DropMethod::FrontEach,
    DropMethod::Random,
    DropMethod::RandomEach,
];

/// The encapsulations that differ in the cost of an inner drop: UDP has a checksum over the
/// whole bundle.
fn encapsulations() -> [(&'static str, Encapsulation); 2] {
    let ends = [1, 2].map(|end| Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, end));
    let (addresses, service) = (Addresses::V6(ends), 0);
    let udp = Encapsulation::Udp {
        addresses,
        service,
        port: 49_152,
    };
    [
        ("ip", Encapsulation::Ip { addresses, service }),
        ("udp", udp),
    ]
}

/// Name, encapsulation, MTU and packet size.
type Case = (&'static str, Encapsulation, usize, usize);

fn cases() -> Vec<String> {
    all().iter().map(name).collect()
}

fn all() -> Vec<Case> {
    let sizes = SIZES.into_iter();
    sizes
        .flat_map(|(mtu, size)| {
            encapsulations().map(|(name, encapsulation)| (name, encapsulation, mtu, size))
        })
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

fn packing(encapsulation: Encapsulation) -> Packing {
    Packing {
        encapsulation,
        begins_within: false,
        ends_within: false,
        unit: Unit::Microsecond,
        sequence: 0,
    }
}

/// The packets of a case.
fn packets((_, encapsulation, mtu, size): Case) -> Vec<Vec<u8>> {
    let empty = packing(encapsulation).packet_len(0, 0);
    let each = packing(encapsulation).packet_len(1, size) - empty;
    let bytes = (0u8..=255).cycle();
    (0..(mtu - empty) / each)
        .map(|number| bytes.clone().skip(number % 256).take(size).collect())
        .collect()
}

fn pieces(packets: &[Vec<u8>]) -> Vec<Piece<'_>> {
    let waited = 0;
    packets
        .iter()
        .map(|bytes| Piece { bytes, waited })
        .collect()
}

fn packed(case: Case) -> Vec<u8> {
    let packets = packets(case);
    let mut bytes = vec![0; case.2];
    let length = packing(case.1).emit(&pieces(&packets), &mut bytes);
    bytes.truncate(length.expect("it fits"));
    bytes
}

/// Every other packet, in random order.
fn selection(count: u16) -> Vec<u16> {
    let mut selection: Vec<u16> = (0..count).collect();
    selection.sort_by_key(|number| u32::from(*number).wrapping_mul(2_654_435_761) >> 7 & 0xffff);
    selection.truncate(usize::from(count / 2));
    selection
}

/// Drops half of the packets. Returns the number of bytes moved.
fn halve(carried: &mut Carried<Vec<u8>>, method: DropMethod, selection: &[u16]) -> usize {
    match method {
        DropMethod::Front => {
            carried.drop_inner(carried.header().count / 2);
            0
        }
        DropMethod::FrontEach => {
            selection.iter().for_each(|_| {
                carried.drop_inner(1);
            });
            0
        }
        DropMethod::Random => {
            selection.iter().for_each(|index| {
                carried.discard(*index);
            });
            carried.compact()
        }
        DropMethod::RandomEach => {
            let each = |index: &u16| {
                carried.discard(*index);
                carried.compact()
            };
            selection.iter().map(each).sum()
        }
    }
}

#[divan::bench(args = cases())]
fn pack(bencher: Bencher<'_, '_>, wanted: &str) {
    let case = case(wanted);
    let packets = packets(case);
    let pieces = pieces(&packets);
    let mut bytes = vec![0; case.2];
    let items = ItemsCount::new(BUNDLES * packets.len());
    bencher.counter(items).bench_local(|| {
        for _ in 0..BUNDLES {
            let length = packing(case.1).emit(black_box(&pieces), &mut bytes);
            black_box(length.expect("it fits"));
        }
    });
}

#[divan::bench(args = cases())]
fn inspect(bencher: Bencher<'_, '_>, wanted: &str) {
    let bytes = packed(case(wanted));
    let bundle = Carried::parse(&bytes).expect("it is one");
    let items = ItemsCount::new(BUNDLES * usize::from(bundle.header().count));
    bencher.counter(items).bench_local(|| {
        for _ in 0..BUNDLES {
            let bundle = Carried::parse(black_box(&bytes)).expect("it is one");
            black_box((bundle.live(), bundle.live_bytes()));
        }
    });
}

#[divan::bench(args = cases())]
fn unpack(bencher: Bencher<'_, '_>, wanted: &str) {
    let bytes = packed(case(wanted));
    let bundle = Carried::parse(&bytes).expect("it is one");
    let items = ItemsCount::new(BUNDLES * usize::from(bundle.header().count));
    let mut out = Vec::with_capacity(bytes.len());
    bencher.counter(items).bench_local(|| {
        for _ in 0..BUNDLES {
            let bundle = Carried::parse(black_box(&bytes)).expect("it is one");
            assert!(bundle.checksum_holds());
            for inner in bundle.packets() {
                out.clear();
                out.extend_from_slice(inner.bytes);
                black_box((&out, inner.waited));
            }
        }
    });
}

#[divan::bench(args = cases())]
fn drop_front(bencher: Bencher<'_, '_>, wanted: &str) {
    drop_inner(bencher, case(wanted), DropMethod::Front);
}

#[divan::bench(args = cases())]
fn drop_front_one_by_one(bencher: Bencher<'_, '_>, wanted: &str) {
    drop_inner(bencher, case(wanted), DropMethod::FrontEach);
}

#[divan::bench(args = cases())]
fn drop_random_and_compact(bencher: Bencher<'_, '_>, wanted: &str) {
    drop_inner(bencher, case(wanted), DropMethod::Random);
}

#[divan::bench(args = cases())]
fn drop_random_and_compact_each(bencher: Bencher<'_, '_>, wanted: &str) {
    drop_inner(bencher, case(wanted), DropMethod::RandomEach);
}

fn drop_inner(bencher: Bencher<'_, '_>, case: Case, method: DropMethod) {
    let bundle = Carried::parse(packed(case)).expect("it is one");
    let selection = selection(bundle.header().count);
    bencher
        .counter(ItemsCount::new(BUNDLES * selection.len()))
        .with_inputs(|| vec![bundle.clone(); BUNDLES])
        .bench_local_values(|mut bundles| {
            for bundle in &mut bundles {
                black_box(halve(bundle, method, &selection));
            }
            bundles
        });
}

/// Prints the bytes that each method moves.
#[expect(clippy::print_stdout, reason = "figures of a benchmark")]
fn print_moved() {
    println!("bytes moved for each packet dropped, half of a bundle; from the front none:");
    for case in all().into_iter().step_by(2) {
        let (_, _, mtu, size) = case;
        let [_, _, once, each] = DROP_METHODS.map(|method| {
            let mut bundle = Carried::parse(packed(case)).expect("it is one");
            let selection = selection(bundle.header().count);
            halve(&mut bundle, method, &selection) / selection.len()
        });
        println!("  {size} B in {mtu} B: random {once}, moved up each time {each}");
    }
}
