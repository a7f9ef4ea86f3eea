# curcpu is a cpuinfo_t *: the CPU, the chip and the memory node that it belongs to
$ read -r id chip lgrp pset state < <(erltrace -qn 'BEGIN { printf("%d %d %d %d %d\n", curcpu->cpu_id, curcpu->cpu_chip, curcpu->cpu_lgrp, curcpu->cpu_pset, curcpu->cpu_info.pi_state == P_ONLINE); exit(0); }'); cd /sys/devices/system/cpu/cpu$id; n=$(echo node[0-9]*); [ -e "$n" ] || n=node0; p=$(cat topology/physical_package_id 2>/dev/null || echo 0); [ "$chip $lgrp" = "$p ${n#node}" ] && echo same $pset $state || echo $chip, not $p, or $lgrp, not $n
> same 0 1
# its members have types
$ erltrace -qn 'BEGIN { printf("%d %d %d %d\n", sizeof (curcpu->cpu_id), sizeof (chipid_t), sizeof (lgrp_id_t), curcpu->cpu_info.pi_clock >= 0); exit(0); }'
> 4 4 4 1
>
# what Linux does not have is an error that says so
$ erltrace -e -xerrtags -n 'BEGIN { trace(curcpu->cpu_info.pi_fputypes); exit(0); }'
!~ \[D_XLATE_NOCONV\].*pi_fputypes
? 1
# a CPU that does not exist
$ erltrace -qn 'BEGIN { printf("%d\n", (xlate <cpuinfo_t> (1000000)).cpu_chip); exit(0); }'
> 0
>
