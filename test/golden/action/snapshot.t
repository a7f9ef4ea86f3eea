# snapshot(why): what the ring buffers hold, as a file; the script goes on
< s.d
| #pragma D option bufpolicy=ring
| #pragma D option quiet
| BEGIN { printf("one\n"); }
| BEGIN { printf("two\n"); snapshot("why not? ../x"); }
| BEGIN { printf("three\n"); }
| tick-10ms /++n == 20/ { exit(0); }
$ mkdir s; erltrace --snapshots s -s s.d
> one
> two
> three
>
$ ls s | sed 's/^[0-9T.]*Z/TIME/'; sed -n 's/ events .*s; / events; /; s/at [^ ]*/at TIME/; 1,2p' s/*; grep -o 'BEGIN .*' s/*
> TIME-s-why_not_.._x.txt
> # why not? ../x
> # at TIME 3 events; 0 others are overwritten
> BEGIN one
> BEGIN two snapshot why not? ../x
> BEGIN three

# a speculation that is committed, with its snapshot(); alert() writes one as well; each acts once
$ mkdir c; erltrace -q --snapshots c -xsnapshotrate=0 -xbufpolicy=ring -n 'BEGIN { self->s = speculation(); speculate(self->s); printf("kept"); snapshot("spec"); } BEGIN { commit(self->s); } tick-10ms /++n == 20/ { alert("Slow", "%d", n); } tick-10ms /n == 40/ { exit(0); }' | tr '\n' ' '; ls c | sed 's/^[0-9T.]*Z/TIME/' | sort; grep -oh 'BEGIN .*' c/*spec*
> alert Slow: 20 kept TIME-script-alert_Slow.txt
> TIME-script-spec.txt
> BEGIN kept snapshot spec

# rows: one for each event, at the end; what is told at once has none
$ mkdir q; erltrace --snapshots q 2>/dev/null -xsnapshotrate=0 -xbufpolicy=ring -n 'BEGIN { snapshot("row"); } tick-10ms /++n == 20/ { alert("Slow", "%d", n); } tick-10ms /n == 40/ { exit(0); }' | sed 's/  *[0-9]*  *[0-9]*  *:/:/; s/  *$//; /^$/d'; ls q | wc -l
> alert Slow: 20
> CPU     ID                    FUNCTION:NAME
> :BEGIN
> :tick-10ms
> :tick-10ms
> 2

# at most so often, and so many; the rest is said
$ mkdir r; erltrace -q --snapshots r -xbufpolicy=ring -xsnapshotrate=1h -n 'tick-20ms { snapshot("often"); } tick-20ms /++n == 10/ { exit(0); }' > /dev/null; ls r | wc -l
> 1
$ mkdir m; erltrace -q --snapshots m -xbufpolicy=ring -xsnapshotrate=0 -xsnapshotmax=3 -n 'tick-50ms { snapshot("many"); } tick-50ms /++n == 10/ { exit(0); }' > /dev/null; ls m | wc -l
> 3

# a folder that is not there, a full disk: told, and it goes on
$ erltrace -q --snapshots nosuch -xbufpolicy=ring -n 'BEGIN { snapshot("x"); } tick-100ms { exit(0); }' 2>&1 | sed 's,nosuch/[0-9T.]*Z,nosuch/TIME,'
> erltrace: snapshot 'x': couldn't write nosuch/TIME-script-x.txt: No such file or directory
>
$ mkdir f; (ulimit -f 1; trap '' XFSZ; erltrace -q --snapshots f -xbufpolicy=ring -n 'tick-1ms { printf("%70d", ++n); } tick-1ms /n == 100/ { snapshot("x"); } tick-1ms /n == 200/ { exit(0); }' 2>&1 >/dev/null | grep -o 'File too large'); ls f | wc -l
> File too large
> 0

# nobody has said where to
$ erltrace -q -xbufpolicy=ring -n 'BEGIN { snapshot("x"); } tick-100ms { exit(0); }'
>
! erltrace: snapshot 'x': nobody has said where to: --snapshots DIR, or the option snapshotdir

# the script cannot say it
$ erltrace -q -xbufpolicy=ring -n '#pragma D option snapshotdir=.' 2>&1 | grep -o 'option snapshotdir can be set by the user, not by a script'
> option snapshotdir can be set by the user, not by a script
