# %@ where there is no aggregation
$ erltrace -e -xerrtags -n 'BEGIN { printf("%@d", 1); }'
!~ \[D_PRINTF_AGG_CONV\]
? 1
