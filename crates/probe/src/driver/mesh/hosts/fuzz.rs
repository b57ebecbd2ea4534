//! Files of hosts of any content are read or rejected by line.

use proptest::prelude::*;

use super::*;

fn word() -> impl Strategy<Value = String> {
    let values = vec![
        "a",
        "b",
        "u@a",
        "ssh://u@a:22",
        "ssh://a:0",
        "-oProxyCommand=x",
        "u@-x",
        "ssh://-x",
        "10.0.0.1",
        "10.0.0.2",
        "::1",
        "fe80::1%x",
        "0",
        "1",
        "65535",
        "65536",
        "-1",
        "sudo",
        "sudo\u{b}-u",
        "$(x)",
        "",
        "=",
        "\u{202e}",
        "\u{1b}[31m",
    ];
    let key = prop_oneof![
        9 => prop::sample::select(KEYS.to_vec()).prop_map(str::to_owned),
        1 => "[a-z=]{0,8}",
    ];
    let value =
        prop_oneof![9 => prop::sample::select(values).prop_map(str::to_owned), 1 => ".{0,80}"];
    (key, value).prop_map(|(key, value)| format!("{key}={value}"))
}

fn line() -> impl Strategy<Value = String> {
    let name = prop_oneof![9 => "[a-e]{1,2}", 1 => ".{0,70}"];
    let words = prop::collection::vec(word(), 0..4);
    (name, words).prop_map(|(name, words)| format!("{name} {}", words.join(" ")))
}

fn file() -> impl Strategy<Value = String> {
    let lines = prop::collection::vec(line(), 0..6);
    let count = prop_oneof![9 => 0..6_usize, 1 => 95..105_usize];
    let valid = count.prop_flat_map(|count| prop::collection::vec(any::<u8>(), count));
    let valid = valid.prop_map(|numbers| {
        let lines = numbers.iter().enumerate();
        let lines = lines.map(|(at, number)| match number % 8 {
            0 => format!("h{at} address=10.1.{}.{}\n", number / 8, at),
            _ => format!(
                "h{at} ssh=u@h{at} address=10.0.{}.{} # {number}\n",
                at / 200,
                at
            ),
        });
        lines.collect::<String>()
    });
    (valid, lines, any::<bool>()).prop_map(|(valid, lines, mixed)| match mixed {
        true => format!("{valid}{}", lines.join("\n")),
        false => valid,
    })
}

proptest! {
    #[test]
    fn a_file_of_hosts_is_read_or_rejected(text in file()) {
        let numbered = |written: &Written| -> Result<IpAddr> {
            let text = written.address.as_deref().unwrap_or("10.9.9.9");
            text.parse().context("no address")
        };
        match parse(&text, numbered) {
            Ok(hosts) => {
                prop_assert!((2..=MOST).contains(&hosts.len()));
                prop_assert!(hosts.iter().any(|host| host.ssh.is_some()));
                let names: BTreeSet<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
                let addresses: BTreeSet<IpAddr> = hosts.iter().map(|host| host.address).collect();
                prop_assert_eq!([names.len(), addresses.len()], [hosts.len(); 2]);
                for host in &hosts {
                    prop_assert!(host.port > 0 && host.name.len() <= LONGEST_NAME);
                    let destination = host.ssh.as_ref().map_or("x", Destination::as_str);
                    prop_assert!(!destination.starts_with('-'), "{destination}");
                }
            }
            Err((line, _)) => {
                prop_assert!(line.is_none_or(|line| line <= text.lines().count()));
            }
        }
    }
}
