# %Y: nanoseconds since 1970 as a date
$ TZ=UTC erltrace -qn 'BEGIN { printf("[%Y] [%Y] [%Y]\n", 0, 1700000000000000000, 1700000000999999999); exit(0); }'
> [1970 Jan  1 00:00:00] [2023 Nov 14 22:13:20] [2023 Nov 14 22:13:20]
>
$ TZ=UTC erltrace -qn 'BEGIN { printf("[%Y] [%Y]\n", 1709164800000000000, 4102444799000000000); exit(0); }'
> [2024 Feb 29 00:00:00] [2099 Dec 31 23:59:59]
>
# before 1970, downwards
$ TZ=UTC erltrace -qn 'BEGIN { printf("[%Y]\n", -1); exit(0); }'
> [1969 Dec 31 23:59:59]
>
# the time zone is the reader's
$ TZ=XXX-5:30 erltrace -qn 'BEGIN { printf("[%Y]\n", 1700000000000000000); exit(0); }'
> [2023 Nov 15 03:43:20]
>
# width, precision, -
$ TZ=UTC erltrace -qn 'BEGIN { printf("[%24Y]\n", 0); exit(0); }'
> [    1970 Jan  1 00:00:00]
>
$ TZ=UTC erltrace -qn 'BEGIN { printf("[%-24Y]\n", 0); exit(0); }'
> [1970 Jan  1 00:00:00    ]
>
$ TZ=UTC erltrace -qn 'BEGIN { printf("[%.4Y]\n", 0); exit(0); }'
> [1970]
>
# %T: as in mail
$ TZ=UTC erltrace -qn 'BEGIN { printf("[%T] [%T]\n", 0, 1700000000000000000); exit(0); }'
> [Thu, 01 Jan 1970 00:00:00 UTC] [Tue, 14 Nov 2023 22:13:20 UTC]
>
# walltimestamp is now
$ TZ=UTC erltrace -qn 'BEGIN { printf("%Y", walltimestamp); exit(0); }'
~ ^20[0-9]{2} [A-Z][a-z]{2} [ 1-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-6][0-9]$
