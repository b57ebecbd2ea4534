"""A faulty router behind a TUN device: what arrives there goes back into the kernel, but

    drop FROM TO     packets of these sizes are lost
    clear-df         routers may fragment packets of IPv4
    reject MTU FROM  each packet is lost, and its sender hears that it is larger than MTU;
                     the message comes from the address FROM

usage: faulty_router.py DEVICE FAULT [ARGUMENTS]
"""

import fcntl
import os
import socket
import struct
import sys

TUNSETIFF = 0x400454CA
IFF_TUN = 0x0001
IFF_NO_PI = 0x1000
DONT_FRAGMENT = 0x4000


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def sized(packet):
    """Whether it is of IPv6, and its size."""
    if packet[0] >> 4 == 6:
        return True, 40 + struct.unpack_from("!H", packet, 4)[0]
    return False, struct.unpack_from("!H", packet, 2)[0]


def forwarded(packet, clear_df):
    """The packet as it came into the router: the kernel forwards it twice."""
    packet = bytearray(packet)
    if packet[0] >> 4 == 6:
        packet[7] = min(packet[7] + 1, 255)
        return bytes(packet)
    packet[8] = min(packet[8] + 1, 255)
    if clear_df:
        flags = struct.unpack_from("!H", packet, 6)[0] & ~DONT_FRAGMENT
        struct.pack_into("!H", packet, 6, flags)
    header = (packet[0] & 15) * 4
    packet[10:12] = b"\0\0"
    struct.pack_into("!H", packet, 10, checksum(bytes(packet[:header])))
    return bytes(packet)


def rejection(packet, mtu, own):
    """The error about a packet, with the header of IP."""
    is_v6, _ = sized(packet)
    if is_v6:
        quote = packet[: 1280 - 48]
        source, to = socket.inet_pton(socket.AF_INET6, own), packet[8:24]
        body = struct.pack("!BBHI", 2, 0, 0, mtu) + quote
        pseudo = source + to + struct.pack("!II", len(body), 58)
        body = body[:2] + struct.pack("!H", checksum(pseudo + body)) + body[4:]
        return struct.pack("!IHBB", 6 << 28, len(body), 58, 64) + source + to + body
    quote = packet[:548]
    body = struct.pack("!BBHHH", 3, 4, 0, 0, mtu) + quote
    body = body[:2] + struct.pack("!H", checksum(body)) + body[4:]
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(body), 0, 0, 64, 1, 0)
    header += socket.inet_pton(socket.AF_INET, own) + packet[12:16]
    return header[:10] + struct.pack("!H", checksum(header)) + header[12:] + body


device, fault, *arguments = sys.argv[1:]
tun = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH", device.encode(), IFF_TUN | IFF_NO_PI))
print("ready", flush=True)
while True:
    packet = os.read(tun, 70000)
    _, size = sized(packet)
    if fault == "drop" and int(arguments[0]) <= size <= int(arguments[1]):
        continue
    if fault == "reject":
        is_v6, _ = sized(packet)
        if is_v6 == (":" in arguments[1]):
            os.write(tun, rejection(packet, int(arguments[0]), arguments[1]))
        continue
    os.write(tun, forwarded(packet, fault == "clear-df"))
