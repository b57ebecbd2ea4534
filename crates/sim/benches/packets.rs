//! Simulated packets per second of processor time.
//!
//!     cargo bench -p jumbolab-sim

#[path = "shared/networks.rs"]
#[expect(dead_code, reason = "other benchmarks use the rest")]
mod networks;

use divan::Bencher;
use divan::counter::ItemsCount;
use jumbolab_sim::Scenario;
use queue::{Limit, RedSettings, Spec};
use units::{Bytes, Span};

use networks::{PACKETS, SIZE};

fn main() {
    divan::main();
}

/// The queue of this name.
fn queue(name: &str) -> Spec {
    let limit = Limit::Packets(100);
    match name {
        "drop-tail" => Spec::DropTail { limit },
        _ => Spec::Red(RedSettings::new(limit, Bytes::new(SIZE))),
    }
}

/// Poisson arrivals with a load of 0.95 at one queue.
#[divan::bench(args = ["drop-tail", "red"])]
fn one_queue(bencher: Bencher<'_, '_>, name: &str) {
    measure(bencher, PACKETS, || {
        networks::line(&queue(name), 0, 1, PACKETS)
    });
}

/// The same load over ten routers.
#[divan::bench(args = ["drop-tail", "red"])]
fn ten_routers(bencher: Bencher<'_, '_>, name: &str) {
    let packets = PACKETS / 10;
    measure(bencher, packets, || {
        networks::line(&queue(name), 10, 1, packets)
    });
}

/// A thousand flows through one queue: a long event queue.
#[divan::bench(args = ["drop-tail", "red"])]
fn a_thousand_flows(bencher: Bencher<'_, '_>, name: &str) {
    measure(bencher, PACKETS, || {
        networks::line(&queue(name), 0, 1_000, PACKETS)
    });
}

/// Twenty TCP connections through one queue for ten seconds; acknowledgements count.
#[divan::bench(args = ["drop-tail", "red"])]
fn closed_loop(bencher: Bencher<'_, '_>, name: &str) {
    let build = || networks::closed_loop(&queue(name), Span::from_secs(10));
    let packets = arrived(build()).iter().sum();
    measure(bencher, packets, build);
}

/// `flows` connections, each over its own access links, through one queue for a second:
/// many links and a long event queue. Only data packets count.
#[divan::bench(args = [100, 2_000])]
fn a_dumbbell(bencher: Bencher<'_, '_>, flows: u32) {
    let build = || networks::dumbbell(flows);
    measure(bencher, arrived(build())[0], build);
}

/// The packets that arrive at the first link, in both directions.
fn arrived(scenario: Scenario) -> [u64; 2] {
    let outcome = scenario.check().expect("the scenario is sound").run();
    let directions = outcome.links[0].directions.each_ref();
    directions.map(|direction| direction.counters.arrived)
}

fn measure(bencher: Bencher<'_, '_>, packets: u64, build: impl Fn() -> Scenario + Sync) {
    bencher
        .counter(ItemsCount::new(packets))
        .with_inputs(|| build().check().expect("the scenario is sound"))
        .bench_values(jumbolab_sim::Simulation::run);
}
