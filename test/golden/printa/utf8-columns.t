# a text takes as many columns as it has characters, not bytes; marks take none, ideographs two
< t.d
| BEGIN { @["zoe"] = count(); @["zoë"] = count(); @["zoe\xcc\x88"] = count(); @["東京"] = count(); @["\xff\xfe"] = count(); exit(0); }
$ erltrace -qs t.d | LC_ALL=C sort | cat -A
> $
>   zoe                                                               1$
>   zoeM-LM-^H                                                               1$
>   zoM-CM-+                                                               1$
>   M-fM-^]M-1M-dM-:M-,                                                              1$
>   M-^?M-~                                                                1$
# in formats too, on the left and on the right
$ erltrace -qn 'BEGIN { @["zoë"] = count(); printf("[%5s][%-5s][%2s]\n", "zoë", "zoë", "zoë"); printa("%-6s|%@d\n", @); exit(0); }'
> [  zoë][zoë  ][zoë]
> zoë   |1
>
# and where rows stand under each other
$ erltrace -qn 'BEGIN { @["zoë aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"] = percentile(1, 50); @["bob"] = percentile(2, 50); exit(0); }'
>
>
>                                     key          p50
>  zoë aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa            1
>                                     bob            2
