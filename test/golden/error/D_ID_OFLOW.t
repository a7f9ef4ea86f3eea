# more variables than there may be
$ { echo 'BEGIN {'; for i in $(seq 5000); do echo "v$i = $i;"; done; echo '}'; } > t.d; erltrace -e -xerrtags -s t.d
!~ \[D_ID_OFLOW\] line [0-9]+: .*variables
? 1
$ { echo 'BEGIN {'; for i in $(seq 2000); do echo "@a$i = count();"; done; echo '}'; } > a.d; erltrace -e -xerrtags -s a.d
!~ \[D_ID_OFLOW\] line [0-9]+: .*aggregations
? 1
# inlines that grow without bound
$ { echo 'int x; inline int i0 = x;'; for i in $(seq 40); do echo "inline int i$i = i$((i-1)) + i$((i-1));"; done; echo 'BEGIN { trace(i40); }'; } > i.d; erltrace -e -xerrtags -s i.d
!~ \[D_ID_OFLOW\]
? 1
