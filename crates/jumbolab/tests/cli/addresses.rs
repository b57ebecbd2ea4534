//! Hosts as users write them: addresses of links with their interface, and in brackets.

use super::harness::Dir;
use crate::unprivileged::probe::see;

#[test]
fn hosts_are_written_with_zones_and_brackets_and_what_is_no_host_is_rejected() {
    let dir = Dir::new();
    let script = r#"
ip -n a address add fe80::a5/64 dev ar nodad
ip -n r address add fe80::b6/64 dev ra nodad
at r "$JUMBOLAB" recv --open --port 7171 >/dev/null 2>said &
until grep -qs 'port 7171' said; do sleep 0.01; done
to() { command=$1; shift; at a "$JUMBOLAB" $command "$@" >out 2>&1 && code=0 || code=$?; echo "$code $(tail -n 1 out)"; }
for host in fe80::b6 10.0.1.255 224.0.0.9 fe80::b6%none fd00:1::2%ar 10.0.1.0/24 '[fd00:1::2' 0.0.0.0; do
    to probe $host
    to send $host --port 7171 --packets 2
done
to send 10.0.1.2:22 --port 7171 --packets 2
to probe fe80::b6%ar --interface lo
for host in '[fd00:1::2]' fe80::b6%ar 'fe80::b6 --interface ar'; do to probe $host --max-mtu 3000; done
for host in '[fe80::b6%ar]' 'fe80::b6 --interface ar'; do to send $host --port 7171 --packets 2; done
to send fe80::b6 --interface ar --protocol icmp --packets 2 --gap 1ms
"#;
    let outcome = see(&dir, script).fine();
    let rejected = [
        "needs an interface; write fe80::b6%ar or --interface ar",
        "needs an interface; write fe80::b6%ar or --interface ar",
        "10.0.1.255: it is a broadcast address",
        "10.0.1.255: it is a broadcast address",
        "224.0.0.9: it is a multicast address",
        "224.0.0.9: it is a multicast address",
        "there is no interface none",
        "there is no interface none",
        "write fd00:1::2 --interface ar",
        "write fd00:1::2 --interface ar",
        "no prefix length; write 10.0.1.0",
        "no prefix length; write 10.0.1.0",
        "a bracket is missing",
        "a bracket is missing",
        "127.0.0.1 for this one",
        "127.0.0.1 for this one",
        "write 10.0.1.2 --port 22",
        "%ar and --interface lo are two interfaces",
    ];
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert_eq!(lines.len(), rejected.len() + 6, "{lines:?}");
    let (first, served) = lines.split_at(rejected.len());
    for (line, words) in first.iter().zip(rejected) {
        assert!(
            line.starts_with("2 ") && line.contains(words),
            "{line}: {words}"
        );
    }
    assert!(
        served.iter().all(|line| line.starts_with("0 ")),
        "{served:?}"
    );
}
