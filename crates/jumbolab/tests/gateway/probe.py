"""Traffic for the tests of the gateway: datagrams whose bytes can be checked.

send HOST PORT COUNT FLOWS GAP_US: datagrams of 20 to 1000 bytes (to LARGEST, a variable of
the environment) over FLOWS source ports
during HOST PORT SECONDS FLOWS GAP_US: the same for so many seconds
carry HOST PORT COUNT FLOWS: the same without a gap, and never more on their way than every
socket has room for, however late the other end gets a processor
receive PORT SECONDS [COUNT]: prints what came until SECONDS passed without a further datagram,
and the file OVER exists if the environment names one, or until COUNT came; the file came.PORT
has the number
flood HOST PORT COUNT: random bytes
capture INTERFACE COUNT FILE: keeps the IPv4 datagrams to the port of bundles that come
frames INTERFACE COUNT FILE: keeps the frames with MPLS labels that come, as pcap
too_big HOST PEER MTU COUNT: reports that a datagram of bundles from HOST to PEER is too big
again HOST FILE: sends them once more, with the addresses that they have
"""

import hashlib
import json
import mmap
import os
import random
import socket
import struct
import sys
import time

MAGIC = b"gate"
LARGEST = int(os.environ.get("LARGEST", "1000"))
# Datagrams on their way. By default Linux gives a socket 208 KiB.
WINDOW = 64
# Seconds after which a datagram on its way is taken for lost.
LOST = 30
# Senders may get no processor for seconds, so this file says that they have ended.
OVER = os.environ.get("OVER")


def family(host):
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def say(facts):
    """Prints a line in one write: others print to the same pipe, and Python may not buffer."""
    sys.stdout.write(json.dumps(facts) + "\n")


def payload(flow, number):
    seed = hashlib.sha256(struct.pack("!II", flow, number)).digest()
    length = 20 + int.from_bytes(seed[:4], "big") % (LARGEST - 19)
    data = (seed * (length // len(seed) + 1))[: length - 12]
    return MAGIC + struct.pack("!II", flow, number) + data


def send(host, port, count, flows, gap):
    sockets = [socket.socket(family(host), socket.SOCK_DGRAM) for _ in range(flows)]
    for number in range(count):
        for flow, one in enumerate(sockets):
            one.sendto(payload(flow, number), (host, port))
        if gap:
            time.sleep(gap / 1e6)
    say({"sent": count * flows})


def during(host, port, seconds, flows, gap):
    sockets = [socket.socket(family(host), socket.SOCK_DGRAM) for _ in range(flows)]
    end, number, sent = time.monotonic() + seconds, 0, 0
    while time.monotonic() < end:
        for flow, one in enumerate(sockets):
            one.sendto(payload(flow, number), (host, port))
            sent += 1
        number += 1
        time.sleep(gap / 1e6)
    say({"sent": sent})


def carry(host, port, count, flows):
    sockets = [socket.socket(family(host), socket.SOCK_DGRAM) for _ in range(flows)]
    came = counter(port)
    for sent in range(count * flows):
        until = time.monotonic() + LOST
        while sent - int.from_bytes(came, "little") >= WINDOW:
            if time.monotonic() > until:
                sys.exit(f"of {sent} datagrams to {host}, some are lost")
            time.sleep(0.0002)
        number, flow = divmod(sent, flows)
        sockets[flow].sendto(payload(flow, number), (host, port))
    say({"sent": count * flows})


def counter(port):
    """A number that processes share, of eight bytes."""
    file = os.open(f"came.{port}", os.O_RDWR | os.O_CREAT)
    os.ftruncate(file, 8)
    return mmap.mmap(file, 8)


def receive(port, timeout, count=sys.maxsize):
    came = counter(port)
    came[:] = bytes(8)
    one = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    one.bind(("::", port))
    one.settimeout(30)
    print("ready", flush=True)
    received, damaged, misordered, latest = 0, 0, 0, {}
    while received < count:
        try:
            data, _ = one.recvfrom(65536)
        except TimeoutError:
            if OVER and not os.path.exists(OVER):
                continue
            break
        flow, number = struct.unpack("!II", data[4:12])
        received += 1
        came[:] = received.to_bytes(8, "little")
        one.settimeout(timeout)
        damaged += data != payload(flow, number)
        misordered += number <= latest.get(flow, -1)
        latest[flow] = number
    say({"received": received, "damaged": damaged, "misordered": misordered})


def flood(host, port, count):
    one = socket.socket(family(host), socket.SOCK_DGRAM)
    chance = random.Random(1)
    for _ in range(count):
        length = chance.choice([0, 1, 7, 40, 200, 1400])
        # Some look like the header of a bundle.
        head = bytes([0, chance.randrange(4), 0, chance.randrange(100), 0x20, chance.randrange(256)])
        one.sendto((head + chance.randbytes(length))[: max(length, 1)], (host, port))
    say({"flooded": count})


def capture(interface, count, file):
    one = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
    one.bind((interface, 0x0800))
    one.settimeout(20)
    print("ready", flush=True)
    kept = []
    while len(kept) < count:
        packet, (_, _, kind, _, _) = one.recvfrom(65536)
        port = int.from_bytes(packet[22:24], "big")
        if kind != socket.PACKET_OUTGOING and packet[9] == socket.IPPROTO_UDP and port == 50253:
            kept.append(packet.hex())
    with open(file, "w") as out:
        out.write("\n".join(kept))


def frames(interface, count, file):
    one = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x8847))
    one.bind((interface, 0x8847))
    one.settimeout(20)
    print("ready", flush=True)
    # The header of pcap, for Ethernet.
    kept = [struct.pack("=IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)]
    while len(kept) <= count:
        frame, (_, _, kind, _, _) = one.recvfrom(65536)
        if kind != socket.PACKET_OUTGOING:
            kept.append(struct.pack("=IIII", 0, 0, len(frame), len(frame)) + frame)
    with open(file, "wb") as out:
        out.write(b"".join(kept))


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    return ~(total + (total >> 16)) & 0xFFFF


def too_big(host, peer, mtu, count):
    version = family(host)
    ends = socket.inet_pton(version, host) + socket.inet_pton(version, peer)
    # The ports alone: nothing of a bundle, which the forger has not seen.
    datagram = struct.pack("!HHHH", 50253, 50253, 1008, 0)
    if version == socket.AF_INET:
        quoted = struct.pack("!BBHHHBBH", 0x45, 0, 1028, 0, 0x4000, 60, 17, 0) + ends
        quoted = quoted[:10] + struct.pack("!H", checksum(quoted)) + quoted[12:] + datagram
        report = struct.pack("!BBHHH", 3, 4, 0, 0, mtu) + quoted
        report = report[:2] + struct.pack("!H", checksum(report)) + report[4:]
        one = socket.socket(version, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    else:
        quoted = struct.pack("!IHBB", 0x60000000, 1008, 17, 60) + ends + datagram
        # The kernel writes the checksum.
        report = struct.pack("!BBHI", 2, 0, 0, mtu) + quoted
        one = socket.socket(version, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
    for _ in range(count):
        one.sendto(report, (host, 0))
        time.sleep(0.01)
    say({"forged": count})


def again(host, file):
    one = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    with open(file) as kept:
        packets = [bytes.fromhex(line) for line in kept]
    for packet in packets:
        # The interface was to make the checksum; without one it is right, too.
        one.sendto(packet[:26] + bytes(2) + packet[28:], (host, 0))
    say({"again": len(packets)})


command, arguments = sys.argv[1], sys.argv[2:]
if command == "send":
    send(arguments[0], *map(int, arguments[1:]))
elif command == "carry":
    carry(arguments[0], *map(int, arguments[1:]))
elif command == "during":
    during(arguments[0], *map(int, arguments[1:]))
elif command == "receive":
    receive(int(arguments[0]), float(arguments[1]), *map(int, arguments[2:]))
elif command == "flood":
    flood(arguments[0], *map(int, arguments[1:]))
elif command == "capture":
    capture(arguments[0], int(arguments[1]), arguments[2])
elif command == "frames":
    frames(arguments[0], int(arguments[1]), arguments[2])
elif command == "too_big":
    too_big(arguments[0], arguments[1], int(arguments[2]), int(arguments[3]))
elif command == "again":
    again(*arguments)
else:
    sys.exit(f"unknown: {command}")
