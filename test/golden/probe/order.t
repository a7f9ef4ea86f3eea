# BEGIN fires first, END last, wherever they stand; clauses of a probe run in their order
< t.d
| END { printf("end 1\n"); }
| BEGIN { printf("begin 1\n"); exit(0); }
| END { printf("end 2\n"); }
| BEGIN { printf("begin 2\n"); }
$ erltrace -qs t.d
> begin 1
> begin 2
> end 1
> end 2
# several scripts on one command line: in their order
$ erltrace -q -n 'BEGIN { printf("a\n"); }' -n 'BEGIN { printf("b\n"); exit(0); }' -n 'END { printf("c\n"); }'
> a
> b
> c
