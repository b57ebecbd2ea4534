# The rest of the bed for measurements, behind that of the tests.
#
# Flows go to 10.2.0.3, which no host has: the far host drops them behind its IP layer.
# Probes go to 10.2.0.2. Neighbours are permanent.
mac() { in_node "$1" cat "/sys/class/net/$2/address"; }
ip -n gb neigh replace 10.2.0.3 lladdr "$(mac b eth0)" dev in nud permanent
ip -n gb neigh replace 10.2.0.2 lladdr "$(mac b eth0)" dev in nud permanent
ip -n ga neigh replace 10.1.0.2 lladdr "$(mac a eth0)" dev in nud permanent
# The far host receives on the hosts' processor. Only a real root may set this.
in_node b sh -c 'echo 1 >/sys/class/net/eth0/queues/rx-0/rps_cpus' 2>/dev/null || true
in_node b sysctl -qw net.ipv4.icmp_ratelimit=0 net.ipv4.icmp_ratemask=0 >/dev/null 2>&1 || true
# Processes of the gateways, in words.
ga= gb=
measure() { # LOADS
    GATEWAYS="$ga,$gb" TO="$(mac ga in)" taskset -c 0 "$BENCH" role:measure "$1"
}
until_link() { # NODE INTERFACE: at most five seconds
    for try in $(seq 500); do
        if ip -n "$1" link show "$2" >/dev/null 2>&1; then return; fi
        sleep 0.01
    done
    echo "$1 has no interface $2" >&2
    exit 1
}
# Routes to the other site through this interface of each gateway.
route_through() { # INTERFACE-OF-GA INTERFACE-OF-GB
    forwarding
    ip -n ga link set "$1" up mtu 1500
    ip -n gb link set "$2" up mtu 1500
    ip -n ga route replace 10.2.0.0/24 dev "$1"
    ip -n gb route replace 10.1.0.0/24 dev "$2"
}
