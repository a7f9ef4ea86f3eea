# --live: shapes, then what came since; the ticks together are the aggregation
$ erltrace --json --live=50 -qn 'BEGIN { n = 0; } tick-5ms /n < 20/ { @c["k"] = count(); @l = lquantize(n, 0, 10, 5); @ll = llquantize(n, 10, 0, 2, 10); @a = avg(n); @q[n % 2, "x"] = quantize(n); n++; } tick-5ms /n == 20/ { exit(0); }' >live
$ grep -c '"type":"shape"' live
> 1
$ head -1 live
> {"type":"shape","node":"","aggregations":[{"aggregation":"c","function":"count","params":[],"keys":1},{"aggregation":"l","function":"lquantize","params":[0,10,5],"keys":0},{"aggregation":"ll","function":"llquantize","params":[10,0,2,10],"keys":0},{"aggregation":"a","function":"avg","params":[],"keys":0},{"aggregation":"q","function":"quantize","params":[],"keys":2}]}
$ sed -n 2p live | grep -o '^{"type":"tick"'
> {"type":"tick"
$ grep '"type":"tick"' live | grep -oE '"aggregation":"c","function":"count","keys":\["k"\],"value":[0-9]+' | awk -F: '{ n += $NF } END { print n }'
> 20
$ grep '"type":"tick"' live | grep -oE '"lo":10,"hi":null,"count":[0-9]+' | awk -F: '{ n += $NF } END { print n }'
> 10
$ grep '"type":"tick"' live | grep -oE '"aggregation":"a","function":"avg","keys":\[\],"value":[0-9.]+,"normal":1,"count":[0-9]+' | awk -F'[:,]' '{ n += $NF; s += $8 * $NF } END { print n, s / n }'
> 20 9.5
$ grep '"type":"aggregation"' live | grep -o '"aggregation":"c".*'
> "aggregation":"c","function":"count","keys":["k"],"value":20,"normal":1}
$ tail -1 live | grep -o '"type":"tick"'
> "type":"tick"
# the first tick comes at once; a second before there is anything in it
$ erltrace --json --live=50 -qn 'tick-1s { @c = count(); exit(0); }' | sed -n 2p | sed -E 's/"time":[0-9]+/"time":T/; s/"fired":[0-9]+/"fired":F/'
> {"type":"tick","node":"","time":T,"aggregations":[],"fired":F,"cost":null}
# clear() and trunc() of the script are its own
$ erltrace --json --live=100 -qn 'BEGIN { n = 0; } tick-5ms /n < 20/ { @c = count(); clear(@c); trunc(@c); n++; } tick-5ms /n == 20/ { exit(0); }' | grep '"type":"tick"' | grep -oE '"value":[0-9]+' | awk -F: '{ n += $NF } END { print n }'
> 20
# ticks are not normalized, but say what by: parts that are divided each do not add up
# (for most of a second both are normalized, so that ticks see it)
$ erltrace --json --live=100 -qn 'BEGIN { n = 0; } tick-5ms /n < 20/ { @s = sum(999); @q = quantize(1); normalize(@s, 1000); normalize(@q, 4); n++; } tick-1s /n == 20/ { denormalize(@q); exit(0); }' >live
$ grep '"type":"tick"' live | grep -oE '"aggregation":"s","function":"sum","keys":\[\],"value":[0-9]+,"normal":1' | awk -F'[:,]' '{ n += $(NF - 2) } END { print n }'
> 19980
$ grep '"type":"tick"' live | grep -oE '"count":[0-9]+' | awk -F: '{ n += $NF } END { print n }'
> 20
$ grep -oE '"normals":\{"s":1000,"q":4\}' live | sort -u
> "normals":{"s":1000,"q":4}
$ tail -1 live | grep -oE '"normals":\{[^}]*\}'
> "normals":{"s":1000}
$ grep '"type":"aggregation"' live | grep -oE '"value":19,"normal":1000'
> "value":19,"normal":1000
# more keys than a line holds: in several, and none is lost
$ erltrace --json --live=20 -xaggsize=16m -qn 'BEGIN { i = 0; } tick-1ms /i < 400/ { @c[i, "a long key, so that they are many bytes, a long key, so that they are many bytes, a long key, so that they are many bytes ................."] = count(); @d[i + 1000, "a long key, so that they are many bytes, a long key, so that they are many bytes, a long key, so that they are many bytes ................."] = count(); i++; } tick-1ms /i == 400/ { exit(0); }' | grep '"type":"tick"' | grep -oE '"value":1,' | wc -l
> 800
# it is an option of --json
$ erltrace --live=10 -n BEGIN 2>&1
> erltrace: --live needs --json
? 2
$ erltrace --json --live=x -n BEGIN 2>&1
> erltrace: --live takes a rate of 0.01 to 100 times a second, not x
? 2
# of percentiles a tick has the buckets, which add up over ticks and nodes
$ erltrace --json --live=50 -qn 'BEGIN { n = 0; } tick-5ms /n < 20/ { @p["k"] = percentile(n % 2 ? 3000 : -70, 50, 99.9); normalize(@p, 10); n++; } tick-5ms /n == 20/ { exit(0); }' >live; head -1 live
> {"type":"shape","node":"","aggregations":[{"aggregation":"p","function":"percentile","params":[50,99.9],"keys":1}]}
$ grep '"type":"tick"' live | grep -oE '"lo":-71,"hi":-69,"count":[0-9]+' | awk -F: '{ n += $NF } END { print n }'
> 10
$ grep '"type":"tick"' live | grep -oE '"lo":2944,"hi":3008,"count":[0-9]+' | awk -F: '{ n += $NF } END { print n }'
> 10
$ grep '"type":"aggregation"' live
> {"type":"aggregation","aggregation":"p","function":"percentile","keys":["k"],"percentiles":[{"percent":50,"value":-7},{"percent":99.9,"value":300}],"count":20,"normal":10}
# what is left at the end comes in as many ticks as it takes; aggkeep=off: only there
$ erltrace --json --live=0.01 -xaggkeep=off -qn 'tick-200us /i < 4000/ { @["kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk", i++] = count(); } tick-200us /i == 4000/ { exit(0); }' >live
$ grep -c '"type":"tick"' live
> 3
$ grep -o '"value":1' live | wc -l
> 4000
$ grep -c '"type":"aggregation"' live
> 0
? 1
