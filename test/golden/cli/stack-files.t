# not in the kernel: the frames are those of the command itself
# --folded: outermost first; offsets are no part of a function
$ erltrace -qn 'BEGIN { @["a;b", ustack()] = count(); exit(0); }' --folded f >o && sed 's/ [0-9]*$/ N/' f
~ ^a:b;(.*;)?erltrace`main;.*erltrace`erltrace_go;.* N$

# "-": the standard output; what the script prints goes to the standard error
# not in the kernel: the frames are those of the command itself
$ erltrace -qn 'BEGIN { printf("printed\n"); @[ustack(1)] = count(); exit(0); } END { trunc(@); }' --folded - 2>e; cat e
~ ^erltrace`[^;]* 1$
> printed
>

# also what has been cleared and truncated is in it
$ erltrace -qn 'tick-1ms /n < 10/ { n++; @["k", stack()] = count(); printa(@); trunc(@); } tick-1ms /n == 10/ { exit(0); }' --folded - 2>/dev/null
> k 10

# a file that is there is replaced
$ seq 1000 >f; erltrace -qn 'BEGIN { @["k", stack()] = sum(7); exit(0); }' --folded f >/dev/null; cat f
> k 7

# one aggregation is what folded stacks have room for
$ erltrace -qn 'BEGIN { @a["k", stack()] = count(); @b["k", stack()] = count(); exit(0); }' --folded f >/dev/null; cat f
> k 1
! erltrace: --folded has room for one aggregation, @a: @b is left out (--speedscope and --pprof take all)

# sums below 0
$ erltrace -qn 'BEGIN { @a["k", stack()] = sum(-1); exit(0); }' --folded f >/dev/null; cat f
! erltrace: @a: 1 stack with a sum below 0 left out of --folded
! erltrace: no stacks were gathered for --folded

# nothing was gathered
$ erltrace -qn 'BEGIN { exit(0); } END /0/ { @[stack()] = count(); }' --speedscope f; tail -n 1 f
>
> "weights":[]}]}
! erltrace: no stacks were gathered for --speedscope

# a script without stacks
$ erltrace -qn 'BEGIN { @["a"] = count(); @b = count(); ustack(); exit(0); }' --folded none; test -e none
! erltrace: --folded: no aggregation of the script has a stack as a key, such as @[ustack()] = count()
? 1

# averages do not add up
$ erltrace -qn 'BEGIN { @[ustack()] = avg(1); @[stack()] = quantize(1); exit(0); }' --pprof f
! erltrace: --pprof: of an aggregation by stack it takes count() and sum(), which add up; the script has neither
? 1

# a file that cannot be opened: before anything is traced
$ erltrace -qn 'BEGIN { @[ustack()] = count(); printf("ran\n"); exit(0); }' --pprof no/such
! erltrace: failed to open the file of --pprof, 'no/such': No such file or directory
? 1

# one that cannot be written
# not in the kernel: the frames are those of the command itself
$ erltrace -qn 'BEGIN { @[ustack()] = count(); exit(0); }' --pprof /dev/full >/dev/null
! erltrace: failed to write '/dev/full' of --pprof: No space left on device
? 1

# a script that does not compile is told, and the file stays as it is
$ echo before >f; erltrace -qn 'BEGIN { @[ustack()] = count(); x; }' --folded f; cat f
> before
!~ 'x' is not declared

$ erltrace -qn 'BEGIN { @[ustack()] = count( }' --folded f
!~ syntax error|expected
? 1

# what does not go together
$ erltrace -n 'BEGIN { @[ustack()] = count(); }' --pprof - --folded -
! erltrace: only one of --folded, --speedscope, --pprof and --perfetto can be written to the standard output
? 2
$ erltrace -l --folded f
! erltrace: -l runs no script: there is nothing for --folded, --speedscope or --pprof
? 2
$ erltrace --json --live=1 -n 'BEGIN { @[ustack()] = count(); }' --folded f
! erltrace: --live cannot be combined with --folded, --speedscope or --pprof
? 2

# with JSON
$ erltrace --json -qn 'BEGIN { @["k", stack()] = count(); exit(0); }' --folded f; cat f
~ ^."type":"exit"
> {"type":"aggregation","aggregation":"_","function":"count","keys":["k",[]],"value":1,"normal":1}
> k 1
