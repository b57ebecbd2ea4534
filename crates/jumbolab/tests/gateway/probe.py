"""Traffic for the tests of the gateway: datagrams whose octets can be checked.

send HOST PORT COUNT FLOWS GAP_US: datagrams of 20 to 1000 octets over FLOWS source ports
receive PORT SECONDS: prints what came until SECONDS passed without a further datagram
flood HOST PORT COUNT: random octets
"""

import hashlib
import json
import random
import socket
import struct
import sys
import time

MAGIC = b"gate"


def family(host):
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def payload(flow, number):
    seed = hashlib.sha256(struct.pack("!II", flow, number)).digest()
    length = 20 + int.from_bytes(seed[:4], "big") % 981
    octets = (seed * (length // len(seed) + 1))[: length - 12]
    return MAGIC + struct.pack("!II", flow, number) + octets


def send(host, port, count, flows, gap):
    sockets = [socket.socket(family(host), socket.SOCK_DGRAM) for _ in range(flows)]
    for number in range(count):
        for flow, one in enumerate(sockets):
            one.sendto(payload(flow, number), (host, port))
        if gap:
            time.sleep(gap / 1e6)
    print(json.dumps({"sent": count * flows}))


def receive(port, patience):
    one = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    one.bind(("::", port))
    one.settimeout(30)
    print("ready", flush=True)
    received, damaged, misordered, latest = 0, 0, 0, {}
    try:
        while True:
            octets, _ = one.recvfrom(65536)
            flow, number = struct.unpack("!II", octets[4:12])
            received += 1
            one.settimeout(patience)
            damaged += octets != payload(flow, number)
            misordered += number <= latest.get(flow, -1)
            latest[flow] = number
    except TimeoutError:
        pass
    print(json.dumps({"received": received, "damaged": damaged, "misordered": misordered}))


def flood(host, port, count):
    one = socket.socket(family(host), socket.SOCK_DGRAM)
    chance = random.Random(1)
    for _ in range(count):
        length = chance.choice([0, 1, 7, 40, 200, 1400])
        # Some look like the header of a bundle.
        head = bytes([0, chance.randrange(4), 0, chance.randrange(100), 0x20, chance.randrange(256)])
        one.sendto((head + chance.randbytes(length))[: max(length, 1)], (host, port))
    print(json.dumps({"flooded": count}))


command, arguments = sys.argv[1], sys.argv[2:]
if command == "send":
    send(arguments[0], *map(int, arguments[1:]))
elif command == "receive":
    receive(int(arguments[0]), float(arguments[1]))
elif command == "flood":
    flood(arguments[0], *map(int, arguments[1:]))
else:
    sys.exit(f"unknown: {command}")
