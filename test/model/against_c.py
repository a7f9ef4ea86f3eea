#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random programs of numbers, as D and as C: both must print the same.

    test/model/against_c.py [--seed N] [--count N] [--clauses N] [--ways jit,interpreter,kernel]

Statements, ifs, conversions, bit-fields, structs, arrays, associative arrays, memory of alloca();
variables of each scope. D computes in 64 bits and cuts a number where it is stored, cast, recorded
or a key, so each expression is an int64_t in C, and its type in D is known here: it chooses how to
divide, shift, compare and print. C's compiler is $CC (cc), erltrace is $BIN/erltrace. What differs
is printed, and kept in a folder. The last line is "N passed, N failed".
"""
import argparse
import collections
import os
import random
import shutil
import subprocess
import sys
import tempfile

# A type of D: its name, its width in bits (of a bit-field: that of the field), has it a sign?
Type = collections.namedtuple("Type", "name bits signed")
# An expression: as D, as C (an int64_t), its type in D, is it folded to a constant?
# A place that can be assigned is one whose C text is an lvalue.
Expr = collections.namedtuple("Expr", "d c type const", defaults=(False,))

INTS = [Type(f"{u}int{b}_t", b, not u) for b in (8, 16, 32, 64) for u in ("", "u")]
INTS += [Type("char", 8, True), Type("_Bool", 8, False)]
INT, UINT, LONG, ULONG = (Type("int", 32, True), Type("unsigned", 32, False),
                          Type("int64_t", 64, True), Type("uint64_t", 64, False))
STRUCT = ("struct st { int8_t a; uint32_t b; int c : 7; unsigned d : 11; int64_t e; int arr[4]; "
          "unsigned short f : 9; int64_t g : 64; unsigned h : 32; _Bool i; };")
FIELDS = {"a": INTS[0], "b": UINT, "c": INT._replace(bits=7), "d": UINT._replace(bits=11),
          "e": LONG, "f": Type("unsigned short", 9, False), "g": LONG, "h": UINT,
          "i": INTS[-1], "arr[2]": INT}
SUFFIXES = ["", "", "", "u", "L", "UL", "ULL"]
EFFECT = "({ int64_t o_ = %s, e_ = %s; %s; (int64_t)%s; })"


def operand(t):
    return INT if t.name == "_Bool" else t


def common(a, b):
    """The type of a op b: the wider one, or the one without a sign."""
    return max(operand(a), operand(b), key=lambda t: 2 * t.bits + (not t.signed))


def binary(op, a, b, t):
    """C's text of a op b, for two C texts."""
    if op == "<<":
        return f"((int64_t)((uint64_t){a} << ({b} & 63)))"
    if op == ">>":
        return f"((int64_t)(({'' if t.signed else 'u'}int64_t){a} >> ({b} & 63)))"
    if not t.signed and op in ("/", "%", "<", "<=", ">", ">="):
        return f"((int64_t)((uint64_t){a} {op} (uint64_t){b}))"
    return f"((int64_t)({a} {op} {b}))"


class Program:
    """Every statement is a pair: as D, as C. Every expression is an Expr."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.prints = 0
        self.d = ["#pragma D option aggsortkey", STRUCT]
        self.c = ["#include <stdint.h>", "#include <stdio.h>", "#include <string.h>", STRUCT,
                  "static int64_t sums[9999]; static char summed[9999];"]
        self.scalars = []
        for i in range(4):
            for scope, mark in (("", "g"), ("this", "t"), ("self", "s")):
                t, name = self.r.choice(INTS), f"{mark}{i}"
                self.declare(f"{scope} {t.name} {name};", f"static {t.name} {name};")
                self.scalars.append(Expr(f"{scope}->{name}" if scope else name, name, t))
        self.arrays = []
        for d, c, *use in (
                ("{} a0[int];", "static {} a0[8];", "a0[%s]", "a0[%s]", 7),
                ("self {} a1[int64_t, int];", "static {} a1[4][2];", "self->a1[%s, %s]",
                 "a1[%s][%s]", 3, 1),
                ("{} a2[string, int];", "static {} a2[2][4];", 'a2[%s ? "x" : "yy", %s]',
                 "a2[%s][%s]", 1, 3),
                ("{} a3[uint8_t];", "static {} a3[256];", "a3[%s]", "a3[(uint8_t)(%s)]", None),
                ("self {} a4[int8_t];", "static {} a4[256];", "self->a4[%s]",
                 "a4[(uint8_t)(%s)]", None),
                ("{} ga[8];", "static {} ga[8];", "ga[%s]", "ga[%s]", 7),
                ("this {} ta[5];", "static {} ta[5];", "this->ta[%s]", "ta[%s]", 3)):
            t = self.r.choice(INTS)
            self.declare(d.format(t.name), c.format(t.name))
            self.arrays.append((t, *use))
        for d in ("this->qq[%s]", "(*(this->qq + %s))", "(*&this->qq[%s])"):
            self.arrays.append((INT, d, "qq[%s]", 3))
        self.declare("struct st gs; this struct st ts; self struct st ss; struct st as[int];",
                     "static struct st gs, ts, ss, as[4], pp[2]; static int qq[6];")

    def declare(self, d, c):
        self.d.append(d)
        self.c.append(c)

    @staticmethod
    def literal_type(v, suffix, decimal):
        first = 2 if "L" in suffix else 0
        for t in (INT, UINT, LONG, ULONG)[first:]:
            unsigned = "u" in suffix.lower()
            if t.signed == unsigned and (unsigned or decimal):
                continue
            if v < 1 << (t.bits - t.signed):
                return t
        raise ValueError(v)

    def literal(self):
        r = self.r
        v = r.choice([r.randrange(9), (1 << r.randrange(64)) - r.randrange(3), r.getrandbits(63)])
        suffix = r.choice(SUFFIXES)
        v = abs(v) & ((1 << 32) - 1 if suffix == "u" else (1 << 63) - 1)
        decimal = r.random() < .7
        e = Expr((f"{v}" if decimal else hex(v)) + suffix, f"((int64_t){v}ULL)",
                 self.literal_type(v, suffix, decimal), True)
        return self.unary("-", e) if r.random() < .3 else e

    @staticmethod
    def loaded(e):
        return e._replace(c=f"((int64_t){e.c})")

    @staticmethod
    def unary(op, e):
        if op == "!":
            return Expr(f"(! {e.d})", f"((int64_t)!{e.c})", INT, e.const)
        t, c = operand(e.type), f"({op}{e.c})"
        if e.const and not t.signed and op in "-~":  # a constant of its type
            c = f"((int64_t)({t.name}){c})"
        return Expr(f"({op} {e.d})", c, t, e.const)

    @staticmethod
    def op(op, a, b):
        t = common(a.type, b.type)
        if op in ("<", "<=", "==", "!=", ">", ">=", "&&", "||"):
            return Expr(f"({a.d} {op} {b.d})", binary(op, a.c, b.c, t), INT, a.const and b.const)
        return Expr(f"({a.d} {op} {b.d})", binary(op, a.c, b.c, t), t, a.const and b.const)

    @staticmethod
    def constant(v):
        return Expr(f"{v}", f"((int64_t){v})", INT, True)

    def masked(self, e, mask):
        return self.op("&", e, self.constant(mask))

    def divisor(self, e):  # not 0, and not -1
        return self.op("|", self.masked(e, 0x7fff), self.constant(1))

    def member(self, depth):
        d, c = self.r.choice([
            ("gs", "gs"), ("this->ts", "ts"), ("self->ss", "ss"), ("as[%s]", "as[%s]"),
            ("this->pp[1]", "pp[1]"), ("(*this->pp)", "pp[0]"), ("(*(1 + this->pp))", "pp[1]"),
            ("((struct st *)((char *)this->pp + sizeof (struct st)))[0]", "pp[1]")])
        if "%" in d:
            i = self.masked(self.expr(depth), 3)
            d, c = d % i.d, c % i.c
        m = self.r.choice([*FIELDS, "arr[%s]"])
        if "%" in m:
            i = self.masked(self.expr(depth), 3)
            return Expr(f"{d}.arr[{i.d}]", f"{c}.arr[{i.c}]", INT)
        return Expr(f"{d}.{m}", f"{c}.{m}", FIELDS[m])

    def place(self, depth):
        kind = self.r.randrange(12)
        if kind < 4 or depth < 0:
            return self.r.choice(self.scalars)
        if kind < 7:
            return self.member(depth - 1)
        t, d, c, *masks = self.r.choice(self.arrays)
        i = [self.expr(depth - 1) if m is None else self.masked(self.expr(depth - 1), m)
             for m in masks]
        return Expr(d % tuple(e.d for e in i), c % tuple(e.c for e in i), t)

    def fixed_place(self, beside=None):
        """One that does not depend on variables; a member of the struct of another one."""
        if beside and "." in beside.d:
            d, c = beside.d.split(".")[0], beside.c.split(".")[0]
        elif self.r.random() < .3:
            return self.r.choice(self.scalars)
        else:
            d, c = self.r.choice([("gs", "gs"), ("this->ts", "ts"), ("self->ss", "ss"),
                                  ("as[2]", "as[2]"), ("this->pp[1]", "pp[1]")])
        m = self.r.choice([*FIELDS])
        return Expr(f"{d}.{m}", f"{c}.{m}", FIELDS[m])

    def expr(self, depth):
        r = self.r
        if depth <= 0:
            return self.literal() if r.random() < .3 else self.loaded(r.choice(self.scalars))
        kind = r.randrange(14)
        if kind < 3:
            return self.loaded(self.place(depth))
        a, b = self.expr(depth - 1), self.expr(depth - 1)
        if kind < 6:
            return self.op(r.choice("+-*&|^"), a, b)
        if kind < 8:
            return self.op(r.choice(["<", "<=", "==", "!=", ">", ">=", "&&", "||"]), a, b)
        if kind < 9:
            # a condition that is constant leaves one branch in D, and its type
            cond, other = self.op("|", a, self.loaded(self.scalars[0])), self.expr(depth - 1)
            return Expr(f"({cond.d} ? {b.d} : {other.d})", f"({cond.c} ? {b.c} : {other.c})",
                        common(b.type, other.type))
        if kind < 10:
            return self.op(r.choice("/%"), a, self.divisor(b))
        if kind < 11:
            return self.op(r.choice(["<<", ">>"]), a, b)
        if kind < 12:
            t = r.choice(INTS)
            return Expr(f"(({t.name}){a.d})", f"((int64_t)({t.name}){a.c})", t, a.const)
        if kind < 13:
            return self.unary(r.choice("-~!+"), a)
        return Expr(f"({a.d}, {b.d})", f"({a.c}, {b.c})", b.type)

    def update(self, v, op, e):
        """v op= e: v is read before e, and e may change it."""
        after = binary(op, "o_", "e_", common(v.type, e.type))
        return Expr(f"{v.d} {op}= {e.d}",
                    EFFECT % (v.c, e.c, f"{v.c} = {after}", v.c), v.type)

    @staticmethod
    def assign(v, e):
        return Expr(f"{v.d} = {e.d}", f"({v.c} = {e.c}, (int64_t){v.c})", v.type)

    def change(self, depth):
        r, v = self.r, self.place(depth - 1)
        kind = r.randrange(10)
        if kind < 2:
            op = r.choice("+-")
            c = f"({{ int64_t o_ = {v.c}; {v.c} = o_ {op} 1; "
            if r.random() < .5:
                return Expr(f"{v.d}{op}{op}", c + "o_; })", v.type)
            return Expr(f"{op}{op}{v.d}", c + f"(int64_t){v.c}; }})", v.type)
        e = self.expr(depth)
        if kind < 4:
            return self.assign(v, e)
        if kind < 5:
            return self.update(v, r.choice("/%"), self.divisor(e))
        if kind < 6:
            return self.update(v, r.choice(["<<", ">>"]), e)
        if kind < 8:
            v = self.fixed_place()
            inner = self.assign(r.choice([v, self.fixed_place(v)]), e)
            inner = inner._replace(d=f"({inner.d})")
            return self.update(v, r.choice("+-*|^&"), inner)
        return self.update(v, r.choice("+-*|^&"), e)

    def show(self):
        """An expression as it is recorded, cast, by its size, and as it is aggregated."""
        self.prints += 1
        n, e = self.prints, self.expr(2)
        t = operand(e.type)
        d = (f'printf("{n} %d %d %d\\n", (int64_t){e.d}, {e.d}, sizeof (+{e.d}));\n'
             f'@sums[{n}] = sum({e.d});\n')
        form = "%ld" if e.type.signed else "%lu"
        c = (f'printf("{n} %ld {form} %d\\n", {e.c}, (int64_t)({e.type.name}){e.c}, '
             f'(int)sizeof ({t.name}));\nsums[{n}] = {e.c}; summed[{n}] = 1;\n')
        return d, c

    def statement(self, depth):
        r, kind = self.r, self.r.randrange(10)
        if kind < 5 or depth <= 0:
            e = self.change(2)
            return f"{e.d};\n", f"{e.c};\n"
        if kind < 6:
            op, a, b = r.choice(["&&", "||", ","]), self.change(1), self.change(1)
            return f"({a.d}) {op} ({b.d});\n", f"{a.c} {op} {b.c};\n"
        if kind < 7:
            cond = self.op("|", self.expr(1), self.loaded(self.scalars[0]))
            v, a, b = r.choice(self.scalars), self.change(1), self.change(1)
            return (f"{v.d} = {cond.d} ? ({a.d}) : ({b.d});\n",
                    f"{v.c} = {cond.c} ? {a.c} : {b.c};\n")
        if kind < 8:
            return self.show()
        cond, then = self.expr(2), self.block(depth - 1)
        if kind < 9:
            return f"if ({cond.d}) {{\n{then[0]}}}\n", f"if ({cond.c}) {{\n{then[1]}}}\n"
        other = self.block(depth - 1)
        return (f"if ({cond.d}) {{\n{then[0]}}} else {{\n{other[0]}}}\n",
                f"if ({cond.c}) {{\n{then[1]}}} else {{\n{other[1]}}}\n")

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
            [f"this->ts.{m} = 0;" for m in "abcdefghi"] +
            [f"this->ts.arr[{i}] = 0;" for i in range(4)]) + " }")
        self.c.append("int main(void) {")
        for _ in range(clauses):
            self.clause()
        self.d.append('BEGIN { exit(0); }\nEND { printa("sum %d %@d\\n", @sums); }')
        self.c.append('for (int i = 0; i < 9999; i++) if (summed[i]) '
                      'printf("sum %d %ld\\n", i, sums[i]);\nreturn 0; }')
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
