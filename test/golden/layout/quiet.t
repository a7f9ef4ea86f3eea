# -q: only what the script prints, then the blank line that dtrace ends with
$ erltrace -qn 'BEGIN { printf("%s\n", "only this"); exit(0); }'
> only this
>
# trace() without columns
$ erltrace -qn 'BEGIN { trace(1); trace("a"); trace((char)2); trace(-3ll); exit(0); }'
> 1a2-3
# as a pragma, and as an option
< q.d
| #pragma D option quiet
| BEGIN { printf("quiet\n"); exit(0); }
$ erltrace -s q.d
> quiet
>
$ erltrace -xquiet -n 'BEGIN { printf("quiet\n"); exit(0); }'
> quiet
>
$ DTRACE_OPT_QUIET= erltrace -n 'BEGIN { printf("quiet\n"); exit(0); }'
> quiet
>
# one quiet script makes the others quiet
$ erltrace -s q.d -n 'END { printf("end\n"); }'
> quiet
> end
>
