# a script that says which version of D it was written for may use the names of later built-ins
< old.d
| #pragma D option quiet
| #pragma D option version=1.0
| int index;
| inline int json = 4;
| BEGIN { strstr = 3; strtok["a"] = 5; index = 6; self->stddev = 7; }
| BEGIN { @print = count(); printf("%d %d %d %d\n", strstr, strtok["a"], index, json); exit(0); }
$ erltrace -s old.d 2>&1 | head -1
> 3 5 6 4
# which it does not have then
$ erltrace -e -xerrtags -xversion=1.0 -n 'BEGIN { trace(strstr("abc", "b")); }'
!~ \[D_FUNC_UNDEF\] there is no function 'strstr\(\)' in the version of D that the script names: leave the option version out
? 1
$ erltrace -e -q -xversion=1.1 -n 'BEGIN { trace(strstr("abc", "b")); }'
$ erltrace -e -xerrtags -xversion=1.1 -n 'BEGIN { strstr = 3; }'
!~ strstr
? 1
# D libraries have them all the same
$ erltrace -e -q -xversion=1.0 -n 'BEGIN { trace(curpsinfo->pr_fname); trace(basename("a/b")); }'
