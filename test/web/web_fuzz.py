#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Bad input for erltrace web: http, web socket frames, messages. Every message has to be answered
# by an error or an answer, every connection by a status or its end; after each kind the page must
# still be there. Prints "ok NAME" or "FAILED NAME: why" for each kind.
#
#	web_fuzz.py PORT COOKIE [SEED]

import base64
import json
import os
import random
import socket
import struct
import sys

PORT, COOKIE = int(sys.argv[1]), sys.argv[2]
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
rnd = random.Random(SEED)
HOST = f"127.0.0.1:{PORT}"


def connect(room=None):
    s = socket.socket()
    if room:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    s.settimeout(60)
    s.connect(("127.0.0.1", PORT))
    return s


def answer(s):
    """All that comes until the other side closes, or a whole head."""
    got = b""
    try:
        while b"\r\n\r\n" not in got:
            more = s.recv(65536)
            if not more:
                break
            got += more
    except (ConnectionError, socket.timeout) as e:
        return got if isinstance(e, ConnectionError) else None
    return got


def status(data, end=False):
    """The status of what is sent; 0: closed without one."""
    s = connect()
    try:
        s.sendall(data)
        if end:
            s.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # it has closed already
    got = answer(s)
    s.close()
    if got is None:
        raise RuntimeError(f"no answer to {data[:80]!r}")
    words = got.split(b" ")
    return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0


def request(method=b"GET", path=b"/", headers=(), body=b"", host=HOST.encode()):
    return b"%s %s HTTP/1.1\r\nHost: %s\r\n%s\r\n%s" % (
        method, path, host, b"".join(h + b"\r\n" for h in headers), body)


def is_up():
    assert status(request()) == 200, "the page is gone"


class Socket:
    """A web socket, frame by frame."""

    def __init__(self, room=None):
        self.s = connect(room)
        key = base64.b64encode(os.urandom(16))
        self.s.sendall(request(path=b"/ws", headers=(
            b"Upgrade: websocket", b"Connection: Upgrade", b"Sec-WebSocket-Version: 13",
            b"Sec-WebSocket-Key: " + key, b"Origin: http://" + HOST.encode(),
            b"Cookie: " + COOKIE.encode())))
        head, _, self.got = answer(self.s).partition(b"\r\n\r\n")
        assert b" 101 " in head, head[:60]
        assert self.message()["type"] == "hello"

    def frame(self, opcode, data=b"", final=True, masked=True, reserved=0, length=None):
        n = len(data) if length is None else length
        head = bytes([(0x80 if final else 0) | reserved | opcode])
        m = 0x80 if masked else 0
        if n < 126:
            head += bytes([m | n])
        elif n < 65536:
            head += bytes([m | 126]) + struct.pack(">H", n)
        else:
            head += bytes([m | 127]) + struct.pack(">Q", n)
        mask = os.urandom(4) if masked else b""
        if masked:
            data = bytes(b ^ mask[i & 3] for i, b in enumerate(data))
        try:
            self.s.sendall(head + mask + data)
        except ConnectionError:
            pass

    def read(self):
        """The next frame: (opcode, data), or None at the end."""
        while True:
            if len(self.got) >= 2:
                n, at = self.got[1] & 0x7f, 2
                if n == 126:
                    at = 4
                elif n == 127:
                    at = 10
                if len(self.got) >= at:
                    if at > 2:
                        n = int.from_bytes(self.got[2:at], "big")
                    if len(self.got) >= at + n:
                        f = (self.got[0] & 0xf, self.got[at:at + n])
                        self.got = self.got[at + n:]
                        return f
            try:
                more = self.s.recv(65536)
            except ConnectionError:
                return None
            if not more:
                return None
            self.got += more

    def message(self):
        """The next message, or None at the end; pings are answered."""
        while True:
            f = self.read()
            if f is None or f[0] == 8:
                return None
            if f[0] == 9:
                self.frame(10, f[1])
            elif f[0] == 1:
                return json.loads(f[1].decode())  # strict: all of it is UTF-8

    def ask(self, text):
        """What comes for a message that starts nothing."""
        self.frame(1, text if isinstance(text, bytes) else text.encode())
        return self.message()

    def alive(self):
        """It answers; nothing else is waiting."""
        m = self.ask('{"type":"alive","id":77}')
        assert m and m["type"] == "error" and m["id"] == 77, m

    def ended(self):
        while self.message() is not None:
            pass
        self.s.close()


# ---- http --------------------------------------------------------------------------------------


def http_bad():
    """No request, or not one of ours: refused or closed, never 200."""
    for data in (b"\0" * 100, b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\0\1\0\1",
                 b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n",
                 request(host=b"evil.example"), request(host=b""), request(host=b"x" * 3000),
                 request(headers=(b"Host: evil.example",)), request(b"BREW"), request(b"G" * 5000),
                 request(path=b"/" + b"a" * 20000), request(path=b"/%"), request(path=b"/%zz"),
                 request(path=b"/..%2f..%2fetc/passwd"), request(path=b"//etc/passwd"),
                 request(path=b"/%2e%2e/audit"), request(path=b"/.%00/app.js"),
                 request(path=b"http://evil.example/x"),
                 request(headers=(b"X: " + b"y" * 100000,)),
                 request(path=b"/nosuch", headers=[b"X-%d: y" % i for i in range(2000)])):
        code = status(data, end=True)
        assert code != 200, (code, data[:60])


def http_login():
    for headers, body, want in (
            ((b"Content-Length: 99999999999999999999",), b"x", (413, 0, 400)),
            ((b"Content-Length: -1",), b"x", (413, 411, 0, 400)),
            ((b"Content-Length: x",), b"x", (401, 411, 400, 0)),
            ((b"Transfer-Encoding: chunked",), b"1\r\nx\r\n0\r\n\r\n", (411, 0, 400)),
            ((b"Content-Length: 1025",), b"x" * 1025, (413,)),
            ((b"Content-Length: 1024",), b"\0" * 1024, (401, 429)),
            ((b"Content-Length: 3", b"Content-Length: 30"), b"abc", (401, 411, 413, 429, 400, 0)),
            ((), b"", (411,))):
        code = status(request(b"POST", b"/login", headers, body), end=True)
        assert code in want, (code, headers)
    # A body that comes after its request was refused is no login, and no request.
    s = connect()
    s.sendall(request(b"POST", b"/login", (b"Content-Length: 20", b"Origin: http://evil.example")))
    first = answer(s)
    assert b" 403 " in first.split(b"\r\n")[0], first[:60]
    try:
        s.sendall(b"GET / HTTP/1.1\r\n\r\n ")
        s.shutdown(socket.SHUT_WR)
        more = b""
        while chunk := s.recv(65536):
            more += chunk
        assert b"HTTP/1.1" not in more, more[:60]
    except OSError:
        pass
    s.close()


def http_random():
    whole = request(b"POST", b"/login", (b"Content-Length: 5", b"Cookie: " + COOKIE.encode()), b"hello")
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(rnd.randint(1, 8)):
            at = rnd.randrange(len(data))
            how = rnd.randrange(3)
            if how == 0:
                data[at] = rnd.randrange(256)
            elif how == 1:
                del data[at:at + rnd.randint(1, 20)]
            else:
                data[at:at] = bytes(rnd.randrange(256) for _ in range(rnd.randint(1, 20)))
            if not data:
                data = bytearray(b"x")
        status(bytes(data), end=True)


def many_connections():
    """Two thousand that say nothing: others are served when these are gone."""
    opened = []
    for _ in range(2000):
        s = socket.socket()
        s.setblocking(False)
        s.connect_ex(("127.0.0.1", PORT))
        opened.append(s)
    for s in opened:
        s.close()


# ---- frames ------------------------------------------------------------------------------------


def frames_bad():
    """Each closes its socket."""
    for send in (
            lambda w: w.frame(2, b"binary"),
            lambda w: w.frame(1, b"{}", masked=False),
            lambda w: w.frame(3, b"reserved"),
            lambda w: w.frame(15, b"reserved"),
            lambda w: w.frame(1, b"x", reserved=0x40),
            lambda w: w.frame(9, b"x" * 200),
            lambda w: w.frame(9, b"x", final=False),
            lambda w: w.frame(0, b"nothing to go on with"),
            lambda w: (w.frame(1, b"{", final=False), w.frame(1, b"}")),
            lambda w: w.frame(1, b"x", length=1 << 62),
            lambda w: w.frame(1, b"x", length=(1 << 64) - 1),
            lambda w: (w.frame(1, b"a" * 300000, final=False), w.frame(0, b"b" * 300000)),
            lambda w: w.frame(8, b"\x03"),
            lambda w: w.frame(8, struct.pack(">H", 5) + b"\xff\xfe"),
            lambda w: w.s.shutdown(socket.SHUT_WR)):
        w = Socket()
        send(w)
        w.s.settimeout(20)
        try:
            while (m := w.message()) is not None:
                assert m["type"] == "error", m
                w.s.shutdown(socket.SHUT_WR)  # it was taken as a message
        except OSError:
            pass
        w.s.close()
        is_up()


def frames_in_pieces():
    w = Socket()
    text = b'{"type":"nosuch","id":5}'
    for i, b in enumerate(text):
        w.frame(1 if i == 0 else 0, bytes([b]), final=i == len(text) - 1)
        w.frame(9, b"ping between")
    m = w.message()
    assert m["id"] == 5, m
    w.frame(1, b"", final=False)
    w.frame(0, b"", final=False)
    w.frame(0, text)
    assert w.message()["id"] == 5
    w.frame(1, b"")
    assert w.message()["type"] == "error"
    w.alive()
    w.s.close()


def frames_random():
    for _ in range(60):
        w = Socket()
        for _ in range(rnd.randint(1, 5)):
            w.frame(rnd.choice((0, 1, 1, 1, 2, 8, 9, 10, rnd.randrange(16))),
                    bytes(rnd.randrange(256) for _ in range(rnd.randint(0, 300))),
                    final=rnd.random() < 0.7, masked=rnd.random() < 0.9,
                    reserved=rnd.choice((0, 0, 0, 0x10, 0x20, 0x40)))
        try:
            w.s.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        w.ended()


# ---- messages ----------------------------------------------------------------------------------

RUN = {"type": "run", "id": 1, "nodes": ["nosuch"], "script": "BEGIN { exit(0); }"}


def messages_bad():
    """Each is answered by one error, and by nothing more."""
    w = Socket()
    deep = "[" * 100000
    values = (None, True, -1, 1.5, 1e308, "", [], {}, [[]], [None], ["a", 1], "x\0y", ["x\0y"])
    texts = ["", " ", "null", "[]", "7", '"run"', "{", "{}}", '{"type":}', '{"type":"run",}', deep,
             '{"a":' * 50000, '{"type":"run","type":"run"}', '{"type":1e999}', '{"id":' + "9" * 400 + "}",
             '{"type":"run","id":99999999999999999999}', '{"type":"\\ud800"}', '{"type":"run\\u0000"}',
             "nul", "\ufeff{}", '{"type":"' + "x" * 400000 + '"}', '{"type":"é' + "é" * 300 + '"',
             b'{"type":"\xff"}', b"\xff\xfe\0{}", b"\xc3", b'"' + b"\xc3\xa9" * 90 + b"\xc3"]
    texts += [json.dumps({"type": t}) for t in values if t is not None] + [json.dumps({"type": None})]
    for key in ("id", "nodes", "script", "args"):
        for v in values:
            if (key in ("nodes", "args") and v in ([], None)) or (key == "script" and isinstance(v, str)) \
                    or (key == "id" and v == -1):
                continue
            texts.append(json.dumps({**RUN, key: v}))
    texts += [json.dumps({**RUN, "script": "x\0y"}), json.dumps({**RUN, "nodes": ["a"] * 65}),
              json.dumps({**RUN, "args": ["a"] * 33}), json.dumps({**RUN, "args": ["a" * 5000]}),
              json.dumps({**RUN, "script": "x" * 65537}), json.dumps({"type": "run"}),
              json.dumps({**RUN, "nodes": ["../../etc/passwd"]}), json.dumps({**RUN, "nodes": ["a@b@c"]}),
              json.dumps({**RUN, "nodes": ["a\nb"]}), json.dumps({**RUN, "nodes": ["--bind"]})]
    for key in ("node", "text"):
        for v in values:
            texts.append(json.dumps({"type": "probes", "node": "-x", "text": "x", key: v}))
    for t in texts:
        m = w.ask(t)
        assert m and m["type"] == "error" and m["code"] in (400, 403, 413) and m["message"], (t[:80], m)
    w.alive()
    w.ask('{"type":"stop","id":4711}{')
    w.frame(1, b'{"type":"stop","id":4711}')
    w.frame(1, b'{"type":"stop","id":"x"}')
    w.frame(1, b'{"type":"stop"}')
    w.alive()
    w.s.close()


def hz_any():
    """Any rate: made one that there is; the script runs, or its node is not there."""
    w = Socket()
    for i, hz in enumerate((0, -5, 1e308, -1e308, 10 ** 18, "x", None, [], 0.0001)):
        m = w.ask(json.dumps({**RUN, "id": i, "hz": hz}))
        while m is not None and m["type"] != "end":
            m = w.message()
        assert m and m["id"] == i and m["code"] == 1 and "reach" in m["message"], m
    w.s.close()


def packed_any():
    """Packed or not: whatever is no true is not."""
    w = Socket()
    for i, packed in enumerate((True, False, 0, 1, -1, 1e308, "true", None, [], [True], {"a": 1})):
        m = w.ask(json.dumps({**RUN, "id": i, "packed": packed}))
        while m is not None and m["type"] != "end":
            m = w.message()
        assert m and m["id"] == i and m["code"] == 1 and "reach" in m["message"], m
    w.s.close()


def messages_random():
    w = Socket()
    seeds = [json.dumps(RUN), json.dumps({**RUN, "packed": True}), '{"type":"stop","id":1}', '{"type":"scripts"}',
             '{"type":"probes","node":"nosuch","text":"a:b"}']
    for _ in range(400):
        data = bytearray(rnd.choice(seeds).encode())
        for _ in range(rnd.randint(1, 5)):
            at = rnd.randrange(len(data))
            data[at:at + rnd.randint(0, 3)] = bytes(rnd.randrange(256) for _ in range(rnd.randint(0, 3)))
            if not data:
                data = bytearray(b"x")
        w.frame(1, bytes(data))
    w.frame(1, b'{"type":"last","id":999999}')
    while True:  # a mutant may be a run, so others come between
        m = w.message()
        assert m is not None, "closed"
        if m.get("id") == 999999:
            break
    w.s.close()


def answers_unread():
    """Who asks and asks, and reads no answer, is left before many short ones take much memory."""
    w = Socket(4096)
    ping = b'{"type":"ping"}'
    frames = (bytes([0x81, 0x80 | len(ping)]) + bytes(4) + ping) * 1000
    try:
        for _ in range(300):
            w.s.sendall(frames)
    except ConnectionError:
        return
    finally:
        w.s.close()
    raise AssertionError("300000 answers are kept")


failed = False
for test in (http_bad, http_login, http_random, many_connections, frames_bad, frames_in_pieces,
             frames_random, messages_bad, hz_any, packed_any, messages_random, answers_unread):
    try:
        test()
        is_up()
        print("ok", test.__name__, flush=True)
    except Exception as e:  # whatever it is: the next kind is tried too
        failed = True
        print(f"FAILED {test.__name__} (seed {SEED}): {type(e).__name__}: {str(e)[:300]}", flush=True)
sys.exit(failed)
