# a histogram of percentile() that finds no room for values of another size; those of a size that it has are counted
$ { echo 'BEGIN {'; for ((i = 0; i < 20; i++)); do echo "@ = percentile($((1 << 2 * i)), 100);"; done; echo '@ = percentile(1, 100); exit(0); }'; } >a.d; erltrace -q -xaggsize=4k -s a.d 2>err | awk '/^ +[0-9]/ { print ($1 < 2 ^ 38 ? "the largest that found room" : "all") }'; sed -E 's/[0-9]+/N/g' err
> the largest that found room
> erltrace: N aggregation drops on CPU N: -x aggsize=SIZE makes the tables larger
# no key is without its first value
$ { echo 'BEGIN {'; for ((i = 0; i < 100; i++)); do echo "@[$i] = percentile(7);"; done; echo 'exit(0); }'; } >a.d; for ((m = 4096; m < 5300; m += 100)); do erltrace -q -xaggsize=$m -s a.d 2>err | awk '/^ +[0-9]/ && $2 != 7'; sed -E 's/[0-9]+/N/g' err; done | sort | uniq
> erltrace: N aggregation drops on CPU N: -x aggsize=SIZE makes the tables larger
# in the merged table a key is there with all of its values, or not at all
$ { echo 'BEGIN {'; for ((i = 0; i < 100; i++)); do echo "@[$i] = percentile(1, 50, 100); @[$i] = percentile(1000000, 50, 100);"; done; echo 'exit(0); }'; } >a.d; for ((m = 65536; m < 67200; m += 150)); do erltrace -q -xaggmax=$m -s a.d 2>err | awk '/^ +[0-9]/ && ($2 != 1 || $3 != 1000000)'; sed -E 's/[0-9]+/N/g' err; done | sort | uniq
> erltrace: N aggregation drops of the merged table: -x aggmax=SIZE makes it larger
