# a predicate may name what its clause assigns: before that it is 0
$ erltrace -qn 'BEGIN /self->n == 0/ { self->n = 1; } BEGIN /!seen[pid] && !done/ { seen[pid] = 1; done++; printf("%d %d %d\n", self->n, seen[pid], done); exit(0); }'
> 1 1 1
>
$ erltrace -qn 'BEGIN /x != "a"/ { x = "a"; printf("%s\n", x); exit(0); }'
> a
>
# what nobody assigns is still an error
$ erltrace -e -xerrtags -n 'BEGIN /nosuch/ { x = 1; }'
!~ \[D_IDENT_UNDEF\].*nosuch
? 1
# a predicate that assigns defines it for the statements
$ erltrace -qn 'BEGIN /y = 3/ { printf("%d\n", y); exit(0); }'
> 3
>
