//! What the sender's host makes of its messages: fragments and super-packets.

use super::super::harness::Dir;
use crate::unprivileged::probe::see;

#[test]
fn fragments_and_super_packets_of_the_own_host_are_reported() {
    let dir = Dir::new();
    let script = r#"
at r "$JUMBOLAB" recv --open --port 7373 >/dev/null 2>said &
until grep -qs 'port 7373' said; do sleep 0.01; done
to() { at a "$JUMBOLAB" send "$@" --port 7373 --interval 0 | tr '\n' ' '; echo; }
to 10.0.1.2 --message 26000 --packets 20 --gap 1ms
to fd00:1::2 --message uniform:100,9900 --packets 200 --gap 100us
to 10.0.1.2 --message 8972 --packets 20 --gap 1ms
to 10.0.1.2 --protocol tcp --mss 1000 --bytes 20kB
to 10.0.1.2 --message 90 --gso 7 --packets 70 --gap 0s
ip -n a link set ar mtu 65535
ip -n r link set ra mtu 65535
to 10.0.1.2 --protocol tcp --bytes 20kB
"#;
    let printed = see(&dir, script).fine().stdout;
    let lines: Vec<&str> = printed.lines().collect();
    let each = "each message as 3 fragments (IpFragCreates grew by 60); write --message 8972 or";
    assert!(lines[0].contains(each), "{printed}");
    let some = "fragments of 200 messages (Ip6FragCreates grew by ";
    assert!(lines[1].contains(some), "{printed}");
    assert!(
        lines[1].contains("write --message 8952 or --pmtudisc do"),
        "{printed}"
    );
    let segments = "warning     ar passes super-packets of up to 64 KiB on";
    assert!(lines[3].contains(segments), "{printed}");
    assert!(lines[3].contains("not segments of 988 bytes"), "{printed}");
    // One message has no jitter.
    assert!(
        !lines[3].contains("jitter") && lines[4].contains("jitter"),
        "{printed}"
    );
    assert!(lines[4].contains("leave 7 at a time (--gso)"), "{printed}");
    // Neither messages of a packet each, nor segments of which two are no super-packet.
    for line in [lines[2], lines[5]] {
        assert!(
            !line.contains("fragments") && !line.contains("warning"),
            "{printed}"
        );
    }
}

#[test]
fn a_tunnel_as_large_as_its_underlay_is_told_to_be_smaller() {
    let dir = Dir::new();
    // 1600 - 20 - 8 - 8 - 14.
    let script = r#"
for end in 'a ar 10.0.1.2 1' 'r ra 10.0.1.1 2'; do
    set -- $end
    ip -n $1 link set $2 mtu 1600
    ip -n $1 link add tun0 mtu 1600 type vxlan id 42 remote $3 dstport 4789
    ip -n $1 address add 10.77.0.$4/24 dev tun0
    ip -n $1 link set tun0 up
done
at a "$JUMBOLAB" probe 10.77.0.2 && code=0 || code=$?
echo "code $code"
ip -n a link set tun0 mtu 1550
ip -n r link set tun0 mtu 1550
at a "$JUMBOLAB" probe 10.77.0.2
"#;
    let printed = see(&dir, script).fine().stdout;
    let (large, small) = printed.split_once("code 1\n").expect(&printed);
    let large = large.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "sends packets of tun0 larger than 1550 bytes in fragments outside of its tunnel",
        "ip link set tun0 mtu 1550",
    ] {
        assert!(large.contains(words), "{printed}");
    }
    assert!(!large.contains("The path: set MTU"), "{printed}");
    assert!(
        !small.contains("outside") && small.contains("delivers packets of 1550"),
        "{printed}"
    );
}
