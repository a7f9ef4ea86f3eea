# each expression that makes a term has a slot, and there are 256
< many.sh
| n=$1
| printf 'BEGIN { this->t = erlmsg;'
| for ((i = 1; i < n; i++)); do printf 'this->t = erlhd(this->t);'; done
| printf '}\n'
$ bash many.sh 256 >a.d; erltrace -e -xerrtags -s a.d
!~ matched 1 probe
$ bash many.sh 257 >b.d; erltrace -e -xerrtags -s b.d
!~ \[D_TERM_SLOTS\] line 1: more than 256 expressions of all scripts make terms: keep what is used again in this-> variables
? 1
