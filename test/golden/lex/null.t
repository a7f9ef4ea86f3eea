# NULL is an inline of type long
$ erltrace -qn 'BEGIN { printf("%d %d %d\n", NULL, sizeof (NULL), (void *)0 == NULL); exit(0); }'
> 0 4 1
>
