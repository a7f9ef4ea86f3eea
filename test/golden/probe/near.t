# A name that no probe has, but nearly.
$ erltrace -qn 'BEGN { exit(0); }'
! erltrace: invalid probe specifier BEGN { exit(0); }: probe description :::BEGN does not match any probes: did you mean 'BEGIN'?
? 1

# A pattern is meant as it is.
$ erltrace -qn 'BEG? { exit(0); }'
! erltrace: invalid probe specifier BEG? { exit(0); }: probe description :::BEG? does not match any probes: -l lists all probes, -Z goes on without
? 1
