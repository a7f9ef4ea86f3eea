# copyin() and the like read memory of the process: an address of the kernel is none, on any engine
$ erltrace -qn 'BEGIN { trace(copyinstr(0xffffffff81000000)); } BEGIN { trace(*(char *)copyin(0xffffffff81000000, 8)); } BEGIN { this->p = alloca(8); copyinto(0xffffffff81000000, 8, this->p); } BEGIN { exit(0); }'
!~ ^erltrace: error on enabled probe ID 1 \(ID 1: dtrace:::BEGIN\): invalid address \(0xffffffff81000000\) in action #1 at BPF pc [0-9]+$
!~ ^erltrace: error on enabled probe ID 2 \(ID 1: dtrace:::BEGIN\): invalid address \(0xffffffff81000000\) in action #1 at BPF pc [0-9]+$
!~ ^erltrace: error on enabled probe ID 3 \(ID 1: dtrace:::BEGIN\): invalid address \(0xffffffff81000000\) in action #[0-9]+ at BPF pc [0-9]+$
>
