# numbers; avg and stddev as fractions
$ erltrace --json -qn 'BEGIN { @ = count(); @s["k", 5] = sum(-7); @mn = min(-1); @mx = max(9); @a = avg(1); @a = avg(2); @d = stddev(-3); @d = stddev(3); exit(0); }' | grep '"aggregation"'
> {"type":"aggregation","aggregation":"_","function":"count","keys":[],"value":1,"normal":1}
> {"type":"aggregation","aggregation":"s","function":"sum","keys":["k",5],"value":-7,"normal":1}
> {"type":"aggregation","aggregation":"mn","function":"min","keys":[],"value":-1,"normal":1}
> {"type":"aggregation","aggregation":"mx","function":"max","keys":[],"value":9,"normal":1}
> {"type":"aggregation","aggregation":"a","function":"avg","keys":[],"value":1.5,"normal":1}
> {"type":"aggregation","aggregation":"d","function":"stddev","keys":[],"value":3,"normal":1}
# distributions: the buckets that are not empty, from lo up to hi; null is no bound
$ erltrace --json -qn 'BEGIN { @q = quantize(-5); @q = quantize(0); @q = quantize(3, 2); @l["a"] = lquantize(-1, 0, 100, 10); @l["a"] = lquantize(15, 0, 100, 10); @l["a"] = lquantize(100, 0, 100, 10); @ll = llquantize(-1000, 10, 1, 2, 10); @ll = llquantize(5, 10, 1, 2, 10); @ll = llquantize(25, 10, 1, 2, 10); @ll = llquantize(1000, 10, 1, 2, 10); exit(0); }' | grep '"aggregation"'
> {"type":"aggregation","aggregation":"q","function":"quantize","keys":[],"buckets":[{"lo":-7,"hi":-3,"count":1},{"lo":0,"hi":1,"count":1},{"lo":2,"hi":4,"count":2}],"normal":1}
> {"type":"aggregation","aggregation":"l","function":"lquantize","keys":["a"],"buckets":[{"lo":null,"hi":0,"count":1},{"lo":10,"hi":20,"count":1},{"lo":100,"hi":null,"count":1}],"normal":1}
> {"type":"aggregation","aggregation":"ll","function":"llquantize","keys":[],"buckets":[{"lo":null,"hi":-999,"count":1},{"lo":-9,"hi":10,"count":1},{"lo":20,"hi":30,"count":1},{"lo":1000,"hi":null,"count":1}],"normal":1}
# printa() prints them when it is called, then not again; several of them one after the other
$ erltrace --json -qn 'BEGIN { @a["x"] = count(); @b["x"] = sum(2); @c = count(); printa("%s %@d %@d\n", @a, @b); exit(0); }' | grep -oE '"(type|aggregation)":"[a-z]+"' | grep -v '"aggregation":"aggregation"' | tr '\n' ' '; echo
> "type":"aggregation" "aggregation":"a" "type":"aggregation" "aggregation":"b" "type":"exit" "type":"aggregation" "aggregation":"c" 
# sorted, normalized, cleared as text would be
$ erltrace --json -q -xaggsortrev -n 'BEGIN { @["a"] = sum(10); @["b"] = sum(20); normalize(@, 10); @c["k"] = sum(5); clear(@c); exit(0); }' | grep '"aggregation"' | sort -r
> {"type":"aggregation","aggregation":"c","function":"sum","keys":["k"],"value":0,"normal":1}
> {"type":"aggregation","aggregation":"_","function":"sum","keys":["b"],"value":2,"normal":10}
> {"type":"aggregation","aggregation":"_","function":"sum","keys":["a"],"value":1,"normal":10}
# keys of every kind
$ erltrace --json -qn 'BEGIN { @[(char)-1, (uint64_t)-1, "", usym(16)] = count(); exit(0); }' | grep '"aggregation"'
> {"type":"aggregation","aggregation":"_","function":"count","keys":[-1,18446744073709551615,"","0x10"],"value":1,"normal":1}
# percentiles in the order of the script, normalized, and how many values there were
$ erltrace --json -qn 'BEGIN { @["a"] = percentile(3000, 50, 99.9); @["a"] = percentile(-70, 50, 99.9); normalize(@, 10); exit(0); }' | grep '"aggregation"'
> {"type":"aggregation","aggregation":"_","function":"percentile","keys":["a"],"percentiles":[{"percent":50,"value":-7},{"percent":99.9,"value":300}],"count":2,"normal":10}
