"""Sends datagrams from namespace a to namespace b and counts what arrives.

probe.py udp COUNT SIZE BURST TAKE: bursts; after each, TAKE arrivals or 20 ms of silence are waited for.
probe.py frames COUNT: so many frames of random octets, of any length, from a.
"""

import ctypes
import json
import os
import random
import socket
import struct
import sys

NANOS = 1_000_000_000
SO_TIMESTAMPNS = 35


def enter(namespace):
    handle = os.open("/run/netns/" + namespace, os.O_RDONLY)
    assert ctypes.CDLL(None).setns(handle, 0x40000000) == 0, "setns"


def udp(count, size, burst, take):
    enter("b")
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    receiver.bind(("10.0.0.2", 9000))
    enter("a")
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    stamps = []

    def receive(most, patience):
        receiver.settimeout(patience)
        for _ in range(most):
            try:
                _, extra, _, _ = receiver.recvmsg(65_536, 256)
            except TimeoutError:
                return False
            seconds, nanos = struct.unpack("qq", extra[0][2])
            stamps.append(seconds * NANOS + nanos)
        return True

    for sent in range(count):
        sender.sendto(bytes(size), ("10.0.0.2", 9000))
        if sent % burst == burst - 1:
            receive(take, 0.02)
    while receive(1, 0.5):
        pass
    span = (stamps[-1] - stamps[0]) / NANOS if stamps else 0
    rate = (len(stamps) - 1) * size * 8 / span if span else 0
    print(json.dumps({"sent": count, "received": len(stamps), "rate": rate}))


def frames(count):
    enter("a")
    port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    port.bind(("eth0", 0))
    luck = random.Random(1)
    for _ in range(count):
        port.send(luck.randbytes(luck.randint(14, 1514)))


{"udp": udp, "frames": frames}[sys.argv[1]](*map(int, sys.argv[2:]))
