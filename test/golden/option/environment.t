# DTRACE_OPT_NAME sets an option; in capitals
$ DTRACE_OPT_STRSIZE=8 erltrace -qn 'BEGIN { printf("%s\n", "0123456789"); exit(0); }'
> 0123456
>
# without a value: as if given alone
$ DTRACE_OPT_QUIET= erltrace -n 'BEGIN { printf("q\n"); exit(0); }'
> q
>
# the command line wins, and a pragma wins over both
$ DTRACE_OPT_STRSIZE=8 erltrace -q -xstrsize=10 -n 'BEGIN { printf("%s\n", "0123456789"); exit(0); }'
> 012345678
>
< p.d
| #pragma D option strsize=9
| BEGIN { printf("%s\n", "0123456789"); exit(0); }
$ DTRACE_OPT_STRSIZE=8 erltrace -q -xstrsize=10 -s p.d
> 01234567
>
# what is no option there is somebody else's
$ DTRACE_OPT_NOSUCH=1 DTRACE_OPT_=1 erltrace -qn 'BEGIN { printf("ok\n"); exit(0); }'
> ok
>
