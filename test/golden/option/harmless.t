# from harmless on nothing is permitted that could do harm
$ erltrace -xharmless -qn 'BEGIN { trace("fine"); exit(0); }'
> fine
$ erltrace -xharmless -w -n 'BEGIN { exit(0); }' 2>&1
> erltrace: failed to set -w: option destructive cannot be set to this here: only harmless scripts are permitted
? 1
$ for o in cpp=1 ctypes=/tmp/x dtypes=/tmp/x libdir=/tmp cpppath=/bin/sh watchdog=0 watchdog=100 silence=0 watchtime=3600s bufsize=1g aggmax=1g nspec=4000 maxthreads=4096 harmless=0 destructive; do erltrace -xharmless -x$o -n 'BEGIN { exit(0); }' 2>&1 | grep -c 'only harmless scripts are permitted'; done | sort | uniq -c | tr -s ' '
>  15 1
$ for o in quiet nspec=512 dynvarsize=16m aggsize=16m strsize=1k watchdog=10 defaultargs switchrate=10hz aggsortrev; do erltrace -xharmless -x$o -n 'BEGIN { exit(0); }' >/dev/null 2>&1 || echo $o; done
$ printf '#pragma D option quiet\n#pragma D option destructive\nBEGIN { system("echo done"); exit(0); }' | erltrace -xharmless -s - 2>&1
> erltrace: failed to compile script -: line 2: option destructive cannot be set to this here: only harmless scripts are permitted
? 1
$ erltrace -xharmless -n 'BEGIN { system("echo done"); exit(0); }' 2>&1
> erltrace: description 'BEGIN ' matched 1 probe
> erltrace: could not enable tracing: line 1: destructive actions are not permitted: allow them with -w or -xdestructive
? 1
# whom it is for is said by who runs it (-N, -p), never by the script
$ for o in erlnode usdtproc; do erltrace -xharmless -x$o=1 -qn 'BEGIN { trace("fine"); exit(0); }'; done
> fine
> fine
$ for o in erlnode usdtproc; do printf '#pragma D option %s=1\nBEGIN { exit(0); }' $o | erltrace -xharmless -s - 2>&1; done
> erltrace: failed to compile script -: line 1: option erlnode cannot be set to this here: only harmless scripts are permitted
> erltrace: failed to compile script -: line 1: option usdtproc cannot be set to this here: only harmless scripts are permitted
? 1
# which processes are traced only narrows it, and is said once
$ printf '#pragma D option processes=init\nBEGIN { trace("fine"); exit(0); }' | erltrace -xharmless -qs -
> fine
$ printf '#pragma D option processes=init\nBEGIN { exit(0); }' | erltrace -xprocesses=user -xharmless -qs - 2>&1
> erltrace: failed to compile script -: line 1: option processes cannot be set to this here: only harmless scripts are permitted
? 1

# however destructive was set before: harmless is stronger
$ DTRACE_OPT_DESTRUCTIVE=1 erltrace -xharmless -qn 'BEGIN { system("echo done"); exit(0); }' 2>&1
> erltrace: could not enable tracing: line 1: destructive actions are not permitted: allow them with -w or -xdestructive
? 1
$ erltrace -w -xharmless -qn 'BEGIN { system("echo done"); exit(0); }' 2>&1
> erltrace: could not enable tracing: line 1: destructive actions are not permitted: allow them with -w or -xdestructive
? 1
$ printf '#pragma D option destructive\n#pragma D option harmless\nBEGIN { system("echo done"); exit(0); }' | erltrace -qs - 2>&1
> erltrace: could not enable tracing: line 3: destructive actions are not permitted: allow them with -w or -xdestructive
? 1
$ DTRACE_OPT_DESTRUCTIVE=1 DTRACE_OPT_HARMLESS=1 erltrace -qn 'BEGIN { system("echo done"); exit(0); }' 2>&1 | grep -c 'not permitted\|only harmless'
> 1
$ printf '#pragma D option ctypes=made\nBEGIN { exit(0); }' | DTRACE_OPT_DESTRUCTIVE=1 erltrace -xharmless -qs - 2>&1 | grep -c 'only harmless'; ls
> 1
