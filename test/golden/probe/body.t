# -n: without a body the default action, with an empty one nothing
$ erltrace -n BEGIN -n 'BEGIN { exit(0); }' | tr -s ' ' | sed 's/^ [0-9]* /cpu /'
!~ matched 1 probe
!~ matched 1 probe
> CPU ID FUNCTION:NAME
> cpu 1 :BEGIN 
> cpu 1 :BEGIN 
>
$ erltrace -qn 'BEGIN {} BEGIN { ; ; } BEGIN { exit(0) }'
>
# in a file a body is needed
< t.d
| BEGIN
$ erltrace -e -xerrtags -s t.d
!~ \[D_SYNTAX\] line 1: 
? 1
# a predicate without body is an error everywhere
$ erltrace -e -xerrtags -n 'BEGIN /1/'
!~ \[D_SYNTAX\]
? 1
# -xpspec permits it in a file
< p.d
| BEGIN
| END { printf("end\n"); }
| BEGIN { exit(0); }
$ erltrace -q -xpspec -s p.d
> end
>
