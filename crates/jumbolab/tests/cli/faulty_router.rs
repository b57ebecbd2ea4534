//! `jumbolab probe` between kernels whose first router loses a range of sizes, rejects all
//! packets, or lets packets be fragmented that ask not to be. It needs a TUN device, which
//! many systems keep from ordinary users.

use serde_json::Value;

use super::unprivileged::probe::{BY, FAR_END, Seen};

/// The program of the router, behind a TUN device.
const ROUTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/faulty_router.py");

/// A reflector at the far end.
const REFLECTOR: &str = "ip netns exec b \"$JUMBOLAB\" recv --open --listen 10.0.3.2 >said 2>&1 &\n\
    until grep -q listening said 2>/dev/null; do kill -0 $!; done";

/// Sends the packets to the far end through the program of the first router, which has this
/// fault.
fn with(fault: &str) -> String {
    let routes = [("-4", FAR_END[0]), ("-6", FAR_END[1])].map(|(family, far_end)| {
        format!(
            "ip -n r {family} route add default dev tun0 table 100\n\
            ip -n r {family} rule add to {far_end} iif ra lookup 100\n"
        )
    });
    // The kernel takes the router's own packets from the device as well.
    let settings = ["all", "tun0"].map(|device| {
        format!(
            "at r sh -c 'cd /proc/sys/net/ipv4/conf/{device}; \
                echo 0 >rp_filter; echo 1 >accept_local'\n"
        )
    });
    format!(
        "ip -n r tuntap add tun0 mode tun\n\
        ip -n r link set tun0 mtu 9000 up\n\
        {}{}\
        ip netns exec r python3 {ROUTER} tun0 {fault} >router &\n\
        until grep -q ready router 2>/dev/null; do kill -0 $!; done",
        settings.concat(),
        routes.concat()
    )
}

#[test]
fn a_range_of_sizes_that_is_lost_is_named() {
    for (range, far_end, by) in [
        ([1401, 1500], FAR_END[0], BY[0]),
        ([2000, 4100], FAR_END[1], BY[1]),
        ([1373, 1472], FAR_END[0], BY[1]),
        ([8000, 8500], FAR_END[1], BY[0]),
    ] {
        let [from, to] = range;
        let fault = with(&format!("drop {from} {to}"));
        let seen = Seen::probe(&fault, &format!("{by} {far_end}"), 1);
        let path = seen.path();
        assert_eq!(path["forward"]["mtu"], 9000, "{path}");
        assert_eq!(path["advised_mtu"], from - 1, "{path}");
        let finding = seen.finding("lost_range");
        assert_eq!(
            (&finding["from_bytes"], &finding["to_bytes"]),
            (&from.into(), &to.into())
        );
        assert_eq!(finding["place"]["after_hop"]["hop"], 1, "{finding}");
        assert_eq!(finding["place"]["before_hop"]["hop"], 2, "{finding}");
    }
}

#[test]
fn a_path_below_the_smallest_mtu_of_ipv6_is_a_verdict_of_its_own() {
    for mtu in [1124, 905] {
        let fault = with(&format!("drop {} 9000", mtu + 1));
        for (far_end, by) in [(FAR_END[0], BY[0]), (FAR_END[1], BY[1])] {
            let seen = Seen::probe(&fault, &format!("{by} {far_end}"), 1);
            let path = seen.path();
            assert_eq!(path["forward"]["mtu"], mtu, "{path}");
            let findings = seen.of("finding");
            let is_named = findings.iter().any(|one| one["finding"] == "below_ipv6");
            assert_eq!(is_named, far_end == FAR_END[1], "{findings:?}");
        }
    }
}

#[test]
fn a_router_that_rejects_all_packets_is_named() {
    for (far_end, router, mtu) in [
        (FAR_END[0], "10.0.1.2", 9000),
        (FAR_END[1], "fd00:1::2", 1500),
    ] {
        let fault = with(&format!("reject {mtu} {router}"));
        let seen = Seen::probe(&fault, &format!("{} {far_end}", BY[0]), 1);
        assert_eq!(seen.path()["forward"]["mtu"], Value::Null);
        let finding = seen.finding("rejects_all");
        assert_eq!(
            (&finding["router"], &finding["hop"]),
            (&router.into(), &1.into())
        );
        assert_eq!(finding["announced_mtu"], mtu);
    }
}

#[test]
fn packets_that_arrive_in_fragments_are_told_by_the_reflector() {
    for (mtu, by) in [(1500, BY[0]), (1400, BY[1])] {
        let narrow = format!(
            "ip -n r link set rs mtu {mtu}\nip -n s link set sr mtu {mtu}\n{}\n{REFLECTOR}",
            with("clear-df")
        );
        let seen = Seen::probe(&narrow, &format!("{by} {}", FAR_END[0]), 1);
        let forward = &seen.path()["forward"];
        assert_eq!(
            (&forward["mtu"], &forward["limit"]),
            (&mtu.into(), &"fragmented".into()),
            "{forward}"
        );
        assert_eq!(seen.finding("forward_fragments")["mtu"], mtu);
    }
}
