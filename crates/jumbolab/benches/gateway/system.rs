//! The systems that are compared.

/// A system that carries packets between the two sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum System {
    /// Forwarding by the kernels.
    Plain,
    /// `jumbolab gateway` with packet sockets, and rings of AF_XDP toward the hosts.
    Xdp,
    /// The same, with keys.
    Sealed,
    /// As `Xdp`, with real-time priority; when idle it spins instead.
    First,
    /// `jumbolab gateway` with packet sockets.
    Packet,
    /// `jumbolab gateway` with TUN interfaces.
    Tun,
    /// The simplest tunnel: [`crate::copy`].
    Copy,
    /// `wireguard-go`.
    Wireguard,
    /// Simplemux.
    Simplemux,
}

pub(crate) const SYSTEMS: [System; 9] = [
    System::Plain,
    System::Xdp,
    System::Sealed,
    System::First,
    System::Packet,
    System::Tun,
    System::Copy,
    System::Wireguard,
    System::Simplemux,
];

/// Configurations of both gateways.
const CONFIGURE: &str = r#"
configure() { # GATEWAY LOCAL PEER PREFIX INSIDE TRIGGER WAIT OPERATION PUBLIC-KEY PRIVATE-KEY
    cat >"$1.toml" <<END
[inside]
$5
[peers.far]
address = "$3"
local = "$2"
prefixes = ["$4"]
$9
[core]
${10}
[aggregation]
trigger = "$6"
max_wait = "$7"
[operation]
$8
END
}
# The line of a configuration for a key, if there are keys.
key() { # FILE
    case $1 in
    *.pub) if [ -e "$1" ]; then echo "public_key = \"$(cat "$1")\""; fi ;;
    *.key) if [ -e "$1" ]; then echo "private_key_file = \"$1\""; fi ;;
    esac
}
both() { # INSIDE TRIGGER WAIT OPERATION
    configure ga 192.0.2.1 198.51.100.1 10.2.0.0/24 "$@" "$(key gb.pub)" "$(key ga.key)"
    configure gb 198.51.100.1 192.0.2.1 10.1.0.0/24 "$@" "$(key ga.pub)" "$(key gb.key)"
    begin ga --config ga.toml
    begin gb --config gb.toml
}
"#;

impl System {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Xdp => "xdp",
            Self::Sealed => "sealed",
            Self::First => "first",
            Self::Packet => "packet",
            Self::Tun => "tun",
            Self::Copy => "copy",
            Self::Wireguard => "wireguard",
            Self::Simplemux => "simplemux",
        }
    }

    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Plain => "kernel forwarding",
            Self::Xdp => "gateway, AF_XDP",
            Self::Sealed => "gateway, AF_XDP, sealed",
            Self::First => "gateway, AF_XDP, real-time priority; idle: spinning",
            Self::Packet => "gateway, packet sockets",
            Self::Tun => "gateway, TUN",
            Self::Copy => "TUN copy loop",
            Self::Wireguard => "wireguard-go",
            Self::Simplemux => "Simplemux",
        }
    }

    /// The variable that should name its program, if it names none.
    pub(crate) fn missing(self) -> Option<&'static str> {
        let variable = match self {
            Self::Wireguard => "WIREGUARD_GO",
            Self::Simplemux => "SIMPLEMUX",
            _ => return None,
        };
        let there = std::env::var_os(variable).is_some_and(|path| !path.is_empty());
        (!there).then_some(variable)
    }

    /// The shell script that starts it; where it can, `busy` makes it send without
    /// waiting for company.
    pub(crate) fn script(self, busy: bool) -> String {
        let aggregate = match busy {
            true => "busy 1ms",
            false => "timer 400us",
        };
        match self {
            Self::Plain => "
forwarding
ip -n ga route add 10.2.0.0/24 via 192.0.2.9
ip -n c route add 10.2.0.0/24 via 198.51.100.1
"
            .to_owned(),
            Self::Xdp | Self::Sealed | Self::First | Self::Packet => {
                let path = if self == Self::Packet { "packet" } else { "xdp" };
                let inside = format!("interfaces = [\"in\"]\ndatapath = \"{path}\"");
                let operation = match (self, busy) {
                    (Self::First, true) => "spin = \"2ms\"",
                    (Self::First, false) => "priority = \"real-time\"",
                    _ => "",
                };
                let keys = if self == Self::Sealed { "keys" } else { "" };
                format!("{CONFIGURE}{keys}\nboth '{inside}' {aggregate} '{operation}'\n")
            }
            Self::Tun => format!("{CONFIGURE}forwarding\nboth '' {aggregate} ''\n"),
            Self::Copy => "
ip netns exec ga \"$BENCH\" role:copy copya 192.0.2.1 198.51.100.1 & ga=$!
ip netns exec gb \"$BENCH\" role:copy copyb 198.51.100.1 192.0.2.1 & gb=$!
until_link ga copya; until_link gb copyb
route_through copya copyb
"
            .to_owned(),
            Self::Wireguard => "
for node in ga gb; do
    ip netns exec $node env LOG_LEVEL=silent \"$WIREGUARD_GO\" -f wg$node >/dev/null 2>&1 &
    eval \"$node=\\$!\"
    wg genkey >$node.key
    wg pubkey <$node.key >$node.pub
    until_link $node wg$node
done
for try in $(seq 500); do
    if [ -S /var/run/wireguard/wgga.sock ] && [ -S /var/run/wireguard/wggb.sock ]; then break; fi
    sleep 0.01
done
in_node ga wg set wgga private-key ga.key listen-port 51820 peer \"$(cat gb.pub)\" endpoint 198.51.100.1:51820 allowed-ips 0.0.0.0/0
in_node gb wg set wggb private-key gb.key listen-port 51820 peer \"$(cat ga.pub)\" endpoint 192.0.2.1:51820 allowed-ips 0.0.0.0/0
route_through wgga wggb
"
            .to_owned(),
            Self::Simplemux => {
                let aggregate = if busy { "-n 1" } else { "-n 100 -P 400" };
                format!(
                    "
for node in ga gb; do ip -n $node tuntap add dev mux mode tun; done
route_through mux mux
ip netns exec ga \"$SIMPLEMUX\" -i mux -e out -M udp -T tun -f -m 1500 {aggregate} -c 198.51.100.1 >/dev/null 2>&1 & ga=$!
ip netns exec gb \"$SIMPLEMUX\" -i mux -e out -M udp -T tun -f -m 1500 {aggregate} -c 192.0.2.1 >/dev/null 2>&1 & gb=$!
for try in $(seq 500); do
    if in_node ga ip link show mux | grep -q LOWER_UP && in_node gb ip link show mux | grep -q LOWER_UP; then break; fi
    sleep 0.01
done
"
                )
            }
        }
    }
}
