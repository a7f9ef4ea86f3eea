# a symbol without type information
$ erltrace -e -xerrtags -n 'BEGIN { trace(`max_pfn); }'
!~ \[D_SYM_NOTYPES\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(vmlinux`jiffies); }'
!~ \[D_SYM_NOTYPES\]
? 1
