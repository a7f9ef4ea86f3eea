# payload=off: count, but do not read. Each built-in and subroutine is refused or not, as its line of
# builtins.def says (test/cli/payload.sh tries all of them); here are the ways around it.
$ erltrace -e -xerrtags -xpayload=off -n 'BEGIN { this->p = copyin(0, 8); }'
!~ \[D_PAYLOAD\] .*copyin\(\) shows contents of messages, arguments or memory: option payload is off
? 1

# the script cannot switch it on again, not even with -w; it may switch it off
$ echo '#pragma D option payload=on' > on.d; erltrace -e -w -Z -xempty -xpayload=off -s on.d 2>&1 | grep -o 'option payload is off.*'
> option payload is off here, and stays off
$ printf '#pragma D option payload=off\nBEGIN { trace(*(int *)0x1000); }\n' > off.d; erltrace -e -xerrtags -s off.d 2>&1 | grep -o D_PAYLOAD
> D_PAYLOAD

# casts, stringof(), formats, structures, array elements
$ for x in '*(char *)arg0' 'stringof(arg0)' '(string)arg0' '((int *)arg0)[1]' 'stringof((char *)0x1000)' 'copyinstr(0x1000)' 'uregs[0]'; do erltrace -e -xerrtags -xpayload=off -n "BEGIN { trace($x); }" 2>&1 | grep -o D_PAYLOAD; done | uniq -c | sed 's/^ *//'
> 7 D_PAYLOAD
$ erltrace -e -xerrtags -xpayload=off -n 'struct s { int a; }; BEGIN { trace(((struct s *)0x1000)->a); }' 2>&1 | grep -o D_PAYLOAD
> D_PAYLOAD
$ erltrace -e -xerrtags -xpayload=off -n 'BEGIN { printf("%s", (char *)0x1000); }' 2>&1 | grep -o D_PAYLOAD
> D_PAYLOAD
$ erltrace -e -xerrtags -xpayload=off -n 'BEGIN { tracemem(0x1000, 8); }' 2>&1 | grep -o D_PAYLOAD
> D_PAYLOAD
$ erltrace -e -xerrtags -xpayload=off -n 'BEGIN { @[stringof((char *)0x1000)] = count(); }' 2>&1 | grep -o D_PAYLOAD
> D_PAYLOAD

# inlines and translators
$ erltrace -e -xerrtags -xpayload=off -n 'inline int peek = *(int *)0x1000; BEGIN { trace(peek); }' 2>&1 | grep -o D_PAYLOAD
> D_PAYLOAD
$ erltrace -e -xerrtags -xpayload=off -n 'typedef struct t { int a; } t_t; translator t_t < int *p > { a = *p; }; BEGIN { trace(xlate <t_t> ((int *)0x1000).a); }' 2>&1 | grep -o D_PAYLOAD
> D_PAYLOAD
$ erltrace -e -xerrtags -xpayload=off -n 'BEGIN { trace(curpsinfo->pr_psargs); }' 2>&1 | grep -o D_PAYLOAD
> D_PAYLOAD

# arguments of Erlang probes: identities, names and sizes, but no reasons
$ erltrace -e -q -Z -xpayload=off -n 'erlang*:::process-exit { @[copyinstr(arg0)] = count(); } erlang*:::message-send { @w[args[0], arg2] = count(); } erlang*:::process-spawn { trace(args[1]); }'
$ for x in 'process-exit { trace(args[1]); }' 'process-exit { @[copyinstr(arg1)] = count(); }' 'process-* { trace(stringof(arg1)); }' 'user_trace-i4s4 { trace(arg2); }' 'function-return { trace(erlret); }' 'message-send /erlmsg == "x"/ { }' 'function-entry /erlarg(0) > 1/ { }' 'function-entry { @ = sum(erlint(0)); }' 'function-entry /erlmatch(erlarg(0), "{ok, X}")/ { }'; do erltrace -e -Z -xerrtags -xpayload=off -n "erlang*:::$x" 2>&1 | grep -o D_PAYLOAD; done | uniq -c | sed 's/^ *//'
> 9 D_PAYLOAD

# the peer of a call is its first argument, whatever that is; elsewhere it is a process
$ for x in 'function-entry' 'function-return' 'function-exception' 'bif-entry' 'function-*' '*'; do for b in erlpeer erlpeerproc; do erltrace -e -Z -xerrtags -xpayload=off -n "erlang*:m::$x { trace($b); }" 2>&1 | grep -o D_PAYLOAD; done; done | uniq -c | sed 's/^ *//'
> 12 D_PAYLOAD
$ erltrace -e -q -Z -xpayload=off -n 'erlang*:::process-spawn, erlang*:::message-send { @[erlpeer, erlpeerproc] = count(); }'

# ports are called by the commands that they run
$ for x in 'port-open { trace(args[1]); }' 'port-exit { trace(args[2]); }' 'port-control { trace(args[2]); }' 'driver-start { trace(copyinstr(arg1)); }'; do erltrace -e -Z -xerrtags -xpayload=off -n "erlang*:::$x" 2>&1 | grep -o D_PAYLOAD; done | uniq -c | sed 's/^ *//'
> 4 D_PAYLOAD

# what counts
$ erltrace -q -xpayload=off -n 'BEGIN { @[execname, strjoin("a", "b")] = count(); self->t = timestamp; printf("%d %s\n", pid > 0, curpsinfo->pr_fname == execname ? "same" : "other"); ustack(); exit(0); }' | grep -c same
> 1
