# -S: the bytecode, with the lines of the script
< s.d
| BEGIN
| {
| 	x = 40 + 2;
| 	exit(0);
| }
$ erltrace -e -q -S -s s.d 2>&1 | grep -cE '^.*(exit|ja|mov|lddw)'
~ ^[1-9]
$ erltrace -e -q -S -s s.d 2>&1 | grep -c 'x = 40 + 2;'
> 1
# on stderr: the output stays clean
$ erltrace -q -S -n 'BEGIN { printf("out\n"); exit(0); }' 2>/dev/null
> out
>
# -v tells what was compiled, and at the end what it cost
$ erltrace -q -v -n 'BEGIN { @ = count(); x = 1; exit(0); }' 2>&1 | grep -E 'Probes matched|Aggregations|Variables' | tr -s ' \t' ' '
>  Probes matched 1
>  Variables so far 1
>  Aggregations so far 1
$ erltrace -q -v -n 'BEGIN { exit(0); }' 2>&1 >/dev/null | grep -c 'processor time'
> 1
