"""A session-sender of STAMP, written after RFC 8762, RFC 8972 and RFC 10052 alone.

sender.py HOST PORT: sends test packets of many kinds, checks every reply, and prints "fine".
"""

import socket
import struct
import sys
import time

BASE = 44
NTP = 2_208_988_800
EXTRA_PADDING, CLASS_OF_SERVICE, CONTROL, EXPERIMENT = 1, 4, 12, 240
U, M, C = 0x80, 0x40, 0x10


def ntp(seconds):
    return int((seconds + NTP) * (1 << 32)) & ((1 << 64) - 1)


def tlv(kind, value, flags=U):
    return struct.pack("!BBH", flags, kind, len(value)) + value


def control(length, number):
    """Length and number of the replies, their interval, and an empty sub-TLV."""
    return tlv(CONTROL, struct.pack("!HHII", length, number, 0, 0))


def tlvs(data):
    found = []
    while data:
        flags, kind, length = struct.unpack_from("!BBH", data)
        assert len(data) >= 4 + length, "a TLV is longer than the packet"
        found.append((flags, kind, data[4 : 4 + length]))
        data = data[4 + length :]
    return found


class Session:
    def __init__(self, host, port, identifier):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_DGRAM)
        self.socket.settimeout(20)
        self.socket.connect((host, port))
        self.identifier = identifier
        self.next = 0
        self.arrived = 0

    def send(self, behind):
        sent = ntp(time.time())
        # S and Z are clear; the error is 1 * 2^22 units of 2^-32 seconds.
        base = struct.pack("!IQBBH28x", self.next, sent, 22, 1, self.identifier)
        self.socket.send(base + behind)
        self.next += 1
        return sent

    def receive(self):
        return self.socket.recv(65_535)

    def exchange(self, behind=b""):
        """Sends a packet and returns what follows the base of the reply."""
        before = time.time()
        sent = self.send(behind)
        reply = self.receive()
        after = time.time()
        assert BASE <= len(reply) <= BASE + len(behind), f"{len(reply)} bytes"
        fields = struct.unpack_from("!IQBBHQIQBBHB3s", reply)
        (number, returned, error, multiplier, identifier, received) = fields[:6]
        assert number == self.arrived, f"sequence number {number} instead of {self.arrived}"
        assert identifier == self.identifier, "another session"
        assert multiplier > 0 and not error & 0x40, "the format of NTP"
        slack = 0.01
        assert ntp(before - slack) <= received <= returned <= ntp(after + slack), "the reflector's clock"
        assert fields[6:] == (self.next - 1, sent, 22, 1, 0, 64, bytes(3)), f"the copy: {fields[6:]}"
        self.arrived += 1
        return reply[BASE:]


def main(host, port):
    session = Session(host, int(port), 0xABCD)
    # The base alone, and padding that is no TLV.
    assert session.exchange() == b""
    assert session.exchange(bytes(100)) == bytes(100)
    # Extra Padding comes back with U clear, whatever its length.
    for length in (0, 1, 1_424, 8_924, 60_000):
        padding = bytes(number % 251 for number in range(length))
        assert session.exchange(tlv(EXTRA_PADDING, padding)) == tlv(EXTRA_PADDING, padding, 0)
    # Types that the reflector does not know come back with U set.
    unknown = tlv(CLASS_OF_SERVICE, b"\x10\0\0\0") + tlv(EXPERIMENT, b"abc")
    assert session.exchange(unknown) == unknown
    # A TLV that is longer than the packet comes back with M set.
    cut = struct.pack("!BBH", U, CLASS_OF_SERVICE, 9) + b"abc"
    assert session.exchange(cut) == bytes([M]) + cut[1:]
    # Shorter replies.
    padding = tlv(EXTRA_PADDING, bytes(500))
    for length, reply in ((0, 60), (100, 100), (101, 104), (564, 564)):
        behind = session.exchange(control(length, 1) + padding)
        assert BASE + len(behind) == reply, f"{BASE + len(behind)} bytes for {length}"
        assert tlvs(behind)[0] == (0, CONTROL, control(length, 1)[4:])
    # Longer and several replies are rejected: one of the same length, with C set.
    for length, number in ((2_000, 1), (65_535, 1), (0, 2), (0, 65_535)):
        behind = session.exchange(control(length, number) + padding)
        assert len(behind) == len(control(0, 1) + padding)
        assert [flags for flags, _, _ in tlvs(behind)] == [C, 0]
    # No reply is asked for, but the packet counts; so do those without a reply.
    session.send(control(0, 0))
    session.arrived += 1
    session.exchange()
    # Two sessions of one socket have their own numbers.
    other = Session(host, int(port), 0x1234)
    other.socket = session.socket
    other.exchange()
    session.exchange()
    # Neither garbage, nor replies, nor short packets get a reply.
    session.send(b"")
    reply = session.receive()
    session.arrived += 1
    for data in (reply, b"", b"\0" * 43, b"\xff" * 100):
        session.socket.send(data)
    session.exchange()
    print("fine")


main(*sys.argv[1:])
