< many.sh
| for i in $(seq $1); do echo "BEGIN { $2 }" | sed "s/NN/$i/g"; done; echo 'BEGIN { exit(0); }'
# a trace buffer too small: told, and fired = printed + dropped
$ sh many.sh 200 'printf("NN\\n");' > p.d; erltrace -q -xbufsize=1k -s p.d >out 2>err; echo $?
> 0
$ grep -vcE '^erltrace: [0-9]+ drops? on CPU [0-9]+: -x bufsize=SIZE makes the buffers larger$' err; grep -c . err
> 0
> 1
$ echo $(($(grep -c . out) + $(sed 's/[^0-9]*\([0-9]*\).*/\1/' err)))
~ ^20[01]$
# with its tag
$ erltrace -q -xdroptags -xbufsize=1k -s p.d 2>&1 >/dev/null | sed -E 's/[0-9]+/N/g'
> erltrace: [DTRACEDROP_PRINCIPAL] N drops on CPU N: -x bufsize=SIZE makes the buffers larger
# an aggregation table too small
$ sh many.sh 500 '@["a rather long key to fill the table", NN] = count();' > a.d; erltrace -q -xaggsize=4k -s a.d >out 2>err; sed -E 's/[0-9]+/N/g' err
> erltrace: N aggregation drops on CPU N: -x aggsize=SIZE makes the tables larger
$ echo $(($(grep -c long out) + $(sed 's/[^0-9]*\([0-9]*\).*/\1/' err)))
> 500
$ erltrace -q -xdroptags -xaggsize=4k -s a.d 2>&1 >/dev/null | sed -E 's/[0-9]+/N/g'
> erltrace: [DTRACEDROP_AGGREGATION] N aggregation drops on CPU N: -x aggsize=SIZE makes the tables larger
# variables
$ sh many.sh 500 'a[NN] = NN;' > d.d; erltrace -q -xdynvarsize=4k -s d.d 2>&1 >/dev/null | sed -E 's/[0-9]+/N/g'
> erltrace: N dynamic variable drops: -x dynvarsize=SIZE makes more room
$ erltrace -q -xdroptags -xdynvarsize=4k -s d.d 2>&1 >/dev/null | sed -E 's/[0-9]+/N/g'
> erltrace: [DTRACEDROP_DYNAMIC] N dynamic variable drops: -x dynvarsize=SIZE makes more room
# what was stored stays, what was dropped is 0
$ sed 's/BEGIN { exit(0); }//' d.d > d2.d; erltrace -q -xdynvarsize=4k -s d2.d -n 'BEGIN { printf("%d %d\n", a[1], a[500]); exit(0); }' 2>/dev/null
> 1 0
>
# speculations: none free, and a full buffer
$ erltrace -qn 'BEGIN { a = speculation(); b = speculation(); printf("%d %d\n", a, b); exit(0); }'
> 1 0
>
! erltrace: 1 failed speculation (no speculative buffer available): -x nspec=N makes more
$ erltrace -q -xdroptags -n 'BEGIN { a = speculation(); b = speculation(); c = speculation(); exit(0); }'
>
! erltrace: [DTRACEDROP_SPECUNAVAIL] 2 failed speculations (no speculative buffer available): -x nspec=N makes more
$ (echo 'BEGIN { s = speculation(); }'; sh many.sh 200 'speculate(s); printf("NN\\n");') > s.d; erltrace -q -xspecsize=1k -s s.d 2>&1 >/dev/null | sed -E 's/[0-9]+/N/g'
> erltrace: N speculative drops: -x specsize=SIZE makes the buffers larger
# a fault in the ERROR probe
$ erltrace -qn 'BEGIN { *(char *)0; } ERROR { *(char *)0; } BEGIN { exit(0); }' 2>&1 >/dev/null | grep ERROR.probe
> erltrace: 1 error in ERROR probe enabling
$ erltrace -q -xdroptags -n 'BEGIN { *(char *)0; } ERROR { *(char *)0; } BEGIN { exit(0); }' 2>&1 >/dev/null | grep ERROR.probe
> erltrace: [DTRACEDROP_DBLERROR] 1 error in ERROR probe enabling
# no drops, no word
$ erltrace -qn 'BEGIN { printf("x"); a[1] = 1; @[1] = count(); trunc(@); exit(0); }' 2>&1
> x
