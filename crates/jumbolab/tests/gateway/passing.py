"""What passes between the hosts a and b through their gateways, over both versions of IP.

passing.py A B: the MTUs of the hosts' links. Prints, for each direction and each
version of IP: the bytes of a TCP transfer, the size of the largest packets that arrive
once the sender has heeded all reports, and whether a larger datagram does: with orders not
to fragment it while the sender knows a path MTU, and without. Before each of the two, the sender's kernel forgets what it was told.
"""

import ctypes
import json
import os
import socket
import subprocess
import sys
import threading
import time

HOSTS = {"a": ("10.1.0.2", "fd01::2"), "b": ("10.2.0.2", "fd02::2")}
SIZE = 1_000_000
# Seconds after which what has not come is taken for lost. Only what fails takes them.
TIMEOUT = 20
# The Linux numbers of options that Python does not name [ip(7)] [ipv6(7)].
DISCOVER, DONT, WANT, DO, MTU = {4: 10, 6: 23}, 0, 1, 2, {4: 14, 6: 24}


def enter(node):
    """From now on the sockets of this thread are those of `node`."""
    with open(f"/run/netns/{node}") as space:
        if ctypes.CDLL(None, use_errno=True).setns(space.fileno(), 0):
            raise OSError(ctypes.get_errno(), f"entering {node}")


def opened(node, version, kind, host=None):
    """A socket in `node`, bound to an address of it or connected to that of `host`."""
    enter(node)
    one = socket.socket(socket.AF_INET6 if version == 6 else socket.AF_INET, kind)
    one.settimeout(TIMEOUT)
    if host is None:
        one.bind((HOSTS[node][version == 6], 0))
    return one


def tcp(version, near, far):
    """Bytes that arrive in a transfer."""
    server = opened(far, version, socket.SOCK_STREAM)
    server.listen(1)
    came = []

    def serve():
        try:
            connection, _ = server.accept()
            connection.settimeout(TIMEOUT)
            while data := connection.recv(1 << 16):
                came.append(len(data))
            connection.sendall(b"!")
        except OSError:
            pass

    thread = threading.Thread(target=serve)
    thread.start()
    client = opened(near, version, socket.SOCK_STREAM, far)
    try:
        client.connect(server.getsockname())
        client.sendall(bytes(SIZE))
        client.shutdown(socket.SHUT_WR)
        client.recv(1)
    except OSError:
        pass
    client.close()
    thread.join()
    server.close()
    return sum(came)


def datagrams(version, near, far, link):
    """The largest packets that arrive, and whether a datagram larger than the link does."""
    level = socket.IPPROTO_IPV6 if version == 6 else socket.IPPROTO_IP
    headers = 48 if version == 6 else 28
    server = opened(far, version, socket.SOCK_DGRAM)
    client = opened(near, version, socket.SOCK_DGRAM, far)
    client.connect(server.getsockname())

    def arrives(size, timeout):
        server.settimeout(timeout)
        try:
            client.send(bytes(size))
            # An earlier one may have been late.
            while len(server.recv(1 << 16)) != size:
                pass
            return True
        except OSError:
            # No answer in time, or a report that the packet was too big.
            return False

    client.setsockopt(level, DISCOVER[version], DO)
    until = time.monotonic() + TIMEOUT
    fits = link
    while not arrives(fits - headers, 0.05):
        fits = client.getsockopt(level, MTU[version])
        if time.monotonic() > until:
            fits = None
            break
    # Otherwise hosts cut a datagram into fragments that fit.
    client.setsockopt(level, DISCOVER[version], WANT)
    client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    larger = arrives(link + 1_000, TIMEOUT)
    # Or gateways do, of IPv4.
    if version == 4:
        client.setsockopt(level, DISCOVER[version], DONT)
        larger &= arrives(link - headers, TIMEOUT)
    client.close()
    server.close()
    return {"fits": fits, "larger": larger}


def forget(version, node):
    subprocess.run(["ip", "-n", node, f"-{version}", "route", "flush", "cache"], check=True)


for near, far, link in ("a", "b", sys.argv[1]), ("b", "a", sys.argv[2]):
    for version in 4, 6:
        forget(version, near)
        came = tcp(version, near, far)
        forget(version, near)
        seen = {"version": version, "from": near, "tcp": came}
        seen |= datagrams(version, near, far, int(link))
        sys.stdout.write(json.dumps(seen) + "\n")
