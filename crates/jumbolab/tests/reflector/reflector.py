"""A session-reflector of STAMP, written after RFC 8762 and RFC 8972 alone.

reflector.py HOST KIND: prints its port and reflects until it is killed.

Honest kinds: `stateless` (RFC 8762, without TLVs), `stateful` (RFC 8972, sequence numbers of its own).
Hostile ones: `twice`, `late` (each reply after the next packet), `numbers` (random ones), `longer`, `garbage`, `silent`.
"""

import random
import socket
import struct
import sys
import time

BASE = 44
NTP = 2_208_988_800
KNOWN = {1}


def ntp(seconds):
    return int((seconds + NTP) * (1 << 32)) & ((1 << 64) - 1)


def flagged(data):
    """TLVs with U clear where the type is known."""
    data = bytearray(data)
    at = 0
    while at + 4 <= len(data):
        kind, length = struct.unpack_from("!BH", data, at + 1)
        data[at] = 0 if kind in KNOWN else 0x80
        if at + 4 + length > len(data):
            data[at] = 0x40
            break
        at += 4 + length
    return bytes(data)


class Reflector:
    def __init__(self, kind):
        self.kind = kind
        self.sessions = {}
        self.held = []
        self.random = random.Random(1)

    def reply(self, data, source, received):
        if len(data) < BASE:
            return None
        number, sent, error, session = struct.unpack_from("!IQ2sH", data)
        own = self.sessions.get((source, session), 0)
        self.sessions[source, session] = own + 1
        behind = data[BASE:]
        if self.kind != "stateless":
            behind = flagged(behind)
        else:
            own, session = number, 0
        if self.kind == "numbers":
            own = self.random.getrandbits(32)
            number = self.random.choice((number, self.random.getrandbits(32)))
        base = struct.pack(
            "!IQBBHQIQ2s2xB3x", own, ntp(time.time()), 22, 1, session, ntp(received), number, sent, error, 255
        )
        return base + behind

    def replies(self, data, source):
        reply = self.reply(data, source, time.time())
        if reply is None or self.kind == "silent":
            return []
        if self.kind == "twice":
            return [reply, reply]
        if self.kind == "late":
            self.held.append(reply)
            return self.held[-2:-1]
        if self.kind == "longer":
            return [reply + bytes(min(4 * len(reply), 60_000 - len(reply)))]
        if self.kind == "garbage":
            length = self.random.randrange(1, 3_000)
            garbage = self.random.randbytes(length)
            # Now and then with the beginning of a reply.
            return [garbage, reply[: self.random.randrange(BASE)] + garbage]
        return [reply]


def main(host, kind):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    inbox = socket.socket(family, socket.SOCK_DGRAM)
    inbox.bind((host, 0))
    print(inbox.getsockname()[1], flush=True)
    reflector = Reflector(kind)
    while True:
        data, source = inbox.recvfrom(65_535)
        for reply in reflector.replies(data, source):
            inbox.sendto(reply, source)


main(*sys.argv[1:])
