# Prints the MTUs that the kernel gave to both overlays. Then sends a message through
# each stack and prints: the stack, the bytes of payload, and those of the frame that
# arrives at the other end of the link.
import fcntl
import socket
import struct

# Linux: if_ether.h, in6.h and sockios.h.
ETH_P_ALL, IPV6_HOPOPTS, IPV6_DSTOPTS, SIOCGIFMTU = 3, 54, 59, 0x8921
# An extension header of eight bytes: a next header that the kernel fills in, a length
# of 0, and the option PadN with four bytes.
EXTENSION = bytes([0, 0, 1, 4, 0, 0, 0, 0])


def heard(interface):
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    tap.bind((interface, 0))
    tap.settimeout(20)
    return tap


def frame_with(tap, payload):
    while True:
        frame = tap.recv(65535)
        if payload in frame:
            return len(frame)


def datagram(stack, address, size, option=None):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    sender = socket.socket(family, socket.SOCK_DGRAM)
    if option:
        sender.setsockopt(*option)
    payload = f"{stack} {size} ".encode().ljust(size, b".")
    tap = heard("d1")
    sender.sendto(payload, (address, 9))
    print(stack, size, frame_with(tap, payload))


def segment(stack, size):
    listener = socket.create_server(("127.0.0.1", 0))
    sender = socket.create_connection(listener.getsockname())
    payload = f"{stack} {size} ".encode().ljust(size, b".")
    tap = heard("lo")
    sender.sendall(payload)
    print(stack, size, frame_with(tap, payload))


def mtu(interface):
    request = struct.pack("16si", interface.encode(), 0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        return struct.unpack("16si", fcntl.ioctl(any_socket, SIOCGIFMTU, request))[1]


print(mtu("v4"))
print(mtu("v6"))
datagram("eth,ipv4,udp", "192.0.2.2", 100)
datagram("eth,ipv6,udp", "fd00::2", 100)
datagram("eth,ipv6,udp", "fd00::2", 1452)
datagram("eth,ipv4,udp,vxlan,eth,ipv4,udp", "198.51.4.2", 200)
datagram("eth,ipv4,udp,vxlan,eth,ipv6,udp", "fd04::2", 1402)
datagram("eth,ipv6,udp,vxlan,eth,ipv4,udp", "198.51.6.2", 200)
datagram("eth,ipv6,udp,vxlan,eth,ipv6,udp", "fd06::2", 1382)
datagram("eth,ipv6+srh=1,ipv6,udp", "fd09::2", 200)
# Five bytes of options, which are padded to eight: a route of no hop, and the end.
route = (socket.IPPROTO_IP, socket.IP_OPTIONS, struct.pack("BBBBB", 7, 3, 4, 1, 0))
datagram("eth,ipv4+options=5,udp", "192.0.2.2", 100, route)
for name, option in [("hbh", IPV6_HOPOPTS), ("dst", IPV6_DSTOPTS)]:
    header = (socket.IPPROTO_IPV6, option, EXTENSION)
    datagram(f"eth,ipv6+{name},udp", "fd00::2", 100, header)
segment("eth,ipv4,tcp+ts", 200)
segment("eth,ipv4,tcp+ts", 1000)
