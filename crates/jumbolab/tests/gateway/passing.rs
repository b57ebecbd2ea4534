//! What passes, for every path to the hosts, MTU of the core, MTU of the hosts, and with
//! and without `addresses`: TCP, the largest packets, and datagrams.

use std::fmt::Write as _;

use serde_json::Value;

use super::see;

/// Bytes of a transfer; the bed's script has the same number.
const BYTES: u64 = 1_000_000;

/// Runs `cell HOSTS CORE ADDRESSES` with gateways of the path `INSIDE` and hosts whose
/// links have the MTU `HOSTS`, or those of a and b `9000/1500`. `ADDRESSES` are `own`, those of the gateways' interfaces,
/// or `other`, which the machines do not have. An MTU `CORE` of `9000>4000` shrinks once
/// the gateways run.
const CELL: &str = r#"
mtu() { # MTU "NODE INTERFACE"...
    local mtu=$1 one
    shift
    for one in "$@"; do ip -n ${one% *} link set ${one#* } mtu $mtu; done
}
configure() { # NODE LOCAL PEER PREFIXES MTU ADDRESSES
    cat >$1.toml <<END
[inside]
$INSIDE
mtu = $5
$6
[peers.far]
address = "$3"
local = "$2"
prefixes = [$4]
END
    begin $1 --config $1.toml
}
addresses() { # NETWORK
    case $stated in
    own) echo "addresses = [\"10.$1.0.1\", \"fd0$1::1\"]" ;;
    other) echo "addresses = [\"10.$1.0.254\", \"fd0$1::fe\"]" ;;
    esac
}
cell() { # HOSTS CORE ADDRESSES
    hosts=$1 core=$2 stated=$3
    mtu ${hosts%/*} "a eth0" "ga in"
    mtu ${hosts#*/} "gb in" "b eth0"
    mtu ${core%>*} "ga out" "c west" "c east" "gb out"
    configure ga 192.0.2.1 198.51.100.1 '"10.2.0.0/24", "fd02::/64"' ${hosts%/*} "$(addresses 1)"
    configure gb 198.51.100.1 192.0.2.1 '"10.1.0.0/24", "fd01::/64"' ${hosts#*/} "$(addresses 2)"
    mtu ${core#*>} "c east" "gb out"
    echo "{\"hosts\": \"$hosts\", \"core\": \"$core\", \"stated\": \"$stated\"}"
    python3 "$PASSING" ${hosts%/*} ${hosts#*/}
    end ga gb
}
"#;

#[test]
#[expect(clippy::print_stdout, reason = "the table is for who asks for it")]
fn packets_as_large_as_the_links_of_both_hosts_pass_on_every_path() {
    let mut table = String::from("inside  hosts      core       addresses  passes\n");
    let mut wrong = 0;
    for (path, prepare, inside) in [
        ("tun", "forwarding", "datapath = \"tun\""),
        ("packet", "", "interfaces = [\"in\"]"),
        ("xdp", "", "datapath = \"xdp\"\ninterfaces = [\"in\"]"),
    ] {
        let cells: Vec<String> = [1_500, 9_000]
            .into_iter()
            .flat_map(|hosts| {
                [("1500", "own"), ("9000", "other")].map(|(core, stated)| {
                    format!("cell {hosts} {core} none\n cell {hosts} {core} {stated}\n")
                })
            })
            .collect();
        let cells = cells.concat();
        let seen = see(&format!(
            "{CELL}{prepare}
            INSIDE='{inside}'
            {cells}
            cell 9000 '9000>4000' own
            cell 9000/1500 9000 own\n"
        ));
        seen.conserved();
        let mut objects = seen.objects().into_iter();
        while let Some(cell) = objects.next() {
            let [hosts, core, stated] =
                ["hosts", "core", "stated"].map(|key| cell[key].as_str().expect(key));
            let number = |text: &str| text.parse::<u64>().expect("a number");
            let fits = hosts.split('/').map(number).min().expect("there is one");
            let bad: Vec<Value> = objects
                .by_ref()
                .take(4)
                .filter(|seen| !passes(seen, fits))
                .collect();
            let _ = write!(table, "{path:7} {hosts:9}  {core:9}  {stated:9}  ");
            let _ = match bad.as_slice() {
                [] => writeln!(table, "{fits}"),
                bad => writeln!(table, "NOT: {bad:?}"),
            };
            wrong += bad.len();
        }
    }
    println!("{table}");
    assert_eq!(wrong, 0, "\n{table}");
    assert_eq!(table.lines().count(), 1 + 3 * 10, "\n{table}");
}

#[test]
fn errors_come_from_the_address_of_the_gateway_that_the_host_knows() {
    for begin in ["begin_tun", "begin_packet"] {
        let seen = see(&format!(
            "{begin}
            for host in 10.2.0.2 fd02::2; do
                in_node a ping -c 1 -W 1 -t 1 $host || true
            done
            for version in '-4 10.9.0.0/24' '-6 fd09::/64'; do
                set -- $version
                ip -n ga $1 route add $2 dev jumbo0 metric 1
            done
            for host in 10.9.0.1 fd09::1; do
                in_node a ping -c 1 -W 1 $host || true
            done
            end ga gb
"
        ));
        let from = |words: &str| {
            let lines = seen.printed.lines();
            lines.filter(|line| line.contains(words)).count()
        };
        for words in [
            "From 10.1.0.1 icmp_seq=1 Time to live exceeded",
            "From fd01::1 icmp_seq=1 Time exceeded: Hop limit",
        ] {
            assert_eq!(from(words), 1, "{begin}: {}", seen.printed);
        }
        if begin == "begin_tun" {
            for words in [
                "From 10.1.0.1 icmp_seq=1 Destination Net Unreachable",
                "From fd01::1 icmp_seq=1 Destination unreachable: No route",
            ] {
                assert_eq!(from(words), 1, "{begin}: {}", seen.printed);
            }
        }
        seen.conserved();
    }
}

/// Whether what was `seen` of one version of IP in one direction is right where packets of
/// `fits` bytes pass.
fn passes(seen: &Value, fits: u64) -> bool {
    seen["tcp"] == BYTES && seen["fits"] == fits && seen["larger"] == true
}
