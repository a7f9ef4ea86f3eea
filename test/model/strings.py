#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Searching in strings, against plain models: index, rindex, strstr, strtok, json.

    test/model/strings.py [--seed N] [--count N] [--ways jit,interpreter,kernel]

Short and long strings, of few letters, that repeat themselves, nearly match, or have hashes that are
equal where the strings are not. What differs is printed. The last line is "N passed, N failed".
"""
import argparse
import json
import random
import sys
import tempfile

from against_c import run_d

MOST = 65535


def thue_morse(n, swap):
    return "".join("ab"[(bin(i).count("1") + swap) & 1] for i in range(n))


def text(r, most):
    n = r.choice([0, 1, 2, 3, 63, 64, 65, 255, 256, 511, 512, 513, r.randrange(2000), r.randrange(most)])
    n = min(n, most)
    kind = r.randrange(5)
    if kind == 0:
        return "".join(r.choice("ab") for _ in range(n))
    if kind == 1:
        return ("a" * r.randrange(1, 9) + "b") * n
    if kind == 2:
        return thue_morse(n, r.randrange(2))
    if kind == 3:
        return "a" * n
    return "".join(r.choice("abc ,") for _ in range(n))


def pair(r):
    """A string, and one to look for in it."""
    s = text(r, MOST)[:MOST]
    kind = r.randrange(6)
    if kind == 0:
        t = text(r, 3000)[:3000]
    elif kind == 1 and len(s) > 4:  # it is there
        at = r.randrange(len(s))
        t = s[at:at + r.choice([1, 2, 100, 1024, 2048, len(s)])]
    elif kind == 2 and len(s) > 4:  # it is, but for its last or first letter
        at = r.randrange(len(s))
        t = s[at:at + r.choice([100, 1024, 4096])]
        t = t[:-1] + "z" if r.random() < .5 else "z" + t[1:]
    elif kind == 3:  # hashes are equal
        n = r.choice([1024, 2048, 4096])
        s, t = thue_morse(n, 0) * r.randrange(1, 4) + s[:r.randrange(100)], thue_morse(n, 1)
        s = s[:MOST]
    elif kind == 4:
        s, t = s[:MOST], s[-r.randrange(1, 2000):]
    else:
        t = r.choice(["", "a", "b", "z", s])
    return s, t


def index(s, t, c):
    c = max(c, 0)
    if c >= len(s):
        return len(s) if t == "" else -1
    return s.find(t, c)


def rindex(s, t, c):
    if c < 0:
        return 0 if t == "" else -1
    c = min(c, len(s))
    return c if t == "" else s.rfind(t, 0, c + len(t))


def value(r, depth):
    kind = r.randrange(7 if depth > 0 else 4)
    if kind == 0:
        return r.randrange(-1000, 10 ** 6)
    if kind == 1:
        return r.choice([True, False, None, ""])
    if kind in (2, 3):
        return "".join(r.choice("ab{}[]:, .") for _ in range(r.randrange(20)))
    if kind == 4:
        return [value(r, depth - 1) for _ in range(r.randrange(6))]
    return {r.choice("abcde") + str(i): value(r, depth - 1) for i in range(r.randrange(6))}


def paths(v, path):
    """Every path into it, with what lies there."""
    if path:
        yield path, v
    if isinstance(v, dict):
        for k, w in v.items():
            yield from paths(w, f"{path}.{k}" if path else k)
    if isinstance(v, list):
        for i, w in enumerate(v):
            yield from paths(w, f"{path}[{i}]")


def clauses(r, count):
    """D, and what it prints."""
    d, want = [], []
    for _ in range(count):
        s, t = pair(r)
        c = r.choice([-1, 0, 1, len(s) // 2, len(s) - 1, len(s), len(s) + 1, r.randrange(MOST)])
        d.append(f'BEGIN {{ s = "{s}"; t = "{t}"; }}')
        d.append(f'BEGIN {{ printf("%d %d %d %d %d\\n", index(s, t), index(s, t, {c}), rindex(s, t),'
                 f' rindex(s, t, {c}), strstr(s, t) == NULL ? -1 : (int)strlen(strstr(s, t))); }}')
        at = s.find(t)
        want.append(f"{index(s, t, 0)} {index(s, t, c)} {rindex(s, t, len(s))} {rindex(s, t, c)} "
                    f"{-1 if at < 0 or not s else len(s) - at}")
        seps = r.choice([",", " ,", "b", "ab", "z"])
        pieces = s
        for sep in seps:
            pieces = pieces.replace(sep, "\0")
        pieces = [p for p in pieces.split("\0") if p][:4]
        d.append(f'BEGIN {{ this->a = strtok(s, "{seps}"); this->b = strtok(NULL, "{seps}");'
                 f' this->c = strtok(NULL, "{seps}"); this->d = strtok(NULL, "{seps}");'
                 ' printf("%d %d %d %d\\n", ' +
                 ", ".join(f"this->{v} == NULL ? -1 : (int)strlen(this->{v})" for v in "abcd") + "); }")
        want.append(" ".join(str(len(pieces[i])) if i < len(pieces) else "-1" for i in range(4)))
        v = value(r, 5)
        source = json.dumps(v, separators=r.choice([(",", ":"), (", ", " : ")]))
        found = list(paths(v, ""))
        for path, w in r.sample(found, min(3, len(found))) + [("zz", None), ("[99]", None)]:
            there = path not in ("zz", "[99]")
            shown = w if isinstance(w, str) else None
            quoted = source.replace("\\", "\\\\").replace('"', '\\"')
            d.append(f'BEGIN {{ this->j = json("{quoted}", "{path}");'
                     ' printf("<%s>\\n", this->j == NULL ? "none" : this->j); }')
            if not there or w == "": # which equals NULL
                want.append("<none>")
            elif shown is not None:
                want.append(f"<{shown}>")
            else:
                want.append(("json", w))
    d.append("BEGIN { exit(0); }")
    return "string s, t;\n" + "\n".join(d) + "\n", want


def same(want, got):
    if isinstance(want, tuple):
        try:
            return got[:1] == "<" and json.loads(got[1:-1]) == want[1]
        except ValueError:
            return False
    return want == got


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--count", type=int, default=5)
    args.add_argument("--ways", default="jit,interpreter")
    o = args.parse_args()
    passed = failed = 0
    for seed in range(o.seed, o.seed + o.count):
        d, want = clauses(random.Random(seed), 8)
        with tempfile.NamedTemporaryFile("w", suffix=".d", encoding="ascii") as f:
            f.write(d)
            f.flush()
            for way in o.ways.split(","):
                text, said = run_d(way, f.name, "-xstrsize=64k", "-xmaxwork=0", "-xbufsize=16m")
                got = text.split("\n")
                differs = [i for i, w in enumerate(want) if i >= len(got) or not same(w, got[i])]
                if not differs and len(got) == len(want) and not said:
                    passed += 1
                    continue
                failed += 1
                print(f"seed {seed}, {way}: {said[:300]}")
                for i in differs[:3]:
                    print(f"    {i}: want {want[i]}, got {got[i] if i < len(got) else None}"[:300])
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
