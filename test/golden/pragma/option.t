# #pragma D option: with and without a value, before and behind clauses
< t.d
| #pragma D option quiet
| #pragma D option strsize=16
| 	#pragma D option bufsize=64k
| #	pragma	D	option	aggsortrev
| BEGIN { printf("%d %s\n", sizeof (string), "0123456789abcdefXYZ"); exit(0); }
$ erltrace -s t.d
> 16 0123456789abcdef
>
# behind the clauses it counts too
< u.d
| BEGIN { printf("late\n"); exit(0); }
| #pragma D option quiet
$ erltrace -s u.d
> late
>
# what is no D of ours is ignored
< v.d
| #pragma once
| #pragma GCC poison strcpy
| #pragma
| BEGIN { printf("ok\n"); exit(0); }
$ erltrace -qs v.d
> ok
>
