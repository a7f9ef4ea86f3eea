# scripts that follow requests are told of which function: without it they would follow every call
$ erltrace -Z -e -xerrtags -s flow
! erltrace: flow needs module=NAME (erltrace --scripts flow says more)
? 2
$ erltrace -Z -e -xerrtags -s flowheat orders
! erltrace: flowheat needs function=NAME (erltrace --scripts flowheat says more)
? 2
$ erltrace -Z -e -xerrtags -s deadline
! erltrace: deadline needs module=NAME (erltrace --scripts deadline says more)
? 2
# the arguments after these have defaults
$ erltrace -Z -e -s flow orders put
$ erltrace -Z -e -s flowheat orders 'p*' 5
$ erltrace -Z -e -s deadline orders put
