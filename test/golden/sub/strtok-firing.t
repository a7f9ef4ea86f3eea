# what strtok() has left is of one firing: the next one begins anew
$ erltrace -qn 'BEGIN { strtok("a,b", ","); } BEGIN { printf("%s\n", strtok(NULL, ",")); strtok("c,d", ","); exit(0); } END { printf("%s\n", strtok(NULL, ",")); }'
> b
>
!~ invalid address \(0x0\)
# without a text before it in the firing, a fault
$ erltrace -qn 'BEGIN { printf("%s\n", strtok(NULL, ",")); } BEGIN { exit(0); }'
>
!~ invalid address \(0x0\)
# after the last token, NULL, as often as it is asked
$ erltrace -qn 'BEGIN { strtok("a", ","); printf("%d%d%d\n", strtok(NULL, ",") == NULL, strtok(NULL, "b") == NULL, strtok(NULL, "") == NULL); exit(0); }'
> 111
>
