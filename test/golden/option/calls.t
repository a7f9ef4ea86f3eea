# how function probes of a node get their events: a word of three
$ for v in auto fast traced; do erltrace -e -q -x calls=$v -n 'BEGIN { exit(0); }' || echo "not $v"; done
$ erltrace -q -x calls=slow -n 'BEGIN { exit(0); }'
! erltrace: failed to set -x calls: option calls: 'slow' is not valid: it takes auto, fast or traced
? 1
$ erltrace -q -x calls -n 'BEGIN { exit(0); }'
! erltrace: failed to set -x calls: option calls needs a value: auto, fast or traced
? 1
$ erltrace -q -x calls=1 -n 'BEGIN { exit(0); }'
! erltrace: failed to set -x calls: option calls: '1' is not valid: it takes auto, fast or traced
? 1
# a near name is told
$ erltrace -q -x call=fast -n 'BEGIN { exit(0); }'
! erltrace: failed to set -x call: there is no option 'call': did you mean 'calls'?
? 1
# outside of nodes there are no calls to get: nothing is said
$ erltrace -q -x calls=fast -n 'BEGIN { trace("runs"); exit(0); }'
> runs
$ DTRACE_OPT_CALLS=fast erltrace -q -n 'BEGIN { trace("runs"); exit(0); }'
> runs

# a script may ask for it
$ printf '#pragma D option calls=fast\nBEGIN { trace("runs"); exit(0); }' | erltrace -qs -
> runs
$ printf '#pragma D option calls=slow\nBEGIN { exit(0); }' | erltrace -xerrtags -qs -
! erltrace: failed to compile script -: [D_PRAGMA_OPTSET] line 1: option calls: 'slow' is not valid: it takes auto, fast or traced
? 1
# but if the user wants none of it that holds, and the script runs all the same (node/calls.sh)
$ for v in fast auto; do printf '#pragma D option calls=%s\nBEGIN { trace("runs"); exit(0); }' $v | erltrace -x calls=traced -qs -; done
> runs
> runs
$ printf '#pragma D option calls=traced\nBEGIN { trace("runs"); exit(0); }' | erltrace -x calls=fast -qs -
> runs
$ printf '#pragma D option calls=fast\nBEGIN { trace("runs"); exit(0); }' | erltrace -w -x calls=traced -qs -
> runs

# after harmless nobody can have it: a script that asks for it runs without; what the user has said before stays
$ erltrace -xharmless -xcalls=fast -qn 'BEGIN { exit(0); }'
! erltrace: failed to set -x calls: option calls cannot be set to this here: only harmless scripts are permitted
? 1
$ printf '#pragma D option calls=fast\nBEGIN { trace("runs"); exit(0); }' | erltrace -xharmless -qs -
> runs
$ for v in traced auto; do erltrace -xharmless -xcalls=$v -qn 'BEGIN { trace("runs"); exit(0); }'; done
> runs
> runs
$ erltrace -xcalls=fast -xharmless -qn 'BEGIN { trace("runs"); exit(0); }'
> runs

# fixed once tracing has begun
$ erltrace -qn 'BEGIN { setopt("calls", "fast"); exit(0); }' 2>&1 | grep -o 'option calls cannot change once.*'
> option calls cannot change once tracing has begun
