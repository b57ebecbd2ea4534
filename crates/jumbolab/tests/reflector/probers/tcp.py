"""Path MTU discovery by the kernel's TCP (RFC 4821), for comparison.

tcp.py receive: takes one connection, and reads it to its end.
tcp.py send HOST: sends until the size of packets has not changed for four seconds, and prints it
and the milliseconds from the first packet to its last change.

The stream has 50 Mbit/s: the kernel probes with ten segments in flight or more.
"""

import select
import socket
import struct
import sys
import time

PORT = 5201
PACE = 6_250_000
UNCHANGED = 4
MOST = 60
SO_MAX_PACING_RATE = 47
ESTABLISHED = 1
TIMESTAMPS = 1


def packet_size(stream, header):
    """The IP packet of a full segment; None unless the connection is established."""
    info = stream.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    state, options = info[0], info[5]
    (segment,) = struct.unpack_from("=I", info, 16)
    timestamps = 12 if options & TIMESTAMPS else 0
    return header + 20 + timestamps + segment if state == ESTABLISHED else None


def send(host):
    with open("/proc/sys/net/ipv4/tcp_mtu_probing", "w") as probing:
        probing.write("2")
    family, header = (socket.AF_INET6, 40) if ":" in host else (socket.AF_INET, 20)
    stream = socket.socket(family, socket.SOCK_STREAM)
    stream.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, PACE)
    began = changed = time.monotonic()
    stream.settimeout(MOST)
    stream.connect((host, PORT))
    stream.setblocking(False)
    size, data = None, bytes(1 << 16)
    while time.monotonic() < began + MOST:
        select.select([], [stream], [], 0.1)
        try:
            stream.send(data)
        except BlockingIOError:
            pass
        except OSError:
            break
        now = packet_size(stream, header)
        if now and now != size:
            size, changed = now, time.monotonic()
        if size and time.monotonic() > changed + UNCHANGED:
            break
    print(size, round(1000 * (changed - began)))
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def receive():
    listener = socket.create_server(("", PORT), family=socket.AF_INET6, dualstack_ipv6=True)
    stream, _ = listener.accept()
    # The packet that closes the connection may be lost.
    stream.settimeout(15)
    try:
        while stream.recv(1 << 16):
            pass
    except OSError:
        pass


if sys.argv[1] == "send":
    send(sys.argv[2])
else:
    receive()
