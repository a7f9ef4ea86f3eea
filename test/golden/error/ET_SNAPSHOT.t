# snapshot() needs buffers that are kept
$ erltrace -xerrtags -qn 'BEGIN { snapshot("x"); exit(0); }'
!~ \[ET_SNAPSHOT\] .*it needs #pragma D option bufpolicy=ring
? 1
