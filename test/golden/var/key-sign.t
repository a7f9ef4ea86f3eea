# integer keys of an associative array that is not declared are 64 bits: a value is one key, however
# wide its type
$ erltrace -qn 'BEGIN { b[-1] = 6; b[0xffffffffu] = 7; i = -1; u = 0xffffffffu; c = (unsigned char)255; b[c] = 8; printf("%d %d %d %d %d\n", b[i], b[u], b[-1L], b[4294967295], b[255]); exit(0); }'
> 6 7 6 7 8
>
# a declared one converts what it is given to the declared type
$ erltrace -qn 'int a[int8_t]; int b[uint8_t, string]; BEGIN { a[-1] = 5; b[300, "x"] = 6; printf("%d %d %d %d\n", a[255], a[-257], b[44, "x"], b[-212, "x"]); exit(0); }'
> 5 5 6 6
>
