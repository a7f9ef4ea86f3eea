# no such register
$ erltrace -e -xerrtags -n 'BEGIN { x = uregs[1000]; }'
!~ \[D_REGS_IDX\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = uregs[pid]; }'
!~ \[D_REGS_IDX\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = uregs[-1]; }'
!~ \[D_REGS_IDX\]
? 1
