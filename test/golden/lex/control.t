# #! lines, #ident, #line and cpp's line marks are no part of the script
< t.d
| #!/usr/bin/env -S erltrace -qs
| #ident "%Z%%M% 1.0"
| #pragma ident "%Z%"
| # 7 "other.d"
| #line 9
| #
| BEGIN { printf("ok\n"); exit(0); }
$ erltrace -qs t.d
> ok
>
# #line and "# N" say where errors are
< bad.d
| # 41 "other.d"
| BEGIN
| {
| 	trace(nosuch);
| }
$ erltrace -e -s bad.d
!~ ^erltrace: failed to compile script bad.d: "other.d", line 43: 
? 1
< bad2.d
| #line 100
| BEGIN { trace(nosuch); }
$ erltrace -e -s bad2.d
!~ ^erltrace: failed to compile script bad2.d: line 100: 
? 1
