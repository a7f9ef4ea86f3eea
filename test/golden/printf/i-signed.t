# %i is signed, of the size of its argument; %d follows the sign of its type
$ erltrace -qn 'BEGIN { printf("%i %i %i %i\n", (uint8_t)255, (uint16_t)65535, (uint32_t)4294967295, (uint64_t)-1); printf("%d %d %d %d\n", (uint8_t)255, (uint16_t)65535, (uint32_t)4294967295, (uint64_t)-1); printf("%i %i [%5i] [%+i]\n", (uint8_t)127, -5, (uint8_t)254, (uint32_t)7); exit(0); }'
> -1 -1 -1 -1
> 255 65535 4294967295 18446744073709551615
> 127 -5 [   -2] [+7]
>
# so it is in printa()
$ erltrace -qn 'BEGIN { @[(uint8_t)200] = sum(-1); printa("%i %@i\n", @); exit(0); }'
> -56 -1
>
