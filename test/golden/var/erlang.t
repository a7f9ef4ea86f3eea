# built-ins of Erlang events compile anywhere; where no Erlang event is, they are "" and 0
$ erltrace -qn 'BEGIN { printf("[%s][%s][%s][%s][%s][%s] %d\n", erlpid, erlname, erlnode, erlmsg, erlargs, erlret, erlsched); exit(0); }'
> [][][][][][] 0
>
$ erltrace -qn 'BEGIN { printf("[%s][%s] %d %d\n", erlarg(0), erlarg(7), erlint(0), erlpid == ""); exit(0); }'
> [][] 0 1
>
$ erltrace -qn 'BEGIN { printf("[%s][%s]\n", erlclass, erlreason); exit(0); }'
> [][]
>
# in predicates, as keys, as values
$ erltrace -Z -e -qn 'erlang*:orders:put:function-entry /erlarg(0) == "orders"/ { @[erlpid, erlname] = quantize(erlint(1)); }'
$ erltrace -Z -e -qn 'erlang*:orders:put:function-return { self->r = erlret; @[self->r] = count(); a[erlname] = erlargs; }'
# their types
$ erltrace -qn 'BEGIN { printf("%d %d\n", sizeof(erlsched), sizeof(erlint(0))); exit(0); }'
> 4 8
>
$ erltrace -e -xerrtags -n 'BEGIN { trace(erlpid - 1); }'
!~ \[D_OP_
? 1
# they are not assigned to, and take what their prototypes say
$ erltrace -e -xerrtags -n 'BEGIN { erlpid = "x"; }'
!~ \[D_OP_
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(erlarg()); }'
!~ \[D_PROTO_LEN\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(erlint("x")); }'
!~ \[D_PROTO_ARG\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(erlarg); }'
!~ \[D_IDENT_BADREF\]
? 1
# args[] has the types of the erlang provider where there is no node
$ erltrace -Z -e -qn 'erlang*:::message-send /args[1] == "<0.1.0>"/ { @[args[0]] = sum(args[2]); }'
$ erltrace -Z -e -qn 'erlang1234:lists:seq:function-entry { @[args[1], args[2] + 1] = count(); }'
$ erltrace -Z -e -qn 'erlang*:m:f:function-exception /args[3] == "throw"/ { @[args[1], args[2] + 1] = count(); }'
$ erltrace -Z -e -qn 'erlang*:::gc_minor-start, erlang*:::gc_major-start { @[args[0]] = max(args[1]); }'
$ erltrace -Z -e -xerrtags -n 'erlang*:::message-send { trace(args[6]); }'
!~ \[D_ARGS_IDX\] .*'message-send' has 6 arguments
? 1
$ erltrace -Z -e -xerrtags -n 'erlang*:::message-send, erlang*:::process-spawn { trace(args[0]); }'
!~ \[D_ARGS_MULTI\]
? 1
$ erltrace -Z -e -xerrtags -n 'erlang*:::message* { trace(args[0]); }'
!~ \[D_ARGS_NONE\]
? 1
# copyinstr() of a string is that string, or its beginning
$ erltrace -qn 'BEGIN { printf("%s %s [%s]\n", copyinstr(probename), copyinstr(probename, 3), copyinstr(probename, 0)); exit(0); }'
> BEGIN BEG []
>
$ erltrace -Z -e -qn 'erlang*:::message-send { @[copyinstr(args[0]), copyinstr(arg0), stringof(args[1])] = count(); }'
# what a clause reads on all its ways is asked for once
$ erltrace -Z -e -S -n 'erlang*:m:f:function-return /erlret != ""/ { @[erlret, erlarg(0), erlarg(1)] = count(); @b[erlret, erlarg(1)] = count(); }' 2>&1 | grep -c 'call pbi_str'
> 3
$ erltrace -qn 'BEGIN { printf("[%s]\n", erllock); exit(0); }'
> []
>
