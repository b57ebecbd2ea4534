//! Which experiments are measured between machines, and why others are rejected.

use experiment::Experiment;
use plan::Backend;
use plan::setting::Coalescing;
use units::Span;

fn planned(experiment: Experiment) -> Result<plan::Plan, String> {
    crate::backend::plan(experiment, Backend::Hosts).map_err(|error| format!("{error:#}"))
}

#[test]
fn every_shipped_experiment_is_measured_or_rejected_by_a_key_with_its_place() {
    let mut measured = Vec::new();
    for shipped in experiment::shipped() {
        let name = shipped.name;
        match planned(Experiment::load(name).unwrap()) {
            Ok(plan) => {
                assert!(plan.cells.iter().any(|cell| cell.setting.is_ok()), "{name}");
                measured.push(name);
            }
            Err(why) => {
                let place = format!("experiments/{name}.toml:");
                assert!(why.starts_with(&place), "{name}: {why}");
                assert!(!why.contains('\n'), "{why}");
            }
        }
    }
    let expected = [
        "jumbo-frames",
        "jumbogram-ditg",
        "jumbogram-throughput",
        "os-comparison",
        "receiver-timer",
        "rtt-by-packet-size",
        "stall",
    ];
    for name in expected {
        assert!(measured.contains(&name), "{name}: {measured:?}");
    }
}

#[test]
fn what_segments_cannot_limit_is_rejected_with_what_to_write() {
    let planned = |keys: &str| {
        let text = format!(
            "format = 1\nname = \"x\"\n[network]\nmtu_method = \"mss\"\n{keys}\n[sweep]\n\"network.mtu\" = [1500]\n"
        );
        planned(Experiment::parse(&text, "x.toml").unwrap())
    };
    assert_eq!(planned("").map(|plan| plan.cells.len()), Ok(1));
    let datagrams = "[traffic]\nprotocol = \"udp\"\nmessage = ";
    assert!(planned(&format!("{datagrams}\"mtu-72\"")).is_ok());
    let why = planned(&format!("{datagrams}1500")).unwrap_err();
    assert!(
        why.contains("nothing cuts datagrams of 1500 bytes"),
        "{why}"
    );
    let why = planned("[traffic]\nkind = \"command\"\nsender = \"true\"\nread.loss = \"/x\"");
    let why = why.unwrap_err();
    assert!(why.contains("no sockets of your programs"), "{why}");
}

#[test]
fn machines_do_not_change_the_plan_of_a_run() {
    let text = "format = 1\nname = \"x\"\n[sweep]\n\"network.mtu\" = [1500]\n";
    let named = format!(
        "{text}[hosts.sender]\ndestination = \"a\"\n[hosts.receiver]\ndestination = \"b\"\n"
    );
    let hash = |text: &str| {
        let plan = planned(Experiment::parse(text, "x.toml").unwrap()).unwrap();
        assert!(!plan.text.contains("destination"), "{}", plan.text);
        plan.hash
    };
    assert_eq!(hash(text), hash(&named));
}

#[test]
fn rings_and_coalescing_are_asked_of_real_cards_alone() {
    let planned = |backend, keys: &str| {
        let text = format!(
            "format = 1\nname = \"x\"\n[sweep]\n\"network.mtu\" = [1500]\n[host]\n{keys}\n"
        );
        let experiment = Experiment::parse(&text, "x.toml");
        let plan = crate::backend::plan(experiment.unwrap(), backend);
        plan.map_err(|error| format!("{error:#}"))
    };
    let keys = "receive_ring = 2048\ncoalescing = \"50us\"\ncoalescing_frames = 8";
    let plan = planned(Backend::Hosts, keys).unwrap();
    let nic = plan.cells[0].setting.as_ref().unwrap().host.nic;
    assert_eq!((nic.receive_ring, nic.send_ring), (Some(2_048), None));
    let within = Coalescing::Within(Span::from_micros(50));
    assert_eq!(
        (nic.coalescing, nic.coalescing_frames),
        (Some(within), Some(8))
    );
    let again = planned(Backend::Hosts, "coalescing = \"adaptive\"").unwrap();
    assert!(
        again.text.contains("coalescing = \"adaptive\""),
        "{}",
        again.text
    );
    for (backend, keys, told) in [
        (
            Backend::Netns,
            keys,
            "neither rings nor coalescing: --on hosts",
        ),
        (
            Backend::Sim,
            "send_ring = 1",
            "no network cards: --on hosts",
        ),
        (
            Backend::Hosts,
            "send_ring = 0",
            "write a number from 1 to 1000000",
        ),
        (Backend::Hosts, "coalescing = \"5ns\"", "whole microseconds"),
        (
            Backend::Hosts,
            "coalescing = \"adaptive\"\ncoalescing_frames = 1",
            "the driver adapts the frames, too",
        ),
    ] {
        let why = planned(backend, keys).unwrap_err();
        assert!(why.contains(told) && why.starts_with("x.toml:"), "{why}");
    }
}
