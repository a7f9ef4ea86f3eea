# -o appends
$ erltrace -qo out -n 'BEGIN { printf("one\n"); exit(0); }'; erltrace -qo out -n 'BEGIN { printf("two\n"); exit(0); }'; grep . out
> one
> two
# messages stay on stderr
$ erltrace -o out2 -n 'BEGIN { exit(0); }'; wc -l < out2
! erltrace: description 'BEGIN ' matched 1 probe
> 3
$ erltrace -qo no/such/out -n 'BEGIN { exit(0); }'
!~ ^erltrace: failed to open output file 'no/such/out': No such file or directory
? 1
# -l goes there too
$ erltrace -lo list -n BEGIN; wc -l < list
> 2
# nobody reads: a quiet end
$ erltrace -qn 'tick-1ms { printf("x\n"); }' | head -1
> x
# no room
$ erltrace -qn 'BEGIN { printf("x\n"); exit(0); }' >/dev/full
!~ ^erltrace: failed to write output: No space left on device
? 1
# -c: until the command ends; $target is its process
$ erltrace -q -c 'true' -n 'END { printf("%d\n", $target > 0); }'
> 1
>
$ erltrace -q -c 'sh -c "echo from the command"' -n 'END { printf("end\n"); }'
> from the command
> end
>
$ erltrace -q -c 'no-such-command' -n 'BEGIN { }'
!~ ^erltrace: failed to execute no-such-command: No such file or directory
? 1
# -p: a process that is not there
$ erltrace -q -p 999999999 -n 'BEGIN { }'
!~ ^erltrace: 
? 1
$ erltrace -q -p abc -n 'BEGIN { }'
!~ ^erltrace: invalid process ID: abc
? 2
# the first interrupt stops, END runs, aggregations print
$ timeout -s INT 20 erltrace -wqn 'BEGIN { @ = count(); raise(2); } END { printf("end\n"); }'
>
> end
>
>                 1
