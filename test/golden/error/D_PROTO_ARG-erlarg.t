# arguments count from 0, and a function has no more than its arity says
$ erltrace -e -xerrtags -n 'BEGIN { trace(erlarg(-1)); }'
!~ \[D_PROTO_ARG\] argument 1 of erlarg\(\) is -1: arguments count from 0
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(erlint(255)); }'
!~ \[D_PROTO_ARG\] argument 1 of erlint\(\) is 255: no function has so many arguments
? 1
$ erltrace -Z -e -xerrtags -n 'erlang*:m:f/1:function-entry { trace(erlarg(1)); }'
!~ \[D_PROTO_ARG\] erlarg\(1\): f/1 has 1 argument; the first is erlarg\(0\)
? 1
$ erltrace -Z -e -xerrtags -n 'erlang*:m:f/2:function-entry, erlang*::g/0:function-return { trace(erlint(2)); }'
!~ \[D_PROTO_ARG\] erlint\(2\): f/2 has 2 arguments; the first is erlint\(0\)
? 1
$ erltrace -Z -e -xerrtags -n 'erlang*:m:f/0:function-entry { trace(erlarg(0)); }'
!~ \[D_PROTO_ARG\] erlarg\(0\): f/0 has no arguments
? 1
# another of the descriptions may have it
$ erltrace -Z -e -n 'erlang*:m:f/1:function-entry, erlang*:m:f/2:function-entry { trace(erlarg(1)); }'
!~ matched 0 probes
$ erltrace -Z -e -n 'erlang*:m:f/1:function-entry, erlang*:m:g:function-entry { trace(erlarg(7)); }'
!~ matched 0 probes
