# what strtok() has left is of one firing: the next one begins anew
$ erltrace -qn 'BEGIN { strtok("a,b", ","); } BEGIN { printf("%s\n", strtok(NULL, ",")); strtok("c,d", ","); exit(0); } END { printf("%d\n", strtok(NULL, ",") == NULL); }'
> b
> 1
>
# without a text before it, NULL
$ erltrace -qn 'BEGIN { printf("%d\n", strtok(NULL, ",") == NULL); exit(0); }'
> 1
>
