# floating point numbers exist in memory only; their bits as a test sees them
$ erltrace -qn 'BEGIN { this->p = (uint64_t *)alloca(8); *this->p = 0x3ff8000000000000; printf("[%f] [%.2f] [%8.2f] [%-8.2f] [%08.2f] [%+.1f] [% .1f] [%.0f] [%#.0f]\n", *(double *)this->p, *(double *)this->p, *(double *)this->p, *(double *)this->p, *(double *)this->p, *(double *)this->p, *(double *)this->p, *(double *)this->p, *(double *)this->p); exit(0); }'
> [1.500000] [1.50] [    1.50] [1.50    ] [00001.50] [+1.5] [ 1.5] [1.500000] [1.500000]
>
$ erltrace -qn 'BEGIN { this->p = (uint64_t *)alloca(8); *this->p = 0xc0c81c8000000000; printf("[%e] [%E] [%.2e] [%12.3e] [%g] [%G] [%.3g]\n", *(double *)this->p, *(double *)this->p, *(double *)this->p, *(double *)this->p, *(double *)this->p, *(double *)this->p, *(double *)this->p); exit(0); }'
> [-1.234500e+04] [-1.234500E+04] [-1.23e+04] [  -1.234e+04] [-12345] [-12345] [-1.23e+04]
>
$ erltrace -qn 'BEGIN { this->p = (uint64_t *)alloca(8); *this->p = 0x7ff0000000000000; printf("[%g] [%G]\n", *(double *)this->p, *(double *)this->p); exit(0); }'
> [inf] [INF]
>
$ erltrace -qn 'BEGIN { this->p = (uint32_t *)alloca(8); *this->p = 0x3fc00000; printf("%f %g\n", *(float *)this->p, *(float *)this->p); exit(0); }'
> 1.500000 1.5
>
# h, l, L do no harm
$ erltrace -qn 'BEGIN { this->p = (uint64_t *)alloca(8); *this->p = 0x3ff8000000000000; printf("[%lf] [%Lf] [%lg]\n", *(double *)this->p, *(double *)this->p, *(double *)this->p); exit(0); }'
> [1.500000] [1.500000] [1.5]
>
