# comments are space, anywhere
< t.d
| /* first line */
| BEGIN /* of the clause */ /* two */
| /1 /* true */ == 1/
| {
| 	printf("%d\n", /* in an expression */ 1 /**/ + /***/ 2); /* many
| 	lines "with quotes /
| 	*/
| 	exit(0); /* last */
| }
| /* the end */
$ erltrace -qs t.d
> 3
>
# they do not nest
$ erltrace -e -xerrtags -n 'BEGIN { /* a /* b */ exit(0); }'
!~ \[D_SYNTAX\] .*nest
? 1
# // begins none
$ erltrace -e -xerrtags -n 'BEGIN { exit(0); // done }'
!~ \[D_SYNTAX\]
? 1
# one without end
$ erltrace -e -xerrtags -n 'BEGIN { exit(0); } /* oops'
!~ \[D_SYNTAX\]
? 1
