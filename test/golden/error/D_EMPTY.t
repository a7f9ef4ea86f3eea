# nothing in it
< t.d
| /* only a comment */
$ erltrace -e -xerrtags -s t.d
!~ \[D_EMPTY\]
? 1
$ : > e.d; erltrace -e -xerrtags -s e.d
!~ \[D_EMPTY\]
? 1
# -xempty permits it
$ erltrace -e -q -xempty -s t.d
