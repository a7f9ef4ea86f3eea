# what a description matched; not with -q
$ erltrace -n 'BEGIN { exit(0); }' 2>&1 >/dev/null
> erltrace: description 'BEGIN ' matched 1 probe
$ erltrace -n 'BEGIN,END { exit(0); }' 2>&1 >/dev/null
> erltrace: description 'BEGIN,END ' matched 2 probes
$ erltrace -n 'dtrace:::{ exit(0); }' 2>&1 >/dev/null
> erltrace: description 'dtrace:::' matched 3 probes
$ erltrace -n 'BEGIN/1/{ exit(0); }' 2>&1 >/dev/null
> erltrace: description 'BEGIN' matched 1 probe
$ erltrace -qn 'BEGIN { exit(0); }' 2>&1 >/dev/null
# of all clauses together
$ erltrace -n 'BEGIN { exit(0); } END { } BEGIN { }' 2>&1 >/dev/null
> erltrace: description 'BEGIN ' matched 3 probes
# -P -m -f -i
$ erltrace -P dtrace -n 'BEGIN { exit(0); }' 2>&1 >/dev/null
> erltrace: description 'dtrace' matched 3 probes
> erltrace: description 'BEGIN ' matched 1 probe
$ erltrace -i '1 { exit(0); }' 2>&1 >/dev/null
> erltrace: description '1 ' matched 1 probe
# a script by its name
< s.d
| BEGIN { exit(0); }
| END { }
$ erltrace -s s.d 2>&1 >/dev/null
> erltrace: script 's.d' matched 2 probes
$ erltrace -Z -s s.d -n 'nosuch:::' 2>&1 >/dev/null
> erltrace: script 's.d' matched 2 probes
> erltrace: warning: description 'nosuch:::' matches no probe
# with -q as well: who gives -Z is told what it leaves out
$ erltrace -Z -q -s s.d -n 'nosuch:::' 2>&1 >/dev/null
> erltrace: warning: description 'nosuch:::' matches no probe
$ erltrace -xzdefs -q -s s.d -n 'nosuch:::' 2>&1 >/dev/null
# nothing at all
$ erltrace -Z -n 'nosuch:::'
! erltrace: warning: description 'nosuch:::' matches no probe
! erltrace: no probes matched
? 1
$ erltrace -n 'nosuch:::'
!~ ^erltrace: invalid probe specifier nosuch:::: .*
? 1
