"""A server of HTTP or TLS that says when it listens, and counts its connections.

usage: web_server.py ADDRESS PORT BYTES [KEYS]

BYTES is the length of a page. KEYS is a file for TLS, with the private key first.
"""

import socket
import ssl
import sys
import threading

address, port, length = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
context = None
if len(sys.argv) > 4:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[4])


def serve(connection):
    try:
        if context:
            context.wrap_socket(connection, server_side=True)
        request = b""
        while data := connection.recv(65536):
            request += data
            while b"\r\n\r\n" in request:
                request = request.split(b"\r\n\r\n", 1)[1]
                head = f"HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n"
                connection.sendall(head.encode() + b"x" * length)
    except OSError:
        pass
    finally:
        connection.close()


listener = socket.create_server((address, port), family=socket.AF_INET6 if ":" in address else socket.AF_INET)
print("listening", flush=True)
while True:
    connection, _ = listener.accept()
    print("connection", flush=True)
    threading.Thread(target=serve, args=(connection,), daemon=True).start()
