use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use proptest::prelude::*;
use proto::control::Secret;

use super::*;

fn read(text: &str) -> Result<Gateway> {
    built(&Sections::read(text, "g.toml")?)
}

/// The least that a configuration needs.
const PEER: &str = "[peers.west]\naddress = \"192.0.2.2\"\nlocal = \"192.0.2.1\"\n";

/// The path of a new file with a secret, as TOML.
fn secret_in(folder: &Path, text: &str) -> String {
    let path = folder.join("key");
    let mut file = files::create_private(&path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    format!("{:?}", path.display().to_string())
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
    let secret = secret_in(folder.path(), "between two\n");
    for key in keys::KEYS.iter().filter(|key| key.is_optional) {
        let example = match key.name {
            "secret_file" => &secret,
            _ => key.example,
        };
        let line = format!("{} = {example}\n", key.name);
        let text = match (key.table, key.name) {
            ("peers", "label_to" | "label_from") => format!(
                "[core]\ninterface = \"eth0\"\ncarriage = \"mpls\"\n{PEER}label_to = 100\nlabel_from = 200\n"
            ),
            ("peers", _) => format!("{PEER}{line}"),
            ("uplink", "rate") => format!("[uplink]\n{line}{PEER}"),
            ("uplink", _) => format!("[uplink]\nrate = \"1gbit\"\n{line}{PEER}"),
            ("inside", "bridge") => {
                format!("[inside]\npath = \"tap\"\naddresses = [\"10.1.0.1\"]\n{line}{PEER}")
            }
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
            "[insight]\n",
            "g.toml:1: unknown table `insight`; did you mean `inside`?",
        ),
        (
            "[inside]\nmtv = 1\n",
            "g.toml:2: unknown key `mtv` in [inside]; did you mean `mtu`?",
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
            "g.toml:3: peers.a.local = 10.0.0.1: it must be of the same version",
        ),
        ("[peers]\na = 1\n", "g.toml:2: peers.a is not a table"),
        (
            "[inside]\nmtu = 100\n@",
            "g.toml:2: inside.mtu = 100: an MTU is from 1280 to 65535",
        ),
        (
            "[inside]\npath = \"packet\"\n@",
            "g.toml:2: inside.path = packet: packet needs `interfaces`",
        ),
        (
            "[inside]\npath = \"tap\"\n@",
            "g.toml:2: inside.path = tap: with tap the gateway is a router among the hosts; name its `addresses` there",
        ),
        (
            "[inside]\nbridge = \"br0\"\n@",
            "g.toml:2: inside.bridge = br0: a TAP interface alone joins a bridge; write path = \"tap\"",
        ),
        (
            "[inside]\npath = \"tap\"\naddresses = [\"10.1.0.1\"]\nmtu = 65522\n@",
            "g.toml:4: inside.mtu = 65522: a TAP interface carries at most 65521",
        ),
        (
            "[inside]\npath = \"tap\"\naddresses = [\"10.1.0.1\"]\nroutes = \"install\"\n@",
            "g.toml:4: inside.routes = install: with tap hosts have one of `addresses` as their next hop",
        ),
        (
            "[inside]\npath = \"xdp\"\n@",
            "g.toml:2: inside.path = xdp: xdp needs `interfaces`",
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
            "[inside]\npath = \"afxdp\"\n@",
            "g.toml:2: inside.path = afxdp: write one of tun, tap, packet, xdp, auto",
        ),
        (
            "[gather]\nwait = \"0s\"\n@",
            "g.toml:2: gather.wait = 0s: write a time above 0",
        ),
        (
            "[gather]\nshare = 2\n@",
            "g.toml:2: gather.share = 2: write a number above 0",
        ),
        (
            "[gather]\ntrigger = \"now\"\n@",
            "g.toml:2: gather.trigger = now: write one of timer, busy, full",
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
            "[operation]\nmetrics = \"loopback\"\n@",
            "g.toml:2: operation.metrics = loopback: write an address",
        ),
        (
            "[core]\ncarriage = \"gre\"\n@",
            "g.toml:2: core.carriage = gre: write one of udp, ip, mpls",
        ),
        (
            "@prefixes = [\"10.1.2.3/8\"]\n",
            "g.toml:4: peers.west.prefixes = 10.1.2.3/8: `10.1.2.3/8` is no network",
        ),
        (
            "@prefixes = [\"192.0.0.0/8\"]\n",
            "192.0.0.0/8 covers the peer 192.0.2.2",
        ),
        ("@mtu = 1290\n", "an MTU of 1290 leaves"),
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
fn a_secret_is_read_from_a_file_of_its_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = secret_in(folder.path(), "between two\n");
    let text = format!("{PEER}secret_file = {path}\n");
    let gateway = read(&text).unwrap();
    let sealing = gateway.configuration.settings.peers[0].sealing.clone();
    let secret = Secret::new(b"between two".to_vec());
    assert!(sealing.unwrap().secret == secret);
    assert!(!format!("{gateway:?}").contains("between"));
    let refusal = |text: &str| read(text).unwrap_err().to_string();
    let plain = refusal(&format!("[gather]\nalone = \"plain\"\n{text}"));
    assert!(plain.contains("has a secret"), "{plain}");
    let file = std::fs::File::open(folder.path().join("key")).unwrap();
    file.set_permissions(Permissions::from_mode(0o640)).unwrap();
    let open = refusal(&text);
    assert!(
        open.starts_with("g.toml:4: peers.west.secret_file = "),
        "{open}"
    );
    assert!(open.contains("type: chmod 600"), "{open}");
    let short = text.replace("key\"", "short\"");
    files::create_private(&folder.path().join("short")).unwrap();
    assert!(refusal(&short).contains("--new-secret"), "{short}");
    let absent = refusal(&text.replace("key\"", "absent\""));
    assert!(absent.contains("No such file"), "{absent}");
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
            ("inside", "interfaces", "inside", values(&["eth1"])),
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
    let refused = |options: &[(&'static str, &str)]| {
        let options = options.iter().map(|(key, value)| {
            let option = if *key == "address" { "peer" } else { key };
            ("peers", *key, option, values(&[value]))
        });
        let values = options.collect();
        read_options(&Simple { values }).unwrap_err().to_string()
    };
    let error = refused(&[("address", "host"), ("local", "192.0.2.1")]);
    assert!(
        error.starts_with("--peer host: write an IP address"),
        "{error}"
    );
    assert_eq!(
        refused(&[("address", "198.51.100.7"), ("prefixes", "10.3.0.0/16")]),
        "--peer 198.51.100.7: add the address of this gateway that the peer knows: --local ADDRESS"
    );
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_in_one_line(
        lines in prop::collection::vec(
            prop::sample::select(vec![
                "[inside]", "[core]", "[peers.a]", "[uplink]", "[follow]", "mtu = 9000", "mtu = []",
                "address = \"10.0.0.1\"", "local = \"10.0.0.2\"", "path = \"tun\"", "x = {", "\u{0}",
                "prefixes = [\"0.0.0.0/0\", \"::/0\"]", "rate = \"1gbit\"", "share = -1", "table = -5",
            ]),
            0..12,
        ),
        noise in ".{0,20}",
    ) {
        let text = format!("{}\n{noise}", lines.join("\n"));
        if let Err(error) = read(&text) {
            prop_assert!(!error.to_string().contains('\n'), "{error}");
        }
    }
}
