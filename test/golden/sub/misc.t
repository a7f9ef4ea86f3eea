# progenyof: this process, or one of its parents
$ erltrace -qn 'BEGIN { printf("%d %d %d\n", progenyof($pid), progenyof($ppid), progenyof(2147483647)); exit(0); }'
> 1 1 0
>
# rand: 64 random bits
$ erltrace -qn 'BEGIN { a = rand(); b = rand(); c = rand(); printf("%d %d %d\n", a != b || b != c, sizeof (rand()), ((a | b | c) >> 32) != 0 || rand() >> 32 != 0); exit(0); }'
> 1 8 1
>
# locks of the kernel: nothing is held; a bad address is a fault
$ erltrace -qn 'BEGIN { this->m = alloca(64); printf("%d %d\n", mutex_owned(this->m), mutex_owner(this->m) == NULL); printf("%d %d %d\n", rw_read_held(this->m), rw_write_held(this->m), rw_iswriter(this->m)); exit(0); }'
> 0 1
> 0 0 0
>
# calls nest
$ erltrace -qn 'BEGIN { printf("%s\n", toupper(substr(strjoin(basename("/x/abc"), lltostr(strlen("xyz"))), 1))); exit(0); }'
> BC3
>
