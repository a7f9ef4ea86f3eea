# not in the kernel: terms can be looked into inside nodes only
# what there is none of: the type says so, a pattern does not match it
$ erltrace -qn 'BEGIN { printf("%s %s %s %d\n", erltype(erlmsg), erltype(erlelement(1, erlmsg)), erltype(erlget("k", erlhd(erltl(erlmsg)))), erlmatch(erlmsg, "_")); exit(0); }'
> none none none 0
>

# a pattern declares its variables, in a predicate too; the same one in several patterns is one variable
$ erltrace -e -n 'BEGIN /erlmatch(erlmsg, "{A, [B | _]}") || erlmatch(erlmsg, "#{a := A, b := B}")/ { @[this->A] = sum(this->B); }'
!~ matched 1 probe
$ erltrace -e -n 'inline int is_order[term_t t] = erlmatch(t, "{order, Id, _}"); BEGIN /is_order[erlmsg]/ { trace(this->Id); }'
!~ matched 1 probe
$ erltrace -e -xerrtags -n 'BEGIN /erlmatch(erlmsg, "{A, _}")/ { trace(this->C); }'
!~ \[D_VAR_UNDEF\] this->C has not been declared or assigned before
? 1
# as what the script has declared them
$ erltrace -e -n 'this string A; this int64_t B; this term_t C; BEGIN /erlmatch(erlmsg, "{A, B, C}")/ { trace(strlen(this->A) + this->B); trace(erlhd(this->C)); }'
!~ matched 1 probe
$ erltrace -e -xerrtags -n 'this char *A; BEGIN /erlmatch(erlmsg, "{A, _}")/ { }'
!~ \[D_OP_INCOMPAT\] variable A of the pattern: this->A is of type 'char \*', which cannot hold a term, its text or its number
? 1
$ erltrace -e -xerrtags -n 'BEGIN /erlmatch(erlmsg, "{A@1, _}")/ { }'
!~ \[D_PATTERN\] in the pattern .*A@1: a variable has plain letters, digits and _ only, to have a name in D
? 1
# what must be constant
$ erltrace -e -xerrtags -n 'BEGIN { x = "{A, _}"; trace(erlmatch(erlmsg, x)); }'
!~ \[D_PROTO_ARG\] argument 2 of erlmatch\(\) must be a string constant: a pattern, as in "\{ok, X\}"
? 1
$ erltrace -e -n 'inline string P = "{ok, _}"; BEGIN { trace(erlmatch(erlmsg, P)); }'
!~ matched 1 probe
$ erltrace -e -n 'BEGIN { trace(erlmatch(erlmsg, $$1)); }' '{ok, _}'
!~ matched 1 probe
$ erltrace -e -xerrtags -n 'BEGIN { trace(erlget(arg0, erlmsg)); }'
!~ \[D_PROTO_ARG\] argument 1 of erlget\(\) must be a constant, a number or the text of a term: "plan" is the atom
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(erlget("{a, X}", erlmsg)); }'
!~ \[D_PATTERN\] in the key "\{a, X\}", at 'X\}': X: the key of a map has no variables here$
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(erlget("{a, _}", erlmsg)); }'
!~ \[D_PATTERN\] in the key "\{a, _\}", at '_\}': _: the key of a map has no variables here$
? 1
$ erltrace -e -n 'BEGIN { trace(erlget(-1, erlmsg)); trace(erlget("<<\"plan\">>", erlmsg)); trace(erlget("{a,1}", erlmsg)); trace(erlget(18446744073709551615ULL, erlmsg)); }'
!~ matched 1 probe
# a key is made, not matched: what cannot be made is an error, not a key that is never there
$ erltrace -e -n 'BEGIN { trace(erlget("#{a => 1}", erlmsg)); trace(erlget("[1, \"b\" ++ \"c\"]", erlmsg)); trace(erlmatch(erlmsg, "#{a := 1}")); }'
!~ matched 1 probe
$ erltrace -e -xerrtags -n 'BEGIN { trace(erlget("<<1:4>>", erlmsg)); }'
!~ \[D_PATTERN\] in the key .*: a binary in the key of a map has whole bytes$
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(erlget("a = b", erlmsg)); }'
!~ \[D_PATTERN\] in the key .*: a key is one term, without =$
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(erlget("#{a := 1}", erlmsg)); }'
!~ \[D_PATTERN\] in the key .*: => is expected behind the key of a map$
? 1
# elements count from 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(erlelement(0, erlmsg)); }'
!~ \[D_PROTO_ARG\] argument 1 of erlelement\(\) is 0: elements count from 1
? 1
# they take terms
$ erltrace -e -xerrtags -n 'BEGIN { trace(erlhd("[1]")); }'
!~ \[D_PROTO_ARG\] argument 1 of erlhd\(\) must be a term, such as erlarg\(0\), not 'string'
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(erlelement(erlmsg, 1)); }'
!~ \[D_PROTO_ARG\] argument 2 of erlelement\(\) must be a term
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(erlmatch(erlpid, "_")); }'
!~ \[D_PROTO_ARG\] argument 1 of erlmatch\(\) must be a term
? 1
# records
$ erltrace -e -xerrtags -n 'BEGIN { trace(erlfield("order", erlmsg)); }'
!~ \[D_PROTO_ARG\] argument 1 of erlfield\(\) is a record and its field, as in "order.id"
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(erlfield("order.id", erlmsg)); }'
!~ \[D_PATTERN\] .*the fields of the record #order are not known: 
? 1
# as numbers and texts, wherever these are wanted
$ erltrace -e -n 'BEGIN { printf("%d %s %x %*d %S", erlmsg, erlmsg, erlmsg, erlmsg, 1, erlmsg); @[erlmsg] = quantize(erlarg(0), erlarg(1)); trace(strlen(erlmsg)); trace(erlmsg); print(erlmsg); trace(substr(erlmsg, erlarg(0))); exit(erlarg(0)); a[1] = erlmsg; x = a[erlarg(0)]; trace(copyinstr(erlmsg)); trace(erlmsg[erlarg(0)]); trace(erlmsg / 2); trace(~erlmsg); }'
!~ matched 1 probe
$ erltrace -e -xerrtags -n 'BEGIN { printf("%f", erlmsg); }'
!~ \[D_PRINTF_ARG_TYPE\] .*not 'term_t'
? 1
# a source is read once in a clause that reads it on all its ways, and has one slot in all clauses
$ erltrace -e -S -n 'BEGIN /erlhd(erlmsg) == 1/ { this->a = erlmsg; trace(erltl(erlmsg)); } END { this->b = erlmsg; }' 2>&1 | grep -c 'call term_source'
> 2
# without terms a text is compared as before
$ erltrace -e -S -n 'BEGIN /erlmsg == "x"/ { }' 2>&1 | grep -o 'call .*'
> call pbi_equals
> call rec_end
