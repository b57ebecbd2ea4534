//! The keys of a gateway's configuration, with their meanings.

/// A key of a table.
#[derive(Debug)]
pub(super) struct Key {
    /// The table: `peers` stands for each `[peers.NAME]`.
    pub(super) table: &'static str,
    pub(super) name: &'static str,
    /// Its value in the template, as TOML.
    pub(super) example: &'static str,
    /// Whether the template leaves it out by a `#`: the example is the default, or it is
    /// not needed.
    pub(super) is_optional: bool,
    pub(super) help: &'static str,
}

const fn key(
    table: &'static str,
    name: &'static str,
    example: &'static str,
    help: &'static str,
) -> Key {
    Key {
        table,
        name,
        example,
        is_optional: true,
        help,
    }
}

impl Key {
    const fn needed(self) -> Self {
        Self {
            is_optional: false,
            ..self
        }
    }
}

/// The tables in order, each with its purpose.
pub(super) const TABLES: [(&str, &str); 7] = [
    ("inside", "The hosts whose packets are aggregated."),
    ("core", "The network between the gateways."),
    (
        "aggregation",
        "When a bundle goes, and how packets leave it.",
    ),
    (
        "uplink",
        "A rate and a queue toward the core; without this table, what is due goes at once.",
    ),
    (
        "follow",
        "Egress prefixes from the kernel's routes whose next hop is a peer; without this table, only `prefixes` count.",
    ),
    ("operation", "Metrics, log, and use of the processor."),
    (
        "peers",
        "Another gateway; one table for each, with a name of your own.",
    ),
];

pub(super) const KEYS: &[Key] = &[
    key(
        "inside",
        "datapath",
        "\"tun\"",
        "`packet` (packet sockets on `interfaces`), `xdp` (the same, with rings of AF_XDP toward the hosts), `auto` (xdp if the machine has it, otherwise packet) or `tun` (the kernel routes packets to a TUN interface); default: packet where `interfaces` are named, otherwise tun",
    ),
    key(
        "inside",
        "interfaces",
        "[\"eth1\"]",
        "interfaces toward the hosts, for xdp and packet; the kernel must not forward from them itself",
    ),
    key(
        "inside",
        "name",
        "\"jumbo0\"",
        "name of the TUN interface, to which the egress prefixes are routed; xdp and packet have one, too, for packets of this host",
    ),
    key(
        "inside",
        "mtu",
        "1500",
        "MTU of the TUN interface, from 1280 to 65535: packets that are larger than a bundle are cut into pieces",
    ),
    key(
        "inside",
        "routes",
        "\"install\"",
        "`install`: the egress prefixes are routed to the TUN interface while the gateway runs; `leave`: you do it",
    ),
    key(
        "inside",
        "addresses",
        "[\"10.1.0.1\"]",
        "sources of ICMP errors to hosts, one of each version of IP; default: the address that the kernel has toward the host",
    ),
    key(
        "core",
        "interface",
        "\"eth0\"",
        "interface toward the core; default: as the kernel routes. MPLS needs it",
    ),
    key(
        "core",
        "encapsulation",
        "\"udp\"",
        "headers of bundles: udp (port 50253), ip (protocol 253) or mpls",
    ),
    key(
        "core",
        "probe",
        "\"off\"",
        "how often the path MTU to each peer is confirmed by a probe, which the peer answers, for instance 10s; larger sizes are searched for after ten times as long. With sealed bundles it is 10s unless configured, and what routers report does not count; off: it counts",
    ),
    key(
        "core",
        "private_key_file",
        "\"/etc/jumbolab/gateway.key\"",
        "file with this gateway's private key, which nobody but its owner can open (`jumbolab gateway keygen FILE` makes one); needed where a peer has a public_key",
    ),
    key(
        "aggregation",
        "trigger",
        "\"timer\"",
        "when a bundle that is not full goes: `timer` (`max_wait` after its first packet), `busy` (as soon as the uplink can take it) or `full`",
    ),
    key(
        "aggregation",
        "max_wait",
        "\"1ms\"",
        "the longest time that a packet waits for others in its bundle, for timer and busy",
    ),
    key(
        "aggregation",
        "share",
        "1.0",
        "share of the packets that find no open bundle and open one; the others travel alone",
    ),
    key(
        "aggregation",
        "unit",
        "\"1us\"",
        "unit of the waiting times in bundles: 1us or 10us",
    ),
    key(
        "aggregation",
        "alone",
        "\"bundled\"",
        "a packet without company travels in a bundle of its own (`bundled`) or unchanged (`plain`: the core routes the networks inside)",
    ),
    key(
        "aggregation",
        "shaping",
        "true",
        "whether packets leave with the gaps that they had at the ingress",
    ),
    key("uplink", "rate", "\"1gbit\"", "rate at which bundles leave"),
    key(
        "uplink",
        "queue",
        "\"droptail\"",
        "queueing discipline, for instance mred,candidates=arriving,min=5,max=15",
    ),
    key(
        "uplink",
        "buffer",
        "\"500kB\"",
        "size of the queue, in bytes or in packets (\"35 packets\")",
    ),
    key(
        "uplink",
        "seed",
        "1",
        "seed of the random numbers of the queue",
    ),
    key(
        "follow",
        "table",
        "254",
        "number of the kernel's routing table; 254 is the main one",
    ),
    key(
        "follow",
        "protocol",
        "\"bird\"",
        "who entered the routes: a number, or bird, static, kernel or any",
    ),
    key(
        "follow",
        "next_as",
        "\"realm\"",
        "where the number of the next autonomous system stands: realm or metric. Packets to different systems do not share bundles",
    ),
    key(
        "operation",
        "metrics_listen",
        "\"127.0.0.1:9778\"",
        "loopback address at which OpenMetrics are served",
    ),
    key(
        "operation",
        "log",
        "\"stderr\"",
        "where log lines go, as JSON: stderr or a file, which is appended to",
    ),
    key(
        "operation",
        "priority",
        "\"ordinary\"",
        "`real-time`: the gateway runs before ordinary programs of its processor, unless it left them less than a fifth of the time; needs CAP_SYS_NICE",
    ),
    key(
        "operation",
        "spin",
        "\"off\"",
        "how long the gateway looks for the next packet without sleeping after one that does not wait for company, for instance 50us; it takes a processor meanwhile",
    ),
    key(
        "peers",
        "address",
        "\"192.0.2.2\"",
        "its address toward the core",
    )
    .needed(),
    key(
        "peers",
        "local",
        "\"192.0.2.1\"",
        "the address of this gateway that it knows",
    )
    .needed(),
    key(
        "peers",
        "public_key",
        "\"3p7bfXt9wbTTW2HC7OQ1Nz+DQ8hbeGdNrfx+FG+IK08=\"",
        "its public key, as `jumbolab gateway keygen` printed it there; bundles to it and from it are then sealed",
    ),
    key(
        "peers",
        "preshared_key_file",
        "\"/etc/jumbolab/west.psk\"",
        "file with a key that both gateways share besides (`jumbolab gateway keygen --preshared FILE` makes one); it protects recorded traffic if X25519 is broken one day",
    ),
    key(
        "peers",
        "padding",
        "\"off\"",
        "zeros in sealed bundles, which hide their sizes: `full` (all packets toward the peer have the size of the path MTU), a size (packets have multiples of it, for instance 128B) or off",
    ),
    key(
        "peers",
        "mtu",
        "9000",
        "the largest IP packet toward it. What routers report of the path lowers it",
    ),
    key(
        "peers",
        "prefixes",
        "[\"10.2.0.0/16\", \"2001:db8:2::/48\"]",
        "the networks behind it",
    ),
    key(
        "peers",
        "next_as",
        "0",
        "the autonomous system behind it, for `prefixes`",
    ),
    key(
        "peers",
        "next_hops",
        "[]",
        "further addresses by which followed routes lead to it",
    ),
    key(
        "peers",
        "dscp",
        "\"EF\"",
        "DSCP of bundles to it; default: that of their first packet",
    ),
    key("peers", "label_to", "100", "MPLS label of bundles to it"),
    key(
        "peers",
        "label_from",
        "200",
        "MPLS label of bundles from it, of no other peer",
    ),
    key(
        "peers",
        "next_hop",
        "\"192.0.2.2\"",
        "the label switching router toward it, on the interface of the core; default: its address",
    ),
];

/// The keys of one table.
pub(super) fn of_table(table: &str) -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(move |key| key.table == table)
}

/// A configuration with all keys and their meanings.
pub fn template() -> String {
    let mut text = String::from(
        "# The configuration of `jumbolab gateway`. Keys behind a # are optional; the value is the\n# default, or an example where there is none. SIGHUP reads the file again.\n",
    );
    for (table, purpose) in TABLES {
        let all_optional = of_table(table).all(|key| key.is_optional);
        let is_absent = matches!(table, "uplink" | "follow");
        let header = if table == "peers" {
            "peers.west"
        } else {
            table
        };
        let hash = if is_absent { "# " } else { "" };
        text += &format!("\n# {purpose}\n{hash}[{header}]\n");
        debug_assert!(!is_absent || all_optional);
        for key in of_table(table) {
            let in_use =
                !key.is_optional || matches!((table, key.name), ("peers", "prefixes" | "mtu"));
            let hash = if in_use { "" } else { "# " };
            text += &format!(
                "# {}: {}\n{hash}{} = {}\n",
                key.name, key.help, key.name, key.example
            );
        }
    }
    text
}
