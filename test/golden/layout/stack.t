# a stack begins on a line of its own; frames stand in column 14
$ erltrace -qn 'BEGIN { ustack(); exit(0); }' | grep -cvE '^( {14}[^ ].*)?$'
> 0
? 1

# not in the kernel: its stacks begin at the system call that runs BEGIN
$ erltrace -qn 'BEGIN { ustack(3); printf("end\n"); exit(0); }' | grep -cE '^ {14}[^ ]+$'
> 3

$ erltrace -qn 'BEGIN { ustack(2); exit(0); }' | sed -n 1p
>
# -xstackindent

# not in the kernel: its stacks begin at the system call that runs BEGIN
$ erltrace -q -xstackindent=3 -n 'BEGIN { ustack(2); exit(0); }' | grep -cE '^ {3}[^ ]+$'
> 2

# -xustackframes bounds it where the script does not

# not in the kernel: its stacks begin at the system call that runs BEGIN
$ erltrace -q -xustackframes=2 -n 'BEGIN { ustack(); exit(0); }' | grep -cE '^ {14}[^ ]+$'
> 2

# %k in printf, without indent, and with the indent of its width
$ erltrace -qn 'BEGIN { printf("<%k>\n", ustack(2)); exit(0); }' | grep -cE '^[<>]$'
> 2

# not in the kernel: its stacks begin at the system call that runs BEGIN
$ erltrace -qn 'BEGIN { printf("%-5k", ustack(2)); exit(0); }' | grep -cE '^ {5}[^ ]'
> 2

# stacks as keys

# not in the kernel: its stacks begin at the system call that runs BEGIN
$ erltrace -qn 'BEGIN { @[ustack(2)] = count(); exit(0); }' | grep -cE '^ {14}[^ ]+$'
> 2

# no frames of the kernel here
$ erltrace -qn 'BEGIN { printf("%d\n", stackdepth); exit(0); }'
> 0
>
