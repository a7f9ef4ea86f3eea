# doc/json.md, type by type; what differs from run to run is cut out
$ erltrace --json -qn 'BEGIN { printf("%s %d\n", "x", 3); exit(0); }' | sed -E 's/"(cpu|timestamp|walltimestamp|pc)":[0-9]+,?//g'
> {"type":"printf","provider":"dtrace","module":"","function":"","name":"BEGIN","id":1,"values":["x",3],"text":"x 3\n"}
> {"type":"exit","provider":"dtrace","module":"","function":"","name":"BEGIN","id":1,"values":[0]}
# without -q each record begins with its probe
$ erltrace --json -n 'BEGIN { trace(1); exit(0); }' 2>/dev/null | sed -E 's/"(cpu|timestamp|walltimestamp|pc)":[0-9]+,?//g'
> {"type":"probe","provider":"dtrace","module":"","function":"","name":"BEGIN","id":1,"epid":1}
> {"type":"trace","provider":"dtrace","module":"","function":"","name":"BEGIN","id":1,"values":[1]}
> {"type":"exit","provider":"dtrace","module":"","function":"","name":"BEGIN","id":1,"values":[0]}
# values by kind: integers of 64 bits, strings, bytes, symbols, stacks
$ erltrace --json -qn 'BEGIN { trace(-9223372036854775807 - 1); trace(18446744073709551615u); trace((char)-1); trace("s"); sym(16); exit(0); }' | grep -oE '"type":"[a-z]+"|"values":.*' | paste -d' ' - -
> "type":"trace" "values":[-9223372036854775808]}
> "type":"trace" "values":[18446744073709551615]}
> "type":"trace" "values":[-1]}
> "type":"trace" "values":["s"]}
> "type":"sym" "values":["0x10"]}
> "type":"exit" "values":[0]}
$ erltrace --json -qn 'struct s { int a; short b; } s; BEGIN { s.a = 258; s.b = 1; trace(s); this->p = (char *)alloca(2); bcopy("z", this->p, 2); tracemem(this->p, 2); exit(0); }' | grep -oE '"values":.*' | head -2
> "values":["0201000001000000"]}
> "values":["7a00"]}

# not in the kernel: its stacks begin at the system call that runs BEGIN
$ erltrace --json -qn 'BEGIN { ustack(2); exit(0); }' | head -1 | grep -cE '"type":"ustack".*"values":\[\["[^"]+","[^"]+"\]\]'
> 1

# print() has its text too
$ erltrace --json -qn 'BEGIN { print(10); exit(0); }' | head -1 | grep -o '"values".*'
> "values":[10],"text":"int 0xa\n"}
# what an if did not reach is not there
$ erltrace --json -qn 'BEGIN { if (0) trace(1); else trace(2); exit(0); }' | grep -o '"values".*'
> "values":[2]}
> "values":[0]}
# the exit code stays
$ erltrace --json -qn 'BEGIN { exit(3); }' >/dev/null
? 3
# -o takes it
$ erltrace --json -q -o out.json -n 'BEGIN { exit(0); }'; grep -c '"type":"exit"' out.json
> 1
