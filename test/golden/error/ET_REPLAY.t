# ET_REPLAY: a file of events is wrong, or a script reads what it does not have or cannot be replayed.
< a.d
| #pragma D option quiet
| erlang*:m::function-entry { trace(erlproc); }
< lacks.events
| {"erltrace":"events","version":1,"script":"a.d"}
| {"at":1,"probe":"erlang:m:f/1:function-entry","erlpid":"<0.1.0>"}
$ erltrace test lacks.events
> lacks.events: failed: "lacks.events", line 2: the event of function-entry has no erlproc, which the script reads: record it anew, or add it
> 0 passed, 1 failed
? 1

< wrong.sh
| line() { printf '%s\n' '{"erltrace":"events","version":1,"script":"a.d"}' "$1" >x.events; erltrace test x.events | head -n 1; }
| line '{"at":1,"probe":"erlang:m:f/1:function-entry","erlproc":1}'
| line '{"at":1,"probe":"erlang:m:f/1:function-entry","pid":1}'
| line '{"at":"soon","probe":"erlang:m:f/1:function-entry"}'
| line '{"at":1,"probe":"function-entry"}'
| line '{"at":1,"probe":"erlang:m:f/1:function-entri"}'
| line '{"at":1,"probe":"syscall::read:entry"}'
| line '{"at":1,"probe":"state:::process","members":{"age":"old"}}'
| line '{"at":1,"at":2}'
| line '{"at":1'
| line '{"at":01}'
| line '["at"]'
| line '{"at":1,"probe":"END"}
| {"at":2,"probe":"END"}'
| line '{"at":2,"probe":"erlang:::process-exit"}
| {"at":1,"probe":"erlang:::process-exit"}'
$ bash wrong.sh
> x.events: failed: "x.events", line 2: "erlproc" is a text
> x.events: failed: "x.events", line 2: an event has no "pid"
> x.events: failed: "x.events", line 2: "at": a time is expected: nanoseconds, or a text such as "10ms"
> x.events: failed: "x.events", line 2: "probe" is provider:module:function:name, or END, not "function-entry"
> x.events: failed: "x.events", line 2: there is no probe erlang:m:f/1:function-entri: those of erlang, state and profile-N are replayed; tick-N fires by itself
> x.events: failed: "x.events", line 2: there is no probe syscall::read:entry: those of erlang, state and profile-N are replayed; tick-N fires by itself
> x.events: failed: "x.events", line 2: "age" is a number
> x.events: failed: "x.events", line 2: this member is there twice
> x.events: failed: "x.events", line 2: a comma or } is expected
> x.events: failed: "x.events", line 2: this is no number
> x.events: failed: "x.events", line 2: a line is an object of JSON
> x.events: failed: "x.events", line 3: END is the last line
> x.events: failed: "x.events", line 3: the event comes before the one in the line above: sort them by "at"

# scripts that cannot be replayed
< may.sh
| echo '{"erltrace":"events","version":1}' >x.events
| for d in 'BEGIN { trace(cpu); }' 'erlang*:m:f:function-entry { follow(); }' 'syscall::read:entry { }' 'BEGIN { copyin(1, 2); }' 'BEGIN { trace(execname); }' 'profile-97 { @[ustack()] = count(); }'; do echo "$d" >x.d; erltrace test -s x.d x.events | head -n 1; done
$ bash may.sh
> x.events: failed: a clause at BEGIN cannot be replayed: it has cpu
> x.events: failed: a clause at function-entry cannot be replayed: it has follow(): flows are followed inside nodes only
~ probe description syscall::read:entry does not match any probes: 
> x.events: failed: a clause at BEGIN cannot be replayed: it has copyin()
> x.events: failed: a clause at BEGIN cannot be replayed: it has execname
> x.events: failed: profile-97 has no events in x.events, and the script reads what it interrupts: record them

# a time that never ends
< ever.events
| {"erltrace":"events","version":1}
| {"at":"10000d","probe":"END"}
$ echo 'tick-1ms { }' >x.d; erltrace test -s x.d ever.events | head -n 1
> ever.events: failed: tick-1ms would fire 864000000000 times until the recording ends: at most 10000000 are replayed

# a term that was cut can be printed, but not looked into
< cut.d
| erlang*:::message-send /erlmatch(erlmsg, "{a, _}")/ { }
< print.d
| #pragma D option quiet
| erlang*:::message-send { printf("%s\n", erlmsg); }
< cut.events
| {"erltrace":"events","version":1,"script":"print.d"}
| {"at":1,"probe":"erlang:::message-send","erlmsg":"{a,[1,2,..."}
$ erltrace test -v cut.events | head -n 1
> {a,[1,2,...

$ erltrace test -s cut.d cut.events | head -n 1
~ cut.events", line 2: erlmsg cannot be read as a term, and the script looks into it: .*: \{a,\[1,2,\.\.\.$
