# an associative array in this->
$ erltrace -e -xerrtags -n 'BEGIN { this->a[1] = 2; }'
!~ \[D_ARR_LOCAL\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { this->a["x", 1]++; }'
!~ \[D_ARR_LOCAL\]
? 1
