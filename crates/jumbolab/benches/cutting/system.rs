//! The systems that are compared, and under what.

/// A system between the two sites.
#[derive(Clone, Copy, Debug)]
pub(crate) struct System {
    pub(crate) name: &'static str,
    /// The MTU of the hosts.
    pub(crate) mtu: u32,
    /// The script that starts it.
    script: &'static str,
    core: Core,
    /// The program that it needs.
    pub(crate) needs: Option<&'static str>,
}

/// The link between the gateways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Core {
    /// An emulated one of 1500 bytes that loses frames; hosts send every packet by itself.
    Lossy,
    /// A bridge of 9000 bytes; hosts send super-packets.
    Bridge,
}

/// The circumstances of a download.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Case {
    /// The share of frames that the core drops, as `jumbolab emulate` reads it.
    Loss(&'static str),
    /// Super-packets of at most so many bytes, with this address of the server.
    Super {
        title: &'static str,
        bytes: u32,
        server: &'static str,
    },
}

const LOSSES: [Case; 3] = [Case::Loss("0%"), Case::Loss("0.1%"), Case::Loss("1%")];

const SUPER_PACKETS: [Case; 4] = [
    supers("IPv4, 64 KiB", 65_536, "10.2.0.2"),
    supers("IPv6, 64 KiB", 65_536, "fd02::2"),
    supers("IPv4, 192 KiB (BIG TCP)", 196_608, "10.2.0.2"),
    supers("IPv6, 192 KiB (BIG TCP)", 196_608, "fd02::2"),
];

const fn supers(title: &'static str, bytes: u32, server: &'static str) -> Case {
    Case::Super {
        title,
        bytes,
        server,
    }
}

pub(crate) const SYSTEMS: [System; 11] = [
    System::lossy("plain-1500", 1_500, PLAIN),
    System::lossy("fragments-9000", 9_000, FRAGMENTS),
    System::lossy("gateway-1500", 1_500, GATEWAYS),
    System::lossy("gateway-9000", 9_000, GATEWAYS),
    System::lossy("sealed-9000", 9_000, SEALED),
    System {
        needs: Some("wireguard-go"),
        ..System::lossy("wireguard-1420", 1_500, WIREGUARD)
    },
    System::bridged("super-plain", PLAIN_WHOLE),
    System::bridged("super-plain-cut", PLAIN_CUT),
    System::bridged("super-packet", GATEWAYS_9000),
    System::bridged("super-tun", TUN_9000),
    System::bridged("super-sealed", SEALED_9000),
];

impl System {
    const fn lossy(name: &'static str, mtu: u32, script: &'static str) -> Self {
        Self {
            name,
            mtu,
            script,
            core: Core::Lossy,
            needs: None,
        }
    }

    const fn bridged(name: &'static str, script: &'static str) -> Self {
        Self {
            name,
            mtu: 1_500,
            script,
            core: Core::Bridge,
            needs: None,
        }
    }

    /// The circumstances of its downloads.
    pub(crate) const fn cases(&self) -> &'static [Case] {
        match self.core {
            Core::Lossy => &LOSSES,
            Core::Bridge => &SUPER_PACKETS,
        }
    }

    /// The scripts that make the links, and start it.
    pub(crate) const fn scripts(&self) -> [&'static str; 2] {
        let link = match self.core {
            Core::Lossy => LOSSY,
            Core::Bridge => BRIDGE,
        };
        [link, self.script]
    }
}

impl Case {
    /// For the table.
    pub(crate) const fn title(&self) -> &'static str {
        match self {
            Self::Loss(share) => share,
            Self::Super { title, .. } => title,
        }
    }

    /// The variables that the scripts read.
    pub(crate) fn variables(&self) -> [(&'static str, String); 3] {
        let (loss, bytes, server) = match self {
            Self::Loss(share) => (*share, 0, "10.2.0.2"),
            Self::Super { bytes, server, .. } => ("0%", *bytes, *server),
        };
        [
            ("LOSS", loss.to_owned()),
            ("SUPER", bytes.to_string()),
            ("SERVER", server.to_owned()),
        ]
    }
}

/// Forwarding by the kernels.
const PLAIN: &str = "
forwarding
ip -n ga route add 10.2.0.0/24 via 192.0.2.2
ip -n gb route add 10.1.0.0/24 via 192.0.2.1
";

/// The same with packets that routers may fragment.
const FRAGMENTS: &str = "
forwarding
for node in a b; do set_in $node net.ipv4.ip_no_pmtu_disc=1; done
ip -n ga route add 10.2.0.0/24 via 192.0.2.2
ip -n gb route add 10.1.0.0/24 via 192.0.2.1
";

/// `jumbolab gateway` with packet sockets.
const GATEWAYS: &str = "
begin ga --inside-interface in --mtu 1500 --local 192.0.2.1 --peer 192.0.2.2 --prefix 10.2.0.0/24
begin gb --inside-interface in --mtu 1500 --local 192.0.2.2 --peer 192.0.2.1 --prefix 10.1.0.0/24
";

/// The same with keys.
const SEALED: &str = "
keys
begin ga --inside-interface in --mtu 1500 --local 192.0.2.1 --peer 192.0.2.2 --prefix 10.2.0.0/24 $seal_a
begin gb --inside-interface in --mtu 1500 --local 192.0.2.2 --peer 192.0.2.1 --prefix 10.1.0.0/24 $seal_b
";

/// `wireguard-go`, whose packets of 1420 bytes fit the core.
const WIREGUARD: &str = r#"
forwarding
for node in ga gb; do
    (umask 077 && wg genkey >$node.key)
    wg pubkey <$node.key >$node.pub
    ip netns exec $node env LOG_LEVEL=silent wireguard-go -f wg$node >/dev/null 2>&1 &
    for try in $(seq 500); do
        if [ -S /run/wireguard/wg$node.sock ]; then break; fi
        sleep 0.01
    done
done
in_node ga wg set wgga private-key ga.key listen-port 51820 peer "$(cat gb.pub)" endpoint 192.0.2.2:51820 allowed-ips 0.0.0.0/0
in_node gb wg set wggb private-key gb.key listen-port 51820 peer "$(cat ga.pub)" endpoint 192.0.2.1:51820 allowed-ips 0.0.0.0/0
ip -n ga link set wgga up mtu 1420
ip -n gb link set wggb up mtu 1420
ip -n ga route add 10.2.0.0/24 dev wgga
ip -n gb route add 10.1.0.0/24 dev wggb
"#;

/// Forwarding of both versions. The kernel forwards super-packets of IPv6 above 64 KiB only to
/// links that have eight bytes more, for their Jumbo Payload option.
const PLAIN_WHOLE: &str = "
set_mtu 1508 ga/in gb/in
forwarding
ip -n ga route add 10.2.0.0/24 via 192.0.2.2
ip -n ga route add fd02::/64 via fd0a::2
ip -n gb route add 10.1.0.0/24 via 192.0.2.1
ip -n gb route add fd01::/64 via fd0a::1
";

/// The same where each packet crosses the core by itself, as it does on a wire: the kernels
/// of the gateways cut super-packets, and the far one joins no packets again.
const PLAIN_CUT: &str = "
set_mtu 1508 ga/in gb/in
for node in ga gb; do ip -n $node link set out gso_max_segs 1; done
forwarding
ip -n ga route add 10.2.0.0/24 via 192.0.2.2
ip -n ga route add fd02::/64 via fd0a::2
ip -n gb route add 10.1.0.0/24 via 192.0.2.1
ip -n gb route add fd01::/64 via fd0a::1
";

const GATEWAYS_9000: &str = "
begin ga --inside-interface in --local 192.0.2.1 --peer 192.0.2.2 --prefix 10.2.0.0/24 --prefix fd02::/64
begin gb --inside-interface in --local 192.0.2.2 --peer 192.0.2.1 --prefix 10.1.0.0/24 --prefix fd01::/64
";

const TUN_9000: &str = "
forwarding
begin ga --local 192.0.2.1 --peer 192.0.2.2 --prefix 10.2.0.0/24 --prefix fd02::/64
begin gb --local 192.0.2.2 --peer 192.0.2.1 --prefix 10.1.0.0/24 --prefix fd01::/64
";

const SEALED_9000: &str = "
keys
begin ga --inside-interface in --local 192.0.2.1 --peer 192.0.2.2 --prefix 10.2.0.0/24 --prefix fd02::/64 $seal_a
begin gb --inside-interface in --local 192.0.2.2 --peer 192.0.2.1 --prefix 10.1.0.0/24 --prefix fd01::/64 $seal_b
";

/// The bed of the gateway's tests with an emulated link between the gateways.
const LOSSY: &str = r#"
for link in 'a eth0' 'ga in' 'gb in' 'b eth0'; do
    set -- $link
    ip -n $1 link set $2 mtu $HOSTS gso_max_segs 1
done
for end in west east; do
    ip -n c address flush dev $end
    ip -n c link set $end mtu 1500
done
for node in ga gb; do ip -n $node link set out mtu 1500; done
ip -n gb address flush dev out
address gb out 192.0.2.2/24
in_node c "$JUMBOLAB" emulate --between west east --delay 1ms --buffer 4MB --loss "$LOSS" >/dev/null 2>&1 &
"#;

/// The same with a bridge. `ip` of Debian 12 cannot set the sizes of IPv4: they are the
/// attributes IFLA_GSO_MAX_SIZE, IFLA_GRO_MAX_SIZE and those of IPv4 [LinuxUapi if_link.h].
const BRIDGE: &str = r#"
one_link
# A router finds neighbours by its link-local address.
address gb out fd0a::2/64 fe80::2/64
cat >sizes.py <<'END'
import socket, struct, sys
size, names = int(sys.argv[1]), sys.argv[2:]
netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
for name in names:
    link = struct.pack("=BxHiII", 0, 0, socket.if_nametoindex(name), 0, 0)
    link += b"".join(struct.pack("=HHI", 8, kind, size) for kind in (41, 58, 63, 64))
    netlink.send(struct.pack("=IHHII", 16 + len(link), 16, 5, 1, 0) + link)
    error, = struct.unpack("=i", netlink.recv(65536)[16:20])
    if error:
        sys.exit(f"{name}: error {error}")
END
for links in 'a eth0' 'ga in out' 'c west east core' 'gb in out' 'b eth0'; do
    set -- $links
    node=$1
    shift
    in_node $node python3 sizes.py "$SUPER" "$@"
done
"#;

/// Downloads from b to a. Prints bits per second, and the processor time in milliseconds: of
/// the machine, of the gateway of b, which is near the server, and of that of a.
pub(crate) const DOWNLOAD: &str = r#"
for try in $(seq 50); do
    if in_node a ping -q -c 1 -W 1 "$SERVER" >/dev/null; then break; fi
done
serve_iperf3 b
busy() { awk '/^cpu / { print $2 + $3 + $4 + $7 + $8 }' /proc/stat; }
used() { if [ "$1" ]; then awk '{ print ($14 + $15) * 10 }' "/proc/$1/stat"; else echo 0; fi; }
before=$(busy)
near=$(used "${gb-}")
far=$(used "${ga-}")
in_node a iperf3 -c "$SERVER" -p $iperf3_port -t "$SECONDS_EACH" -R --json >downloaded
after=$(busy)
near=$(($(used "${gb-}") - near))
far=$(($(used "${ga-}") - far))
bits=$(awk '/"sum_received"/ { sum = 1 } sum && /bits_per_second/ { gsub("[^0-9.e+]", "", $2); print $2; exit }' downloaded)
echo "download $bits $(((after - before) * 10)) $near $far"
"#;
