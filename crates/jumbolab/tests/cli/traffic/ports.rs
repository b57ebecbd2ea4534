//! Ports and headers that the user chooses, through a firewall that lets nothing else pass.

use super::in_own_network;
use crate::harness::{Dir, Outcome};

/// Runs a receiver and a sender in a network namespace whose firewall accepts the control
/// connection and what `rule` accepts of the data.
fn through_firewall(rule: &str, receiver: &str, sender: &str) -> Outcome {
    let script = format!(
        "nft -f - <<RULES
table inet firewall {{
    chain in {{
        type filter hook input priority 0; policy drop;
        tcp dport 7770 accept
        tcp sport 7770 accept
        ip6 nexthdr icmpv6 accept
        {rule}
    }}
}}
RULES
        jumbolab recv {receiver} >received 2>&1 &
        until grep -qs listening received; do sleep 0.01; done
        jumbolab send {sender} --duration 200ms --interval 0"
    );
    in_own_network(&Dir::new(), &script)
}

#[test]
fn data_pass_a_firewall_at_two_ports_that_it_knows() {
    for (protocol, more) in [
        ("udp", "--meter round-trip"),
        ("udp", "--reverse"),
        ("tcp", "--reverse"),
        ("tcp", "--message 1000 --gap 1ms"),
    ] {
        let rule =
            format!("{protocol} sport {{ 5001, 7772 }} {protocol} dport {{ 5001, 7772 }} accept");
        let ports = "--source-port 5001 --destination-port 7772";
        let sent = through_firewall(
            &rule,
            "--data-ports 7771-7774",
            &format!("127.0.0.1 --protocol {protocol} {ports} {more}"),
        );
        assert_eq!(sent.code, Some(0), "{protocol} {more}: {sent:?}");
    }
}

#[test]
fn flows_have_consecutive_ports_and_those_of_the_receiver_are_enough() {
    let rule = "udp sport 5001 udp dport 7771 accept
        udp sport 5002 udp dport 7772 accept
        udp sport { 7771, 7772 } accept";
    let sender = "127.0.0.1 --flows 2 --source-port 5001";
    let sent = through_firewall(rule, "--data-ports 7771-7772", sender);
    assert_eq!(sent.code, Some(0), "{sent:?}");
    let one_is_missing = through_firewall(rule, "--data-ports 7771", sender);
    assert_eq!(one_is_missing.code, Some(2), "{one_is_missing:?}");
    assert!(
        one_is_missing.stderr.contains("--data-ports"),
        "{one_is_missing:?}"
    );
}

#[test]
fn a_port_outside_those_of_the_receiver_is_rejected() {
    for (receiver, port) in [("--data-ports 7771", 7773), ("", 1023)] {
        let sender = format!("127.0.0.1 --destination-port {port}");
        let sent = through_firewall("accept", receiver, &sender);
        assert_eq!(sent.code, Some(2), "{sent:?}");
        assert!(sent.stderr.contains("--destination-port"), "{sent:?}");
    }
}

#[test]
fn packets_carry_their_ecn_and_flow_label() {
    let rule = "ip ecn ect0 ip dscp af41 udp dport 7771 accept
        udp sport 7771 accept";
    let sent = through_firewall(
        rule,
        "--data-ports 7771",
        "127.0.0.1 --ecn ect0 --dscp AF41",
    );
    assert_eq!(sent.code, Some(0), "{sent:?}");
    let rule = "ip6 flowlabel 0x12345 meta l4proto { tcp, udp } th dport 7771 accept
        th sport 7771 accept";
    for protocol in ["udp", "tcp"] {
        let sender = format!("::1 --protocol {protocol} --flow-label 0x12345");
        let sent = through_firewall(rule, "--data-ports 7771", &sender);
        assert_eq!(sent.code, Some(0), "{protocol}: {sent:?}");
    }
}

#[test]
fn data_may_go_to_another_address_than_the_control_connection() {
    let rule = "ip saddr 127.0.0.3 ip daddr 127.0.0.2 accept
        ip saddr 127.0.0.2 ip daddr 127.0.0.3 accept";
    let receiver = "--listen 127.0.0.1 --listen 127.0.0.2";
    for flow in [
        "",
        "--meter round-trip --dscp EF",
        "--reverse",
        "--protocol tcp --message 1000 --gap 1ms",
        "--protocol tcp --reverse",
    ] {
        let sender = format!("127.0.0.2 --control 127.0.0.1 --source 127.0.0.3 {flow}");
        let sent = through_firewall(rule, receiver, &sender);
        assert_eq!(sent.code, Some(0), "{flow}: {sent:?}");
    }
    let sent = through_firewall("accept", receiver, "127.0.0.4 --control 127.0.0.1");
    assert_eq!(sent.code, Some(2), "{sent:?}");
    assert!(sent.stderr.contains("with --listen"), "{sent:?}");
}
