# exit(n) ends with n
$ erltrace -qn 'BEGIN { exit(0); }'
>
$ erltrace -qn 'BEGIN { exit(3); }'
>
? 3
$ erltrace -qn 'BEGIN { x = 40; exit(x + 2); }'
>
? 42
# of 8 bits, as for every process
$ erltrace -qn 'BEGIN { exit(-1); }'
>
? 255
# END runs after it, and knows nothing better
$ erltrace -qn 'BEGIN { exit(5); } END { printf("end\n"); }'
> end
>
? 5
# the first one counts
$ erltrace -qn 'BEGIN { exit(1); } BEGIN { exit(2); }'
>
? 1
# from a timer
$ erltrace -qn 'tick-1ms { exit(7); }'
>
? 7
# what comes after it in the clause still happens
$ erltrace -qn 'BEGIN { exit(0); printf("still\n"); }'
> still
>
