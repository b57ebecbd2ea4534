"""Sends datagrams from namespace a to namespace b and counts what arrives.

probe.py udp COUNT SIZE BURST TAKE: bursts; after each, TAKE arrivals or 20 ms of silence are waited for.
probe.py tagged COUNT SIZE: frames with VLAN tags around packets of SIZE, of which those are counted that come as they were.
probe.py mixed COUNT: frames of 60 to 1514 and, a third of them, of 3000 bytes; the numbers of those that arrive whole, in their order.
probe.py spaced COUNT SIZE GAP: one every GAP microseconds, and how long each took.
probe.py path_mtu 4|6 SIZE: the path MTU before and after a datagram that must not be fragmented.
probe.py bundles COUNT PACKETS SIZE: bundles of so many packets of SIZE in IPv4, and what is in those that arrive.
probe.py segmented COUNT SIZE BYTES: one UDP super-packet of COUNT datagrams of SIZE, and a TCP transfer of BYTES.
probe.py frames COUNT: so many frames of random bytes, of any length, from a.
"""

import ctypes
import json
import os
import random
import socket
import struct
import sys
import threading
import time

NANOS = 1_000_000_000
SO_TIMESTAMPNS = 35
UDP_SEGMENT = 103
SOL_PACKET, PACKET_AUXDATA = 263, 8
ETH_P_ALL = 3
# The protocol for experiments that says: a bundle.
BUNDLE = 253
TP_STATUS_VLAN_VALID = 1 << 4


def enter(namespace):
    handle = os.open("/run/netns/" + namespace, os.O_RDONLY)
    assert ctypes.CDLL(None).setns(handle, 0x40000000) == 0, "setns"


class Pair:
    """A sender in a and a receiver in b, whose arrivals are numbered and stamped by the kernel."""

    def __init__(self):
        enter("b")
        self.receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.receiver.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        # The kernel gives less; what arrives must not be lost here.
        self.receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 << 20)
        self.receiver.bind(("10.0.0.2", 9000))
        enter("a")
        self.sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.arrivals = []

    def send(self, number, size):
        self.sender.sendto(struct.pack("!I", number) + bytes(size - 4), ("10.0.0.2", 9000))

    def receive(self, most, timeout):
        """Takes so many arrivals; whether they came."""
        for _ in range(most):
            self.receiver.settimeout(timeout)
            try:
                data, extra, _, _ = self.receiver.recvmsg(65_536, 256)
            except (TimeoutError, BlockingIOError):
                return False
            seconds, nanos = struct.unpack("qq", extra[0][2])
            self.arrivals.append((struct.unpack("!I", data[:4])[0], seconds * NANOS + nanos))
        return True


def udp(count, size, burst, take):
    pair = Pair()
    for sent in range(count):
        pair.send(sent, size)
        if sent % burst == burst - 1:
            pair.receive(take, 0.02)
    while pair.receive(1, 0.5):
        pass
    numbers = [number for number, _ in pair.arrivals]
    stamps = [stamp for _, stamp in pair.arrivals]
    highest, overtaken = -1, 0
    for number in numbers:
        overtaken += number < highest
        highest = max(highest, number)
    span = (stamps[-1] - stamps[0]) / NANOS if stamps else 0
    print(
        json.dumps(
            {
                "sent": count,
                "received": len(numbers),
                "distinct": len(set(numbers)),
                "overtaken": overtaken,
                "rate": (len(stamps) - 1) * size * 8 / span if span else 0,
            }
        )
    )


def spaced(count, size, gap):
    """One datagram every so many microseconds: how long each took, in microseconds."""
    pair, sent = Pair(), []
    begin = time.monotonic()
    for number in range(count):
        due = begin + number * gap / 1e6
        while (left := due - time.monotonic()) > 0:
            pair.receive(1, left)
        sent.append(time.time_ns())
        pair.send(number, size)
    while pair.receive(1, 0.5):
        pass
    print(json.dumps({"took": [(stamp - sent[number]) / 1e3 for number, stamp in pair.arrivals]}))


def path_mtu(family, size):
    """Sends a datagram that must not be fragmented, and after it a short one that arrives: the path MTU then."""
    kind, level, discover, do, mtu, host = {
        4: (socket.AF_INET, socket.IPPROTO_IP, 10, 2, 14, "10.0.0.2"),
        6: (socket.AF_INET6, socket.IPPROTO_IPV6, 23, 2, 24, "fd00::2"),
    }[family]
    enter("b")
    receiver = socket.socket(kind, socket.SOCK_DGRAM)
    receiver.settimeout(5)
    receiver.bind((host, 9000))
    enter("a")
    sender = socket.socket(kind, socket.SOCK_DGRAM)
    sender.setsockopt(level, discover, do)
    sender.connect((host, 9000))
    before = sender.getsockopt(level, mtu)
    sender.send(bytes(size))
    for _ in range(10):
        # If the sender was notified, its socket reports it once instead of sending.
        try:
            sender.send(b"short")
        except OSError:
            continue
        received = len(receiver.recv(65_536))
    print(json.dumps({"before": before, "after": sender.getsockopt(level, mtu), "received": received}))


def port(namespace, protocol=0):
    enter(namespace)
    port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(protocol))
    port.bind(("eth0", protocol))
    return port


def tagged(count, size):
    # Sockets that listen to one type do not get the tag.
    receiver = port("b", ETH_P_ALL)
    receiver.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    receiver.settimeout(1)
    sender = port("a")
    rng = random.Random(1)
    same, kind = 0, b"\x88\xb5"
    for number in range(count):
        # Sent to all, from nobody, of the type for experiments.
        addresses, tag = b"\xff" * 6 + b"\2" + bytes(5), 1 + number % 4094
        rest = kind + rng.randbytes(size)
        sender.send(addresses + struct.pack("!HH", 0x8100, tag) + rest)
        frame = b""
        while frame[12:14] != kind:
            frame, extra, _, _ = receiver.recvmsg(65_536, 256)
        status, _, _, _, _, seen, _ = struct.unpack("IIIHHHH", extra[0][2])
        whole = frame == addresses + rest and status & TP_STATUS_VLAN_VALID
        same += bool(whole and seen == tag)
    print(json.dumps({"same": same}))


def mixed(count):
    receiver = port("b", ETH_P_ALL)
    receiver.settimeout(1)
    sender = port("a")
    rng = random.Random(1)
    kind, came = b"\x88\xb5", []
    head = b"\xff" * 6 + b"\2" + bytes(5) + kind
    sizes = [3000 if rng.random() < 0.3 else rng.randint(60, 1514) for _ in range(count)]
    bodies = [struct.pack("!I", number) + rng.randbytes(size - 18) for number, size in enumerate(sizes)]
    for begin in range(0, count, 50):
        part = bodies[begin : begin + 50]
        for body in part:
            sender.send(head + body)
        try:
            taken = 0
            while taken < len(part):
                frame = receiver.recv(65_536)
                if frame[12:14] == kind:
                    taken += 1
                    number = struct.unpack("!I", frame[14:18])[0]
                    came.append(number if frame == head + bodies[number] else None)
        except TimeoutError:
            pass
    print(json.dumps({"came": came}))


def bundle(number, packets, size):
    """The bytes behind the IPv4 header: docs/reference/formats.md, written once more."""
    head = struct.pack("!HHH", packets, size, 1 << 13 | number % 4096)
    entries = struct.pack("!HH", size, 0) * packets
    inside = [struct.pack("!BxHHH", 0x45, size, number, place) + bytes(size - 8) for place in range(packets)]
    return head, entries, inside


def bundles(count, packets, size):
    enter("b")
    receiver = socket.socket(socket.AF_INET, socket.SOCK_RAW, BUNDLE)
    # Forced, for the kernel would give less; what arrives must not be lost here.
    receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 << 20)
    enter("a")
    sender = socket.socket(socket.AF_INET, socket.SOCK_RAW, BUNDLE)
    for number in range(count):
        sender.sendto(b"".join([*(parts := bundle(number, packets, size))[:2], *parts[2]]), ("10.0.0.2", 0))
        time.sleep(0.0002)
    receiver.settimeout(1)
    came, live, dead, right = 0, 0, 0, 0
    while True:
        try:
            packet = receiver.recv(65_536)
        except (TimeoutError, BlockingIOError):
            break
        came += 1
        data, length = packet[20:], struct.unpack("!H", packet[2:4])[0]
        number = len(data) >= 6 and struct.unpack("!H", data[4:6])[0] & 0xFFF
        head, entries, inside = bundle(number, packets, size)
        gone = 0
        while gone < packets and data[6 + 4 * gone : 8 + 4 * gone] == b"\0\0":
            gone += 1
        left = bytes(4) * gone + entries[4 * gone :] + b"".join(inside[gone:])
        right += data == head + left and length == len(packet)
        live, dead = live + packets - gone, dead + gone
    print(json.dumps({"received": came, "live": live, "dead": dead, "right": right}))


def segmented(count, size, data):
    pair = Pair()
    pair.sender.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, size)
    datagrams = (struct.pack("!I", number) + bytes(size - 4) for number in range(count))
    pair.sender.sendto(b"".join(datagrams), ("10.0.0.2", 9000))
    pair.receive(count, 5)
    enter("b")
    server = socket.create_server(("10.0.0.2", 9000))
    enter("a")
    sender = socket.create_connection(("10.0.0.2", 9000), timeout=20)
    receiver, _ = server.accept()
    receiver.settimeout(20)
    threading.Thread(target=sender.sendall, args=[bytes(data)]).start()
    received = 0
    while received < data:
        received += len(receiver.recv(65_536))
    numbers = [number for number, _ in pair.arrivals]
    print(json.dumps({"numbers": numbers, "bytes": received}))


def frames(count):
    sender = port("a")
    rng = random.Random(1)
    for _ in range(count):
        sender.send(rng.randbytes(rng.randint(14, 1514)))


PROBES = {"udp": udp, "tagged": tagged, "mixed": mixed, "spaced": spaced, "path_mtu": path_mtu, "bundles": bundles, "segmented": segmented, "frames": frames}
PROBES[sys.argv[1]](*map(int, sys.argv[2:]))
