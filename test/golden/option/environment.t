# DTRACE_OPT_NAME sets an option; in capitals
$ DTRACE_OPT_STRSIZE=8 erltrace -qn 'BEGIN { printf("%s\n", "0123456789"); exit(0); }'
> 01234567
>
# without a value: as if given alone
$ DTRACE_OPT_QUIET= erltrace -n 'BEGIN { printf("q\n"); exit(0); }'
> q
>
# the command line wins, and a pragma wins over both
$ DTRACE_OPT_STRSIZE=8 erltrace -q -xstrsize=10 -n 'BEGIN { printf("%s\n", "0123456789"); exit(0); }'
> 0123456789
>
< p.d
| #pragma D option strsize=9
| BEGIN { printf("%s\n", "0123456789"); exit(0); }
$ DTRACE_OPT_STRSIZE=8 erltrace -q -xstrsize=10 -s p.d
> 012345678
>
# what is no option, or no value for it, is told
$ DTRACE_OPT_NOSUCH=1 erltrace -qn 'BEGIN { exit(0); }'
! erltrace: failed to initialize: in the environment (DTRACE_OPT_*): there is no option 'nosuch': --help lists them
? 1
$ DTRACE_OPT_BUFSIZE=big erltrace -qn 'BEGIN { exit(0); }'
!~ ^erltrace: failed to initialize: in the environment \(DTRACE_OPT_\*\): option bufsize: 'big' is not valid
? 1
