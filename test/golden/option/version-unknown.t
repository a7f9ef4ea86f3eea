# -xversion: a version of D that is not known, and what is not a version
$ for v in 1 1.0 1.2.3 2 2.0; do erltrace -e -q -xversion=$v -n 'BEGIN { }' || echo "not $v"; done
$ erltrace -e -q -xversion=99.0 -n 'BEGIN { }'
! erltrace: failed to set -x version: option version: D 99.0 is not known here: 2.0 is the latest
? 1
$ for v in x 1. 1.2.3.4 -1 0x1; do erltrace -e -q -xversion=$v -n 'BEGIN { }' 2>&1 | grep -c 'is not a version'; done | uniq -c | tr -s ' '
>  5 1
