# aggpercpu: the share of each thread below the sum
$ erltrace -q -xaggpercpu -n 'BEGIN { @["k"] = count(); exit(0); }' | sed 's/CPU [0-9]*/CPU N/'
>
>   k                                                                 1
>     [CPU N]                1
# bufpolicy=fill: full is the end; what came first is kept
< fill.sh
| for i in $(seq 200); do printf '%s\n' "BEGIN { printf(\"%s %d\\n\", \"a string that takes some room\", $i); }"; done
$ sh fill.sh > f.d; erltrace -q -xbufpolicy=fill -xbufsize=2k -s f.d > out 2>err; echo $?; head -1 out; test $(wc -l < out) -lt 200 && echo fewer
> 0
> a string that takes some room 1
> fewer
# ring: the newest are kept, nothing is called a drop
$ erltrace -q -xbufpolicy=ring -xbufsize=2k -s f.d -n 'BEGIN { exit(0); }' > out; grep -c ' 1$' out; grep ' ' out | tail -1
> 0
> a string that takes some room 200
# nspec: how many speculations at once
$ erltrace -q -xnspec=2 -n 'BEGIN { printf("%d %d %d\n", speculation() != 0, speculation() != 0, speculation()); exit(0); }'
> 1 1 0
>
!~ ^erltrace: 1 failed speculation \(no speculative buffer available\)
$ erltrace -q -xnspec=0 -n 'BEGIN { printf("%d\n", speculation()); exit(0); }'
> 0
>
!~ ^erltrace: 1 failed speculation
# scratchsize: what alloca() may take
$ erltrace -q -xscratchsize=1k -n 'BEGIN { this->p = (char *)alloca(1000); printf("ok\n"); exit(0); }'
> ok
>
$ erltrace -e -xerrtags -n 'BEGIN { alloca(1000); }'
!~ \[D_ALLOCA_SIZE\]
? 1
$ erltrace -q -n 'BEGIN { n = 1000; this->p = (char *)alloca(n); printf("no\n"); } BEGIN { exit(0); }'
>
!~ ^erltrace: .*out of scratch space
# maxframes bounds every stack

# not in the kernel: its stacks begin at the system call that runs BEGIN
$ erltrace -q -xmaxframes=1 -n 'BEGIN { ustack(3); exit(0); }' | grep -cE '^ {14}[^ ]'
> 1

# not in the kernel: its stacks begin at the system call that runs BEGIN
$ erltrace -q -xjstackframes=2 -n 'BEGIN { jstack(); exit(0); }' | grep -cE '^ {14}[^ (]'
> 2

# not in the kernel: a stack that is cut by a limit, not by the script itself, says so
$ erltrace -q -xustackframes=2 -n 'BEGIN { ustack(); ustack(1); exit(0); }' | grep -E '^ {14}[(]'
>               (more frames)

# cpu: one that is not there
$ erltrace -q -xcpu=99999 -n 'tick-1ms { exit(0); }'
!~ ^erltrace: could not enable tracing: option cpu: there is no CPU 99999
? 1
$ erltrace -q -xcpu=0 -n 'BEGIN { printf("on\n"); exit(0); }'
> on
>
# switchrate and aggrate may be anything: all is there at the end
$ erltrace -q -xswitchrate=1h -xaggrate=1h -xstatusrate=1h -n 'BEGIN { printf("now\n"); @ = count(); exit(0); }'
> now
>
>                 1
# the phase: what is fixed after go cannot be changed by setopt()
$ erltrace -qn 'BEGIN { setopt("nspec", "4"); setopt("jit", "off"); exit(0); }'
>
!~ couldn't set option "nspec" to "4": .*cannot change once tracing has begun
!~ couldn't set option "jit" to "off": .*cannot change once tracing has begun
