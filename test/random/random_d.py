#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scripts in D made at random, over the whole grammar: the same one for the same seed.

    random_d.py SEED            prints one, behind its options in a comment
    random_d.py SEED --kind K   of that kind

Kinds: `plain` reads nothing but what it computes, so its output is the same wherever it runs; `node` has probes
of an Erlang node, and of random_load.erl in it; `broken` is either of them with tokens removed, doubled and
exchanged. Expressions have types, so that most scripts compile: what does not is wanted, but not all the time.
"""

import pathlib
import random
import re
import sys

INTS = ["char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "long",
        "unsigned long", "long long", "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t",
        "int64_t", "uint64_t", "size_t", "uintptr_t"]
NUMBERS = ["0", "1", "2", "3", "7", "8", "-1", "63", "64", "127", "128", "255", "256", "0x7fff", "65536",
           "0x7fffffff", "0x80000000", "4294967295u", "1u", "1ul", "-1ll", "9223372036854775807",
           "0x8000000000000000u", "18446744073709551615ul", "'a'", "'\\n'", "010"]
TEXTS = ['""', '"a"', '"abc"', '"a,b;c"', '"/usr/lib/../x//y"', '"%s%n%d"', '"\\\\"', '"\\"q\\""', '"\\x01\\xff"',
         '"{\\"a\\":{\\"b\\":[1,2,{\\"c\\":\\"d\\"}]}}"', '"12345678901234567890"', '"0x7f"', '"-42xyz"',
         '"' + "long " * 60 + '"', '"\\303\\244\\342\\202\\254"']
FUNCTIONS = ["work/1", "tail/2", "deep/1", "catches/1", "raises/1", "binary/1", "map/1", "server/1", "hop/2",
             "loops/2", "version/0"]
CODE = "random_code"  # the module that is loaded again and again


def erlang_probes():
    """Of each probe that fires in a node: its route, the arguments that are texts, what it has besides."""
    table = (pathlib.Path(__file__).parents[2] / "c_src/erlang_probes.def").read_text()
    probes, ids = {}, {}
    for ident, name, route, args in re.findall(
            r'^(?:FN_)?PROBE\((\w+), "([^"]+)", (\w+),\s*(.*?\))\)$', table, re.M | re.S):
        letters = re.findall(r"(\w)\(\w+\)", args)
        probes[name] = ids[ident] = (route, [i for i, x in enumerate(letters) if x in "SC"], set())
    for ident, what in re.findall(r"^HAS\((\w+), (\w+)\)", table, re.M):
        ids[ident][2].add(what)
    return probes


PROBES = erlang_probes()
FLOWS = [p for p, (route, _, _) in PROBES.items() if route == "FLOW"]
# Those of functions are chosen with their functions.
EVENTS = [p for p in PROBES if p not in FLOWS and not re.search("function-|^bif-|^nif-", p)] + [
    "*", "process-*", "message-*", "driver-*", "gc_*", "timer-*", "no-such"]


def state_members():
    """Of each iterator of the provider state: members that are numbers, and texts."""
    table = pathlib.Path(__file__).parents[2] / "c_src/state.def"
    kinds = {}
    for what, name in re.findall(r'^(KIND|NUMBER|TEXT)\(\w+, "?(\w+)', table.read_text(), re.M):
        if what == "KIND":
            numbers, texts = kinds[name] = [], []
        else:
            (numbers if what == "NUMBER" else texts).append(name)
    return kinds


STATE = state_members()
PATTERNS = ["{A,B}", "[H|T]", "_", "{'$gen_call',_,R}", "#{a := V}", "<<\\\"x\\\">>", "[_,_|_]", "{X,X}", "N",
            "{{A,_},[B|_]}", "\\\"text\\\"", "#{}", "{}", "[]", "1.5", "16#ff", "$a"]
OPTIONS = [("strsize", ["1", "8", "64", "256", "4k"]), ("bufsize", ["4k", "64k", "1m"]),
           ("aggsize", ["1k", "64k", "4m"]), ("aggmax", ["64k", "64m"]), ("dynvarsize", ["1k", "64k", "1m"]),
           ("nspec", ["1", "4"]), ("specsize", ["256", "64k"]), ("scratchsize", ["16", "256", "8k"]),
           ("ustackframes", ["1", "20", "100"]), ("maxframes", ["1", "127"]), ("stacklines", ["on", "off"]),
           ("jit", ["on", "off"]), ("counters", ["on", "off"]), ("maxwork", ["256", "512k"]),
           ("cleanrate", ["101hz", "10ms"]), ("aggsortkey", [None]),
           ("aggsortrev", [None]), ("aggpack", [None]), ("agghist", [None]), ("aggzoom", [None]),
           ("aggtop", ["1", "5"]), ("stacktop", ["3"]), ("bufpolicy", ["switch", "ring", "fill"]),
           ("temporal", ["on", "off"]), ("flows", ["1", "16", "16384"]), ("flowhops", ["1", "100"]),
           ("flowtime", ["10ms", "1s"]), ("flowlife", ["50ms", "1s"]), ("quiet", [None]), ("rawbytes", [None]), ("flowindent", [None]), ("aggkeep", ["on", "off"]),
           ("statusrate", ["10ms", "1s"]), ("switchrate", ["1ms", "10hz"]), ("aggrate", ["1ms"]),
           ("printsize", ["16", "8192"]), ("payload", ["off"]), ("maxthreads", ["64", "256"]), ("aggpercpu", [None]), ("defaultargs", [None]), ("zdefs", [None])]


class Script:
    def __init__(self, seed, kind=None):
        self.r = random.Random(seed)
        self.kind = kind or self.r.choices(["plain", "node", "broken"], [2, 7, 1])[0]
        self.in_node = self.kind == "node" or self.kind == "broken" and self.r.random() < 0.7
        self.types = {}      # typedefs, structs and enums: name -> members that are numbers
        self.ints = []       # variables that are numbers, constants, texts
        self.consts = []
        self.texts = []
        self.pointers = []
        self.aggs = {}       # name -> (function, keys)
        self.inlines = []
        self.probe = "BEGIN"
        self.member = None   # of the probe of the provider state
        self.depth = 0
        self.flags = []
        self.risky = False   # runs with -w
        self.live = False    # flows: follow() is called somewhere
        self.flow_n = False  # flow->n has been assigned

    def pick(self, xs):
        return self.r.choice(xs)

    def chance(self, p):
        return self.r.random() < p

    # ---- expressions ----------------------------------------------------------------------

    def number(self):
        """An expression of type integer."""
        self.depth += 1
        e = self.number_of(self.depth)
        self.depth -= 1
        return e

    def number_of(self, depth):
        r = self.r.random()
        if depth > 5 or r < 0.25:
            return self.pick(NUMBERS + self.consts)
        if r < 0.45 and self.ints:
            return self.pick(self.ints)
        if r < 0.60:
            op = self.pick(["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "==", "!=", "<", "<=", ">", ">=",
                            "&&", "||", "^^"])
            if op in "/%" and self.chance(0.9):
                return f"({self.number()} {op} {self.pick(['3', '-7', '10', '256ul', '(1 + (' + self.number() + ' & 3))'])})"
            return f"({self.number()} {op} {self.number()})"
        if r < 0.65:
            return f"{self.pick(['-', '~', '!', '+'])}({self.number()})"
        if r < 0.69:
            return f"({self.number()} ? {self.number()} : {self.number()})"
        if r < 0.73:
            return f"({self.pick(INTS)})({self.number()})"
        if r < 0.76 and self.ints:
            v = self.pick(self.ints)
            return self.pick([f"{v}++", f"--{v}", f"({v} {self.assign_op()} {self.number()})"])
        if r < 0.80:
            return f"({self.text()} {self.pick(['==', '!=', '<', '<=', '>', '>='])} {self.text()})"
        if r < 0.88:
            return self.number_call()
        if r < 0.90 and self.types:
            return f"sizeof ({self.pick(INTS + list(self.types))})"
        if r < 0.92:
            return f"({self.number()}, {self.number()})"
        if r < 0.94 and self.pointers and self.kind != "plain":  # what is behind an array is not the same everywhere
            p = self.pick(self.pointers)
            return self.pick([f"*{p}", f"{p}[{self.number()}]", f"*({p} + {self.number()})"])
        if r < 0.96 and self.inlines:
            return self.pick(self.inlines)
        if self.kind == "plain":
            return self.pick(["id", "epid", "1", "stackdepth * 0"])
        return self.seen_number()

    def assign_op(self):
        return self.pick(["=", "+=", "-=", "*=", "&=", "|=", "^=", "<<=", ">>="])

    def number_call(self):
        t, n = self.text, self.number
        return self.pick([
            lambda: f"strlen({t()})", lambda: f"index({t()}, {t()})", lambda: f"index({t()}, {t()}, {n()})",
            lambda: f"rindex({t()}, {t()})", lambda: f"rindex({t()}, {t()}, {n()})",
            lambda: f"strtoll({t()})", lambda: f"strtoll({t()}, {self.pick(['2', '10', '16', '36', '37', n()])})",
            lambda: f"htons({n()})", lambda: f"htonl({n()})", lambda: f"htonll({n()})", lambda: f"ntohs({n()})",
            lambda: f"ntohl({n()})", lambda: f"ntohll({n()})", lambda: f"getmajor({n()})",
            lambda: f"getminor({n()})", lambda: f"({t()})[{n()}]",
            lambda: f"progenyof({n()})" if self.kind != "plain" else "0",
        ])()

    def seen_number(self):
        """What differs from run to run."""
        some = ["timestamp", "vtimestamp", "walltimestamp", "cpu", "pid", "tid", "ppid", "uid", "gid", "errno",
                "arg0", "arg1", "arg2", "arg3", "arg5", "arg9", "rand()", "erlsched", "ucaller", "ustackdepth",
                "ipl", "caller", "curlwpsinfo->pr_lwpid", "curlwpsinfo->pr_pri", "uregs[0]", "curpsinfo->pr_ppid",
                "curcpu->cpu_id", "fds[1].fi_offset", "(int64_t)curthread", "stackdepth",
                "*(int *)arg0", "*(long *)arg1", "*(char *)(arg0 + arg2)", "((int *)0)[1]", "((char *)-1)[0]",
                "*(int *)alloca(4)", "((char *)copyin(arg0, 8))[3]", "mutex_owned((void *)arg0)",
                f"(long)mutex_owner((void *){self.number()})", f"rw_read_held((void *){self.number()})",
                f"rw_iswriter((void *){self.number()})", "mutex_type_adaptive((void *)arg1)",
                "sizeof (lwpsinfo_t)", "offsetof(psinfo_t, pr_pid)"]
        if self.member:
            some += [f"args[0]->{m}" for m in STATE[self.member][0]] * 3
        elif self.in_node and self.is_event():
            some += ["erlsched"] if "profile" not in self.probe else ["erlsched", "erlsched + 1"]
            some += ["flowid", "flowdepth"]
            if self.terms():
                t = self.term
                some += [f"erlsize({t()})", f"erlelement({self.number()}, {t()}) + 0", f"(int){t()}", f"{t()} + 1",
                         f"(long){t()}", f"erlscaled({t()}, {self.number()})", self.match(), self.match(), self.match(),
                         f"({t()} == {self.pick(['1', self.number()])})", f"({t()} == {self.pick(TEXTS)})"]
                if "erlarg(0)" in self.terms():
                    some += ["erlint(0)", f"erlint({self.number()})"]
            if self.flow_n:
                some += ["flow->n"] * 3
        return self.pick(some)

    def is_event(self):
        """Does the probe have an Erlang process?"""
        return self.probe not in ("state", "BEGIN", "END", "ERROR", "mixed", "dtrace:::BEGIN") and \
            not self.probe.startswith(("tick", "state:", "profile-wall"))

    def has(self):
        """What the probe has besides its arguments; of descriptions that match several, nothing is known."""
        return PROBES[self.probe][2] if self.probe in PROBES else set()

    def terms(self):
        """Terms that the probe has."""
        has = self.has()
        return [t for what, terms in [
            ("MESSAGE", ["erlmsg"]), ("REASON", ["erlreason"]), ("RESULT", ["erlret"]),
            ("CALL", ["erlargs", "erlarg(0)", "erlarg(1)", f"erlarg({self.pick(NUMBERS)})"]),
        ] if what in has for t in terms]

    def term(self):
        e = self.pick(self.terms() or ["erlmsg", "erlargs", "erlarg(0)", "erlret", "erlreason"])
        while self.chance(0.4):
            e = self.pick([f"erlhd({e})", f"erltl({e})", f"erlelement({self.pick('1234')}, {e})",
                           f'erlget("a", {e})', f'erlget("{{a,1}}", {e})', f"erlget(1, {e})",
                           f'erlfield("rec.b", {e})', f'erlfield("rec.a", {e})'])
        return e

    def match(self):
        return f'erlmatch({self.term()}, "{self.pick(PATTERNS)}")'

    def text(self):
        self.depth += 1
        e = self.text_of(self.depth)
        self.depth -= 1
        return e

    def text_of(self, depth):
        t, n = self.text, self.number
        r = self.r.random()
        if depth > 5 or r < 0.35:
            return self.pick(TEXTS)
        if r < 0.50 and self.texts:
            return self.pick(self.texts)
        if r < 0.85 or self.kind == "plain":
            return self.pick([
                lambda: f"strjoin({t()}, {t()})", lambda: f"substr({t()}, {n()})",
                lambda: f"substr({t()}, {n()}, {n()})", lambda: f"strtok({t()}, {t()})",
                lambda: f"strchr({t()}, {n()})", lambda: f"strrchr({t()}, {n()})", lambda: f"strstr({t()}, {t()})",
                lambda: f"basename({t()})", lambda: f"dirname({t()})", lambda: f"cleanpath({t()})",
                lambda: f"tolower({t()})", lambda: f"toupper({t()})", lambda: f"lltostr({n()})",
                lambda: f"lltostr({n()}, {self.pick(['2', '16', '36', n()])})", lambda: f"json({t()}, {t()})",
                lambda: f'json({t()}, "a.b[{self.r.randrange(4)}].c")', lambda: f"({n()} ? {t()} : {t()})",
                lambda: "strtok(NULL, \",;\")", lambda: f"({t()} + {self.r.randrange(5)})",
                lambda: "probename", lambda: "probefunc", lambda: "probemod",
                lambda: "inet_ntoa((ipaddr_t *)alloca(4))", lambda: f"stringof({t()})",
                lambda: "inet_ntoa6((in6_addr_t *)alloca(16))", lambda: f"inet_ntop({self.pick(['2', '10', n()])}, alloca(16))",
                lambda: f"link_ntop({self.pick(['1', '32', n()])}, alloca(20))",
            ])()
        some = ["execname", "probeprov", "probefunc", "curpsinfo->pr_psargs", "curpsinfo->pr_fname",
                "fds[0].fi_pathname", "curlwpsinfo->pr_clname", "cwd", "copyinstr(arg0)", "copyinstr(arg1)",
                f"copyinstr(arg0, {n()})", "stringof(arg1)", "(string)copyin(arg0, 16)"]
        if self.member:
            some += [f"args[0]->{m}" for m in STATE[self.member][1]] * 3
        elif self.in_node:
            some += ["erlnode"]
            if self.is_event() or self.probe.startswith("profile-wall"):
                some += ["erlpid", "erlname", "erlproc"] * 2
            if self.probe.startswith("profile"):
                some += ["erlstate", "erllock"] * 3
            if self.has() & {"PEER", "CALL"}:
                some += ["erlpeer", "erlpeerproc"] * 2
            if "CLASS" in self.has():
                some += ["erlclass"] * 3
            if self.terms():
                t = self.term
                some += [f"stringof({t()})", f"(string){t()}", f"erltext({t()})", f"erltype({t()})", f"erltype({t()})"]
            some += [f"args[{i}]" for i in PROBES[self.probe][1]] * 3 if self.probe in PROBES else []
        return self.pick(some)

    def value(self):
        return self.text() if self.chance(0.35) else self.number()

    # ---- statements -----------------------------------------------------------------------

    def statements(self, count):
        return " ".join(self.statement() for _ in range(count))

    def statement(self):
        self.depth = 0
        r = self.r.random()
        if r < 0.18:
            return self.assignment()
        if r < 0.48:
            return self.aggregation()
        if r < 0.58:
            return self.printf()
        if r < 0.64:
            return f"trace({self.value()});"
        if r < 0.70:
            other = f" else {{ {self.statement()} }}" if self.chance(0.5) else ""
            return f"if ({self.number()}) {{ {self.statement()} {self.statement()} }}{other}"
        if r < 0.78:
            return self.stack_action()
        if r < 0.86:
            return self.of_aggregations()
        if r < 0.89:
            s = self.pick(["this->spec", "self->spec"])
            self.ints.append(s)
            return f"{s} = speculation();"
        if r < 0.92 and "self->spec" in self.ints:
            return self.pick(["speculate(self->spec);", "commit(self->spec);", "discard(self->spec);",
                              f"commit({self.number()});"])
        if r < 0.94 and self.in_node and self.kind != "plain":
            return self.pick([("this->m = " + self.match() if self.terms() else "this->m = 1") + "; trace(this->m);",
                              *([f"print({self.term()});", f"trace({self.term()});", f"this->t = {self.term()}; trace(this->t);"]
                                if self.terms() else ["print(*curpsinfo);", "print(curlwpsinfo);"]),
                              f"alert(\"n\", \"%s %d\", {self.text()}, {self.number()});",
                              f"snapshot({self.text()});", "usdt();", self.flow_var()])
        return self.pick([
            lambda: f"tracemem((char *){self.text()}, {self.r.choice([1, 8, 64]) if self.kind != 'plain' else 1});",
            lambda: f"print({self.value()});", lambda: f"setopt(\"{self.pick(['quiet', 'aggsortkey', 'nosuch'])}\");",
            lambda: f"bcopy({self.text()}, this->mem = alloca({self.pick(['8', '16', self.number()])}), "
                    f"{self.pick(['4', self.number()])});",
            lambda: f"copyinto(arg0, {self.pick(['4', self.number()])}, alloca(8));" if self.kind != "plain" else ";",
            lambda: f"{self.number()};", lambda: f"{self.text()};", lambda: ";", self.destructive,
        ])()

    def flow_var(self):
        self.flow_n = True
        return "flow->n = " + self.number() + ";"

    def destructive(self):
        if not self.risky:
            return "trace(0);"
        return self.pick(["system(\"true %s\", " + self.text() + ");", "raise(9);", "stop();", "panic();", "breakpoint();",
                          "freopen(\"/dev/null\");", "ftruncate();", "freopen(\"\");", f"chill({self.number()});",
                          f"copyout(alloca(4), arg0, {self.number()});", f"copyoutstr({self.text()}, arg0, 8);"])

    def assignment(self):
        scope = self.pick(["", "self->", "this->"])
        r = self.r.random()
        if r < 0.35:
            v = scope + self.pick("nmk") + self.pick("01")
            s = f"{v} = {self.number()};"
            self.ints.append(v)
        elif r < 0.55:
            v = scope + "s" + self.pick("01")
            s = f"{v} = {self.text()};"
            self.texts.append(v)
        elif r < 0.75 and scope != "this->":
            n = self.pick([1, 1, 2, 3])
            v = f"{scope}a{n}[{', '.join(self.text() if i == 1 else self.number() for i in range(n))}]"
            s = f"{v} = {self.pick(['0', self.number(), self.number()])};"
            (self.ints if len(v) < 60 else []).append(v)
        elif r < 0.85:
            v = scope + "t0[" + self.number() + "]"
            if scope == "this->":
                return "trace(1);"
            s = f"{v} = {self.pick(['0', self.text(), self.text()])};"
        elif r < 0.93:
            self.pointers.append("this->p")
            s = f"this->p = (char *){self.pick(['alloca(8)', 'alloca(' + self.number() + ')', self.text()])};"
        elif self.pointers:
            s = f"{self.pick(self.pointers)}[{self.number()}] = {self.number()};"
        else:
            s = f"{self.pick(self.ints or ['n0'])} {self.assign_op()} {self.number()};"
        return s

    def key(self, of):
        if self.chance(0.01):
            return self.value()
        return {"n": self.number, "s": self.text, "u": lambda: self.pick(["ustack()", "ustack()", "ustack(3)"])}.get(
            of, lambda: of)()

    def aggregation(self):
        if self.aggs and self.chance(0.5):
            name = self.pick(list(self.aggs))
            f, n, more = self.aggs[name]
        else:
            name = self.pick("abcdefgh") + self.pick("0123")
            if name in self.aggs:
                f, n, more = self.aggs[name]
            else:
                f = self.pick(["count", "count", "sum", "min", "max", "avg", "stddev", "quantize", "lquantize",
                               "llquantize", "percentile"])
                n = [self.pick("nnsss" + ("uX" if self.kind != "plain" else "")) for _ in range(self.pick([0, 1, 1, 2, 3]))]
                n = [self.pick(["stack()", "jstack()", "ufunc(ucaller)", "usym(arg0)", "umod(ucaller)"]) if k == "X" else k
                     for k in n]
                more = {"lquantize": self.pick([", 0, 100, 10", ", -5, 5", ", 0, 1000, 1", ", 5, 6, 1"]),
                        "llquantize": self.pick([", 10, 0, 6, 20", ", 2, 0, 10, 2", ", 3, 1, 4, 9"]),
                        "percentile": self.pick(["", ", 50", ", 50, 99, 99.9", ", 100"])}.get(f, "")
                self.aggs[name] = (f, n, more)
        keys = f"[{', '.join(self.key(k) for k in n)}]" if n else ""
        if f == "count":
            return f"@{name}{keys} = count();"
        weight = f", {self.number()}" if f in ("quantize", "lquantize") and more.count(",") == 3 * (f[0] == "l") \
            and self.chance(0.2) else ""
        return f"@{name}{keys} = {f}({self.number()}{more}{weight});"

    def printf(self):
        form, values = [], []
        for _ in range(self.r.randrange(5)):
            width = self.pick(["", "", "5", "-5", "05", ".3", "20.7", "*", "200", "#"])
            if width == "*":
                values.append(self.pick(["1", "9", self.number()]))
            if self.chance(0.4):
                form.append(f"%{width}s")
                values.append(self.text())
            elif self.kind != "plain" and self.chance(0.1):
                form.append(f"%{self.pick('pkaAY')}")
                values.append(self.number())
            else:
                form.append(f"%{width}{self.pick(['d', 'u', 'x', 'o', 'lld', 'c', 'i', 'hx'])}")
                values.append(self.number())
        end = self.pick(["", "\\n", "%%", " "]) if form else "x"
        return f"printf(\"{' '.join(form)}{end}\"{''.join(', ' + v for v in values)});"

    def stack_action(self):
        if self.kind == "plain":
            return f"trace({self.value()});"
        return self.pick(["ustack();", "ustack(5);", "ustack(5, 200);", "stack();", "jstack(10, 300);",
                          "sym(arg0);", "usym(arg1);", "umod(arg0);", "ufunc(ucaller);", "uaddr(ucaller);",
                          "mod(caller);", "func(caller);", "flowtrace(\"%d\", timestamp);"])

    def of_aggregations(self):
        if not self.aggs:
            return self.aggregation()
        a = self.pick(list(self.aggs))
        b = self.pick(list(self.aggs))
        form = "".join({"n": "%d ", "s": "%s "}.get(k, "%k ") for k in self.aggs[a][1])
        return self.pick([
            f"printa(@{a});", f"clear(@{a});", f"trunc(@{a});", f"trunc(@{a}, {self.pick(['1', '-1', '5'])});",
            f"normalize(@{a}, {self.pick(['1', '1000', self.number()])});", f"denormalize(@{a});",
            f"printa(\"%@d\\n\", @{a});", f"printa(@{a}, @{b if self.aggs[a][1] == self.aggs[b][1] else a});",
            f"printa(\"{form}%@u|\", @{a});", f"printa(\"%@x %@x\\n\", @{a}, @{b if self.aggs[a][1] == self.aggs[b][1] else a});"])

    # ---- clauses --------------------------------------------------------------------------

    def node_probe(self):
        self.member = None
        r = self.r.random()
        if r < 0.40:
            name = self.pick(["function-entry", "function-return", "function-entry", "local-function-entry",
                              "global-function-entry", "function-exception", "function-*"])
            self.probe = name
            return f"erlang*:{CODE}:{self.pick(FUNCTIONS + ['', '*', 'w*', '*/1'])}:{name}"
        if r < 0.48:
            self.probe = self.pick(["bif-entry", "bif-return", "nif-entry", "nif-return", "function-entry",
                                    "function-return"])
            m, f = self.pick([("lists", "reverse/2"), ("erlang", "binary_to_term/1"), ("ets", "insert/2"),
                              ("ets", "*"), ("maps", "get/2"), ("erlang", "send/2"), ("lists", ""),
                              ("random_load", ""), ("erlang", "spawn*"), ("gen_server", "call/2")])
            return f"erlang*:{m}:{f}:{self.probe}"
        if r < 0.66:
            self.probe = self.pick(EVENTS)
            return f"erlang*:::{self.probe}"
        if r < 0.72 and self.live:
            self.probe = self.pick(FLOWS)
            return f"erlang*:::{self.probe}"
        if r < 0.78:
            self.probe = self.pick(["profile-997", "profile-97", "profile-wall-97", "profile-wall-500ms",
                                    "profile-3ms", "profile-1ms", "profile-4999"])
            return self.probe
        if r < 0.88:
            self.member = self.pick(list(STATE))
            self.probe = "state"
            return f"state:::{self.member}{self.pick(['', '-100ms', '-200ms', '-1s'])}"
        self.probe = self.pick(["tick-10ms", "tick-1ms", "tick-97", "BEGIN", "END", "ERROR", "user_trace-n3",
                                "state:::round", "state:::key"])
        return ("erlang*:::" if "user" in self.probe else "") + self.probe

    def clause(self):
        self.depth = 0
        if self.in_node and self.chance(0.85):
            probe = self.node_probe()
            if self.chance(0.12) and self.member is None:
                probe += ", " + self.node_probe()
                if self.chance(0.7):
                    self.probe, self.member = "mixed", None
        else:
            self.member = None
            self.probe = self.pick(["BEGIN", "BEGIN", "END", "dtrace:::BEGIN"] +
                                   (["tick-10ms", "ERROR"] if self.kind != "plain" else []))
            probe = self.probe
        predicate = f"\n/{self.number()}/" if self.chance(0.3) else ""
        body = self.statements(self.r.choice([1, 1, 2, 3, 5]))
        if "function-entry" in self.probe and self.chance(0.15):
            body = f"follow(); flow->n = {self.number()}; " + body
            self.live = self.flow_n = True
        if self.in_node and self.chance(0.03):
            body = ""
        return f"{probe}{predicate}\n{{\n\t{body}\n}}"

    def declarations(self):
        out = []
        for i in range(self.r.randrange(4)):
            k = self.r.randrange(8)
            if k == 0:
                t = f"td{i}_t"
                out.append(f"typedef {self.pick(INTS)} {t};")
                self.types[t] = []
            elif k == 1:
                t = f"struct st{i}"
                fields = [f"f{j}" for j in range(self.r.randrange(1, 5))]
                kinds = [self.pick(["", "", "[3]", " : 3"]) for f in fields]
                out.append(t + " { " + " ".join(
                    f"{'int' if k == ' : 3' else self.pick(INTS)} {f}{k};" for f, k in zip(fields, kinds)) + " };")
                self.types[t] = fields
                out.append(f"{t} v{i};")
                self.ints += [f"v{i}.{f}" + ("[1]" if k == "[3]" else "") for f, k in zip(fields, kinds)]
            elif k == 2:
                out.append(f"enum en{i} {{ E{i}A, E{i}B = {self.r.randrange(-5, 300)}, E{i}C }};")
                self.consts += [f"E{i}A", f"E{i}B"]
                self.types[f"enum en{i}"] = []
            elif k == 3:
                out.append(f"inline {self.pick(INTS)} I{i} = {self.pick(NUMBERS)};")
                self.inlines.append(f"I{i}")
            elif k == 4:
                out.append(f"{self.pick(['', 'self ', ''])}{self.pick(INTS)} g{i};")
                self.ints.append(("self->" if out[-1].startswith("self ") else "") + f"g{i}")
            elif k == 5:
                out.append(f"int arr{i}[{self.r.randrange(1, 20)}];")
                self.pointers.append(f"arr{i}")
            elif k == 6:
                out.append(f"union un{i} {{ int a; char b[8]; long c; }} ; union un{i} u{i};")
                self.ints += [f"u{i}.a", f"u{i}.c", f"u{i}.b[{self.r.randrange(9)}]"]
            else:
                if self.chance(0.3):
                    out.append(f"string str{i};")
                    self.texts.append(f"str{i}")
                    continue
                kind, self.kind = self.kind, "plain"  # what a translator has is read where it is used
                out.append(f"struct tr{i} {{ int y; string z; }}; translator struct tr{i} < int X > "
                           f"{{ y = X + {self.number()}; z = {self.text()}; }};")
                self.kind = kind
                self.inlines.append(f"xlate <struct tr{i}> ({self.pick(NUMBERS)}).y")
                self.texts.append(f"xlate <struct tr{i}> (1).z")
        return out

    def make(self):
        self.live = self.in_node and self.chance(0.15)
        self.risky = self.in_node and self.chance(0.1)
        out = self.declarations()
        for _ in range(self.r.choice([0, 0, 1, 2, 4])):
            name, values = self.pick(OPTIONS)
            if self.kind == "plain" and name in ("jit", "bufpolicy", "maxthreads", "aggpercpu", "rawbytes"):
                continue
            value = self.pick(values)
            out.insert(0, f"#pragma D option {name}" + ("" if value is None else "=" + value))
        clauses = [self.clause() for _ in range(self.r.choice([1, 2, 2, 3, 4, 6, 9]))]
        if self.live:
            clauses.insert(0, f"erlang*:{CODE}:{self.pick(FUNCTIONS[:9])}:function-entry {{ follow(); }}")
        if self.kind == "plain":
            begin_end(clauses)
        out += clauses
        if self.kind == "plain":
            out.append("BEGIN { exit(0); }")
        else:
            ms = self.pick([50, 100, 100, 200, 400, 1200])
            out.append(f"tick-{ms}ms {{ exit(0); }}")
        if self.in_node:
            if self.chance(0.3):
                self.flags += ["-x", "calls=fast"]
            if self.risky:
                self.flags += ["-w"]
            if self.chance(0.1):
                self.flags += ["--json", "--live=20"]
            if self.chance(0.1):
                self.flags += ["-x", "processes=" + self.pick(["random_load", "init", "<0.1.0>"])]
            if self.live and self.chance(0.3):
                self.flags += ["--json", "--flows"]
            if self.chance(0.05):
                self.flags += ["-x", self.pick(["maxrate=10", "maxrate=0", "watchdog=1", "watchtime=100ms", "silence=100ms",
                                                "statebudget=1", "payload=off"])]
            self.flags += ["-I", "random.hrl"]
        if self.kind == "plain" or self.chance(0.8):  # without -q the CPU is printed
            self.flags.append("-q")
        self.flags.append("-Z")
        text = "\n".join(out) + "\n"
        return self.broken(text) if self.kind == "broken" else text

    def broken(self, text):
        """Tokens are removed, doubled, exchanged, or replaced by others."""
        tokens = re.findall(r'"(?:\\.|[^"\\\n])*"|\w+|\s+|->|[<>=!&|+*/-]=?|.', text)
        for _ in range(self.r.choice([1, 1, 2, 5])):
            i = self.r.randrange(len(tokens))
            k = self.r.randrange(5)
            if k == 0:
                del tokens[i]
            elif k == 1:
                tokens.insert(i, tokens[i])
            elif k == 2:
                j = self.r.randrange(len(tokens))
                tokens[i], tokens[j] = tokens[j], tokens[i]
            elif k == 3:
                tokens[i] = self.pick(["(", ")", "{", "}", "[", "]", ";", "@", "self->", "\"", "'", "#", "$1", "$$2",
                                       "sizeof", "xlate", "0", "/", "?", ":", "`", "\\", "\0", "\xff", "1e9", "NULL",
                                       "this->x.y", "struct", "offsetof(struct st1, f0)", "erlmsg", "args[0]",
                                       "args[99]", "\n#pragma D option", "probename", "/*", "//"])
            else:
                tokens[i] = self.pick(tokens)
            if not tokens:
                break
        return "".join(tokens) + "\ntick-2s { exit(0); }\n"  # exit() may be what was removed


def begin_end(clauses):
    """What `this->` variables hold when END fires depends on the thread: what only BEGIN has set is not read there."""
    ends = [i for i, c in enumerate(clauses) if c.startswith("END")]
    names = sorted(set(re.findall(r"this->(\w+)", " ".join(clauses[i] for i in ends))) - {"mem"})
    values = {"s": '""', "p": "(char *)alloca(8)"}
    if names:
        clauses.insert(ends[0], "END\n{\n\t" + " ".join(
            f"this->{n} = {'0' if n == 'spec' else values.get(n[0], '0')};" for n in names) + "\n}")


def make(seed, kind=None):
    s = Script(seed, kind)
    text = s.make()
    return s, text


def main():
    kind = sys.argv[sys.argv.index("--kind") + 1] if "--kind" in sys.argv else None
    s, text = make(int(sys.argv[1]), kind)
    print(f"/* {s.kind} {' '.join(s.flags)} */")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
