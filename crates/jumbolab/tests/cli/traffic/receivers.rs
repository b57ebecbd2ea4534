//! Flows to several receivers, of tables and of scripts of D-ITG.

use super::in_own_network;
use crate::harness::{Dir, Outcome};

/// Sends with the options `send` to receivers at 127.0.0.1 and 127.0.0.2, or without the
/// second.
fn send(dir: &Dir, send: &str, with_second: bool) -> Outcome {
    let second = match with_second {
        true => "start 127.0.0.2 second",
        false => "",
    };
    in_own_network(
        dir,
        &format!(
            "start() {{
                jumbolab recv --listen $1 >$2 2>$2.log &
                until grep -qs listening $2.log; do sleep 0.01; done
            }}
            start 127.0.0.1 first
            {second}
            jumbolab send {send}"
        ),
    )
}

const FLOWS: &str = r#"
[flows.near]
host = "127.0.0.1"
packets = 30
[flows.far]
host = "127.0.0.2"
packets = 40
protocol = "tcp"
[flows.plain]
packets = 50
"#;

#[test]
fn each_receiver_gets_its_flows() {
    let dir = Dir::new();
    dir.write("flows.toml", FLOWS);
    let sent = send(&dir, "127.0.0.2 --flow-file flows.toml --interval 0", true);
    assert_eq!(sent.code, Some(0), "{sent:?}");
    let at = |words: &str| {
        sent.stdout
            .find(words)
            .unwrap_or_else(|| panic!("{words}: {sent:?}"))
    };
    let order = [
        "to 127.0.0.1 port 7770\n",
        "\nnear: ",
        "\nto 127.0.0.2 port 7770\n",
        "\nfar: ",
        "\nplain: ",
    ];
    assert!(order.map(at).is_sorted(), "{sent:?}");
    assert!(sent.stdout.contains("received    40 messages"), "{sent:?}");
}

#[test]
fn no_flow_begins_if_a_receiver_is_not_there() {
    let dir = Dir::new();
    dir.write("flows.toml", FLOWS);
    let sent = send(&dir, "127.0.0.2 --flow-file flows.toml", false);
    assert_eq!(sent.code, Some(2), "{sent:?}");
    assert!(sent.stderr.contains("connecting to 127.0.0.2"), "{sent:?}");
    assert_eq!(sent.stdout, "");
}

#[test]
fn a_script_of_d_itg_is_sent_to_its_receivers() {
    let dir = Dir::new();
    let script = "-a 127.0.0.1 -rp 10001 -C 200 -c 100 -z 60 -b 184\n\
        -a 127.0.0.2 -rp 10002 -sp 10003 -T TCP -D -E 100 -u 40 400 -z 20\n";
    dir.write("flows.ditg", script);
    let sent = send(&dir, "--ditg-script flows.ditg --json", true);
    assert_eq!(sent.code, Some(0), "{sent:?}");
    let first: serde_json::Value =
        serde_json::from_str(sent.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(first["sent"], 60, "{first}");
    assert_eq!(first["sent_bytes"], 6_000, "{first}");
    dir.write("flows.ditg", &format!("{script}-a 127.0.0.1 -s 0.3\n"));
    let sent = send(&dir, "--ditg-script flows.ditg", true);
    assert_eq!(sent.code, Some(2), "{sent:?}");
    assert!(
        sent.stderr.contains("error: flows.ditg:3: -s: "),
        "{sent:?}"
    );
}

#[test]
fn a_flow_needs_a_host() {
    let dir = Dir::new();
    dir.write("flows.toml", FLOWS);
    let sent = send(&dir, "--flow-file flows.toml", true);
    assert_eq!(sent.code, Some(2), "{sent:?}");
    assert!(sent.stderr.contains("flow plain has no `host`"), "{sent:?}");
    dir.write("flows.toml", "[flows.a]\nhost = \"no host\"\n");
    let sent = send(&dir, "--flow-file flows.toml", true);
    assert_eq!(sent.code, Some(2), "{sent:?}");
    assert!(
        sent.stderr.contains("error: flows.toml:2: flows.a.host"),
        "{sent:?}"
    );
}
