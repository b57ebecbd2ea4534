//! A transfer from one file in the kernel's world and in the simulator's.

use proto::tcp::Settings;

use super::simulated::{refused, sim};
use super::*;
use crate::shipped;

fn both() -> &'static str {
    shipped::text("kernel-and-simulator").unwrap().1
}

#[test]
fn one_file_is_the_same_transfer_in_both_worlds() {
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
fn the_kernels_tcp_is_linux_and_nothing_else_can_be_told_of_it() {
    let why = "the kernel's TCP is as it is, only the simulator's can be set: --on sim";
    for (set, key) in [
        ("tcp.agent=standard", "tcp.agent = \"standard\""),
        ("tcp.initial_window=3", "tcp.initial_window = 3"),
    ] {
        let error = planned(both(), &[set]).unwrap_err();
        assert_eq!(format!("{error:#}"), format!("--set {set}: {key}: {why}"));
    }
}

#[test]
fn a_transfer_has_one_window_and_only_where_it_can_be_followed() {
    let window = "links.sender-receiver.windows.counted";
    refused(
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
