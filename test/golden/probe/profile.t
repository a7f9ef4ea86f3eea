# profile and tick: every unit is known; the default is hz
$ for u in '' hz; do erltrace -e -n "tick-100$u { exit(0); }" && echo ok; done 2>&1
> erltrace: description 'tick-100 ' matched 1 probe
> ok
> erltrace: description 'tick-100hz ' matched 1 probe
> ok
$ for p in tick-200000ns tick-200000nsec tick-200us tick-200usec tick-1ms tick-1msec tick-1s tick-1sec tick-1m tick-1min tick-1h tick-1hour tick-1d tick-1day tick-1 tick-1hz profile-1 profile-1hz profile-1ms profile-97; do erltrace -e -qn "$p { exit(0); }" || echo "not $p"; done
# the same probe by two units is two probes; names are kept as written
$ erltrace -qn 'tick-1ms { printf("%s:%s:%s:%s\n", probeprov, probemod, probefunc, probename); exit(0); }'
> profile:::tick-1ms
>
$ erltrace -qn 'int seen; profile:::profile-1000us /!seen/ { seen = 1; printf("%s\n", probename); exit(0); }'
> profile-1000us
>
# not faster than every 200 microseconds
$ erltrace -e -xerrtags -n 'tick-199us { exit(0); }'
!~ \[D_PDESC_ZERO\] .*200 microseconds
? 1
$ erltrace -e -xerrtags -n 'tick-5001hz { exit(0); }'
!~ \[D_PDESC_ZERO\] .*200 microseconds
? 1
# -Z goes on without it
$ erltrace -Zqn 'profile-1ns { trace(1); } BEGIN { printf("on\n"); exit(0); }'
> on
>
# an unknown unit, no interval: no such probe
$ erltrace -e -xerrtags -n 'tick-1fortnight { exit(0); }'
!~ \[D_PDESC_ZERO\]
? 1
$ erltrace -e -xerrtags -n 'tick-0s { exit(0); }'
!~ \[D_PDESC_ZERO\]
? 1
# it counts
$ erltrace -qn 'tick-1ms { n++; } tick-1ms /n == 5/ { printf("%d\n", n); exit(0); }'
> 5
>
