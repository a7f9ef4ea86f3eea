# integers: a space, then as wide as the largest of their type: 3, 5, 10, 19, unsigned 64 bits 20
$ erltrace -n 'BEGIN { trace((int8_t)-1); exit(0); }' 2>/dev/null | sed -n '2s/^.\{44\}\(.*\)$/<\1>/p'
> <  -1>
$ erltrace -n 'BEGIN { trace((uint8_t)255); exit(0); }' 2>/dev/null | sed -n '2s/^.\{44\}\(.*\)$/<\1>/p'
> < 255>
$ erltrace -n 'BEGIN { trace((char)65); exit(0); }' 2>/dev/null | sed -n '2s/^.\{44\}\(.*\)$/<\1>/p'
> <  65>
$ erltrace -n 'BEGIN { trace((int16_t)-2); exit(0); }' 2>/dev/null | sed -n '2s/^.\{44\}\(.*\)$/<\1>/p'
> <    -2>
$ erltrace -n 'BEGIN { trace((uint16_t)65535); exit(0); }' 2>/dev/null | sed -n '2s/^.\{44\}\(.*\)$/<\1>/p'
> < 65535>
$ erltrace -n 'BEGIN { trace(-3); exit(0); }' 2>/dev/null | sed -n '2s/^.\{44\}\(.*\)$/<\1>/p'
> <         -3>
$ erltrace -n 'BEGIN { trace((uint32_t)-1); exit(0); }' 2>/dev/null | sed -n '2s/^.\{44\}\(.*\)$/<\1>/p'
> < 4294967295>
$ erltrace -n 'BEGIN { trace((int64_t)-4); exit(0); }' 2>/dev/null | sed -n '2s/^.\{44\}\(.*\)$/<\1>/p'
> <                  -4>
$ erltrace -n 'BEGIN { trace(-9223372036854775807 - 1); exit(0); }' 2>/dev/null | sed -n '2s/^.\{44\}\(.*\)$/<\1>/p'
> < -9223372036854775808>
$ erltrace -n 'BEGIN { trace((uint64_t)-1); exit(0); }' 2>/dev/null | sed -n '2s/^.\{44\}\(.*\)$/<\1>/p'
> < 18446744073709551615>
$ erltrace -n 'BEGIN { trace(5ul); exit(0); }' 2>/dev/null | sed -n '2s/^.\{44\}\(.*\)$/<\1>/p'
> <                    5>
$ erltrace -n 'BEGIN { trace((void *)16); exit(0); }' 2>/dev/null | sed -n '2s/^.\{44\}\(.*\)$/<\1>/p'
> <                   16>
# several in a row
$ erltrace -n 'BEGIN { trace(1); trace((char)2); trace(3ll); exit(0); }' 2>/dev/null | sed -n '2s/^.\{44\}\(.*\)$/<\1>/p'
> <          1   2                   3>
# strings: two spaces, 33 columns, and more if they are longer
$ erltrace -n 'BEGIN { trace("hello"); trace(""); exit(0); }' 2>/dev/null | sed -n '2s/^.\{44\}\(.*\)$/<\1>/p'
> <  hello                                                               >
$ erltrace -n 'BEGIN { trace("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"); exit(0); }' 2>/dev/null | sed -n '2s/^.\{44\}\(.*\)$/<\1>/p'
> <  xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx>
# enums are integers, pointers unsigned
$ erltrace -n 'enum e { A, B = 7 }; BEGIN { trace(B); exit(0); }' 2>/dev/null | sed -n '2s/^.\{44\}\(.*\)$/<\1>/p'
> <          7>
# built-in variables by their type
$ erltrace -n 'BEGIN { trace(probename); trace(id); exit(0); }' 2>/dev/null | sed -n '2s/^.\{44\}\(.*\)$/<\1>/p'
> <  BEGIN                                      1>
