#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs scripts of random_d.py in nodes that are under the load of random_load.erl, for some seconds.

Started by random.sh, in a folder with a home, a cookie and an epmd of its own. There is a plain node, to which the
command brings its code, and, where it has been built, one with the sanitizers' library, traced by the sanitizers'
command. What counts as a failure: a node that dies or does not answer for a minute; a command that ends by a signal,
with an exit code other than 0 and 1, or not within a minute; a report of a sanitizer; an error that says that the
compiler made something which the engine refuses; output of a script that depends on nothing but itself, and differs
between the JIT, the interpreter and the nodes; processes that are traced, or of erltrace, when no script runs; memory
that grows. The script, its flags and what was printed are kept in $KEEP; `SEEDS="7 12"` runs those alone.
"""

import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import random_d  # noqa: E402

LIMIT = 60
LEAK = 700  # KB for each time that the command brings its code: before OTP 27 the VM does not free all of it
REPORT = re.compile(rb"Sanitizer|runtime error:|internal error|verif|[Aa]ssertion|Segmentation|D_UNKNOWN|core dumped")
failures = []
counts = {}


def fail(seed, why, *texts):
    failures.append((seed, why))
    print(f"FAILED seed {seed}: {why}", flush=True)
    keep = os.environ["KEEP"]
    os.makedirs(keep, exist_ok=True)
    with open(f"{keep}/{seed}.txt", "ab") as f:
        f.write(why.encode() + b"\n")
        for t in texts:
            f.write(t if isinstance(t, bytes) else t.encode(errors="replace"))
            f.write(b"\n----\n")


class Node:
    def __init__(self, name, command, args=(), env=()):
        self.name, self.command, self.args, self.env = name, command, list(args), dict(env)
        self.process, self.base, self.starts, self.runs = None, None, 0, 0
        self.start()

    def start(self):
        self.starts += 1
        self.health = os.path.abspath(f"{self.name}.health")
        self.base = None
        if os.path.exists(self.health):
            os.unlink(self.health)
        code = os.environ["CODE"]
        self.log = open(f"{self.name}.log", "ab")
        self.process = subprocess.Popen(
            ["erl", "-noshell", "-start_epmd", "false", "-sname", self.name, "-pa", code, *self.args, "-eval",
             f'Codes = [element(2, file:read_file("{code}/" ++ V ++ "/random_code.beam")) || V <- ["a", "b"]], '
             f'ok = random_load:start("{self.health}", Codes).'],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env={**os.environ, **self.env})
        if not self.beats():
            raise SystemExit(f"FAILED: node {self.name} does not start, see {self.name}.log")

    def report(self):
        try:
            with open(self.health) as f:
                return [int(x) for x in f.read().split()]
        except (OSError, ValueError):
            return []

    def beats(self):
        """It goes on to write its file."""
        end = time.time() + LIMIT
        first = self.report()[:1]
        while time.time() < end:
            if self.process.poll() is not None:
                return False
            now = self.report()[:1]
            if now and now != first:
                return True
            time.sleep(0.05)
        return False

    def who(self):
        open(self.health + ".ask", "wb").close()
        end = time.time() + LIMIT
        while time.time() < end and os.path.exists(self.health + ".ask"):
            time.sleep(0.1)
        time.sleep(0.5)
        try:
            with open(self.health + ".who", errors="replace") as f:
                return f.read()
        except OSError:
            return "the node does not say who is where"

    def rss(self):
        with open(f"/proc/{self.process.pid}/statm") as f:
            return int(f.read().split()[1]) * 4

    def check(self, seed, text):
        """After each script: is it there?"""
        if self.process.poll() is not None:
            why = f"node {self.name} has ended: {self.process.returncode}"
        elif time.time() - os.stat(self.health).st_mtime < 5 or self.beats():
            return
        else:
            why = f"node {self.name} hangs"
            os.kill(self.process.pid, signal.SIGABRT)
            self.process.wait()
        with open(f"{self.name}.log", "rb") as f:
            fail(seed, why, text, f.read()[-20000:])
        self.start()

    def rest(self, seed):
        """Now and then, when no script runs: is anything left?"""
        end = time.time() + LIMIT
        left = [1, 1]
        while time.time() < end and left != [0, 0]:
            if not self.beats():
                return
            left = self.report()[2:4]
            if self.args:
                left[0] = 0  # the application is there: its processes may stay
        if left != [0, 0]:
            fail(seed, f"node {self.name}: left behind: {left[0]} processes of erltrace, {left[1]} that are traced")
        now = self.report()
        size = (now[5], self.rss(), now[4], now[1])
        if self.base is None and self.runs > 30:
            self.base = size
        elif self.base:
            for what, limit, a, b in zip(["KB of the VM", "KB of the process", "tables", "processes"],
                                         [100000, (600000 if self.env else 200000) + self.runs * LEAK, 20, 300],
                                         self.base, size):
                if b > a + limit:
                    fail(seed, f"node {self.name}: {what}: {a}, and {b} after {self.runs} scripts")
                    self.base = size
                    break

    def end(self):
        self.process.kill()
        self.process.wait()


def begin(command, flags, seed):
    return subprocess.Popen([*command, *flags, "-s", f"{seed}.d"], stdin=subprocess.DEVNULL,
                            stdout=open(f"{seed}.o", "wb"), stderr=open(f"{seed}.e", "wb"),
                            env={**os.environ, "ASAN_OPTIONS": os.environ.get("COMMAND_ASAN", "")})


def read(path):
    with open(path, "rb") as f:
        return f.read(1 << 20)


def where(pid, node):
    """What a command that hangs waits for, and what the node's processes are at."""
    try:
        gdb = subprocess.run(["gdb", "-p", str(pid), "-batch", "-ex", "thread apply all bt 12"], capture_output=True,
                             timeout=30).stdout.decode(errors="replace")
    except (OSError, subprocess.TimeoutExpired):
        gdb = ""
    return gdb + (node.who() if node else "")


def finish(p, seed, what, text, node=None):
    try:
        code = p.wait(LIMIT)
    except subprocess.TimeoutExpired:
        text += "\n" + where(p.pid, node)
        p.send_signal(signal.SIGABRT)
        p.wait()
        code = "none: it hangs"
    if os.environ.get("VERBOSE"):
        print(f"{time.time() % 1000:.1f} {seed} {what} {code}", flush=True)
    out, err = read(f"{seed}.o"), read(f"{seed}.e")
    counts[code] = counts.get(code, 0) + 1
    if code not in (0, 1):
        fail(seed, f"{what}: exit code {code}", text, out[-4000:], err[-20000:])
    elif REPORT.search(err):
        fail(seed, f"{what}: {REPORT.search(err).group().decode()}", text, out[-4000:], err[-20000:])
    return code, out, err


def script(seed):
    s, text = random_d.make(seed)
    with open(f"{seed}.d", "w", encoding="latin-1") as f:
        f.write(text)
    return s, f"seed {seed}: {' '.join(s.flags)}\n{text}"


def remove(seed):
    for e in "doe":
        os.unlink(f"{seed}.{e}")


def one(seed, nodes):
    s, text = script(seed)
    if os.environ.get("VERBOSE"):
        print(f"{time.time() % 1000:.1f} {seed} {s.kind}", flush=True)
    outs = {}
    if s.kind == "plain":
        for what, flags in (("jit", []), ("interpreter", ["-x", "jit=off"])):
            outs[what] = finish(begin([nodes[-1].command], s.flags + flags, seed), seed, what, text)
    for n in nodes if s.kind == "plain" else [nodes[seed % len(nodes)]]:
        n.runs += 1
        outs[n.name] = finish(begin([n.command, "-N", n.name], s.flags, seed), seed, n.name, text, n)
        n.check(seed, text)
    # ERROR's text and drops have numbers of their own in a node; what fails to compile has no output
    if s.kind == "plain" and len({(c, o) for c, o, e in outs.values()}) > 1:
        fail(seed, "output depends on where it runs", text, *[f"{k}: {v}" for k, v in outs.items()])
    remove(seed)


def together(seeds, nodes):
    """Several scripts in one node at the same time, one of which may be killed."""
    n = nodes[seeds[0] % len(nodes)]
    texts, all_ = [], []
    for seed in seeds:
        s, text = script(seed)
        texts.append(text)
        all_.append((seed, begin([n.command, "-N", n.name], s.flags, seed), text))
        n.runs += 1
    if seeds[0] % 2:
        time.sleep(0.05 * (seeds[0] % 7))
        all_[0][1].kill()
        all_[0][1].wait()
        remove(all_[0][0])
        del all_[0]
    for seed, p, text in all_:
        finish(p, seed, n.name, text, n)
        remove(seed)
    n.check(seeds[-1], "\n".join(texts))


def main():
    first = int(os.environ.get("SEED", "1"))
    end = time.time() + int(os.environ.get("SECONDS_TO_RUN", "20"))
    with open("random.hrl", "w") as f:
        f.write("-record(rec, {a, b = 1}).\n")
    nodes = [Node("random_plain", os.environ["ERLTRACE"])]
    if os.environ.get("SAN_EBIN"):
        nodes.append(Node("random_san", os.environ["SAN_ERLTRACE"], ["-pa", os.environ["SAN_EBIN"]],
                          {"LD_PRELOAD": os.environ["PRELOAD"], "ASAN_OPTIONS": os.environ["NODE_ASAN"],
                           "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}))
    if os.environ.get("SEEDS"):
        for seed in os.environ["SEEDS"].split():
            one(int(seed), nodes)
        done = len(os.environ["SEEDS"].split())
    else:
        done = 0
        while time.time() < end and len(failures) < 50:
            if done % 10 == 9:
                together([first + done + i for i in range(3)], nodes)
                done += 3
            else:
                one(first + done, nodes)
                done += 1
            if done % 25 < 3:
                for n in nodes:
                    n.rest(first + done)
        for n in nodes:
            n.rest(first + done)
    for n in nodes:
        n.end()
    print(f"{done} scripts from seed {first}; exit codes {counts}")
    print(f"{done - len(failures)} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
