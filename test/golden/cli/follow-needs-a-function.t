# scripts that follow requests are told of which function: without it they would follow every call
$ erltrace -Z -e -xerrtags -s flow
!~ \[D_MACRO_UNDEF\] .*macro argument \$1 is not defined
! erltrace: what it takes is told by erltrace --scripts flow
? 1
$ erltrace -Z -e -xerrtags -s flowheat orders
!~ \[D_MACRO_UNDEF\] .*macro argument \$2 is not defined
! erltrace: what it takes is told by erltrace --scripts flowheat
? 1
$ erltrace -Z -e -xerrtags -s deadline
!~ \[D_MACRO_UNDEF\] .*macro argument \$1 is not defined
! erltrace: what it takes is told by erltrace --scripts deadline
? 1
# the arguments after these have defaults
$ erltrace -Z -e -s flow orders put
$ erltrace -Z -e -s flowheat orders 'p*' 5
$ erltrace -Z -e -s deadline orders put
