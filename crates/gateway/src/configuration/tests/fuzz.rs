//! Configurations with changes.

use proptest::prelude::*;
use proptest::sample::Index;

use super::*;

/// A configuration with three peers.
fn valid() -> String {
    let peer = |number: usize| {
        format!(
            "[peers.p{number}]\naddress = \"192.0.2.{}\"\nlocal = \"192.0.2.1\"\nmtu = 9000\nnext_as = {number}\nprefixes = [\"10.{number}.0.0/16\", \"fd0{number}::/16\"]\ndscp = \"EF\"\n",
            number + 2
        )
    };
    let peers: String = (0..3).map(peer).collect();
    format!(
        "[inside]\nmtu = 1500\n[core]\ninterface = \"eth0\"\nprobe = \"10s\"\n[aggregation]\nmax_wait = \"1ms\"\nshare = 0.5\n[uplink]\nrate = \"1gbit\"\nqueue = \"droptail\"\nbuffer = \"500kB\"\nseed = 7\n[follow]\ntable = 100\nprotocol = \"bird\"\n[operation]\nmetrics_listen = \"127.0.0.1:9778\"\nspin = \"50us\"\n{peers}"
    )
}

/// Values that replace others.
const VALUES: &[&str] = &[
    "0",
    "-1",
    "1",
    "1280",
    "65535",
    "65536",
    "4294967296",
    "1e309",
    "nan",
    "true",
    "[]",
    "{}",
    "\"\"",
    "\"off\"",
    "\"::/0\"",
    "[\"0.0.0.0/0\"]",
    "[\"::/0\", \"10.0.0.0/33\"]",
    "\"ff02::1\"",
    "\"0.0.0.0:1\"",
    "\"[::1]:70000\"",
    "\"9999999999gbit\"",
    "\"1ps\"",
    "\"584years\"",
    "\"1 packets\"",
    "\"red,min=1e-300\"",
    "\"mpls\"",
    "\"ip\"",
    "\"xdp\"",
    "\"\\u001b\"",
    "1979-05-27",
    "[[1]]",
];

#[derive(Clone, Debug)]
enum Change {
    Value(Index, &'static str),
    Twice(Index),
    Away(Index),
    Swap(Index, Index),
    Byte(Index, char),
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let change = prop_oneof![
        4 => (any::<Index>(), prop::sample::select(VALUES))
            .prop_map(|(line, value)| Change::Value(line, value)),
        1 => any::<Index>().prop_map(Change::Twice),
        1 => any::<Index>().prop_map(Change::Away),
        1 => (any::<Index>(), any::<Index>()).prop_map(|(one, other)| Change::Swap(one, other)),
        1 => (any::<Index>(), any::<char>()).prop_map(|(place, char)| Change::Byte(place, char)),
    ];
    prop::collection::vec(change, 0..4)
}

proptest! {
    #[test]
    fn an_altered_configuration_is_rejected_in_one_line_or_can_be_worked_with(
        changes in changes(),
    ) {
        let text = valid();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for change in changes {
            let length = lines.len();
            match change {
                Change::Value(line, value) => {
                    let line = line.get_mut(&mut lines);
                    if let Some((key, _)) = line.split_once('=') {
                        *line = format!("{key}= {value}");
                    }
                }
                Change::Twice(line) => lines.push(line.get(&lines).clone()),
                Change::Away(line) => line.get_mut(&mut lines).clear(),
                Change::Swap(one, other) => lines.swap(one.index(length), other.index(length)),
                Change::Byte(place, char) => {
                    let line = place.get_mut(&mut lines);
                    let place = place.index(line.len() + 1);
                    if line.is_char_boundary(place) {
                        line.insert(place, char);
                    }
                }
            }
        }
        match read(&lines.join("\n")) {
            Err(error) => {
                let error = format!("{error:#}");
                prop_assert!(!error.contains('\n') && error.contains("g.toml") || error.contains("peer"), "{error}");
            }
            Ok(Gateway { configuration, metrics, .. }) => {
                configuration.settings.check().unwrap();
                let rows = &configuration.table.rows;
                prop_assert!(rows.iter().all(|row| row.is_sound() && row.egress < configuration.names.len()));
                prop_assert!(metrics.is_none_or(|address| address.ip().is_loopback()));
                let mut entropy = configuration.settings.clone();
                entropy.entropy = [1; 32];
                prop_assert!(crate::machine::Gateway::new(entropy).is_ok());
            }
        }
    }
}
