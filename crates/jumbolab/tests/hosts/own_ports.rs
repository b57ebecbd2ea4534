//! Strangers at the addresses of both ends of a network take no part in its flows: each flow
//! is accepted from its own port alone.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Stdio};

use live::clock;
use plan::Trial;
use results::folder::Folder;
use units::Span;

use crate::bed::{Bed, Between};
use crate::gateways::{SCALING, SHORT, words};
use crate::run::said;

/// A stranger. It connects to a TCP port, prints `connected` and sends octets; or it sends
/// datagrams that look like the first ones of a hundred flows, sent long before.
const STRANGER: &str = r#"
if [ $1 = tcp ]; then
    exec 3<>/dev/tcp/$2/$3 && echo connected && echo a stranger >&3 && sleep 3
else
    for flow in {0..99}; do
        printf "\0\0\0\x$(printf %02x $flow)\0\0\377\377\0\0\0\0\0\0\0\0" >/dev/udp/$2/$3
    done
fi 2>/dev/null
"#;

/// A port of a host at which flows arrive.
type Port = (&'static str, String, String);

/// The ports of a host in the measured network at which flows arrive, by protocol.
fn ports(bed: &Bed, host: &'static str, address: &str) -> BTreeSet<Port> {
    let mut ss = bed.on(host, "ss");
    let output = ss.args(["-H", "-l", "-n", "-t", "-u"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let port = |line: &str| {
        let mut words = line.split_whitespace();
        let protocol = words.next()?.to_owned();
        let at = words.find(|word| word.contains(address))?;
        let (_, port) = at.rsplit_once(':')?;
        let is_of_flows = matches!(port.parse(), Ok(19_999..=20_099));
        is_of_flows.then(|| (host, protocol, port.to_owned()))
    };
    text.lines().filter_map(port).collect()
}

/// Runs an experiment. As soon as a host opens a port at one of `addresses` (of host a and
/// host b), a stranger on the other host sends to it. Returns the trials, and the number of
/// strangers whose connection was accepted.
fn disturbed(bed: &Bed, line: &[&str], addresses: [&str; 2]) -> (Vec<Trial>, usize) {
    let mut command = bed.command(line);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut open = BTreeSet::new();
    let mut strangers: Vec<Child> = Vec::new();
    while child.try_wait().unwrap().is_none() {
        let ends = ["a", "b"].into_iter().zip(addresses);
        let now: BTreeSet<Port> = ends.flat_map(|(host, at)| ports(bed, host, at)).collect();
        for (host, protocol, port) in now.difference(&open) {
            let (other, address) = match *host {
                "a" => ("b", addresses[0]),
                _ => ("a", addresses[1]),
            };
            let mut stranger = bed.on(other, "timeout");
            let stranger = stranger.args(["4", "bash", "-c", STRANGER, "bash"]);
            let stranger = stranger.args([protocol, address, port]);
            strangers.push(stranger.stdout(Stdio::piped()).spawn().unwrap());
        }
        // The next trial has the same ports. They are open for half a second before it begins.
        open = now;
        clock::sleep(Span::from_millis(50));
    }
    let output = child.wait_with_output().unwrap();
    let told = said(&output);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{told}");
    let all = strangers.len();
    assert!(all > 0, "{told}");
    let outputs = strangers.into_iter().map(Child::wait_with_output);
    let connected = outputs.filter(|output| !output.as_ref().unwrap().stdout.is_empty());
    let connected = connected.count();
    let (_, facts, trials) = Folder::read(&bed.path("r")).unwrap();
    assert_eq!(facts.left_out.len(), 0);
    (trials, connected)
}

/// Eight connections from the receiver, and forty calls each way, over gateways.
#[test]
fn strangers_at_the_senders_addresses_are_refused_and_counted_and_figures_hold() {
    let bed = Bed::new(Between::Gateways);
    let cells = "--set traffic=down100m --set gather=off,t900us --set network.lateness=5s --set trials.patience=none --repeat 1";
    // With a core that an emulator carries beside strangers, and hosts that reach each other by
    // their own interfaces: strangers then have the addresses of the flows.
    let (of_host, rate) = (
        "\"links.out-b.rate\" = \"100mbit\"\n",
        "\nrate = \"1gbit\"\n",
    );
    assert!(SCALING.contains(of_host) && SCALING.contains(rate));
    let slower = SCALING.replace(of_host, "");
    let slower = slower.replace(rate, "\nrate = \"20mbit\"\n");
    fs::write(bed.path("slower.toml"), slower).unwrap();
    let line = words("run slower.toml -o r", cells);
    let (trials, connected) = disturbed(&bed, &line, ["10.8.1.1", "10.8.2.2"]);
    assert_eq!((trials.len(), connected), (2, 0));
    for trial in &trials {
        let told = format!("{:?} {} {:?}", trial.metrics, trial.factors, trial.evidence);
        assert_eq!(trial.failure, None, "{told}");
        let metric = |name: &str| trial.metrics.get(name).copied().unwrap_or(-1.0);
        // Each connection had its port: they share 20 Mbit/s evenly.
        let carried = metric("throughput/bulk");
        assert!(carried > 5.0 && carried < 20.0, "{told}");
        assert!(metric("fairness/bulk") > 0.5, "{told}");
        assert_eq!(trial.evidence.get("failed_connections"), None, "{told}");
        // Those of strangers would be as late as the ports were open before, and leave a gap in
        // front of them.
        assert!(metric("delay/there") < 50.0, "{told}");
        for lost in ["loss/there", "loss/back"] {
            assert!((0.0..50.0).contains(&metric(lost)), "{lost}: {told}");
        }
        let [sent, received] = ["messages_sent", "messages_received"];
        let [sent, received] = [sent, received].map(|name| trial.number(name).unwrap());
        assert!(received > 0.9 * sent && received <= sent, "{told}");
        // One SYN at least to each of eight ports, and a hundred datagrams each way.
        let refused = trial.number("refused_peers").unwrap_or_default();
        assert!(refused >= 208.0, "{told}");
    }
}

#[test]
fn strangers_over_ipv6_are_refused_and_counted_too() {
    let bed = Bed::new(Between::Gateways);
    let cells = format!("{SHORT} --set network.ip=6");
    let line = words("run aqm-congestion -o r", &cells);
    let (trials, connected) = disturbed(&bed, &line, ["fd09:1::1", "fd09:2::2"]);
    assert_eq!((trials.len(), connected), (2, 0));
    for trial in &trials {
        let told = format!("{:?} {} {:?}", trial.metrics, trial.factors, trial.evidence);
        assert_eq!(trial.failure, None, "{told}");
        let metric = |name: &str| trial.metrics.get(name).copied().unwrap_or(-1.0);
        for carried in ["throughput/small", "throughput/reverse"] {
            assert!(metric(carried) > 0.0, "{carried}: {told}");
        }
        assert_eq!(trial.evidence.get("failed_connections"), None, "{told}");
        let busy = metric("utilisation_percent_h2");
        assert!(busy > 20.0 && busy < 110.0, "{told}");
        assert!(
            trial.number("refused_peers").unwrap_or_default() >= 4.0,
            "{told}"
        );
    }
}
