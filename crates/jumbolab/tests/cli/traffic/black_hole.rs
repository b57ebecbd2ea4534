//! Flows into an MTU black hole: a link that drops large packets and sends no error.

use serde_json::Value;

use super::super::harness::{Dir, Outcome};
use super::super::lookup::Object;
use crate::unprivileged::probe::see;

/// Starts a receiver, and the senders of a direction side by side; prints their exit
/// codes. Super-packets pass any link between namespaces, so there are none.
const FLOWS: &str = r#"
for one in 'a ar' 'b bs'; do set -- $one; ip -n $1 link set $2 gso_max_segs 1; done
at b "$JUMBOLAB" recv --open --port 7272 >served 2>said &
until grep -qs 'port 7272' said; do sleep 0.01; done
to() {
    file=$1; shift
    at a "$JUMBOLAB" send "$@" --port 7272 >$file 2>&1 && code=0 || code=$?
    echo $code >>$file
}
all() { for one in "$@"; do to $one & senders="${senders:-} $!"; done; wait $senders; senders=; }
"#;

fn read(dir: &Dir, file: &str) -> String {
    std::fs::read_to_string(dir.path().join(file)).unwrap()
}

/// The objects of a file behind which an exit code stands.
fn objects(dir: &Dir, file: &str) -> Vec<Value> {
    let text = read(dir, file);
    let stdout = text.strip_suffix("1\n").expect(&text).to_owned();
    let (code, stderr) = (Some(1), String::new());
    Outcome {
        code,
        stdout,
        stderr,
    }
    .json()
}

#[test]
fn a_flow_into_a_black_hole_names_it_and_what_to_type() {
    let dir = Dir::new();
    let script = r#"
ip -n s link set sr mtu 2000
all 'tcp fd00:3::2 --protocol tcp --duration 2500ms --interval 200ms' \
    'echoes 10.0.3.2 --protocol tcp --meter round-trip --message 7000 --duration 1s --json' \
    'udp 10.0.3.2 --message 6000 --gap 5ms --duration 450ms --interval 100ms --json-stream' \
    'small 10.0.3.2 --message 300 --gap 5ms --duration 450ms --json'
ip -n s link set sr mtu 9000
ip -n r link set rs mtu 2000
all 'tcp-reverse 10.0.3.2 --protocol tcp --duration 1s --reverse --json' \
    'udp-reverse fd00:3::2 --message 6000 --gap 5ms --duration 450ms --reverse --json' \
    'answers fd00:3::2 --message 2500 --gap 5ms --duration 450ms --meter round-trip --json'
"#;
    see(&dir, &format!("{FLOWS}{script}")).fine();
    let hole = |host: &str| {
        format!("small ones are: an MTU black hole? type: jumbolab probe {host} --port 7272")
    };
    let text = read(&dir, "tcp");
    let segments = format!(
        "segments of 8928 bytes are not delivered, {}",
        hole("fd00:3::2")
    );
    for start in ["[flow] ", "  failed      "] {
        let says = |line: &&str| *line == format!("{start}{segments}");
        assert_eq!(text.lines().filter(says).count(), 1, "{text}");
    }
    assert!(text.ends_with("\n1\n") && text.contains("  TCP "), "{text}");
    for (file, what, host) in [
        ("echoes", "segments of 7000 bytes are", "10.0.3.2"),
        ("tcp-reverse", "segments of 8948 bytes are", "10.0.3.2"),
        ("udp-reverse", "messages of 6000 bytes was", "fd00:3::2"),
        ("answers", "answers of 2500 bytes was", "fd00:3::2"),
    ] {
        let flow = objects(&dir, file).remove(0);
        let fault = flow["error"].as_str().unwrap_or_default();
        let says = fault.contains(what) && fault.ends_with(&hole(host));
        assert!(says, "{file}: {flow}");
    }
    let mut flows = objects(&dir, "udp");
    let result = flows.pop().unwrap();
    assert_eq!(result.count("lost"), result.count("sent"), "{result}");
    let fault = result["error"].as_str().unwrap_or_default();
    assert!(
        fault.contains("none of") && fault.ends_with(&hole("10.0.3.2")),
        "{result}"
    );
    // No message shows how many others are lost.
    assert!(flows.len() >= 3, "{flows:?}");
    assert!(flows.iter().all(|flow| flow["lost"].is_null()), "{flows:?}");
    assert!(
        read(&dir, "small").ends_with("\n0\n"),
        "{}",
        read(&dir, "small")
    );
}
