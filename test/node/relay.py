#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A local user without the cookie who wants a node: it registers a name in epmd, and hands what it
is greeted with to the real node, whose challenge it gives for its own. The digest that comes back
opens the node.

    relay.py NAME NODE_PORT [late | slow]

late: the port is opened by the caller's user, connections are taken by nobody. slow: it hangs up six
seconds after the digest, as a node does that is too busy. Prints a line for
what happens: "ready PORT", "connected", "digest", "taken over". NODE_PORT 0: there is no node, it
is only counted. Ends when it is killed.
"""

import ctypes
import os
import select
import socket
import struct
import sys
import time

NOBODY = 65534


def say(text):
    print(text, flush=True)


def register(name, port):
    """epmd forgets the name when this connection ends."""
    s = socket.create_connection(("127.0.0.1", int(os.environ["ERL_EPMD_PORT"])))
    name = os.fsencode(name)  # its bytes, whatever they are
    req = struct.pack(">BHBBHHH", 120, port, 77, 0, 6, 6, len(name)) + name + b"\0\0"
    s.sendall(struct.pack(">H", len(req)) + req)
    if s.recv(16)[1:2] != b"\0":
        sys.exit("epmd does not take the name")
    return s


def whole(buffer):
    """The packages of a greeting that are there, and the rest."""
    packages = []
    while len(buffer) >= 2 and len(buffer) >= 2 + struct.unpack(">H", buffer[:2])[0]:
        n = 2 + struct.unpack(">H", buffer[:2])[0]
        packages.append(buffer[2:n])
        buffer = buffer[n:]
    return packages, buffer


def relay(client, node):
    other = {client: node, node: client}
    seen = {client: b"", node: b""}
    digest = False
    while True:
        for s in select.select(list(other), [], [])[0]:
            data = s.recv(65536)
            if not data:
                return
            packages, seen[s] = whole(seen[s] + data)
            for p in packages:
                if s is client and p[:1] == b"r":
                    digest = True
                    say("digest")
                    if sys.argv[3:] == ["slow"]:
                        time.sleep(6)
                        return
                if s is node and digest and p[:1] == b"a":
                    say("taken over")
                    return
            other[s].sendall(data)


def main():
    name, node_port = sys.argv[1], int(sys.argv[2])
    # As a VM looks: its home is what its environment says.
    ctypes.CDLL(None).prctl(15, b"beam.smp", 0, 0, 0)
    listener = socket.socket()
    listener.bind(("0.0.0.0", 0))
    listener.listen(16)
    if sys.argv[3:] == ["late"]:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    kept = register(name, listener.getsockname()[1])
    say("ready %d" % listener.getsockname()[1])
    while True:
        client, _ = listener.accept()
        say("connected")
        if node_port != 0:
            try:
                relay(client, socket.create_connection(("127.0.0.1", node_port)))
            except OSError:
                pass
        client.close()
    return kept


main()
