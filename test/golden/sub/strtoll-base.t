# strtoll() takes bases from 2 to 36; any other is an illegal operation
< t.d
| BEGIN { printf("%d %d\n", strtoll("11", 2), strtoll("z", 36)); base = 1; }
| BEGIN { x = strtoll("1", base); printf("goes on"); }
| BEGIN { x = strtoll("1", 0); printf("goes on"); }
| BEGIN { x = strtoll("1", 37); printf("goes on"); }
| BEGIN { x = strtoll("1", -10); printf("goes on"); }
| BEGIN { exit(0); }
| ERROR { printf("%d\n", arg4); }
$ erltrace -qs t.d
> 3 35
> 3
> 3
> 3
> 3
>
!~ illegal operation
!~ illegal operation
!~ illegal operation
!~ illegal operation
