//! `jumbolab probe http://HOST` in network namespaces: TCP connections of an ordinary user show
//! the packets that pass in each direction.

use serde_json::Value;

use super::probe::{BY, see};
use crate::harness::Dir;

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/web_server.py");

/// Answers return over another link, whose near end receives no more than four bytes above this
/// MTU: so much has room for a VLAN tag.
fn narrow_return(mtu: u32) -> String {
    format!(
        "link r rb s sr2 4\n\
        ip -n r address flush dev rb\nip -n s address flush dev sr2\n\
        ip -n r address add 10.0.4.2/24 dev rb\nip -n s address add 10.0.4.1/24 dev sr2\n\
        ip -n s route replace 10.0.1.0/24 via 10.0.4.2\nip -n r link set rb mtu {mtu}\n"
    )
}

/// The near end of the link in the middle receives no more than four bytes above this MTU.
fn narrow_forward(mtu: u32) -> String {
    format!("ip -n s link set sr mtu {mtu}\n")
}

/// What a test of a server printed, and the connections that the server counted.
struct Seen {
    lines: Vec<Value>,
    connections: usize,
}

impl Seen {
    /// Tests a server behind `path` that serves pages of `length` bytes, or TLS.
    #[track_caller]
    fn server(path: &str, address: &str, [length, keys]: [&str; 2], line: &str, code: i32) -> Self {
        let dir = Dir::new();
        // A link forwards super-packets whatever its MTU, so the server sends none.
        let script = format!(
            "ip -n b link set bs gso_max_segs 1\n\
            {path}\n\
            ip netns exec b python3 {SERVER} {address} 8080 {length} {keys} >said 2>&1 &\n\
            until grep -q listening said 2>/dev/null; do kill -0 $!; done\n\
            at a {line} --json"
        );
        let outcome = see(&dir, &script);
        let said = format!("{}{}", outcome.stdout, outcome.stderr);
        assert_eq!(outcome.code, Some(code), "{said}");
        let log = std::fs::read_to_string(dir.path().join("said")).unwrap();
        let connections = log.lines().filter(|line| *line == "connection").count();
        assert!((1..=20).contains(&connections), "{log}");
        Self {
            lines: outcome.json(),
            connections,
        }
    }

    /// Tests a server of HTTP by an ordinary user.
    #[track_caller]
    fn page(path: &str, code: i32) -> Self {
        let line = format!("{} http://10.0.3.2:8080/page", BY[1]);
        Self::server(path, "10.0.3.2", ["60000", ""], &line, code)
    }

    fn path(&self) -> &Value {
        &self.lines[0]
    }

    fn findings(&self) -> Vec<&Value> {
        let lines = self.lines.iter();
        lines.filter(|line| line["kind"] == "finding").collect()
    }

    /// The first sizes that are dropped silently, by direction.
    fn holes(&self) -> [Option<u64>; 2] {
        let findings = self.findings();
        ["forward", "reverse"].map(|direction| {
            let mut findings = findings.iter();
            let hole = findings
                .find(|one| one["finding"] == "black_hole" && one["direction"] == direction)?;
            hole["fails_from_bytes"].as_u64()
        })
    }

    #[track_caller]
    fn finding(&self, name: &str) -> &Value {
        let findings = self.findings();
        let found = findings.iter().find(|finding| finding["finding"] == name);
        found.unwrap_or_else(|| panic!("{name} is not in {:?}", self.lines))
    }
}

#[test]
fn a_path_that_delivers_jumbo_frames_is_clean_after_three_connections() {
    for (address, url, by) in [
        ("10.0.3.2", "http://10.0.3.2:8080", BY[0]),
        ("fd00:3::2", "[fd00:3::2]:8080", BY[1]),
    ] {
        let seen = Seen::server("", address, ["60000", ""], &format!("{by} {url}"), 0);
        let path = seen.path();
        assert_eq!(path["verdict"], "clean", "{path}");
        for direction in ["forward", "reverse"] {
            assert_eq!(path[direction]["mtu"], 9000, "{path}");
        }
        assert_eq!(seen.lines[1]["mss"], if by == BY[0] { 8960 } else { 8940 });
        assert_eq!(seen.connections, 3);
    }
}

#[test]
fn a_hole_of_each_direction_and_of_both_is_exact_without_root() {
    for mtu in [1300, 1461] {
        let hole = Some(u64::from(mtu) + 5);
        let seen = Seen::page(&narrow_forward(mtu), 1);
        assert_eq!(seen.holes(), [hole, None], "{:?}", seen.lines);
        // The router of the link reports the MTU to the server.
        assert_eq!(seen.path()["reverse"]["mtu"], mtu);
        let seen = Seen::page(&narrow_return(mtu), 1);
        assert_eq!(seen.holes(), [None, hole], "{:?}", seen.lines);
        assert_eq!(seen.path()["forward"]["limit"], "requested");
        let both = narrow_return(mtu) + &narrow_forward(mtu);
        let seen = Seen::page(&both, 1);
        assert_eq!(seen.holes(), [hole; 2], "{:?}", seen.lines);
        let texts = seen.lines.iter().filter_map(|line| line["text"].as_str());
        let texts: Vec<&str> = texts.collect();
        let clamp = format!("This host: clamp the MSS of TCP to {}", mtu + 4 - 40);
        assert!(texts.contains(&clamp.as_str()), "{texts:?}");
    }
}

#[test]
fn a_server_of_tls_shows_a_hole_by_its_handshake() {
    let keys = "openssl req -x509 -newkey rsa:4096 -nodes -days 1 -subj /CN=server \
        -keyout private -out public 2>/dev/null\ncat private public >keys\n";
    let line = format!("{} https://10.0.3.2:8080", BY[1]);
    let path = narrow_return(1300) + "ip -n a link set ar mtu 1500\n" + keys;
    let seen = Seen::server(&path, "10.0.3.2", ["0", "keys"], &line, 1);
    assert_eq!(seen.holes(), [None, Some(1305)], "{:?}", seen.lines);
    assert_eq!(seen.path()["forward"]["mtu"], 1500);
}

#[test]
fn an_mss_that_is_smaller_than_the_path_allows_is_a_finding() {
    // As a device of the path would, the route lowers the MSS of the server's SYN/ACK.
    let seen = Seen::page("ip -n b route replace default via 10.0.3.1 advmss 1300", 1);
    let finding = seen.finding("mss_clamped");
    assert_eq!(
        (&finding["seen_mss"], &finding["expected_mss"]),
        (&1300.into(), &8960.into())
    );
    assert_eq!(seen.path()["forward"]["mtu"], 1340);
    // The server's interface is smaller than the local one.
    let seen = Seen::page(
        "ip -n b link set bs mtu 1500\nip -n s link set sb mtu 1500",
        0,
    );
    let finding = seen.finding("small_mss");
    assert_eq!(
        (&finding["seen_mss"], &finding["expected_mss"]),
        (&1460.into(), &8960.into())
    );
    assert_eq!(seen.path()["requested_bytes"], 1500);
}

#[test]
fn a_path_mtu_that_a_router_reports_to_the_kernel_is_a_finding() {
    let seen = Seen::page(
        "ip -n r link set rs mtu 1400\nip -n s link set sr mtu 1400",
        1,
    );
    assert_eq!(seen.finding("known_mtu")["mtu"], 1400);
    assert_eq!(seen.path()["forward"]["limit"], "packet_too_big");
    assert_eq!(seen.holes(), [None; 2]);
}

#[test]
fn a_closed_port_and_unused_options_are_told() {
    let dir = Dir::new();
    let outcome = see(&dir, &format!("at a {} 10.0.3.2:81 --json", BY[1]));
    assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
    assert_eq!(outcome.json()[2]["finding"], "closed_port");
    let watch = format!("at a {} http://10.0.3.2 --watch 1s", BY[1]);
    see(&dir, &watch).rejected(&["--watch", "http://10.0.3.2"]);
}
