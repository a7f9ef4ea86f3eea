# associative arrays: keys of several parts and types
$ erltrace -qn 'BEGIN { a[1] = 10; a[-1] = 20; a[0x100000000] = 30; printf("%d %d %d %d\n", a[1], a[-1], a[0x100000000], a[2]); exit(0); }'
> 10 20 30 0
>
$ erltrace -qn 'BEGIN { a["x", 1, "y"] = 5; a["x", 2, "y"] = 6; i = 1; printf("%d %d %d %d\n", a["x", i, "y"], a["x", i + 1, "y"], a["y", 1, "x"], a["", 1, "xy"]); exit(0); }'
> 5 6 0 0
>
# parts do not run together
$ erltrace -qn 'BEGIN { a["ab", "c"] = 1; a["a", "bc"] = 2; printf("%d %d %d\n", a["ab", "c"], a["a", "bc"], a["abc", ""]); exit(0); }'
> 1 2 0
>
# declared, with types of keys and value
$ erltrace -qn 'uint8_t a[int, string]; string s[pid_t]; BEGIN { a[1, "x"] = 300; s[7] = "seven"; printf("%d %s %d\n", a[1, "x"], s[7], s[8] == NULL); exit(0); }'
> 44 seven 1
>
# storing 0 deletes
$ erltrace -qn 'BEGIN { a["k"] = 1; a["k"] = 0; s[1] = "x"; s[1] = 0; printf("%d %d\n", a["k"], s[1] == NULL); exit(0); }'
> 0 1
>
# a key that is an expression, a built-in, another array
$ erltrace -qn 'BEGIN { b["i"] = 3; a[b["i"] * 2, probename, pid] = 9; printf("%d\n", a[6, "BEGIN", $pid]); exit(0); }'
> 9
>
# pointers and enumerators as keys
$ erltrace -qn 'enum e { A, B }; BEGIN { a[(char *)16] = 4; c[B] = 5; printf("%d %d %d\n", a[(char *)16], c[1], c[A]); exit(0); }'
> 4 5 0
>
# integers of any width are one key
$ erltrace -qn 'BEGIN { a[1] = 7; printf("%d %d %d\n", a[1L], a[(char)1], a[1u]); exit(0); }'
> 7 7 7
>
# ++ and += on elements, many of them
$ erltrace -qn 'tick-1ms { n++; a[n % 3] += n; } tick-1ms /n == 9/ { printf("%d %d %d\n", a[0], a[1], a[2]); exit(0); }'
> 18 12 15
>
