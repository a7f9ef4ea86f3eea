# samples that take privileges here: the same command for nodes is told, as a shell reads it
$ erltrace -xkernel=off -qn 'profile-97 { @[ustack(), "it'\''s"] = count(); }'
!~ ^erltrace: could not enable tracing: profile-97 reads what it interrupts
!~ ^erltrace: in the nodes of this machine: erltrace -N '\*' -xkernel=off -qn 'profile-97 \{ @\[ustack\(\), "it'\\''s"\] = count\(\); \}'$
? 1
