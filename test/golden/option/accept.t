# every option takes its values
$ for o in aggpercpu amin=Internal/Internal/Unknown argref core cppargs=-DX=1 cpphdrs ctypes=/dev/null debug=0 defaultargs define=X=1 droptags dtypes=/dev/null empty errtags evaltime=exec evaltime=main evaltime=preinit evaltime=postinit incdir=. iregs=4 jit jit=off kdefs knodefs late=dynamic lazyload ldpath=/bin/ld libdir=. linkmode=kernel linktype=elf nolibs pgmax=8 pspec stdc=a stdc=c stdc=s stdc=t strip syslibdir=. tregs=4 udefs undef=X unodefs zdefs; do erltrace -e -q -x $o -n 'BEGIN { exit(0); }' 2>&1 || echo "not $o"; done
$ for o in aggkeep=off aggmax=1m aggsize=64k bufpolicy=switch bufpolicy=ring bufpolicy=fill bufresize=auto bufresize=manual bufsize=64k calls=auto calls=fast calls=traced cleanrate=50hz cpu=0 destructive dynvarsize=64k jstackframes=10 jstackstrsize=64 maxframes=64 maxthreads=8 nspec=2 scratchsize=1k specsize=64k stackframes=5 statusrate=100ms strsize=64 temporal=0 temporal ustackframes=5; do erltrace -e -q -x $o -n 'BEGIN { exit(0); }' || echo "not $o"; done
$ for o in agghist aggpack aggrate=1s aggsortkey aggsortkeypos=2 aggsortpos=1 aggsortrev aggtop=5 aggzoom flowindent printsize=100 quiet quietresize rawbytes stackindent=2 switchrate=100hz; do erltrace -e -q -x $o -n 'BEGIN { exit(0); }' || echo "not $o"; done
# booleans
$ for v in 1 0 on off yes no true false enable disable; do erltrace -e -q -x jit=$v -n 'BEGIN { exit(0); }' || echo "not $v"; done
# sizes: bytes, k, m, g; either case
$ for v in 4096 4k 4K 1m 1M 1g 0x10000; do erltrace -e -q -x bufsize=$v -n 'BEGIN { exit(0); }' || echo "not $v"; done
# rates: every unit; a number alone is a rate
$ for v in 100 100hz 1000000ns 1000000nsec 5000us 5000usec 5ms 5msec 1s 1sec 1m 1min 1h 1hour 1d 1day; do erltrace -e -q -x switchrate=$v -n 'BEGIN { exit(0); }' || echo "not $v"; done
# a later one counts
$ erltrace -q -xquiet=0 -xquiet=1 -n 'BEGIN { printf("x\n"); exit(0); }'
> x
>
# -b is bufsize, -F flowindent, -q quiet, -w destructive, -Z zdefs
$ erltrace -q -b 64k -n 'BEGIN { printf("x\n"); exit(0); }'
> x
>
$ erltrace -q -b 1 -n 'BEGIN { printf("y\n"); exit(0); }'
> y
>
