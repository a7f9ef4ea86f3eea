#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random programs of numbers, as D and as C: both must print the same.

    test/model/against_c.py [--seed N] [--count N] [--clauses N] [--ways jit,interpreter,kernel]

Statements, ifs, conversions, bit-fields, structs, arrays, associative arrays, memory of alloca();
variables of each scope. C's compiler is $CC (cc), erltrace is $BIN/erltrace. What differs is
printed, and kept in a folder. The last line is "N passed, N failed".
"""
import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile

INTS = ["int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t",
        "char", "_Bool"]
STRUCT = ("struct st { int8_t a; uint32_t b; int c : 7; unsigned d : 11; int64_t e; int arr[4]; "
          "unsigned short f : 9; int64_t g : 64; unsigned h : 32; _Bool i; };")
MEMBERS = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "arr[2]", "arr[%s & 3]"]
SUFFIXES = ["", "", "", "u", "L", "UL", "ULL"]


class Program:
    """Every expression and statement is a pair: as D, as C."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.prints = 0
        self.d = [STRUCT]
        self.c = ["#include <stdint.h>", "#include <stdio.h>", "#include <string.h>", STRUCT]
        self.scalars = []
        for i in range(4):
            for scope, mark in (("", "g"), ("this", "t"), ("self", "s")):
                t, name = self.r.choice(INTS), f"{mark}{i}"
                self.declare(f"{scope} {t} {name};", f"static {t} {name};")
                self.scalars.append((f"{scope}->{name}" if scope else name, name))
        for d, c in (("{} a0[int];", "static {} a0[8];"),
                     ("self {} a1[int64_t, int];", "static {} a1[4][2];"),
                     ("{} a2[string, int];", "static {} a2[2][4];"),
                     ("{} ga[8];", "static {} ga[8];"),
                     ("this {} ta[5];", "static {} ta[5];")):
            t = self.r.choice(INTS)
            self.declare(d.format(t), c.format(t))
        self.declare("struct st gs; this struct st ts; self struct st ss; struct st as[int];",
                     "static struct st gs, ts, ss, as[4], pp[2]; static int qq[6];")

    def declare(self, d, c):
        self.d.append(d)
        self.c.append(c)

    def literal(self):
        r = self.r
        v = r.choice([r.randrange(9), (1 << r.randrange(64)) - r.randrange(3), r.getrandbits(63)])
        suffix = r.choice(SUFFIXES)
        v = abs(v) & ((1 << 32) - 1 if suffix == "u" else (1 << 63) - 1)
        text = (hex(v) if r.random() < .3 else f"{v}") + suffix
        text = f"(-{text})" if r.random() < .3 else text
        return text, text

    @staticmethod
    def fill(d, c, *parts):
        return d % tuple(p[0] for p in parts), c % tuple(p[1] for p in parts)

    def same(self, form, *parts):
        return self.fill(form, form, *parts)

    def member(self, depth):
        base = self.r.choice([
            ("gs", "gs"), ("this->ts", "ts"), ("self->ss", "ss"), None,
            ("this->pp[1]", "pp[1]"), ("(*this->pp)", "pp[0]"), ("(*(1 + this->pp))", "pp[1]"),
            ("((struct st *)((char *)this->pp + sizeof (struct st)))[0]", "pp[1]")])
        if base is None:
            base = self.same("as[%s & 3]", self.expr(depth))
        m = self.r.choice(MEMBERS)
        m = self.same(m, self.expr(depth)) if "%" in m else (m, m)
        return f"{base[0]}.{m[0]}", f"{base[1]}.{m[1]}"

    def place(self, depth):
        kind = self.r.randrange(12)
        if kind < 4 or depth < 0:
            return self.r.choice(self.scalars)
        if kind < 7:
            return self.member(depth - 1)
        d, c, n = self.r.choice([
            ("a0[%s & 7]", "a0[%s & 7]", 1),
            ("self->a1[%s & 3, %s & 1]", "a1[%s & 3][%s & 1]", 2),
            ('a2[%s & 1 ? "x" : "yy", %s & 3]', "a2[%s & 1 ? 1 : 0][%s & 3]", 2),
            ("ga[%s & 7]", "ga[%s & 7]", 1),
            ("this->ta[%s & 3]", "ta[%s & 3]", 1),
            ("this->qq[%s & 3]", "qq[%s & 3]", 1),
            ("(*(this->qq + (%s & 3)))", "qq[%s & 3]", 1),
            ("(*&this->qq[%s & 3])", "qq[%s & 3]", 1)])
        return self.fill(d, c, *[self.expr(depth - 1) for _ in range(n)])

    def expr(self, depth):
        r = self.r
        if depth <= 0:
            return self.literal() if r.random() < .3 else r.choice(self.scalars)
        kind = r.randrange(14)
        if kind < 3:
            return self.place(depth)
        a, b = self.expr(depth - 1), self.expr(depth - 1)
        if kind < 6:
            return self.same(f"(%s {r.choice('+-*&|^')} %s)", a, b)
        if kind < 8:
            op = r.choice(["<", "<=", "==", "!=", ">", ">=", "&&", "||"])
            return self.same(f"(%s {op} %s)", a, b)
        if kind < 9:
            # a condition that is constant leaves one branch in D, and its type
            return self.same("((%s | %s) ? %s : %s)", a, self.scalars[0], b,
                             self.expr(depth - 1))
        if kind < 10:  # no division by 0, and none of the smallest number by -1
            return self.same(f"(%s {r.choice(['/', '%%'])} (%s & 0x7fff | 1))", a, b)
        if kind < 11:
            wide, most = r.choice([("int32_t", 31), ("uint32_t", 31), ("int64_t", 63),
                                   ("uint64_t", 63)])
            return self.same(f"(({wide})%s {r.choice(['<<', '>>'])} (%s & {most}))", a, b)
        if kind < 12:
            return self.same(f"(({r.choice(INTS)})%s)", a)
        if kind < 13:
            return self.same(f"({r.choice('-~!+')} %s)", a)
        return self.same("(%s, %s)", a, b)

    def change(self, depth):
        r, v = self.r, self.place(depth - 1)
        kind = r.randrange(8)
        if kind < 2:
            return self.same(r.choice(["%s++", "%s--", "++%s", "--%s"]), v)
        e = self.expr(depth)
        if kind < 4:
            return self.same("%s = %s", v, e)
        if kind < 5:
            return self.same(f"%s {r.choice(['/', '%%'])}= (%s & 0x7fff | 1)", v, e)
        if kind < 6:
            return self.same(f"%s {r.choice(['<<', '>>'])}= (%s & 31)", v, e)
        return self.same(f"%s {r.choice('+-*|^&')}= %s", v, e)

    def show(self):
        self.prints += 1
        e = self.expr(2)
        return self.fill(f'printf("{self.prints} %%d %%d\\n", (int64_t)%s, sizeof (+%s));\n',
                         f'printf("{self.prints} %%ld %%d\\n", (int64_t)%s, (int)sizeof (+%s));\n',
                         e, e)

    def statement(self, depth):
        r, kind = self.r, self.r.randrange(10)
        if kind < 5 or depth <= 0:
            return self.same("%s;\n", self.change(2))
        if kind < 6:
            return self.same(f"(%s) {r.choice(['&&', '||', ','])} (%s);\n", self.change(1),
                             self.change(1))
        if kind < 7:
            return self.same("%s = (%s | %s) ? (%s) : (%s);\n", r.choice(self.scalars),
                             self.expr(1), self.scalars[0], self.change(1), self.change(1))
        if kind < 8:
            return self.show()
        if kind < 9:
            return self.same("if (%s) {\n%s}\n", self.expr(2), self.block(depth - 1))
        return self.same("if (%s) {\n%s} else {\n%s}\n", self.expr(2), self.block(depth - 1),
                         self.block(depth - 1))

    def block(self, depth):
        parts = [self.statement(depth) for _ in range(self.r.randrange(1, 4))]
        return "".join(p[0] for p in parts), "".join(p[1] for p in parts)

    def clause(self):
        body, a, b = self.block(3), self.show(), self.show()
        self.d.append("BEGIN {\nthis->pp = (struct st *)alloca(sizeof (struct st) * 2);\n"
                      "this->qq = (int *)alloca(24);\n" + body[0] + a[0] + b[0] + "}")
        self.c.append("memset(pp, 0, sizeof (pp)); memset(qq, 0, sizeof (qq));\n" +
                      body[1] + a[1] + b[1])

    def make(self, clauses):
        # this-> begins with anything at all in D
        self.d.append("BEGIN { " + " ".join(
            [f"this->t{i} = 0;" for i in range(4)] + [f"this->ta[{i}] = 0;" for i in range(5)] +
            [f"this->ts.{m} = 0;" for m in MEMBERS[:9]] +
            [f"this->ts.arr[{i}] = 0;" for i in range(4)]) + " }")
        self.c.append("int main(void) {")
        for _ in range(clauses):
            self.clause()
        self.d.append("BEGIN { exit(0); }")
        self.c.append("return 0; }")
        return "\n".join(self.d) + "\n", "\n".join(self.c) + "\n"


def run_d(way, script, *options):
    folder = os.environ.get("BIN", "bin")
    if way == "kernel":  # there BEGIN fires in the kernel
        folder = os.path.join(os.environ.get("BUILD", "build"), "test/bin")
    command = [os.path.join(folder, "erltrace"), "-q", *options]
    if way == "interpreter":
        command.append("-xjit=off")
    p = subprocess.run(command + ["-s", script], capture_output=True, text=True,
                       check=False, timeout=300)
    return p.stdout.strip("\n"), p.stderr.strip()


def compare(seed, clauses, ways):
    """Whether one program does the same everywhere; its files stay where not."""
    folder = tempfile.mkdtemp(prefix=f"against_c.{seed}.")
    d, c = Program(seed).make(clauses)
    for name, text in (("p.d", d), ("p.c", c)):
        with open(os.path.join(folder, name), "w", encoding="ascii") as f:
            f.write(text)
    program = os.path.join(folder, "p")
    subprocess.run(os.environ.get("CC", "cc").split() + ["-w", "-O1", "-fwrapv", "-o", program,
                   program + ".c"], check=True)
    want = subprocess.run([program], capture_output=True, text=True, check=True).stdout.strip("\n")
    same = True
    for way in ways:
        got, said = run_d(way, program + ".d", "-xscratchsize=512")
        if got == want and not said:
            continue
        same = False
        print(f"seed {seed}, {way}: differs from C, see {folder}; {said}")
        for a, b in zip(want.split("\n"), got.split("\n")):
            if a != b:
                print(f"    C: {a}    D: {b}")
                break
    if same:
        shutil.rmtree(folder)
    return same


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--count", type=int, default=8)
    args.add_argument("--clauses", type=int, default=10)
    args.add_argument("--ways", default="jit,interpreter")
    args = args.parse_args()
    passed = sum(compare(seed, args.clauses, args.ways.split(","))
                 for seed in range(args.seed, args.seed + args.count))
    print(f"{passed} passed, {args.count - passed} failed")
    return passed != args.count


if __name__ == "__main__":
    sys.exit(main())
