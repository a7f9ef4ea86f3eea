# a script that does not compile: its name, the line, the matter
< bad.d
| BEGIN
| {
| 	trace(1);
| 	trace(nosuch);
| }
$ erltrace -s bad.d
!~ ^erltrace: failed to compile script bad.d: line 4: .*nosuch
? 1
$ erltrace -xerrtags -s bad.d
!~ ^erltrace: failed to compile script bad.d: \[D_[A-Z_]+\] line 4: .*nosuch
? 1
# of several scripts the first bad one
$ erltrace -n 'BEGIN { exit(0); }' -s bad.d -n 'BEGIN { alsobad; }' 2>&1 | wc -l
> 1
# a description: as it was typed
$ erltrace -n 'BEGIN { trace(nosuch); }'
!~ ^erltrace: invalid probe specifier BEGIN \{ trace\(nosuch\); \}: .*nosuch
? 1
# no file, a folder
$ erltrace -s nosuch.d
!~ ^erltrace: failed to compile script nosuch.d: .*nosuch.d: No such file or directory
? 1
$ mkdir dir; erltrace -s dir
!~ ^erltrace: failed to compile script dir: dir is a directory
? 1
# an empty file
$ : > empty.d; erltrace -xerrtags -s empty.d
!~ \[D_EMPTY\]
? 1
# no colours, no caret where nobody looks
$ erltrace -s bad.d 2>&1 | wc -l
> 1
