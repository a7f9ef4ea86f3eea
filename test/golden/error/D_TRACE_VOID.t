# trace() of nothing
$ erltrace -e -xerrtags -n 'BEGIN { trace((void)1); }'
!~ \[D_TRACE_VOID\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { this->p = alloca(8); trace(bcopy(this->p, this->p, 1)); }'
!~ \[D_TRACE_VOID\]
? 1
# an action
$ erltrace -e -xerrtags -n 'BEGIN { trace(trace(1)); }'
!~ \[D_TRACE_VOID\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(exit(0)); }'
!~ \[D_TRACE_VOID\]
? 1
