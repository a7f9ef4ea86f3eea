# BEGIN fires first, END last, wherever they stand; clauses of a probe run in their order
< t.d
| END { printf("end 1\n"); }
| BEGIN { printf("begin 1\n"); }
| END { printf("end 2\n"); }
| BEGIN { printf("begin 2\n"); exit(0); }
$ erltrace -qs t.d
> begin 1
> begin 2
> end 1
> end 2
>
# several scripts on one command line: in their order
$ erltrace -q -n 'BEGIN { printf("a\n"); }' -n 'BEGIN { printf("b\n"); exit(0); }' -n 'END { printf("c\n"); }'
> a
> b
> c
>
# exit() lets its own clause end, but no clause behind it run; END does
$ erltrace -qn 'BEGIN { exit(3); printf("same\n"); } BEGIN { printf("no\n"); } END { printf("end\n"); }'
> same
> end
>
? 3
