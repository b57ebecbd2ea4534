"""Sends each packet of the folder `packets` to ::1, and prints what the kernel does with
it: one JSON line for each, in the order of their names."""

import errno
import json
import os
import socket
import struct
import time

# Linux: in6.h.
IPV6_RECVERR = 25
PORT = 4000
COUNTERS = (
    "Ip6InHdrErrors",
    "Ip6InTruncatedPkts",
    "Ip6InAddrErrors",
    "Ip6InUnknownProtos",
    "Ip6InDiscards",
    "Ip6ReasmFails",
    "Udp6NoPorts",
    "Udp6InErrors",
    "Udp6InCsumErrors",
)
# Once this datagram has arrived, the kernel is done with all packets before it.
BARRIER = b"what comes last"

# Seconds within which memory for a packet must become free.
TIMEOUT = 60


def counters():
    with open("/proc/self/net/snmp6") as table:
        found = dict(line.split() for line in table)
    return {name: int(found[name]) for name in COUNTERS}


def send(packet):
    deadline = time.monotonic() + TIMEOUT
    while True:
        try:
            return raw.sendto(packet, ("::1", 0))
        except OSError as error:
            # Large blocks of memory become free with time.
            is_short = error.errno in (errno.ENOBUFS, errno.ENOMEM)
            if not is_short or time.monotonic() > deadline:
                raise
            time.sleep(0.001)


def settle():
    """The bytes of a datagram that arrives before two that are right: an ICMPv6 error
    may be overtaken by the first of these, but not by the second."""
    delivered = None
    for _ in range(2):
        probe.sendto(BARRIER, ("::1", PORT))
        while (datagram := receiver.recv(1 << 17)) != BARRIER:
            delivered = len(datagram)
    return delivered


def error():
    """Type, code and pointer of the ICMPv6 error that has arrived."""
    found = None
    while True:
        try:
            message = icmp.recv(64)
        except BlockingIOError:
            return found
        # Other messages than errors have types from 128 on.
        if message[0] < 128:
            found = [message[0], message[1], struct.unpack("!I", message[4:8])[0]]


# The queues of one processor keep the order of packets.
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
raw = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_RAW)
# Without this option the kernel does not report a lack of memory.
raw.setsockopt(socket.IPPROTO_IPV6, IPV6_RECVERR, 1)
icmp = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
icmp.setblocking(False)
receiver = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
receiver.bind(("::1", PORT))
receiver.settimeout(20)
probe = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)

for name in sorted(os.listdir("packets")):
    with open(os.path.join("packets", name), "rb") as file:
        packet = file.read()
    before = counters()
    send(packet)
    delivered = settle()
    after = counters()
    risen = [name for name in COUNTERS if after[name] > before[name]]
    print(json.dumps({"error": error(), "counters": risen, "delivered": delivered}))
