# tracemem(): bytes in hexadecimal and as characters
$ erltrace -qn 'BEGIN { this->p = (char *)alloca(20); bcopy("0123456789abcdefXYZ", this->p, 20); tracemem(this->p, 20); exit(0); }'
>
>              0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef
>          0: 30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66  0123456789abcdef
>         10: 58 59 5a 00                                      XYZ.
>
# a whole row, and one byte
$ erltrace -qn 'BEGIN { this->p = (char *)alloca(16); bcopy("ABCDEFGHIJKLMNO", this->p, 16); tracemem(this->p, 16); tracemem(this->p, 1); exit(0); }'
>
>              0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef
>          0: 41 42 43 44 45 46 47 48 49 4a 4b 4c 4d 4e 4f 00  ABCDEFGHIJKLMNO.
>
>              0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef
>          0: 41                                               A
>
# argument 3 shows less than argument 2, never more; below zero it does not count
$ erltrace -qn 'BEGIN { this->p = (char *)alloca(16); bcopy("ABCDEFGHIJKLMNO", this->p, 16); tracemem(this->p, 16, 3); tracemem(this->p, 4, 16); tracemem(this->p, 2, -1); exit(0); }'
>
>              0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef
>          0: 41 42 43                                         ABC
>
>              0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef
>          0: 41 42 43 44                                      ABCD
>
>              0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef
>          0: 41 42                                            AB
>
$ erltrace -qn 'BEGIN { n = 2; tracemem(`nosuch, 4); exit(0); }'
!~ ^erltrace: invalid probe specifier .*
? 1
