# more than the scratch memory
$ erltrace -e -xerrtags -n 'BEGIN { this->p = alloca(1000); }'
!~ \[D_ALLOCA_SIZE\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { this->p = alloca(-1); }'
!~ \[D_ALLOCA_SIZE\]
? 1
# scratchsize is the bound
$ erltrace -e -q -xscratchsize=1000 -n 'BEGIN { this->p = alloca(1000); }'
