# erltrace test: what a script prints over recorded events, by the time of the file.
< long.d
| #pragma D option quiet
| erlang*:m::function-entry { self->at = timestamp; }
| erlang*:m::function-return /self->at/ { @took[args[1], erlpid] = max(timestamp - self->at); self->at = 0; }
| tick-1s { printa("%s %s %@d ns\n", @took); trunc(@took); }
| END { printf("%Y\n", walltimestamp); }
< long.events
| {"erltrace":"events","version":1,"script":"long.d"}
|
| # two processes at once: each has its own time
| {"at":"1ms","probe":"erlang:m:put/2:function-entry","erlpid":"<0.90.0>"}
| {"at":"2ms","probe":"erlang:m:put/2:function-entry","erlpid":"<0.91.0>"}
| {"at":4000000,"probe":"erlang:m:put/2:function-return","erlpid":"<0.90.0>","args":[null,"m:put/2"]}
| {"at":"9ms","probe":"erlang:m:put/2:function-return","erlpid":"<0.91.0>","args":[null,"m:put/2"]}
| {"at":"2s","probe":"END"}
$ erltrace test long.events
> long.events: failed: cannot read long.expected: No such file or directory (--update writes it)
> 0 passed, 1 failed
? 1

$ erltrace test -v --update long.d
> m:put/2 <0.90.0> 3000000 ns
> m:put/2 <0.91.0> 7000000 ns
> 2020 Jan  1 00:00:02
>
> ./long.events: written
> 1 passed, 0 failed

$ erltrace test .
> ./long.events: passed
> 1 passed, 0 failed

# what differs is shown
$ sed -i 's/"9ms"/"8ms"/' long.events; erltrace test long.events
> long.events: failed: - is expected, + is printed
>  m:put/2 <0.90.0> 3000000 ns
> -m:put/2 <0.91.0> 7000000 ns
> +m:put/2 <0.91.0> 6000000 ns
>  2020 Jan  1 00:00:02
>  
> 0 passed, 1 failed
? 1

# the arguments and options of the first line; how it ends
< args.d
| tick-10ms { printf("%s %d\n", $$1, ++n); }
| erlang*:::process-exit { printf("%s %s\n", args[0], erlnode); exit(3); }
< args.events
| {"erltrace":"events","version":1,"script":"args.d","args":["hello"],"options":["quiet"],"node":"a@b"}
| {"at":"20ms","probe":"erlang:::process-exit","args":["<0.5.0>","normal"]}
| {"at":"1h","probe":"END"}
$ erltrace test -v args.events
> hello 1
> hello 2
> <0.5.0> a@b
>
> exit status 3
> args.events: failed: cannot read args.expected: No such file or directory (--update writes it)
> 0 passed, 1 failed
? 1

# a file of somebody else runs no program and names no file by its options, nor lets its script do so
< mine.d
| #pragma D option quiet
| BEGIN { printf("mine\n"); }
< other.sh
| touch other
$ for o in cpp cpppath=./other.sh ctypes=other libdir=. destructive; do printf '{"erltrace":"events","version":1,"script":"mine.d","options":["quiet","%s"]}\n' $o >mine.events; chmod +x other.sh; erltrace test -v mine.events; done; ls other
> mine.events: failed: "mine.events", line 1: "options": cpp can be set by the user, not by a file
> 0 passed, 1 failed
> mine.events: failed: "mine.events", line 1: "options": cpppath=./other.sh can be set by the user, not by a file
> 0 passed, 1 failed
> mine.events: failed: "mine.events", line 1: "options": ctypes=other can be set by the user, not by a file
> 0 passed, 1 failed
> mine.events: failed: "mine.events", line 1: "options": libdir=. can be set by the user, not by a file
> 0 passed, 1 failed
> mine.events: failed: "mine.events", line 1: "options": destructive can be set by the user, not by a file
> 0 passed, 1 failed
! ls: cannot access 'other': No such file or directory
? 2

# errors of clauses are part of the result
< fault.d
| #pragma D option quiet
| erlang*:::message-send { printf("%d\n", erlmsg); }
< fault.events
| {"erltrace":"events","version":1,"script":"fault.d"}
| {"at":1,"probe":"erlang:::message-send","erlmsg":"12"}
| {"at":2,"probe":"erlang:::message-send","erlmsg":"{ok,12}"}
$ erltrace test -v fault.events | head -n 2
> 12
~ ^erltrace: error on enabled probe ID 1 .*not a number

# the state of a node, samples and their stacks
< state.d
| #pragma D option quiet
| state:::process-1s /args[0]->mailbox > 2/ { printf("%s %s %d\n", erlpid, args[0]->name, args[0]->mailbox); }
| profile-97 { @[ustack()] = count(); }
< state.events
| {"erltrace":"events","version":1,"script":"state.d"}
| {"at":"1s","probe":"state:::process-1s","erlpid":"<0.1.0>","members":{"name":"one","mailbox":2}}
| {"at":"1s","probe":"state:::process-1s","erlpid":"<0.2.0>","members":{"name":"two","mailbox":3}}
| {"at":"2s","probe":"profile:::profile-97","stack":["m:f/1 (m.erl:3)","m:g/0"]}
| {"at":"2s","probe":"profile:::profile-97","stack":["m:f/1 (m.erl:3)","m:g/0"]}
$ erltrace test -v state.events | head -n 6
> <0.2.0> two 3
>
>
>               m:f/1 (m.erl:3)
>               m:g/0
>                 2

# a file of somebody else names no file but a script: errors would show what is in it, and a fifo be waited for
$ mkfifo fifo.d; echo secret_word >secret; for s in secret /dev/stdin fifo.d; do printf '{"erltrace":"events","version":1,"script":"%s"}\n' $s >names.events; erltrace test names.events </dev/null; done; rm fifo.d names.events
> names.events: failed: the script that it names does not end with .d: secret (-s permits any)
> 0 passed, 1 failed
> names.events: failed: the script that it names does not end with .d: /dev/stdin (-s permits any)
> 0 passed, 1 failed
> names.events: failed: the script that it names is not a file: fifo.d
> 0 passed, 1 failed

# what is expected is neither read nor written through a link
$ printf '{"erltrace":"events","version":1,"script":"mine.d"}\n' >link.events; ln -s secret link.expected; erltrace test link.events; erltrace test --update link.events; cat secret; rm link.*
> link.events: failed: link.expected is not a regular file: links are not followed
> 0 passed, 1 failed
> link.events: failed: link.expected is not a regular file: links are not followed
> 0 passed, 1 failed
> secret_word

# on a terminal nothing of a file acts: not what is printed, nor what is expected, nor an error
< draws.d
| #pragma D option quiet
| erlang*:::process-exit { printf("%s\n", args[0]); }
< draws.events
| {"erltrace":"events","version":1,"script":"draws.d"}
| {"at":1,"probe":"erlang:::process-exit","args":["<0.1.0>\u001b[2J"]}
$ printf '\033]0;title\a\n' >draws.expected; script -qec 'erltrace test -v draws.events' /dev/null </dev/null | tr -d '\r'
> <0.1.0>\x1b[2J
>
> draws.events: failed: - is expected, + is printed
> -\x1b]0;title\x07
> +<0.1.0>\x1b[2J
> +
> 0 passed, 1 failed
$ sed -i 's/process-exit/\\u001b[2J/' draws.events; script -qec 'erltrace test draws.events' /dev/null </dev/null | tr -d '\r'
~ ^draws.events: failed: "draws.events", line 2: there is no probe erlang:::.x1b.2J
> 0 passed, 1 failed
