# system(): a command of the shell; its output stands where the script put it
$ erltrace -wqn 'BEGIN { printf("a\n"); system("echo b"); printf("c\n"); system("echo d; echo e"); exit(0); }'
> a
> b
> c
> d
> e
>
# its format is that of printf
$ erltrace -wqn 'BEGIN { system("echo %s-%03d-%x", probename, 7, 255); exit(0); }'
> BEGIN-007-ff
>
# its status does not matter
$ erltrace -wqn 'BEGIN { system("exit 9"); exit(0); }'
>
$ erltrace -wqn 'BEGIN { system("nosuchcommand 2>/dev/null"); printf("on\n"); exit(0); }'
> on
>
# END may run commands too
$ erltrace -wqn 'BEGIN { exit(0); } END { system("echo end"); }'
> end
>
