# no such probe
$ erltrace -e -xerrtags -n 'nosuch:::probe { exit(0); }'
!~ \[D_PDESC_ZERO\]
? 1
$ erltrace -e -xerrtags -n 'BEGINN { exit(0); }'
!~ \[D_PDESC_ZERO\]
? 1
$ erltrace -e -xerrtags -n 'dtrace:mod::BEGIN { exit(0); }'
!~ \[D_PDESC_ZERO\]
? 1
# one that would fire too often
$ erltrace -e -xerrtags -n 'tick-1us { exit(0); }'
!~ \[D_PDESC_ZERO\]
? 1
$ erltrace -e -xerrtags -n 'profile-1ns { exit(0); }'
!~ \[D_PDESC_ZERO\]
? 1
$ erltrace -e -xerrtags -n 'profile-10000hz { exit(0); }'
!~ \[D_PDESC_ZERO\]
? 1
# the name of the probe is missing
$ erltrace -e -xerrtags -n 'shop:put { }'
!~ \[D_PDESC_ZERO\] .*: the last field is the name of the probe; calls of a function are erlang\*:shop:put:function-entry$
? 1
$ erltrace -e -xerrtags -n 'erlang*:shop:put { }'
!~ \[D_PDESC_ZERO\] .*: the last field is the name of the probe; calls of a function are erlang\*:shop:put:function-entry$
? 1
