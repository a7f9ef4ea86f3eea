# what an if does not reach is not printed: every action
$ erltrace -qn 'BEGIN { if (0) printf("no\n"); else printf("else\n"); if (1) printf("then\n"); else printf("no\n"); exit(0); }'
> else
> then
>
$ erltrace -qn 'BEGIN { if (1) { trace(1); if (0) trace(2); else { trace(3); if (1) trace(4); } trace(5); } trace(6); exit(0); }'
> 13456
# it counts what the script finds when it runs
$ erltrace -qn 'BEGIN { x = 3; if (x > 2) { printf("big\n"); x = 1; } if (x > 2) { printf("no\n"); } exit(0); }'
> big
>
# strings and stacks that were not reached
$ erltrace -qn 'BEGIN { if (0) { printf("%s %s\n", probename, strjoin("a", "b")); print("x"); ustack(); sym(1); } printf("%s\n", "after"); exit(0); }'
> after
>
# actions on aggregations
$ erltrace -qn 'BEGIN { @a = sum(8); @b = sum(8); @c = sum(8); if (0) { normalize(@a, 2); clear(@b); trunc(@c); printa(@a); } else { normalize(@a, 4); } exit(0); }'
>
>                 2
>                 8
>                 8
$ erltrace -qn 'BEGIN { @a["x"] = count(); if (1) printa("yes %s\n", @a); else printa("no %s\n", @a); exit(0); }'
> yes x
>
# tracemem() with a size, setopt(), system(), freopen(), ftruncate()
$ erltrace -wqn 'BEGIN { if (0) { tracemem(0, 8); setopt("nosuch"); system("echo no"); freopen("no"); ftruncate(); } printf("ok\n"); exit(0); }'; ls
> ok
>
# aggregations inside
$ erltrace -qn 'BEGIN { if (0) @["no"] = count(); else @["yes"] = count(); exit(0); }'
>
>   yes                                                               1
# exit() inside: the code is that of the branch taken
$ erltrace -qn 'BEGIN { if (0) exit(1); else exit(4); }'
>
? 4
# nothing reached: no row
$ erltrace -n 'BEGIN { if (0) trace(1); } BEGIN { if (1) trace(2); } BEGIN { exit(0); }' 2>/dev/null | grep -c BEGIN
> 2
# the ?: of values
$ erltrace -qn 'BEGIN { x = 2; printf("%s\n", x == 1 ? "one" : x == 2 ? "two" : "many"); exit(0); }'
> two
>
