//! A transfer from one file in the kernel's backend and in the simulator's.

use plan::setting::KernelTcp;
use tcp::{Acknowledging, Recovery, Settings};
use units::Span;

use super::kernels::FLOWS;
use super::simulated::{rejected, sim};
use super::*;
use crate::shipped;

fn both() -> &'static str {
    shipped::text("kernel-and-simulator").unwrap().1
}

#[test]
fn one_file_is_the_same_transfer_in_both_backends() {
    let (kernels, simulated) = (plan(both(), &[]), sim(both(), &[]));
    for plan in [&kernels, &simulated] {
        let link = &setting(plan, 0).network.links[0];
        assert_eq!(link.counted.transfer.as_deref(), Some("counted"));
    }
    check_round_trip(&kernels);
    assert_eq!(transfer(&kernels, 0).tcp, None);
    let settings = transfer(&simulated, 0).tcp.clone().unwrap();
    let linux = Settings::linux(settings.control, u32::MAX);
    assert_eq!(settings, linux);
    let again = sim(&simulated.text, &[]);
    assert_eq!((again.text, again.hash), (simulated.text, simulated.hash));
}

#[test]
fn the_kernels_tcp_is_linux_and_rejects_what_it_does_not_let_be_set() {
    let why = "the kernel's TCP does not let it be set, only the simulator's does; add --on sim";
    for (set, key) in [
        ("tcp.agent=standard", "tcp.agent = \"standard\""),
        ("tcp.delayed_ack=3ms", "tcp.delayed_ack = \"3ms\""),
    ] {
        let error = planned(both(), &[set]).unwrap_err();
        assert_eq!(format!("{error:#}"), format!("--set {set}: {key}: {why}"));
    }
}

#[test]
fn one_key_sets_tcp_of_namespaces_and_of_the_simulator() {
    let unset = plan(both(), &[]);
    assert_eq!(setting(&unset, 0).host.tcp, KernelTcp::default());
    let sets = [
        "tcp.initial_window=2",
        "tcp.recovery=newreno",
        "tcp.min_rto=1s",
        "tcp.acknowledge=each",
    ];
    let (kernels, simulated) = (plan(both(), &sets), sim(both(), &sets));
    assert_ne!(kernels.hash, unset.hash);
    check_round_trip(&kernels);
    let of_kernel = setting(&kernels, 0).host.tcp;
    assert_eq!(
        of_kernel,
        KernelTcp {
            initial_window: Some(2),
            min_rto: Some(Span::from_secs(1)),
            acknowledges_each: true,
            sack: Some(false),
            ..KernelTcp::default()
        }
    );
    let settings = transfer(&simulated, 0).tcp.clone().unwrap();
    assert_eq!(setting(&simulated, 0).host.tcp, KernelTcp::default());
    assert_eq!(
        (
            settings.initial_window,
            settings.recovery,
            settings.acknowledging
        ),
        (2, Recovery::NewReno, Acknowledging::Each)
    );
    assert_eq!(settings.min_rto, Span::from_secs(1));
}

#[test]
fn switches_of_linux_are_off_in_the_simulator_and_odd_values_are_rejected() {
    let sets = ["tcp.rack=on", "tcp.tail_loss_probe=off"];
    let tcp = setting(&plan(both(), &sets), 0).host.tcp;
    assert_eq!((tcp.rack, tcp.tail_loss_probe), (Some(true), Some(false)));
    sim(both(), &["tcp.rack=off", "tcp.tail_loss_probe=off"]);
    for key in ["rack", "tail_loss_probe"] {
        rejected(
            both(),
            &[&format!("tcp.{key}=on")],
            &format!(
                "--set tcp.{key}=on: tcp.{key} = \"on\": simulated senders detect losses without it; write \"off\", or --on netns"
            ),
        );
    }
    for timeout in ["1500us", "0s", "121s"] {
        let error = planned(both(), &[&format!("tcp.min_rto={timeout}")]).unwrap_err();
        let error = format!("{error:#}");
        assert!(error.contains("kernels take whole milliseconds"), "{error}");
    }
    let reno = plan(both(), &["tcp.recovery=reno"]);
    assert_eq!(
        reno.cells[0].setting.as_ref().unwrap_err(),
        "not measured here: without SACK Linux recovers as NewReno"
    );
    let mut hosts = Experiment::parse(FLOWS, "experiments/x.toml").unwrap();
    hosts.set("tcp.initial_window=2").unwrap();
    let error = hosts.plan(Backend::Hosts, unchecked).unwrap_err();
    assert_eq!(
        format!("{error:#}"),
        "--set tcp.initial_window=2: tcp.initial_window = 2: the hosts' TCP stays as it is; only namespaces have one of their own: --on netns or --on sim"
    );
}

#[test]
fn a_transfer_has_one_window_and_only_where_it_can_be_followed() {
    let window = "links.sender-receiver.windows.counted";
    rejected(
        both(),
        &["links.sender-receiver.windows.other=all"],
        "--set links.sender-receiver.windows.other=all: links.sender-receiver.windows.other = \"all\": a transfer has one part that is counted; remove the second window",
    );
    let error = planned(both(), &["network.link=kernel", "network.delay=0s"]).unwrap_err();
    let error = format!("{error:#}");
    let why = "only a transfer over TCP and link = \"emulated\" is counted";
    assert!(error.contains("windows") && error.ends_with(why), "{error}");
    let error = planned(both(), &[&format!("{window}=0s..1s")]).unwrap_err();
    assert!(format!("{error:#}").contains(&format!("{window} = \"0s..1s\"")));
}
