"""Answers each echo request 50 times: with replies, and with errors of all kinds that
quote it, damaged at random."""

import random
import socket
import struct


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def message(kind, code, rest, body):
    whole = struct.pack("!BBH", kind, code, 0) + rest + body
    return whole[:2] + struct.pack("!H", checksum(whole)) + whole[4:]


random.seed(1)
icmp = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
print("ready", flush=True)
while True:
    packet, sender = icmp.recvfrom(70000)
    header = (packet[0] & 15) * 4
    if packet[header] != 8:
        continue
    for _ in range(50):
        kind = random.choice([0, 3, 3, 3, 4, 5, 11, 12])
        code = random.choice([0, 1, 2, 3, 4, 4, 4, 13])
        quote = bytearray(packet[: random.choice([20, 28, 36, 100, 548])])
        for _ in range(random.randrange(3)):
            quote[random.randrange(len(quote))] = random.randrange(256)
        mtu = random.choice([0, 68, 576, 1280, 1400, 1500, 8999, 9000, 65535])
        rest = struct.pack("!HH", 0, mtu)
        if kind == 0:
            rest, quote = packet[header + 4 : header + 8], packet[header + 8 :]
        try:
            icmp.sendto(message(kind, code, rest, bytes(quote)), sender)
        except OSError:
            pass
