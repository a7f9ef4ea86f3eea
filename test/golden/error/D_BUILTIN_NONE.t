# a built-in that no probe of the description has
$ erltrace -Z -e -xerrtags -n 'erlang*:::process-spawn { trace(erlmsg); }'
!~ \[D_BUILTIN_NONE\] 'erlmsg' has no value at erlang\*:::process-spawn: message-send, message-send-remote, message-undelivered, message-queued, timer-expire, flow-send, flow-receive have it
? 1
$ erltrace -Z -e -xerrtags -n 'erlang*:m:f:function-entry /erlret == 1/ { }'
!~ \[D_BUILTIN_NONE\] 'erlret' has no value at erlang\*:m:f:function-entry: function-return, bif-return, nif-return, ets-return, timer-cancel, atom-new have it
? 1
$ erltrace -Z -e -xerrtags -n 'erlang*:::message-queued { @[erlpeer] = count(); }'
!~ \[D_BUILTIN_NONE\] 'erlpeer' has no value
? 1
$ erltrace -Z -e -xerrtags -n 'erlang1234:::gc_* { @[erlarg(0)] = count(); }'
!~ \[D_BUILTIN_NONE\] 'erlarg' has no value
? 1
$ erltrace -e -xerrtags -n 'tick-1s { trace(erlint(0)); }'
!~ \[D_BUILTIN_NONE\] 'erlint' has no value at :::tick-1s
? 1
$ erltrace -Z -e -xerrtags -n 'erlang*:m:f:function-return { @[erlclass] = count(); }'
!~ \[D_BUILTIN_NONE\] 'erlclass' has no value at erlang\*:m:f:function-return: function-exception has it
? 1
$ erltrace -Z -e -xerrtags -n 'erlang*:m:f:function-exception { @[erlret] = count(); }'
!~ \[D_BUILTIN_NONE\] 'erlret' has no value at erlang\*:m:f:function-exception
? 1
# follow() can do nothing where nobody calls anything
$ erltrace -e -xerrtags -n 'BEGIN { follow(); }'
!~ \[D_BUILTIN_NONE\] 'follow' has no value at :::BEGIN: function-entry, local-function-entry have it
? 1
$ erltrace -e -xerrtags -n 'END { x = follow(); }'
!~ \[D_BUILTIN_NONE\] 'follow' has no value at :::END
? 1
# in a function that is expanded; each description counts
$ erltrace -Z -e -xerrtags -n 'inline string what = stringof(erlmsg); erlang*:::message-send, erlang*:::process-exit { trace(what); }'
!~ \[D_BUILTIN_NONE\] .* at erlang\*:::process-exit
? 1
# where one of the probes has it, it is fine
$ erltrace -Z -e -qn 'erlang*:::message-* { @[erlmsg] = count(); }'
$ erltrace -Z -e -qn 'erlang*:m:: { @[erlargs] = count(); @r[erlret] = count(); }'
$ erltrace -Z -e -qn 'erlang*:m:f:function-return { @[erlargs, erlpeer] = sum(erlint(0)); }'
$ erltrace -Z -e -qn 'erlang*:m:f:function-exception { @[erlclass, erlreason, erlargs, erlpeer] = sum(erlint(0)); }'
$ erltrace -Z -e -qn 'erlang*:::process-exit, erlang*:::port-exit { @[erlreason, erlproc] = count(); }'
