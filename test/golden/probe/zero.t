# a description that matches nothing is an error, but not with -Z or zdefs
$ erltrace -e -xerrtags -n 'nosuch:::probe { trace(1); }'
!~ \[D_PDESC_ZERO\] .*nosuch:::probe
? 1
$ erltrace -Z -qn 'nosuch:::probe { trace(1); } BEGIN { printf("ok\n"); exit(0); }'
> ok
>
$ erltrace -xzdefs -qn 'nosuch:::probe { trace(1); } BEGIN { printf("ok\n"); exit(0); }'
> ok
>
< t.d
| #pragma D option zdefs
| nosuch:::probe { trace(1); }
| BEGIN { printf("ok\n"); exit(0); }
$ erltrace -qs t.d
> ok
>
# one of a list is enough to be missing
$ erltrace -e -xerrtags -n 'BEGIN, nosuch:::probe { trace(1); }'
!~ \[D_PDESC_ZERO\] .*nosuch:::probe
? 1
