"""TCP over IPv6 from a to b in lumps that leave a as super-packets above 64 KiB.

Prints the bytes that came to the gateway of a, and the largest mean size of a frame among
the lumps, there and at b. Each waits for the answer to the one before, so that no buffer overflows.
"""

import ctypes
import json
import socket
import threading

LUMP, COUNT = 170_000, 40


def enter(node):
    """From now on the sockets of this thread are those of `node`."""
    with open(f"/run/netns/{node}") as space:
        if ctypes.CDLL(None, use_errno=True).setns(space.fileno(), 0):
            raise OSError(ctypes.get_errno(), f"entering {node}")


def came():
    """Bytes and frames at the gateway of a, and at b."""
    return [count for node, name in [("ga", "in"), ("b", "eth0")] for count in at(node, name)]


def at(node, interface):
    """Bytes and frames that an interface received."""
    enter(node)
    with open("/proc/thread-self/net/dev") as interfaces:
        for line in interfaces:
            name, _, counts = line.strip().partition(":")
            if name == interface:
                return [int(count) for count in counts.split()[:2]]


def serve():
    connection, _ = server.accept()
    left = LUMP
    while data := connection.recv(left):
        left -= len(data)
        if left == 0:
            connection.sendall(b"!")
            left = LUMP


enter("b")
server = socket.create_server(("fd02::2", 0), family=socket.AF_INET6)
threading.Thread(target=serve).start()
enter("a")
with socket.create_connection(server.getsockname()[:2], timeout=20) as client:
    seen = [came()]
    for _ in range(COUNT):
        client.sendall(bytes(LUMP))
        client.recv(1)
        seen.append(came())


def largest(place):
    """The largest mean size of a frame among the lumps."""
    steps = [[now[place + i] - then[place + i] for i in (0, 1)] for then, now in zip(seen, seen[1:])]
    return max(size // frames for size, frames in steps)


data = seen[-1][0] - seen[0][0]
print(json.dumps({"bytes": data, "largest": largest(0), "out": largest(2), "lumps": LUMP * COUNT}))
