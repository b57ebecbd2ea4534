//! Metrics of sent traffic.

use super::super::harness::Dir;
use super::super::lookup::Object;
use super::super::undisturbed::{Disturbed, until_undisturbed};
use super::Receiver;

#[test]
fn what_is_sent_arrives_over_both_protocols_and_both_versions_of_ip() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "");
    let mut flows = 0;
    for host in ["127.0.0.1", "::1"] {
        for protocol in ["udp", "tcp"] {
            let line = format!(
                "{host} --protocol {protocol} --message 100 --gap 100us --packets 200 --json"
            );
            // TCP data that arrives before the kernel starts to stamp has no
            // stamp, and a busy machine starts late.
            let flow = until_undisturbed(&format!("stamps of {protocol} to {host}"), 5, || {
                flows += 1;
                let flow = receiver.send(&dir, &line).fine().json().remove(0);
                match flow.count("unstamped") {
                    0 => Ok(flow),
                    unstamped => Err(Disturbed(format!("{unstamped} messages have no stamp"))),
                }
            })
            .unwrap();
            for (key, value) in [
                ("offered", 200),
                ("sent", 200),
                ("received", 200),
                ("received_bytes", 20_000),
                ("lost", 0),
                ("duplicates", 0),
            ] {
                assert_eq!(flow.count(key), value, "{key}: {flow}");
            }
            assert_eq!(
                flow["delay_s"].count("count") + flow.count("negative_delays"),
                200
            );
            assert_eq!(flow["timing_error_s"].count("count"), 200);
            assert_eq!(flow.figure("clock_error_bound_s"), 0.0);
        }
    }
    let outcome = receiver.stop().fine();
    let lines = outcome.stdout.matches("200 messages").count();
    assert_eq!(lines, flows, "{}", outcome.stdout);
}

#[test]
fn round_trips_are_measured_at_a_pace_and_one_at_a_time() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "--max-busy-poll 1");
    for protocol in ["udp", "tcp"] {
        for gap in ["200us", "0s", "0s --busy-poll"] {
            let line = format!(
                "::1 --protocol {protocol} --meter round-trip --message 64 --gap {gap} --packets 100 --json"
            );
            let flow = receiver.send(&dir, &line).fine().json().remove(0);
            for key in ["sent", "received", "echoes"] {
                assert_eq!(flow.count(key), 100, "{key}: {flow}");
            }
            assert_eq!(flow["round_trip_s"].count("count"), 100);
        }
    }
}

#[test]
fn echoes_come_back_without_a_receiver_to_those_who_may_send_them() {
    let dir = Dir::new();
    // Root of a namespace may open raw sockets. Without that capability the
    // range of groups decides, which is empty in a new namespace.
    let ordinary = "setpriv --bounding-set=-net_raw";
    let allow = "echo 0 0 >/proc/sys/net/ipv4/ping_group_range;";
    for (first, user, may_send) in [
        ("", "", true),
        (allow, ordinary, true),
        ("", ordinary, false),
    ] {
        for (host, gap) in [("127.0.0.1", "1ms"), ("::1", "0s")] {
            let outcome = dir.in_namespaces(&format!(
                "{first} {user} \"$0\" send {host} --protocol icmp --message 100 --gap {gap} --packets 20 --json"
            ));
            if !may_send {
                outcome.rejected(&["ping_group_range"]);
                continue;
            }
            let flow = outcome.fine().json().remove(0);
            let figures = ["sent", "echoes"].map(|key| flow.count(key));
            assert_eq!(figures, [20, 20], "{flow}");
        }
    }
}

#[test]
fn bursts_begin_and_end() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "");
    let line = "::1 --message 100 --gap 1ms --on-time 10ms --off-time 90ms --duration 250ms --json";
    until_undisturbed("bursts", 5, || {
        let flow = receiver.send(&dir, line).fine().json().remove(0);
        // Three periods of ten; a gap may end in the silence. A busy machine
        // omits messages for which it is too late.
        let [offered, sent] = ["offered", "sent"].map(|key| flow.count(key));
        assert!((25..=31).contains(&offered) && sent <= offered, "{flow}");
        let late = offered - sent;
        let disturbed = || Disturbed(format!("{late} of {offered} messages were too late"));
        (sent >= 25).then_some(()).ok_or_else(disturbed)
    })
    .unwrap();
}

#[test]
fn flows_of_a_file_run_side_by_side() {
    let dir = Dir::new();
    dir.write(
        "flows.toml",
        "[flows.voice]\nmessage = 160\ngap = \"2ms\"\ndscp = 46\n\
         [flows.bulk]\nprotocol = \"tcp\"\nmessage = 2000\ngap = \"500us\"\ncongestion = \"reno\"\nmss = 1000\n\
         [flows.game]\nmeter = \"round-trip\"\nmessage = 80\ngap = \"5ms\"\nttl = 3\n",
    );
    let receiver = Receiver::start(&dir, "--json");
    let flows = receiver
        // Long enough for each flow to send, even if the machine pauses for a
        // while.
        .send(&dir, "::1 --flow-file flows.toml --duration 1s --json")
        .fine()
        .json();
    let names: Vec<&str> = flows
        .iter()
        .map(|flow| flow["flow"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["voice", "bulk", "game"]);
    for flow in &flows {
        let sent = flow.count("sent");
        assert!(sent > 50 && sent <= flow.count("offered"), "{flow}");
        assert_eq!(sent, flow.count("received"), "{flow}");
    }
    assert_eq!(flows[1]["congestion_control"], "reno");
    assert!(flows[1].count("segment_bytes") <= 1000);
    assert_eq!(flows[2].count("echoes"), flows[2].count("sent"));
    assert_eq!(receiver.stop().fine().json().len(), 3);
}

#[test]
fn datagrams_that_are_cut_and_merged_by_the_kernel_are_counted_one_by_one() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "");
    let line = "::1 --message 500 --gap 0s --packets 1000 --gso 20 --gro --json";
    let flow = receiver.send(&dir, line).fine().json().remove(0);
    let [sent, received, overflowed] =
        ["sent", "received", "overflowed"].map(|key| flow.count(key));
    assert_eq!(sent, 1000, "{flow}");
    // Such bursts may exceed the buffer; the kernel counts the drops per
    // received datagram, and may have merged twenty.
    let whole = received == 1000 && overflowed == 0;
    let dropped = (overflowed..=20 * overflowed).contains(&(1000 - received)) && overflowed > 0;
    assert!(whole || dropped, "{flow}");
    assert_eq!(flow.count("segmentation"), 20, "it is on record");
    assert_eq!(flow["merge"], true);
}

#[test]
fn sizes_up_to_the_limit_of_the_protocol_arrive_whole() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "");
    for (host, protocol, most) in [
        ("127.0.0.1", "udp", 65_507),
        ("::1", "udp", 65_527),
        ("::1", "tcp", 1_000_000),
    ] {
        let line =
            format!("{host} --protocol {protocol} --message {most} --gap 1ms --packets 5 --json");
        let flow = receiver.send(&dir, &line).fine().json().remove(0);
        assert_eq!(flow.count("received_bytes"), 5 * most, "{flow}");
    }
    let beyond = receiver.send(&dir, "::1 --message 65528");
    beyond.rejected(&["--message 65528", "65527", "write a size between"]);
}
