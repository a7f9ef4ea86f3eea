# names that come from the D libraries
$ erltrace -qn 'BEGIN { printf("%d %d %d %d\n", SIGINT, SIGKILL, SIGSEGV, SIGTERM); exit(0); }'
> 2 9 11 15
>
$ erltrace -qn 'BEGIN { printf("%d %d %d %d\n", EPERM, ENOENT, EINTR, EAGAIN); exit(0); }'
> 1 2 4 11
>
$ erltrace -qn 'BEGIN { printf("%d %d %d %d\n", O_RDONLY, O_WRONLY, O_RDWR, O_CREAT); exit(0); }'
> 0 1 2 64
>
$ erltrace -qn 'BEGIN { printf("%d %d %s %d\n", curpsinfo->pr_pid == pid, curpsinfo->pr_ppid == ppid, curpsinfo->pr_fname, curpsinfo->pr_uid == uid); exit(0); }'
> 1 1 erltrace 1
>
# not with nolibs
$ erltrace -e -xnolibs -xerrtags -n 'BEGIN { trace(SIGINT); }'
!~ \[D_IDENT_UNDEF\]
? 1
