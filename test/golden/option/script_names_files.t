# a script cannot name files, folders, programs or nodes: these options are the user's
$ for o in cpp cppargs=-P cpphdrs cpppath=/bin/sh ctypes=made dtypes=made erlnode=a@b incdir=. kernel ldpath=. libdir=. syslibdir=. usdtproc=1; do printf '#pragma D option %s\nBEGIN { exit(0); }' $o | erltrace -xerrtags -qs - 2>&1 | sed "s/^.*\(\[D_PRAGMA_OPTSET\] line 1: option [a-z]* can be set by the user, not by a script\): give -x [a-z]*\(=\.\.\.\)\?, or -w to permit it here$/\1/"; done; ls
> [D_PRAGMA_OPTSET] line 1: option cpp can be set by the user, not by a script
> [D_PRAGMA_OPTSET] line 1: option cppargs can be set by the user, not by a script
> [D_PRAGMA_OPTSET] line 1: option cpphdrs can be set by the user, not by a script
> [D_PRAGMA_OPTSET] line 1: option cpppath can be set by the user, not by a script
> [D_PRAGMA_OPTSET] line 1: option ctypes can be set by the user, not by a script
> [D_PRAGMA_OPTSET] line 1: option dtypes can be set by the user, not by a script
> [D_PRAGMA_OPTSET] line 1: option erlnode can be set by the user, not by a script
> [D_PRAGMA_OPTSET] line 1: option incdir can be set by the user, not by a script
> [D_PRAGMA_OPTSET] line 1: option kernel can be set by the user, not by a script
> [D_PRAGMA_OPTSET] line 1: option ldpath can be set by the user, not by a script
> [D_PRAGMA_OPTSET] line 1: option libdir can be set by the user, not by a script
> [D_PRAGMA_OPTSET] line 1: option syslibdir can be set by the user, not by a script
> [D_PRAGMA_OPTSET] line 1: option usdtproc can be set by the user, not by a script

# nor when it permits itself destructive actions
$ printf '#pragma D option destructive\n#pragma D option dtypes=made\nBEGIN { exit(0); }' | erltrace -qs - 2>&1; ls
> erltrace: failed to compile script -: line 2: option dtypes can be set by the user, not by a script: give -x dtypes=..., or -w to permit it here

# a first script that names the preprocessor of a second
< first.d
| #pragma D option cpppath=./run
| #pragma D option cpp
| BEGIN { exit(0); }
< second.d
| BEGIN { exit(0); }
$ printf '#!/bin/sh\n: >made\ncat\n' >run; chmod +x run; erltrace -qs first.d -s second.d 2>/dev/null; ls
> first.d
> run
> second.d

# nor once tracing has begun
$ erltrace -qn 'BEGIN { setopt("ctypes", "made"); exit(0); }' 2>&1 | grep -o 'option ctypes cannot change once.*'; ls
> option ctypes cannot change once tracing has begun
> first.d
> run
> second.d

# the user can, and can permit it: -w, the environment
$ erltrace -xctypes=made -qn 'BEGIN { exit(0); }' >o; ls made; rm made
> made
$ printf '#pragma D option ctypes=made\nBEGIN { exit(0); }' | erltrace -wqs - >o; ls made; rm made
> made
$ printf '#pragma D option ctypes=made\nBEGIN { exit(0); }' | DTRACE_OPT_DESTRUCTIVE=1 erltrace -qs - >o; ls made; rm made
> made
