use experiment::{AUTO_RATES, Experiment};
use plan::{Backend, Plan};
use units::IpVersion;

use super::choice::{described, loads};
use super::ladder::Rung;
use super::settings;
use crate::backend;
use crate::doctor::attempt::FilledLinks;
use crate::pace::Paced;

/// A plan of links that leave their rate to the machine, with these settings.
fn plan_of(sets: &[&str], backend: Backend) -> (Experiment, Plan) {
    let text = "format = 1\nname = \"auto\"\n[network]\nrate = \"auto\"\n[sweep]\n\"network.mtu\" = [9000, 1500]\n";
    let mut experiment = Experiment::parse(text, "auto.toml").unwrap();
    for set in sets {
        experiment.set(set).unwrap();
    }
    let plan = backend::plan(experiment.clone(), backend).unwrap();
    (experiment, plan)
}

/// The links to fill, as kind, version of IP, MTU, number and offloads.
fn filled(sets: &[&str]) -> Vec<(Paced, IpVersion, u32, usize, bool)> {
    let (experiment, plan) = plan_of(sets, Backend::Netns);
    let loads = loads(&settings(&experiment, &plan)).into_iter();
    let seen = |load: FilledLinks| (load.paced, load.ip, load.mtu, load.count, load.offloads);
    loads.map(seen).collect()
}

#[test]
fn only_settings_that_another_rate_changes_leave_it_to_the_machine() {
    let count = |sets: &[&str], backend| {
        let (experiment, plan) = plan_of(sets, backend);
        settings(&experiment, &plan).len()
    };
    assert_eq!(count(&[], Backend::Netns), 2);
    assert_eq!(count(&[], Backend::Sim), 2);
    assert_eq!(count(&[], Backend::Hosts), 0, "their links are as they are");
    assert_eq!(count(&["network.rate=1gbit"], Backend::Netns), 0);
    let own = &["links.sender-receiver.rate=1gbit"];
    assert_eq!(count(own, Backend::Netns), 0, "no link inherits the rate");
}

#[test]
fn links_are_filled_with_the_smallest_packets_of_the_plan() {
    use IpVersion::{V4, V6};
    use Paced::{Emulator, Kernel};
    let of_kernel = (Kernel, V6, 1500, 1, false);
    let emulated = (Emulator, V6, 1500, 1, false);
    let off = "host.offloads=off";
    assert_eq!(filled(&[off]), [of_kernel]);
    let on = (Kernel, V6, 1500, 1, true);
    assert_eq!(filled(&["host.offloads=on"]), [on]);
    assert_eq!(filled(&["host.offloads=on,off"]), [of_kernel]);
    assert_eq!(filled(&[off, "network.link=emulated"]), [emulated]);
    assert_eq!(filled(&[off, "network.link=mixed"]), [of_kernel, emulated]);
    let chain = ["network.shape=chain", "network.devices=2", off];
    assert_eq!(filled(&chain), [(Kernel, V6, 1500, 3, false)]);
    let datagrams = ["traffic.protocol=udp", "traffic.message=400", off];
    assert_eq!(filled(&datagrams), [(Kernel, V4, 448, 1, false)]);
}

#[test]
fn small_packets_count_if_they_ask_for_much_of_a_link() {
    let packets = |load: &str| {
        let load = format!("flows.small.load={load}");
        let sets = [
            "traffic.kind=flows",
            "traffic.duration=1s",
            "flows.small.from=sender",
            "flows.small.to=receiver",
            "flows.small.protocol=udp",
            "flows.small.message=172",
            &load,
        ];
        filled(&sets)[0].2
    };
    assert_eq!(packets("60%"), 220);
    assert_eq!(packets("10%"), 1500);
}

#[test]
fn what_was_tried_is_said_in_one_line() {
    let load = FilledLinks {
        paced: Paced::Emulator,
        ip: IpVersion::V6,
        mtu: 1500,
        count: 1,
        offloads: false,
    };
    let rung = Rung {
        rate: AUTO_RATES[1],
        load: 0,
        filled: 2,
        of: 3,
    };
    assert_eq!(
        described(&[load], &rung),
        "500mbit over emulated links, packets of 1500 bytes: filled by 2 of 3 transfers"
    );
}
