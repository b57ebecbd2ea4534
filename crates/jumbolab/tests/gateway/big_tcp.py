"""TCP over IPv6 from a to b in lumps that leave a as super-packets above 64 KiB.

Prints the bytes that came to the gateway of a, and the largest frame there and at b. Each
lump waits for the answer to the one before, so that no buffer overflows.
"""

import ctypes
import json
import socket
import threading

LUMP, COUNT = 170_000, 40
ETH_P_IPV6 = 0x86DD


def enter(node):
    """From now on the sockets of this thread are those of `node`."""
    with open(f"/run/netns/{node}") as space:
        if ctypes.CDLL(None, use_errno=True).setns(space.fileno(), 0):
            raise OSError(ctypes.get_errno(), f"entering {node}")


def tap(node, interface):
    """A socket that gets each frame of an interface, with room for those of one lump."""
    enter(node)
    frames = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_IPV6))
    frames.bind((interface, ETH_P_IPV6))
    frames.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
    return frames


def came(frames):
    """The lengths of the frames that came since the last call."""
    lengths = []
    while True:
        try:
            flags = socket.MSG_DONTWAIT | socket.MSG_TRUNC
            length, (_, _, direction, *_) = frames.recvfrom_into(bytearray(1), 1, flags)
        except BlockingIOError:
            return lengths
        if direction != socket.PACKET_OUTGOING:
            lengths.append(length)


def serve():
    connection, _ = server.accept()
    left = LUMP
    while data := connection.recv(left):
        left -= len(data)
        if left == 0:
            connection.sendall(b"!")
            left = LUMP


taps = [tap("ga", "in"), tap("b", "eth0")]
enter("b")
server = socket.create_server(("fd02::2", 0), family=socket.AF_INET6)
threading.Thread(target=serve).start()
enter("a")
seen = [[], []]
with socket.create_connection(server.getsockname()[:2], timeout=20) as client:
    for _ in range(COUNT):
        client.sendall(bytes(LUMP))
        client.recv(1)
        for lengths, frames in zip(seen, taps):
            lengths += came(frames)

gateway, end = seen
print(json.dumps({"bytes": sum(gateway), "largest": max(gateway), "out": max(end), "lumps": LUMP * COUNT}))
