# stop() stops who fired, here the command itself; it goes on when it is continued
$ erltrace -wqn 'BEGIN { printf("a\n"); stop(); printf("b\n"); exit(0); }' & p=$!; for i in $(seq 500); do grep -q '^State:.*T' /proc/$p/status && break; sleep 0.02; done; kill -CONT $p; wait $p
> a
> b
>
# not without -w
$ erltrace -qn 'BEGIN { stop(); }'
!~ ^erltrace: could not enable tracing: .*destructive
? 1
