# Machines for tests of what goes over ssh: network namespaces, each with a real sshd, in
# private mount, process and network namespaces of a shell that is root.
#
#   host NAME NUMBER       a machine: 10.9.0.NUMBER for ssh, 10.8.0.NUMBER for measurements
#                          $place/NAME/bin comes first in PATH, and $place/NAME/home is home
#   behind NAME SWITCH     moves its measuring interface to another switch
#   port NAME MTU          sets the MTU of the port of the switch, not of its interface
#   alias_of NAME OPTION   options of ssh for a destination, in front of all others
#   program NAME PROGRAM   writes a program of a machine, from standard input
#   eventually COMMAND     waits until a command succeeds, for 20 s
#
# $JUMBOLAB is the program, $place an empty folder. `ssh NAME` works without questions.
set -e
mount -t tmpfs tmpfs /run
mkdir -m 755 /run/sshd
# Without PAM, sshd lets nobody in whose password begins with an exclamation mark.
sed 's/^root:[^:]*:/root:*:/' /etc/shadow >shadow
mount --bind shadow /etc/shadow
place=$PWD
export HOME=$place JUMBOLAB_SSH="ssh -F $place/config"
ip link set lo up
ip link add management type bridge
ip address add 10.9.0.254/24 dev management
ip link set management up
for switch in one two; do
    ip link add "$switch" mtu 9000 type bridge
    ip link set "$switch" up
done
# A wide link between the switches.
ip link add uplink-one mtu 9000 type veth peer name uplink-two mtu 9000
ip link set uplink-one master one up
ip link set uplink-two master two up
ssh-keygen -q -t ed25519 -N '' -f key
cat >config <<END
Host *
    User root
    IdentityFile $place/key
    IdentitiesOnly yes
    UserKnownHostsFile $place/known
    GlobalKnownHostsFile none
END

host() {
    mkdir -p "$1/bin" "$1/home"
    ip netns add "$1"
    ip link add "$1-m" type veth peer name eth0 netns "$1"
    ip link add "$1-d" mtu 9000 type veth peer name eth1 netns "$1" mtu 9000
    ip link set "$1-m" master management up
    ip link set "$1-d" master one up
    ip -n "$1" link set lo up
    ip -n "$1" address add "10.9.0.$2/24" dev eth0
    ip -n "$1" address add "10.8.0.$2/24" dev eth1
    ip -n "$1" link set eth0 up
    ip -n "$1" link set eth1 up
    ssh-keygen -q -t ed25519 -N '' -f "$1/hostkey"
    echo "10.9.0.$2 $(cat "$1/hostkey.pub")" >>known
    cat >"$1/sshd" <<END
ListenAddress 10.9.0.$2
HostKey $place/$1/hostkey
AuthorizedKeysFile $place/key.pub
PasswordAuthentication no
PermitRootLogin yes
StrictModes no
UsePAM no
UseDNS no
PidFile none
MaxStartups 100
SetEnv PATH=$place/$1/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=$place/$1/home
END
    ip netns exec "$1" /usr/sbin/sshd -f "$place/$1/sshd" -E "$place/$1/log"
    printf 'Host %s\n    HostName 10.9.0.%s\n' "$1" "$2" >>config
}

behind() { ip link set "$1-d" master "$2"; }
port() { ip link set "$1-d" mtu "$2"; }

eventually() {
    for _ in $(seq 1000); do
        if "$@" >/dev/null 2>&1; then return; fi
        sleep 0.02
    done
    echo "it never came to: $*" >&2
    return 1
}

alias_of() {
    name=$1
    shift
    {
        printf 'Host %s\n' "$name"
        printf '    %s\n' "$@"
        cat config
    } >config.new
    mv config.new config
}

program() {
    cat >"$1/bin/$2"
    chmod 755 "$1/bin/$2"
}
