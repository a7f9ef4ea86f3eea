# every line is one JSON object: json.sed reduces what is well-formed to nothing, and leaves the rest
< json.sed
| s/"([^"\\]|\\(["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/S/g
| /[^][{}:,S0-9.eE+a-z-]/b
| s/-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/N/g
| s/null|true|false/N/g
| :a
| s/\{(S:[SNV](,S:[SNV])*)?\}/V/g
| s/\[([SNV](,[SNV])*)?\]/V/g
| ta
| s/^V$//
$ printf '{"a":[1,-2.5e+3,null,true,"x\\n\\u00e9"],"b":{}}\n' | sed -E -f json.sed
>
$ printf '%s\n' '{"a":01}' '{"a":"x}' '{a:1}' '[1,]' '{"a":1}}' '{"a":"\x"}' | sed -E -f json.sed | grep -c .
> 6
# records of every action
< all.d
| struct s { int a; char c[4]; } s;
| BEGIN
| {
| 	s.a = 1;
| 	trace(1); trace("x"); trace(-1ll); trace((uint64_t)-1); trace(s); print(s); print("p");
| 	printf("%d %s %c\n", 1, "two", 0x33); ustack(2); sym(16); usym(17); printf("%k", ustack(1));
| 	this->p = (char *)alloca(4); tracemem(this->p, 4); setopt("aggsortkey");
| 	@a = count(); @b["k", 1] = sum(-1); @c[ustack(2)] = avg(3); @d = stddev(4); @e = min(-5);
| 	@f = max(6); @q = quantize(7); @l = lquantize(8, 0, 100, 10); @ll = llquantize(9, 10, 0, 3, 10);
| 	printa(@a); printa("%s %d %@d\n", @b); normalize(@e, 2); clear(@f); trunc(@d);
| }
| BEGIN { trace(*(int *)0); }
| BEGIN { x = speculation(); y = speculation(); }
| BEGIN { exit(0); }
$ erltrace --json -s all.d 2>/dev/null > out; sed -E -f json.sed out | grep -c .; test $(wc -l < out) -gt 20 && echo many
> 0
> many
$ erltrace --json -F -q -s all.d 2>/dev/null | sed -E -f json.sed | grep -c .
> 0
? 1
# strings of any bytes: escaped, and what is no UTF-8 replaced
$ erltrace --json -qn 'BEGIN { trace("q\" b\\ n\n t\t c\001 d\177 e\033[31m u\303\244 x\377 o\300\200 s\355\240\200 cut\342\202"); @["\"\377\001"] = count(); exit(0); }' > out; LC_ALL=C sed -E -f json.sed out | grep -c .; iconv -f UTF-8 -t UTF-8 out | cmp - out && grep -o '"values":\["q.*"\]' out
> 0
> "values":["q\" b\\ n\n t\t c\u0001 d\u007f e\u001b[31m uä x� o�� s��� cut��"]
# names from outside
$ erltrace --json -qn 'BEGIN { trace($$1); exit(0); }' '</script>"\' | grep -o '"values":\["<.*"\]'
> "values":["</script>\"\\"]
# a fault, a drop, an error of compiling
$ for s in 'BEGIN { trace(*(int *)0); } BEGIN { exit(0); }' 'BEGIN { speculation(); speculation(); exit(0); }' 'BEGIN { nosuch("\"'; do erltrace --json -qn "$s" 2>/dev/null; done | sed -E -f json.sed | grep -c .
> 0
? 1
