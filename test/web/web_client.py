#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# A web socket for tests: lines of standard input are sent, messages that come are lines of
# standard output; the first one is the status of the answer. Packed ticks (c_src/web/pack.h) are
# "packed " and what they would be as text, lines that came together "joined ", each. Ends at the end of input, or when the server closes: then
# the last line is "closed CODE".
#
#	web_client.py HOST PORT [Header: value]...
#
# $WEB_CLIENT=deaf: reads nothing after the first; slow: 400 KB a second at most. The line "!cut"
# cuts the cable: from then on nothing that the other side sends arrives, nor is it told so.

import base64
import ctypes
import json
import os
import select
import socket
import struct
import sys
import time


def main():
    host, port = sys.argv[1], int(sys.argv[2])
    headers = {"Host": f"{host}:{port}", "Upgrade": "websocket", "Connection": "Upgrade",
               "Sec-WebSocket-Version": "13",
               "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode()}
    for line in sys.argv[3:]:
        name, value = line.split(": ", 1)
        headers[name] = value
    how = os.environ.get("WEB_CLIENT")
    s = socket.socket()
    if how:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.connect((host, port))
    head = "GET /ws HTTP/1.1\r\n" + "".join(f"{n}: {v}\r\n" for n, v in headers.items() if v)
    s.sendall((head + "\r\n").encode())
    got = b""
    while b"\r\n\r\n" not in got:
        more = s.recv(65536)
        if not more:
            break
        got += more
    head, _, got = got.partition(b"\r\n\r\n")
    print(head.split(b" ")[1].decode() if b" " in head else "closed", flush=True)
    if b" 101 " not in head:
        return
    serve(s, got, how)


def cut(s):
    """A filter that lets no packet in; the kernel acknowledges none either."""
    code = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0))
    program = struct.pack("HP", 1, ctypes.addressof(code))
    s.setsockopt(socket.SOL_SOCKET, 26, program)  # SO_ATTACH_FILTER
    print("cut", flush=True)
    time.sleep(600)


def frame(opcode, data):
    mask = os.urandom(4)
    n = len(data)
    head = bytes([0x80 | opcode])
    if n < 126:
        head += bytes([0x80 | n])
    elif n < 65536:
        head += bytes([0x80 | 126]) + struct.pack(">H", n)
    else:
        head += bytes([0x80 | 127]) + struct.pack(">Q", n)
    whole = int.from_bytes(data, "big") ^ int.from_bytes((mask * (n // 4 + 1))[:n], "big")
    return head + mask + whole.to_bytes(n, "big")


def take(got):
    """A frame of the server: (opcode, final, data, rest), or None."""
    if len(got) < 2:
        return None
    n, at = got[1] & 0x7f, 2
    if n == 126:
        n, at = struct.unpack(">H", got[2:4].ljust(2, b"\0"))[0], 4
    elif n == 127:
        n, at = struct.unpack(">Q", got[2:10].ljust(8, b"\0"))[0], 10
    if len(got) < at + n:
        return None
    return got[0] & 0x0f, got[0] & 0x80, got[at:at + n], got[at + n:]


def unpack(data):
    """A packed tick as an object."""
    at = 4 + struct.unpack("<I", data[:4])[0]
    message = json.loads(data[4:at])

    def number():
        nonlocal at
        n = shift = 0
        while True:
            n |= (data[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 128:
                return n

    def signed():
        n = number()
        return -(n + 1) // 2 if n & 1 else n // 2

    def buckets(left):
        place, out = 0, []
        while len(out) < left:
            n, kind = divmod(number(), 4)
            if kind == 0:
                place, width = place + signed(), number()
                for _ in range(n):
                    out.append({"lo": place, "hi": place + width, "count": number()})
                    place += width
            elif kind == 1:
                place = signed()
                out.append({"lo": None, "hi": place, "count": number()})
            else:
                place += signed()
                out.append({"lo": place, "hi": None, "count": number()})
        return out

    for a in message["line"]["aggregations"]:
        if "buckets" in a:
            a["buckets"] = buckets(a["buckets"])
    assert at == len(data), "bytes behind the buckets"
    return message


def apart(text):
    m = json.loads(text)
    lines = [{"type": "line", "id": m["id"], "line": line} for line in m["lines"]]
    dump = lambda o: json.dumps(o, separators=(",", ":"), ensure_ascii=False).encode()
    return b"\n".join(b"joined " + dump(line) for line in lines)


def serve(s, got, how):
    text, typed, binary = b"", b"", False
    while True:
        while (f := take(got)) is not None:
            opcode, final, data, got = f
            if opcode == 8:
                code = struct.unpack(">H", data[:2])[0] if len(data) > 1 else 0
                print(f"closed {code}", flush=True)
                return
            if opcode == 9:
                s.sendall(frame(10, data))
            elif opcode in (0, 1, 2):
                text += data
                binary = opcode == 2 or (opcode == 0 and binary)
                if final:
                    if binary:
                        text = b"packed " + json.dumps(unpack(text), separators=(",", ":")).encode()
                    elif text.startswith(b'{"type":"lines"'):
                        text = apart(text)
                    sys.stdout.buffer.write(text + b"\n")
                    sys.stdout.flush()
                    text = b""
        ready, _, _ = select.select([sys.stdin] + ([] if how == "deaf" else [s]), [], [])
        if s in ready:
            if how == "slow":
                time.sleep(0.05)
            more = s.recv(20000 if how == "slow" else 1 << 20)
            if not more:
                print("closed 0", flush=True)
                return
            got += more
        if sys.stdin in ready:
            more = os.read(0, 1 << 20)
            if not more:
                return
            *lines, typed = (typed + more).split(b"\n")
            for line in lines:
                if line == b"!cut":
                    cut(s)
                s.sendall(frame(1, line))


try:
    main()
except (ConnectionError, BrokenPipeError, KeyboardInterrupt):
    print("closed 0", flush=True)
