#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Stands between the command and a node: an epmd that names one node and leads to this program,
# which passes on what both say and, once they know each other, spoils some of it.
#
#	wire_fuzz.py PORT NODE NODE_PORT SEED node|command|both|greeting
#
# PORT is that of the epmd it plays; NODE_PORT where the node listens. The last argument says whose
# frames are spoiled; greeting: what the node says before there are frames. Ends when it is killed.

import random
import socket
import struct
import sys
import threading

EPMD, NODE, NODE_PORT = int(sys.argv[1]), sys.argv[2].encode(), int(sys.argv[3])
SEED, WHOSE = int(sys.argv[4]), sys.argv[5]
count = 0


def listen(port):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("127.0.0.1", port))
    s.listen(16)
    return s


def exactly(s, n):
    got = b""
    while len(got) < n:
        more = s.recv(n - len(got))
        if not more:
            raise EOFError
        got += more
    return got


def epmd(s, port):
    """Answers what ei asks: where is the node, and who is there."""
    try:
        n = struct.unpack(">H", exactly(s, 2))[0]
        asked = exactly(s, n)
        if asked[:1] == b"z":  # PORT_PLEASE2
            s.sendall(struct.pack(">BBHBBHHH", 119, 0, port, 72, 0, 6, 5, len(NODE)) + NODE + b"\0\0")
        else:  # NAMES
            s.sendall(struct.pack(">I", EPMD) + b"name %s at port %d\n" % (NODE, port))
    except (EOFError, OSError):
        pass
    s.close()


def spoil(rnd, frame):
    """What becomes of a frame (without its length): the bytes that are sent."""
    bad = bytearray(frame)
    how = rnd.randrange(8)
    if how == 0 and bad:  # one bit
        bad[rnd.randrange(len(bad))] ^= 1 << rnd.randrange(8)
    elif how == 1:  # some bytes
        for _ in range(rnd.randrange(1, 16)):
            if bad:
                bad[rnd.randrange(len(bad))] = rnd.randrange(256)
    elif how == 2:  # cut short, and said so
        bad = bad[: rnd.randrange(len(bad) + 1)]
    elif how == 3:  # longer than it is
        bad += rnd.randbytes(rnd.randrange(1, 200))
    elif how == 4:  # something else
        bad = bytearray(rnd.randbytes(rnd.randrange(1, 400)))
    elif how == 5 and len(bad) > 4:  # a length, an arity: the edges of 32 bits
        at = rnd.randrange(len(bad) - 4)
        bad[at : at + 4] = struct.pack(">I", rnd.choice([0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 20]))
    elif how == 6:  # a whole message that nobody asked for: {6, Cookie, To}, then any term
        bad = bytearray(b"p\x83h\x03a\x16w\x00" + rnd.randbytes(20))
    else:  # a wrong length in front
        return struct.pack(">I", (len(bad) + rnd.randrange(1, 1000)) & 0xFFFFFFFF) + bytes(bad)
    return struct.pack(">I", len(bad)) + bytes(bad)


def spoil_greeting(rnd, hello):
    """The same for a greeting; statuses that nobody asked for, or far too long."""
    how = rnd.randrange(4)
    if how == 0:
        hello = b"snamed:" + struct.pack(">H", rnd.choice([0, 300, 255, 256, 65535]))
        hello += rnd.choice([b"a@", b"aa"]) * rnd.randrange(200)
    elif how == 1 and hello[:1] == b"s":
        hello = rnd.choice([b"salive", b"snok", b"snot_allowed", b"sok_simultaneous"])
    else:
        return spoil(rnd, hello)[2:]
    return struct.pack(">H", len(hello)) + hello


def pump(src, dst, hellos, rnd, spoiled, greeting=False):
    """Greetings have lengths of two bytes, then frames have four."""
    try:
        for _ in range(hellos):
            head = exactly(src, 2)
            hello = exactly(src, struct.unpack(">H", head)[0])
            if greeting and rnd.random() < 0.5:
                dst.sendall(spoil_greeting(rnd, hello))
            else:
                dst.sendall(head + hello)
        while True:
            head = exactly(src, 4)
            frame = exactly(src, struct.unpack(">I", head)[0])
            if frame and spoiled and rnd.random() < spoiled:
                dst.sendall(spoil(rnd, frame))
            else:
                dst.sendall(head + frame)
    except (EOFError, OSError):
        pass
    for s in (src, dst):
        try:
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve(s, fun):
    while True:
        c, _ = s.accept()
        threading.Thread(target=fun, args=(c,), daemon=True).start()


def proxy(c):
    global count
    count += 1
    rnd = random.Random(SEED * 1000003 + count)
    often = rnd.choice([0.02, 0.1, 0.3, 1.0])
    n = socket.create_connection(("127.0.0.1", NODE_PORT))
    back = threading.Thread(
        target=pump,
        daemon=True,
        args=(n, c, 3, random.Random(rnd.random()), often if WHOSE in ("node", "both") else 0, WHOSE == "greeting"),
    )
    back.start()
    pump(c, n, 2, rnd, often if WHOSE in ("command", "both") else 0)
    back.join()
    c.close()
    n.close()


front = listen(0)
port = front.getsockname()[1]
threading.Thread(target=serve, args=(listen(EPMD), lambda s: epmd(s, port)), daemon=True).start()
print("ready", flush=True)
serve(front, proxy)
