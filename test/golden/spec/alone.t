# speculate() alone records the default line
$ erltrace -n 'BEGIN { s = speculation(); } BEGIN { speculate(s); } BEGIN { commit(s); } tick-1ms { exit(0); }' | awk 'NF { print $2, $3 }'
> ID FUNCTION:NAME
> 1 :BEGIN
~ ^[0-9]+ :tick-1ms$
!~ matched 4 probes
# with what is not recorded too; with -q there is nothing to print
$ erltrace -n 'int n; BEGIN { s = speculation(); } BEGIN { speculate(s); n++; } BEGIN { commit(s); } tick-1ms { exit(n); }' | awk 'NF { print $2, $3 }'
> ID FUNCTION:NAME
> 1 :BEGIN
~ ^[0-9]+ :tick-1ms$
!~ matched 4 probes
$ erltrace -qn 'BEGIN { s = speculation(); } BEGIN { speculate(s); } BEGIN { commit(s); } tick-1ms { exit(0); }'
>
# not reached, not recorded
$ erltrace -n 'BEGIN { s = speculation(); } BEGIN { if (!s) speculate(s); } BEGIN { if (s) speculate(s); } BEGIN { commit(s); } tick-1ms { exit(0); }' | grep -c BEGIN
> 1
!~ matched 5 probes
