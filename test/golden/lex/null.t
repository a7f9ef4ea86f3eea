# NULL is the constant 0, an int
$ erltrace -qn 'BEGIN { printf("%d %d %d\n", NULL, sizeof (NULL), (void *)0 == NULL); exit(0); }'
> 0 4 1
>
