use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use super::*;

mod fuzz;

fn read(text: &str) -> Result<Gateway> {
    built(&Sections::read(text, "g.toml")?)
}

/// The least that a configuration needs.
const PEER: &str = "[peers.west]\naddress = \"192.0.2.2\"\nlocal = \"192.0.2.1\"\n";

/// The keys of the example of X25519 [RFC7748 s6.1]: Alice's private and public one, and
/// Bob's public one.
const PRIVATE: &str = "dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo=";
const OWN: &str = "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=";
const PUBLIC: &str = "3p7bfXt9wbTTW2HC7OQ1Nz+DQ8hbeGdNrfx+FG+IK08=";

/// The path of a new file of this name with a key, as TOML.
fn key_in(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    let mut file = files::create_private(&path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    format!("{:?}", path.display().to_string())
}

/// A configuration with a sealed peer, whose private key is in `folder`.
fn sealed_in(folder: &Path) -> String {
    let path = key_in(folder, "key", &format!("{PRIVATE}\n"));
    format!("[core]\nprivate_key_file = {path}\n{PEER}public_key = \"{PUBLIC}\"\n")
}

#[test]
fn the_template_is_a_configuration_with_every_key() {
    let gateway = read(&template()).unwrap();
    assert_eq!(gateway.configuration.names, ["west"]);
    assert_eq!(gateway.configuration.table.rows.len(), 2);
    for key in keys::KEYS {
        assert!(
            template().contains(&format!("{} = {}\n", key.name, key.example)),
            "{key:?}"
        );
    }
}

#[test]
fn a_gateway_uses_its_processor_as_it_is_told() {
    let with = |operation: &str| read(&format!("[operation]\n{operation}{PEER}")).unwrap();
    let usual = with("").configuration.processor;
    assert_eq!((usual.is_first, usual.spin), (false, Span::ZERO));
    let told = with("priority = \"real-time\"\nspin = \"50us\"\n")
        .configuration
        .processor;
    assert_eq!((told.is_first, told.spin), (true, Span::from_micros(50)));
}

#[test]
fn every_optional_value_of_the_template_can_be_taken() {
    let folder = tempfile::tempdir().unwrap();
    let private = key_in(folder.path(), "key", PRIVATE);
    let preshared = key_in(folder.path(), "psk", PUBLIC);
    let peer = format!("{PEER}public_key = \"{PUBLIC}\"\n");
    for key in keys::KEYS.iter().filter(|key| key.is_optional) {
        let example = match key.name {
            "private_key_file" => &private,
            "preshared_key_file" => &preshared,
            _ => key.example,
        };
        let line = format!("{} = {example}\n", key.name);
        let text = match (key.table, key.name) {
            ("peers", "label_to" | "label_from") => format!(
                "[core]\ninterface = \"eth0\"\nencapsulation = \"mpls\"\n{PEER}label_to = 100\nlabel_from = 200\n"
            ),
            ("core", "private_key_file") => format!("[core]\n{line}{peer}"),
            ("peers", "public_key") => {
                format!("[core]\nprivate_key_file = {private}\n{PEER}{line}")
            }
            ("peers", "preshared_key_file") => {
                format!("[core]\nprivate_key_file = {private}\n{peer}{line}")
            }
            ("peers", _) => format!("{PEER}{line}"),
            ("uplink", "rate") => format!("[uplink]\n{line}{PEER}"),
            ("uplink", _) => format!("[uplink]\nrate = \"1gbit\"\n{line}{PEER}"),
            ("follow", _) => format!("[inside]\nroutes = \"leave\"\n[follow]\n{line}{PEER}"),
            (table, _) => format!("[{table}]\n{line}{PEER}"),
        };
        read(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
}

#[test]
fn what_is_wrong_is_said_with_file_line_key_and_value() {
    for (text, words) in [
        ("[peers.a\n", "g.toml:1: "),
        (
            "[insid]\n",
            "g.toml:1: insid: unknown table; did you mean `inside`?",
        ),
        (
            "[inside]\nmtv = 1\n",
            "g.toml:2: inside.mtv = 1: unknown key; did you mean `mtu`?",
        ),
        ("[inside]\n", "g.toml:1: no peers"),
        (
            "[peers.a]\naddress = \"x\"\n",
            "g.toml:2: peers.a.address = x: write an IP address",
        ),
        (
            "[peers.a]\naddress = \"::1\"\n",
            "g.toml:1: [peers.a]: local: write an IP address",
        ),
        (
            "[peers.a]\naddress = \"::1\"\nlocal = \"10.0.0.1\"\n",
            "g.toml:3: peers.a.local = 10.0.0.1: its version of IP is not that of the peer's address",
        ),
        (
            "[peers]\na = 1\n",
            "g.toml:2: peers.a = 1: write a table [peers.a]",
        ),
        (
            "[inside]\nmtu = 100\n@",
            "g.toml:2: inside.mtu = 100: write an MTU from 1280 to 65535",
        ),
        (
            "[inside]\ndatapath = \"packet\"\n@",
            "g.toml:2: inside.datapath = packet: packet needs `interfaces`",
        ),
        (
            "[inside]\ndatapath = \"xdp\"\n@",
            "g.toml:2: inside.datapath = xdp: xdp needs `interfaces`",
        ),
        (
            "[operation]\npriority = \"high\"\n@",
            "g.toml:2: operation.priority = high: ",
        ),
        (
            "[operation]\nspin = \"2s\"\n@",
            "g.toml:2: operation.spin = 2s: write off, or a time up to 1s, for instance 50us",
        ),
        (
            "[operation]\nspin = \"long\"\n@",
            "g.toml:2: operation.spin = long: ",
        ),
        (
            "[inside]\ndatapath = \"afxdp\"\n@",
            "g.toml:2: inside.datapath = afxdp: write one of tun, packet, xdp, auto",
        ),
        (
            "[aggregation]\nmax_wait = \"0s\"\n@",
            "g.toml:2: aggregation.max_wait = 0s: write a time above 0",
        ),
        (
            "[aggregation]\nshare = 2\n@",
            "g.toml:2: aggregation.share = 2: write a number above 0",
        ),
        (
            "[aggregation]\ntrigger = \"now\"\n@",
            "g.toml:2: aggregation.trigger = now: write one of timer, busy, full",
        ),
        (
            "[uplink]\nqueue = \"reed\"\nrate = \"1mbit\"\n@",
            "g.toml:2: uplink.queue = reed: no such queue",
        ),
        ("[uplink]\n@", "g.toml:1: [uplink]: rate: write the rate"),
        (
            "[follow]\nprotocol = \"any\"\n@",
            "g.toml:2: follow.protocol = any: the gateway's own routes",
        ),
        (
            "[follow]\ntable = 100\nprotocol = \"ospf\"\n@",
            "g.toml:3: follow.protocol = ospf: write bird",
        ),
        (
            "[operation]\nmetrics_listen = \"loopback\"\n@",
            "g.toml:2: operation.metrics_listen = loopback: write an address",
        ),
        (
            "[core]\nencapsulation = \"gre\"\n@",
            "g.toml:2: core.encapsulation = gre: write one of udp, ip, mpls",
        ),
        (
            "@prefixes = [\"10.1.2.3/8\"]\n",
            "g.toml:4: peers.west.prefixes = 10.1.2.3/8: `10.1.2.3/8` is no network",
        ),
        (
            "@prefixes = [\"192.0.0.0/8\"]\n",
            "192.0.0.0/8 covers the peer 192.0.2.2",
        ),
        (
            "@prefixes = [\"0.0.0.0/1\", \"127.0.0.0/8\"]\n",
            "g.toml:4: peers.west.prefixes = 0.0.0.0/1, 127.0.0.0/8: no router forwards packets to `127.0.0.0/8`",
        ),
        (
            "[inside]\nmtu = 65576\n@",
            "g.toml:2: inside.mtu = 65576: write an MTU from 1280 to 65535",
        ),
        (
            "@mtu = 1270\n",
            "mtu = 1270: write an MTU from 1280 to 65535",
        ),
        (
            "@dscp = 64\n",
            "g.toml:4: peers.west.dscp = 64: write a number from 0 to 63",
        ),
        (
            "@label_to = 20\n",
            "g.toml:4: peers.west.label_to = 20: labels need",
        ),
    ] {
        let text = text.replace('@', PEER);
        let error = read(&text).expect_err(&text).to_string();
        assert!(
            error.starts_with(words) || error.contains(words),
            "{error}\n{words}"
        );
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn keys_are_read_from_files_of_their_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let text = sealed_in(folder.path());
    let gateway = read(&text).unwrap();
    let sealing = gateway.configuration.settings.peers[0].sealing.clone();
    let sealing = sealing.unwrap();
    assert_eq!(sealing.identity.public().to_string(), OWN);
    assert_eq!(sealing.peer.to_string(), PUBLIC);
    assert!(!format!("{gateway:?}").contains(PRIVATE));
    let rejection = |text: &str| read(text).unwrap_err().to_string();
    let plain = rejection(&format!("[aggregation]\nalone = \"plain\"\n{text}"));
    assert!(plain.contains("has a public_key"), "{plain}");
    let file = std::fs::File::open(folder.path().join("key")).unwrap();
    file.set_permissions(Permissions::from_mode(0o640)).unwrap();
    let open = rejection(&text);
    let place = "g.toml:2: core.private_key_file = ";
    assert!(open.starts_with(place), "{open}");
    assert!(open.contains("type: chmod 600"), "{open}");
    key_in(folder.path(), "short", "between two\n");
    let short = rejection(&text.replace("key\"", "short\""));
    assert!(
        short.ends_with("create one: jumbolab gateway keygen FILE"),
        "{short}"
    );
    let absent = rejection(&text.replace("key\"", "absent\""));
    assert!(absent.contains("No such file"), "{absent}");
}

#[test]
fn keys_that_cannot_seal_are_rejected_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let text = sealed_in(folder.path());
    let rejection = |text: &str| read(text).unwrap_err().to_string();
    let preshared = key_in(folder.path(), "psk", OWN);
    let preshared = format!("preshared_key_file = {preshared}\n");
    let sealed = read(&format!("{text}{preshared}")).unwrap();
    let sealing = sealed.configuration.settings.peers[0].sealing.clone();
    assert!(sealing.unwrap().preshared == crate::machine::PresharedKey::parse(OWN).unwrap());
    for (text, words) in [
        (
            text.replace(PUBLIC, OWN),
            "peers.west.public_key = hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=: it is the key of this gateway",
        ),
        (
            text.replace(PUBLIC, "west"),
            "peers.west.public_key = west: a key has 44 characters",
        ),
        (
            text.replace(PUBLIC, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
            "it is no public key of X25519",
        ),
        (
            format!("{PEER}public_key = \"{PUBLIC}\"\n"),
            "this gateway needs a key of its own",
        ),
        (
            format!("{PEER}{preshared}"),
            "write the peer's public_key, too",
        ),
        (
            format!("{PEER}padding = \"full\"\n"),
            "peers.west.padding = full: only sealed bundles have it",
        ),
        (
            format!(
                "{text}{}public_key = \"{PUBLIC}\"\n",
                PEER.replace("west", "worst")
            ),
            "it is also that of west; write the one that this peer printed",
        ),
        (
            format!("{text}padding = \"66kB\"\n"),
            "peers.west.padding = 66kB: write full, off, or a size up to 65535",
        ),
        (
            format!("{text}padding = \"0B\"\n"),
            "peers.west.padding = 0B: write full",
        ),
        (
            text.split("public_key = ").next().unwrap().to_owned(),
            "core.private_key_file = ",
        ),
        (
            text.split("public_key = ").next().unwrap().to_owned(),
            "no peer has a public key",
        ),
    ] {
        let error = rejection(&text);
        assert!(error.contains(words), "{error}\n{words}");
    }
}

#[test]
fn sealed_peers_are_probed_and_metrics_are_for_this_host() {
    let folder = tempfile::tempdir().unwrap();
    let sealed = sealed_in(folder.path());
    let with = |head: &str, tail: &str| read(&format!("{head}{PEER}{tail}"));
    let probe = |text: &str| read(text).unwrap().configuration.settings.probe;
    assert_eq!(probe(PEER), None);
    assert_eq!(probe(&sealed), Some(Span::from_secs(10)));
    let with_probe = |value| sealed.replace("[core]\n", &format!("[core]\nprobe = \"{value}\"\n"));
    assert_eq!(probe(&with_probe("700ms")), Some(Span::from_millis(700)));
    let off = read(&with_probe("off")).unwrap_err();
    assert!(
        off.to_string()
            .starts_with("g.toml:2: core.probe = off: where bundles are sealed"),
        "{off}"
    );
    let open = with("[operation]\nmetrics_listen = \"10.3.2.1:9778\"\n", "").unwrap_err();
    let right = "g.toml:2: operation.metrics_listen = 10.3.2.1:9778: write an address of loopback";
    assert!(open.to_string().starts_with(right), "{open}");
}

#[test]
fn a_network_that_covers_a_peer_is_rejected_whoever_has_it() {
    for (network, covers) in [
        ("192.0.0.0/9", true),
        ("0.0.0.0/0", true),
        ("192.0.2.2/32", true),
        ("192.0.2.4/30", false),
    ] {
        let text = format!("{PEER}prefixes = [\"10.2.0.0/16\", \"{network}\"]\n");
        match read(&text) {
            Err(error) => {
                let right = format!("{network} covers the peer 192.0.2.2");
                assert!(covers && error.to_string().contains(&right), "{error}");
            }
            Ok(_) => assert!(!covers, "{network}"),
        }
    }
}

#[test]
fn routes_are_checked_as_networks_are() {
    for (tables, checks) in [
        ("[follow]\n", true),
        ("[core]\ninterface = \"out\"\n[follow]\n", false),
        ("[inside]\nroutes = \"leave\"\n[follow]\n", false),
    ] {
        let gateway = read(&format!("{tables}{PEER}")).unwrap();
        let table = gateway.configuration.table;
        assert_eq!(table.leaves_out_loops, checks, "{tables}");
    }
}

#[test]
fn two_peers_have_their_own_networks() {
    let east = PEER.replace("west", "east").replace(".2.2", ".2.3");
    let one = "prefixes = [\"10.2.0.0/16\"]\n";
    let error = read(&format!("{PEER}{one}{east}{one}"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("is also behind west"), "{error}");
    let other = "prefixes = [\"10.3.0.0/16\"]\nnext_as = 65003\n";
    let table = read(&format!("{PEER}{one}{east}{other}"))
        .unwrap()
        .configuration
        .table;
    assert_eq!(table.rows[1].egress, 1);
    assert_eq!(table.rows[1].next_as, 65_003);
    assert_eq!(table.next_hops.len(), 2);
}

#[test]
fn options_are_a_configuration_with_one_peer() {
    let values = |of: &[&str]| of.iter().map(ToString::to_string).collect::<Vec<_>>();
    let options = Simple {
        values: vec![
            (
                "inside",
                "interfaces",
                "inside-interface",
                values(&["eth1"]),
            ),
            ("peers", "address", "peer", values(&["192.0.2.2"])),
            ("peers", "local", "local", values(&["192.0.2.1"])),
            (
                "peers",
                "prefixes",
                "prefix",
                values(&["10.2.0.0/16", "fd00::/16"]),
            ),
        ],
    };
    let gateway = read_options(&options).unwrap();
    assert_eq!(gateway.configuration.table.rows.len(), 2);
    let rejected = |options: &[(&'static str, &str)]| {
        let options = options.iter().map(|(key, value)| {
            let option = if *key == "address" { "peer" } else { key };
            ("peers", *key, option, values(&[value]))
        });
        let values = options.collect();
        read_options(&Simple { values }).unwrap_err().to_string()
    };
    let error = rejected(&[("address", "host"), ("local", "192.0.2.1")]);
    assert!(
        error.starts_with("--peer host: write an IP address"),
        "{error}"
    );
    assert_eq!(
        rejected(&[("address", "198.51.100.7"), ("prefixes", "10.3.0.0/16")]),
        "--peer 198.51.100.7: add the address of this gateway that the peer knows: --local ADDRESS"
    );
}
