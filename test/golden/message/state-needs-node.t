# What there is in a node is asked inside of it.
$ erltrace -e -n 'state:::process-5s { @[args[0]->name] = count(); }'
! erltrace: invalid probe specifier state:::process-5s { @[args[0]->name] = count(); }: probe description state:::process-5s does not match any probes: it is about what there is in an Erlang node, and runs inside of one: -N NODE, without probes of the kernel in the same script
? 1

# Its members have types without a node.
$ erltrace -e -Z -n 'state:::table-5s { @[args[0]->mailbox] = count(); }'
! erltrace: invalid probe specifier state:::table-5s { @[args[0]->mailbox] = count(); }: 'struct state_table' has no member 'mailbox'
? 1
