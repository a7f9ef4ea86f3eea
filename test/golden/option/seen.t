# seen: a script that has printed no row says what it has seen
$ erltrace -q -xseen -n 'BEGIN { exit(0); }'
>
~ ^nothing to show in [0-9]+\.[0-9] s$
$ erltrace -q -xseen -n 'BEGIN { m = 0; printf("%s\n", "HEADING"); } tick-1ms /n++ == 3/ { exit(0); } END { @ = count(); trunc(@); printf("%d in all\n", m); }'
> HEADING
> 0 in all
>
~ ^nothing to show in [0-9]+\.[0-9] s$

# an event, as often as it fired; ticks are none
$ erltrace -q -xseen -n 'profile-1ms /n++ == 50/ { exit(0); } tick-1ms /0/ { trace(n); }'
>
~ ^nothing to show: [1-9][0-9]* events of profile-1ms in [0-9]+\.[0-9] s$

# a heading with the time is none
$ erltrace -q -xseen -n 'tick-1ms { printf("%Y\n", walltimestamp); exit(0); }'
~ ^20
>
~ ^nothing to show in [0-9]+\.[0-9] s$

# a row: of an aggregation, of an action, a sum; or the script has failed
$ erltrace -q -xseen -n 'BEGIN { @["a"] = count(); exit(0); }'
>
>   a                                                                 1
$ erltrace -q -xseen -n 'tick-1ms { n = 1; printf("%d\n", 1 + n); exit(0); }'
> 2
>
$ erltrace -q -xseen -n 'BEGIN { n = 3; exit(0); } END { printf("%d in all\n", n); }'
> 3 in all
>
$ erltrace -q -xseen -n 'BEGIN { printf("which process?\n"); exit(1); }'
> which process?
>
? 1

# without the option there is no such line; as JSON it is an object
$ erltrace -q -n 'BEGIN { exit(0); }'
>
$ erltrace --json -q -xseen -n 'BEGIN { exit(0); }' | grep nothing
~ ^\{"type":"nothing","seconds":[0-9.]+,"nodes":1,"events":0,"text":"nothing to show in [0-9]+\.[0-9] s"\}$
