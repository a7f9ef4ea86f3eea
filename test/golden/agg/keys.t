# keys: integers by the width of their type, strings in 50 columns
$ erltrace -qn 'BEGIN { @[(char)1, (short)2, 3, 4ll, "s"] = count(); exit(0); }'
>
>    1     2        3                4  s                                                                 1
$ erltrace -qn 'BEGIN { @[-1, (uint32_t)-1] = count(); exit(0); }'
>
>        -1 4294967295                1
# a longer string pushes
$ erltrace -qn 'BEGIN { @["kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"] = count(); exit(0); }'
>
>   kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk                1
# an empty string
$ erltrace -qn 'BEGIN { @[""] = count(); exit(0); }'
>
>                                                                     1
# many parts
$ erltrace -qn 'BEGIN { @["a", 1, "b", 2, "c"] = sum(7); @["a", 1, "b", 2, "d"] = sum(8); exit(0); }'
>
>   a                                                         1  b                                                         2  c                                                                 7
>   a                                                         1  b                                                         2  d                                                                 8
# keys are different if any part is
$ erltrace -qn 'BEGIN { @["a", "bc"] = count(); @["ab", "c"] = count(); @["a", "bc"] = count(); exit(0); }'
>
>   ab                                                  c                                                                 1
>   a                                                   bc                                                                2
# built-in variables as keys
$ erltrace -qn 'BEGIN { @[probename, probeprov] = count(); exit(0); }'
>
>   BEGIN                                               dtrace                                                            1
# structs as keys: their bytes
$ erltrace -qn 'struct s { char a[4]; } s; BEGIN { s.a[0] = 0x61; @[s.a] = count(); s.a[0] = 0x62; @[s.a] = count(); @[s.a] = count(); exit(0); }'
>
>   a                                                                 1
>   b                                                                 2
