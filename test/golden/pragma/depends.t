# depends_on in a script: provider and library must be there
< t.d
| #pragma D depends_on provider dtrace
| #pragma D depends_on module anything
| #pragma D depends_on library signal.d
| BEGIN { printf("ok\n"); exit(0); }
$ erltrace -qs t.d
> ok
>
