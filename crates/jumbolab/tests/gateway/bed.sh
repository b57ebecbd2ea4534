# Two sites with a host and a gateway each, and a core with a router between them. The
# script that follows runs in namespaces of its own, which end with it.
#
#     a ── ga ── c ── gb ── b
#
# 10.1.0.0/24 and fd01::/64 are the networks of a, 10.2.0.0/24 and fd02::/64 those of b;
# 192.0.2.0/24 and 198.51.100.0/24 those of the core, with MTU 9000.
set -eu
mount -t tmpfs none /run
for node in a ga c gb b; do
    ip netns add $node
    ip -n $node link set lo up
    # Link-local addresses that can be used at once.
    ip netns exec $node sysctl -qw net.ipv6.conf.default.accept_dad=0
done
connect() { # NODE INTERFACE NODE INTERFACE MTU
    ip link add "$2" netns "$1" mtu "$5" type veth peer name "$4" netns "$3" mtu "$5"
    ip -n "$1" link set "$2" up
    ip -n "$3" link set "$4" up
}
connect a eth0 ga in 1500
connect ga out c west 9000
connect c east gb out 9000
connect gb in b eth0 1500
set_mtu() { # MTU NODE/INTERFACE...
    local mtu=$1 link
    shift
    for link in "$@"; do ip -n "${link%/*}" link set "${link#*/}" mtu "$mtu"; done
}
address() { # NODE INTERFACE ADDRESS...
    local node=$1 interface=$2 one
    shift 2
    for one in "$@"; do
        case $one in
        *:*) ip -n "$node" address add "$one" dev "$interface" nodad ;;
        *) ip -n "$node" address add "$one" dev "$interface" ;;
        esac
    done
}
address a eth0 10.1.0.2/24 fd01::2/64
address ga in 10.1.0.1/24 fd01::1/64
address ga out 192.0.2.1/24 fd0a::1/64
address c west 192.0.2.9/24 fd0a::9/64
address c east 198.51.100.9/24 fd0b::9/64
address gb out 198.51.100.1/24 fd0b::1/64
address gb in 10.2.0.1/24 fd02::1/64
address b eth0 10.2.0.2/24 fd02::2/64
in_node() { # NODE COMMAND...
    local node=$1
    shift
    ip netns exec "$node" "$@"
}
set_in() { in_node "$1" sysctl -qw "$2"; }
set_in c net.ipv4.ip_forward=1
set_in c net.ipv6.conf.all.forwarding=1
for node in a b; do
    ip -n $node route add default via 10.$([ $node = a ] && echo 1 || echo 2).0.1
    ip -n $node route add default via fd0$([ $node = a ] && echo 1 || echo 2)::1
done
ip -n ga route add 198.51.100.0/24 via 192.0.2.9
ip -n ga route add fd0b::/64 via fd0a::9
ip -n gb route add 192.0.2.0/24 via 198.51.100.9
ip -n gb route add fd0a::/64 via fd0b::9
# Forwarding by the gateway's kernel, for TUN interfaces.
forwarding() {
    for node in ga gb; do
        set_in $node net.ipv4.ip_forward=1
        set_in $node net.ipv6.conf.all.forwarding=1
    done
}
# Keeps this shell, what it starts from now on, and the gateways on one processor. The kernel
# queues packets by processor: those of a process that moves can overtake each other.
stay() {
    local process processor
    processor=$(awk '/^Cpus_allowed_list/ { split($2, allowed, "[-,]"); print allowed[1] }' /proc/$$/status)
    for process in $$ $ga $gb; do taskset -apc "$processor" "$process" >/dev/null; done
}
# Makes the core one link, so that the gateways are neighbours: 192.0.2.1 and 192.0.2.2.
one_link() {
    local end
    for end in west east; do ip -n c address flush dev $end; done
    ip -n c link add core type bridge
    for end in west east; do ip -n c link set $end master core; done
    ip -n c link set core mtu 9000 up
    ip -n gb address flush dev out
    address gb out 192.0.2.2/24
}
# CLOCK is a command that gives the gateway another clock.
begin() { # NODE ARGUMENTS...
    local node=$1
    shift
    # The namespace's program takes the place of this shell's child: $! is its number.
    : >"$node.log"
    ip netns exec "$node" ${CLOCK:-} "$JUMBOLAB" gateway --log "$node.log" "$@" 2>"$node.said" &
    eval "$node=$!"
    until_said "$node" started
}
# At most ten seconds, and not after the gateway has ended.
until_said() { # NODE WORDS
    local try process
    eval "process=\$$1"
    for try in $(seq 1000); do
        if grep -q "$2" "$1.log"; then return; fi
        if ! kill -0 "$process" 2>/dev/null; then break; fi
        sleep 0.01
    done
    echo "$1 does not say: $2" >&2
    cat "$1.said" "$1.log" >&2
    exit 1
}
# Prints the milliseconds until pings cross, which are at most about fifteen seconds.
crosses_after() { # NAME
    local from try
    from=$(date +%s%3N)
    for try in $(seq 60); do
        if in_node a ping -q -c 3 -i 0.05 -W 1 10.2.0.2 | grep -q ' 3 received'; then
            echo "{\"after\": \"$1\", \"ms\": $(($(date +%s%3N) - from))}"
            return
        fi
        sleep 0.1
    done
    echo "nothing crosses after: $1" >&2
    exit 1
}
end() { # NODE...
    local node process
    for node in "$@"; do
        eval "process=\$$node"
        kill -TERM "$process"
        wait "$process"
    done
}
# Serves one connection of iperf3, at a new port each time: the server before may still be
# ending.
iperf3_port=5200
serve_iperf3() { # NODE
    iperf3_port=$((iperf3_port + 1))
    in_node "$1" iperf3 -s -1 -D -p "$iperf3_port" >/dev/null
    for try in $(seq 500); do
        if in_node "$1" ss -tln | grep -q ":$iperf3_port "; then return; fi
        sleep 0.01
    done
}
# The gateways with packet sockets, or with TUN interfaces; more arguments for both.
# Makes key pairs. Gateways that begin later seal, and $seal_a and $seal_b are their options.
keys() {
    for node in ga gb; do "$JUMBOLAB" gateway keygen $node.key >$node.pub; done
    seal_a="--private-key-file ga.key --public-key $(cat gb.pub)"
    seal_b="--private-key-file gb.key --public-key $(cat ga.pub)"
}
begin_packet() {
    begin ga --inside-interface in --local 192.0.2.1 --peer 198.51.100.1 --prefix 10.2.0.0/24 --prefix fd02::/64 ${seal_a-} "$@"
    begin gb --inside-interface in --local 198.51.100.1 --peer 192.0.2.1 --prefix 10.1.0.0/24 --prefix fd01::/64 ${seal_b-} "$@"
}
begin_tun() {
    forwarding
    begin ga --local 192.0.2.1 --peer 198.51.100.1 --prefix 10.2.0.0/24 --prefix fd02::/64 ${seal_a-} "$@"
    begin gb --local 198.51.100.1 --peer 192.0.2.1 --prefix 10.1.0.0/24 --prefix fd01::/64 ${seal_b-} "$@"
}
